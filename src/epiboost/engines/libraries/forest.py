"""Chains trained by a library: the base class of the forests of CatBoost, LightGBM and XGBoost.

A library's trees add up to the rescaled score G (see `langevin`). After t trees the chain is start + cᵗ G.
"""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.recipe import thread_count
from epiboost._boosting.truncation import check_prefixes
from epiboost._display import short_repr
from epiboost._files.requirements import require_facts
from epiboost._threads import library_threads
from epiboost._typing import AnyArray, Bytes, Family, Floats, LibraryObject
from epiboost.engines.base import check_width
from epiboost.engines.model_files.trees import ModelShape


@dataclass(frozen=True)
class BoosterForest(abc.ABC):
    """Models of a library, one per chain.

    Attributes
    ----------
    boosters : tuple
        The library's models.
    objective : Objective
    count : array of shape (members,)
        Number of trees in use.
    decay : float
        Factor c by which each step multiplies the score.
    n_codes : tuple of int
        Number of codes per column, 0 for a numeric column.
    evaluation : array of shape (members, trees)
        Losses on the evaluation rows.
    """

    boosters: tuple[LibraryObject, ...]
    objective: Objective
    count: AnyArray
    decay: float
    n_codes: tuple[int, ...]
    evaluation: Floats
    n_jobs: int | None = None

    __repr__ = short_repr

    library: ClassVar[str]

    @property
    def family(self) -> Family:
        """Which distribution the outputs are parameters of."""
        return self.objective.family

    @property
    def n_features(self) -> int:
        """Number of columns that a table must have."""
        return len(self.n_codes)

    @property
    def n_trees(self) -> AnyArray:
        """Number of trees of each chain, shape (members,)."""
        return self.count

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs); see `Forest.predict`."""
        check_width(table, self.n_features)
        parameters = []
        prepared = self._prepare(table) if len(table) else None
        for member, count in enumerate(self.count):
            asked = (int(count),) if prefixes is None else check_prefixes(prefixes, int(self.count.max()))
            ends = [min(end, int(count)) for end in asked]
            raw = np.zeros((len(table), len(self.objective.start)))
            for begin, end in zip((0, *ends), ends, strict=False):
                if begin < end and len(table):  # a shorter chain stays as it is at its end
                    raw += self._sum_of_trees(member, prepared, begin, end).reshape(raw.shape)
                parameters.append(
                    self.objective.bounded(self.objective.parameters(self._start + self._factor(member, end) * raw))
                )
        return np.stack(parameters)

    def gains(self) -> Floats:
        """Return the importance of each column by the library's gain, shape (members, features)."""
        return np.stack([self._gains(member) for member in range(len(self.boosters))])

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return header and arrays of a model file; the library's own model files are in it as bytes."""
        models = [self._to_bytes(booster) for booster in self.boosters]
        header = {
            "library": self.library,
            "objective": self.objective.to_header(),
            "decay": self.decay,
            "sizes": list(self.n_codes),
        }
        return header, {
            "models": np.concatenate(models),
            "model_sizes": np.array([len(model) for model in models], dtype=np.int64),
            "count": self.count,
            "evaluation": self.evaluation,
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | None) -> Self:
        """Return the forest that `to_file` described; a ValueError if the parts do not fit together."""
        models, model_sizes, count = arrays["models"], arrays["model_sizes"], arrays["count"]
        facts = {
            f"the models are of {header['library']!r}": header["library"] == cls.library,
            "models must be bytes": models.dtype == np.uint8 and models.ndim == 1,
            "model_sizes must add up to the models": model_sizes.dtype == np.int64
            and model_sizes.ndim == 1
            and len(model_sizes) > 0
            and bool(((model_sizes > 0) & (model_sizes <= len(models))).all())
            and int(model_sizes.sum()) == len(models),
            "count must be the number of trees of each member": count.shape == model_sizes.shape
            and count.dtype == np.int64
            and bool((count > 0).all()),
            "evaluation must have one row per member": arrays["evaluation"].shape[:1] == model_sizes.shape,
            "decay must be above 0 and at most 1": 0.0 < float(header["decay"]) <= 1.0,
            "sizes must be whole numbers": all(type(size) is int and size >= 0 for size in header["sizes"]),
        }
        require_facts(facts)
        parts = np.split(models, np.cumsum(model_sizes)[:-1])
        objective = objective_from_header(header["objective"])
        shape = ModelShape(tuple(header["sizes"]), len(objective.start))
        forest = cls(
            boosters=tuple(cls._from_bytes(part, shape) for part in parts),
            objective=objective,
            count=count,
            decay=float(header["decay"]),
            n_codes=shape.n_codes,
            evaluation=arrays["evaluation"],
            n_jobs=n_jobs,
            **cls._extra_arrays(arrays),
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
        return library_threads(self.library, thread_count(self.n_jobs))

    @property
    def _start(self) -> Floats:
        """Score before the first tree, if the library's model does not hold it."""
        return self.objective.start

    @classmethod
    def _extra_arrays(cls, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:  # noqa: ARG003 (one library needs it)
        """Return arrays that only forests of this library have, checked."""
        return {}

    def _factor(self, member: int, end: int) -> float:  # noqa: ARG002 (one library needs it)
        """Return the factor from the sum of the first ``end`` trees to the chain's score."""
        return float(self.decay**end)

    @abc.abstractmethod
    def _prepare(self, table: AnyArray) -> LibraryObject:
        """Return the table as the library predicts from it."""

    @abc.abstractmethod
    def _sum_of_trees(self, member: int, prepared: LibraryObject, begin: int, end: int) -> AnyArray:
        """Return the sum of the trees from ``begin`` up to ``end`` for each row and output."""

    @abc.abstractmethod
    def _gains(self, member: int) -> Floats:
        """Return the gain of each column in the trees of a chain, shape (features,)."""

    @staticmethod
    @abc.abstractmethod
    def _to_bytes(booster: LibraryObject) -> Bytes:
        """Return the library's model file."""

    @staticmethod
    @abc.abstractmethod
    def _from_bytes(content: Bytes, shape: ModelShape) -> LibraryObject:
        """Return the library's model; a ValueError unless it is one that `_to_bytes` may have written."""

    @abc.abstractmethod
    def _shape(self, member: int) -> tuple[int, int]:
        """Return the number of columns and the number of trees of a model."""
