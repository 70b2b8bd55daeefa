"""Chains of a library: what the forests of CatBoost, LightGBM and XGBoost share.

A library sums its trees to the rescaled score G (see `langevin`); after t trees the chain is start + cᵗ G.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.scores import parameters_of
from epiboost._boosting.truncation import check_prefixes
from epiboost._files.checks import require_facts
from epiboost._typing import AnyArray, Bytes, Floats
from epiboost.engines.parallel import Grown
from epiboost.engines.threads import thread_count

Booster = Any
"""A model of a library."""


@dataclass(frozen=True)
class Chain:
    """One trained chain: the library's model, the trees in use, and the losses on the rows that were watched."""

    booster: Booster
    count: int
    losses: list[float]


@dataclass(frozen=True)
class BoosterForest:
    """Models of a library, one a chain.

    Attributes
    ----------
    boosters : tuple
        The library's models.
    count : array of shape (members,)
        Trees in use.
    decay : float
        c, what each later tree multiplies the score by.
    sizes : tuple of int
        How many codes each column has, 0 for a column of numbers; one entry a column.
    """

    boosters: tuple[Booster, ...]
    objective: Objective
    count: AnyArray
    decay: float
    sizes: tuple[int, ...]
    evaluation: Floats
    n_jobs: int | None = None

    library: ClassVar[str]

    @property
    def n_features(self) -> int:
        """How many columns a table must have."""
        return len(self.sizes)

    @property
    def n_trees(self) -> AnyArray:
        """How many trees each chain has, shape (members,)."""
        return self.count

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs)."""
        if table.ndim != 2 or table.shape[1] != self.n_features:  # noqa: PLR2004 (rows and columns)
            message = f"the table must have {self.n_features} columns; got shape {table.shape}"
            raise ValueError(message)
        parameters = []
        ready = self._ready(table)
        for member, count in enumerate(self.count):
            ends = (int(count),) if prefixes is None else check_prefixes(prefixes, int(count))
            raw = np.zeros((len(table), len(self.objective.start)))
            for begin, end in zip((0, *ends), ends, strict=False):
                raw += self._raw(member, ready, begin, end).reshape(raw.shape)
                parameters.append(parameters_of(self.objective, self._start + self._factor(member, end) * raw))
        return np.stack(parameters)

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return what a model file must hold: the library's own model files are in it as bytes."""
        models = [self._to_bytes(booster) for booster in self.boosters]
        header = {
            "library": self.library,
            "objective": self.objective.to_header(),
            "decay": self.decay,
            "sizes": list(self.sizes),
        }
        return header, {
            "models": np.concatenate(models),
            "model_sizes": np.array([len(model) for model in models], dtype=np.int64),
            "count": self.count,
            "evaluation": self.evaluation,
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | None) -> Self:
        """Build a forest from a model file's parts; anything that does not fit together is a ValueError."""
        models, model_sizes, count = arrays["models"], arrays["model_sizes"], arrays["count"]
        facts = {
            f"the models are of {header['library']!r}": header["library"] == cls.library,
            "models must be bytes": models.dtype == np.uint8 and models.ndim == 1,
            "model_sizes must add up to the models": model_sizes.dtype == np.int64
            and model_sizes.ndim == 1
            and len(model_sizes) > 0
            and bool((model_sizes > 0).all())
            and int(model_sizes.sum()) == len(models),
            "count must say how many trees each member has": count.shape == model_sizes.shape
            and count.dtype == np.int64
            and bool((count > 0).all()),
            "evaluation must have a row a member": arrays["evaluation"].shape[:1] == model_sizes.shape,
            "decay must be above 0 and at most 1": 0.0 < float(header["decay"]) <= 1.0,
            "sizes must be whole numbers": all(type(size) is int and size >= 0 for size in header["sizes"]),
        }
        require_facts(facts)
        parts = np.split(models, np.cumsum(model_sizes)[:-1])
        forest = cls(
            boosters=tuple(cls._from_bytes(part) for part in parts),
            objective=objective_from_header(header["objective"]),
            count=count,
            decay=float(header["decay"]),
            sizes=tuple(header["sizes"]),
            evaluation=arrays["evaluation"],
            n_jobs=n_jobs,
            **cls._extra(arrays),
        )
        forest._check_boosters()
        return forest

    def _check_boosters(self) -> None:
        for member, count in enumerate(self.count):
            features, trees = self._shape(member)
            if features != self.n_features or count > trees:
                message = (
                    f"a model has {features} columns and {trees} trees; the header says {self.n_features}, {count}"
                )
                raise ValueError(message)

    @property
    def _threads(self) -> int:
        return thread_count(self.n_jobs)

    # What libraries do differently.
    @property
    def _start(self) -> Floats:
        """Return the score before the first tree."""
        return self.objective.start

    @classmethod
    def _extra(cls, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:  # noqa: ARG003 (libraries differ)
        """Return what this library's forests have beyond the others, checked."""
        return {}

    def _factor(self, member: int, end: int) -> float:  # noqa: ARG002 (libraries differ)
        """Return what the sum of the first trees is to be multiplied with."""
        return float(self.decay**end)

    def _ready(self, table: AnyArray) -> Any:  # noqa: ANN401 (what the library predicts from)
        """Return the table as the library predicts from it."""
        raise NotImplementedError

    def _raw(self, member: int, ready: Any, begin: int, end: int) -> AnyArray:  # noqa: ANN401
        """Return the sum of trees from ``begin`` up to ``end``."""
        raise NotImplementedError

    @staticmethod
    def _to_bytes(booster: Booster) -> Bytes:
        raise NotImplementedError

    @staticmethod
    def _from_bytes(content: Bytes) -> Booster:
        """Return the library's model, or raise a ValueError."""
        raise NotImplementedError

    def _shape(self, member: int) -> tuple[int, int]:
        """Return how many columns and trees a model has."""
        raise NotImplementedError


def grow(
    chain: LangevinObjective, step: Callable[[int], None], watch: Callable[[], AnyArray], grown: Grown
) -> tuple[int, list[float]]:
    """Grow a chain until it is done or stops: return the trees in use and the losses after each.

    Parameters
    ----------
    step : callable
        Takes the step of a number.
    watch : callable
        Returns the library's score of the rows that are watched.
    """
    losses: list[float] = []
    best, patience = 0, chain.spec.patience
    for tree in range(chain.spec.n_estimators):
        step(tree)
        grown(1)
        if chain.rows.evaluation is not None:
            losses.append(chain.evaluation_loss(watch(), tree + 1))
            best = tree if losses[tree] < losses[best] else best
            if patience is not None and tree - best >= patience:
                break
    return chain.spec.n_estimators if patience is None else best + 1, losses


def evaluation_of(chains: Sequence[Chain], trees: int) -> Floats:
    """Return the losses of all chains, NaN after a chain has stopped; shape (members, trees), or no columns."""
    evaluation = np.full((len(chains), trees if any(chain.losses for chain in chains) else 0), np.nan)
    for row, chain in zip(evaluation, chains, strict=True):
        row[: len(chain.losses)] = chain.losses
    return evaluation
