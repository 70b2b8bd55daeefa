"""The native engine: symmetric trees on binned tables, in C++.

The model is a few arrays, and what is done with them here is array work: training fills them (trainer.hpp), prediction
reads them (predictor.hpp).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._native import native
from epiboost._typing import AnyArray, Floats
from epiboost.binning import Bins
from epiboost.data import Dataset
from epiboost.engines.threads import thread_count
from epiboost.members import MAX_BINS, MAX_DEPTH, MemberSpec
from epiboost.objectives import Objective, objective_from_header, objective_of
from epiboost.ordering import own_order
from epiboost.progress import Progress

_MOST_NOISE = 1e9  # in standard deviations of the target: beyond that nothing is left of it
_MOST_DEVIATIONS = 1e12  # squares of the target must fit single precision


@dataclass(frozen=True)
class NativeForest:
    """Chains of symmetric trees as arrays.

    Attributes
    ----------
    feature, threshold : arrays of shape (members, trees, depth)
        Level d of a tree asks whether the bin of ``feature`` is above ``threshold``; the answers are the bits of the
        leaf's number.
    leaf : array of shape (members, trees, leaves, outputs)
        What a tree added to the score when it was grown (learning rate times the weak learner).
    count : array of shape (members,)
        Trees in use.
    decay : float
        What each later tree multiplies the score by: 1 - gamma * learning_rate.
    """

    bins: Bins
    objective: Objective
    feature: AnyArray
    threshold: AnyArray
    leaf: AnyArray
    count: AnyArray
    decay: float
    evaluation: Floats
    n_jobs: int | None = None
    _ready: dict[tuple[int, ...] | None, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {**self.__dict__, "_ready": {}}

    @property
    def n_features(self) -> int:
        """How many columns a table must have."""
        return self.bins.n_features

    @property
    def n_trees(self) -> AnyArray:
        """How many trees each chain has, shape (members,)."""
        return self.count

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs)."""
        if table.ndim != 2 or table.shape[1] != self.n_features:  # noqa: PLR2004 (rows and columns)
            message = f"the table must have {self.n_features} columns; got shape {table.shape}"
            raise ValueError(message)
        key = None if prefixes is None else tuple(int(prefix) for prefix in prefixes)
        if key not in self._ready:
            self._ready[key] = self._make_ready(key)
        ready = self._ready[key]
        parameters = np.empty((ready.members, len(table), ready.parameters))
        ready.predict(table, thread_count(self.n_jobs), parameters)
        return parameters

    def _make_ready(self, prefixes: tuple[int, ...] | None) -> Any:  # noqa: ANN401 (a class of the native module)
        """Return the native predictor: leaf values then have the shrinkage of later trees of their part in them."""
        members, trees = self.feature.shape[:2]
        if prefixes is None:
            end = self.count[:, np.newaxis].astype(np.int32)
        else:
            if not prefixes or sorted(set(prefixes)) != list(prefixes) or prefixes[0] < 1 or prefixes[-1] > trees:
                message = f"prefixes must ascend from at least 1 to at most {trees}; got {prefixes}"
                raise ValueError(message)
            end = np.tile(np.asarray(prefixes, dtype=np.int32), (members, 1))
        begin = np.concatenate([np.zeros((members, 1), dtype=np.int32), end[:, :-1]], axis=1)
        position = np.arange(trees)
        # a tree's part ends at the first end after it; until then later trees shrink it
        part = (position[np.newaxis, :, np.newaxis] >= end[:, np.newaxis, :]).sum(axis=2)
        own_end = np.take_along_axis(end, np.minimum(part, end.shape[1] - 1), axis=1)
        shrunk = self.decay ** np.maximum(own_end - 1 - position, 0)
        return native().Predictor(
            self.bins.borders,
            self.bins.offsets,
            self.feature,
            self.threshold,
            (self.leaf * shrunk[:, :, np.newaxis, np.newaxis]).astype(np.float32),
            np.ascontiguousarray(end),
            self.decay ** (end - begin).astype(np.float64),
            self.objective.code,
            self.objective.start,
            *self.objective.units,
        )

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return what a model file must hold."""
        header = {"objective": self.objective.to_header(), "decay": self.decay}
        return header, {
            "borders": self.bins.borders,
            "offsets": self.bins.offsets,
            "feature": self.feature,
            "threshold": self.threshold,
            "leaf": self.leaf,
            "count": self.count,
            "evaluation": self.evaluation,
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | None) -> "NativeForest":
        """Build a forest from a model file's parts; anything that does not fit together is a ValueError."""
        _check_arrays(header, arrays)
        return cls(
            bins=Bins(arrays["borders"], arrays["offsets"]),
            objective=objective_from_header(header["objective"]),
            feature=arrays["feature"],
            threshold=arrays["threshold"],
            leaf=arrays["leaf"],
            count=arrays["count"],
            decay=float(header["decay"]),
            evaluation=arrays["evaluation"],
            n_jobs=n_jobs,
        )


@dataclass(frozen=True, slots=True)
class NativeEngine:
    """Trains chains in the native core."""

    n_jobs: int | None = None

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> NativeForest:
        """Train one chain a spec; specs may differ in their seeds alone."""
        spec = specs[0]
        threads = thread_count(self.n_jobs)
        bins = Bins.fit(data.X, data.weight, spec.max_bins, threads=threads)
        codes = bins.transform(data.X, threads=threads)
        rows, weight = own_order(codes, data.y, data.weight)
        y = data.y[rows]
        objective = objective_of(y, weight, data.n_classes)
        evaluation = None
        if data.evaluation is not None:
            other = data.evaluation
            y_other = objective.encode(other.y)
            if not np.abs(y_other).max() < _MOST_DEVIATIONS:
                message = (
                    f"eval_set holds targets that are more than {_MOST_DEVIATIONS:g} standard deviations off those of y"
                )
                raise ValueError(message)
            evaluation = _sample(bins.transform(other.X, threads=threads), y_other, other.weight)
        total = len(specs) * spec.n_estimators
        options = _options(spec, objective, float(weight.sum()))
        feature, threshold, leaf, count, losses = native().train(
            _sample(codes[rows], objective.encode(y), weight),
            evaluation,
            bins.counts,
            np.array([one.seed for one in specs], dtype=np.uint64),
            options,
            threads,
            lambda done: progress(done, total),
        )
        progress(total, total)
        kept = int(count.max())
        return NativeForest(
            bins=bins,
            objective=objective,
            feature=np.ascontiguousarray(feature[:, :kept]),
            threshold=np.ascontiguousarray(threshold[:, :kept]),
            leaf=np.ascontiguousarray(leaf[:, :kept]),
            count=count,
            decay=1.0 - options["shrink"] * spec.learning_rate,
            evaluation=losses + np.log(objective.units[1]),
            n_jobs=self.n_jobs,
        )


def _sample(codes: AnyArray, y: Floats, weight: Floats) -> tuple[AnyArray, ...]:
    keys = np.arange(len(y), dtype=np.uint32)
    return np.ascontiguousarray(codes), y.astype(np.float32), weight.astype(np.float32), keys


def _options(spec: MemberSpec, objective: Objective, n: float) -> dict[str, Any]:
    """Return the recipe of the native core (problem.hpp) for a table of weight n."""
    guard = spec.variance_guard if objective.family == "normal" else 0.0
    noise = 0.0 if spec.temperature is None else float(np.sqrt(spec.temperature * 2.0 / (n * spec.learning_rate)))
    if noise > _MOST_NOISE:
        message = (
            f"temperature={spec.temperature:g} and learning_rate={spec.learning_rate:g} give noise of {noise:.3g} "
            f"standard deviations on every gradient; at most {_MOST_NOISE:g} are allowed"
        )
        raise ValueError(message)
    return {
        "objective": objective.code,
        "outputs": len(objective.start),
        "start": [float(value) for value in objective.start],
        "trees": spec.n_estimators,
        "depth": spec.max_depth,
        "learning_rate": spec.learning_rate,
        "l2": spec.l2 + guard * 60.0 * min((450.0 / n) ** 3, 1.0),
        "shrink": 0.0 if spec.temperature is None else 1.0 / (2.0 * n),
        "noise": noise,
        "subsample": spec.subsample,
        "variance_guard": guard * 1000.0 * min((450.0 / n) ** 2, 1.0),
        "structure_rows": float(spec.structure_rows or 0),
        "patience": spec.patience or 0,
    }


_FILE_TYPES = {
    "borders": (np.float64, 1),
    "offsets": (np.int64, 1),
    "feature": (np.uint16, 3),
    "threshold": (np.uint8, 3),
    "leaf": (np.float32, 4),
    "count": (np.int32, 1),
    "evaluation": (np.float64, 2),
}


def _check_arrays(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    for name, (dtype, dimensions) in _FILE_TYPES.items():
        if name not in arrays or arrays[name].dtype != dtype or arrays[name].ndim != dimensions:
            message = f"{name} must be an array of {np.dtype(dtype)} with {dimensions} dimensions"
            raise ValueError(message)
    members, trees, depth = arrays["feature"].shape
    offsets, borders = arrays["offsets"], arrays["borders"]
    outputs = len(objective_from_header(header["objective"]).start)
    sizes = np.diff(offsets)
    ascending = np.diff(borders) > 0
    ascending[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(borders))] - 1] = True
    facts = {
        "offsets must ascend from 0 to the number of borders": len(offsets) > 1
        and offsets[0] == 0
        and offsets[-1] == len(borders)
        and bool(((sizes >= 0) & (sizes < MAX_BINS)).all()),
        "borders must ascend and be finite": bool(np.isfinite(borders).all() and ascending.all()),
        "depth must be from 1 to 8": 1 <= depth <= MAX_DEPTH,
        "there must be trees": members > 0 and trees > 0,
        "threshold must have the shape of feature": arrays["threshold"].shape == arrays["feature"].shape,
        "features must be columns of the table": bool((arrays["feature"] < max(len(offsets) - 1, 0)).all()),
        "leaf must hold a value for every leaf": arrays["leaf"].shape == (members, trees, 1 << depth, outputs),
        "leaf values must be finite": bool(np.isfinite(arrays["leaf"]).all()),
        "count must say how many trees each member has": arrays["count"].shape == (members,)
        and bool(((arrays["count"] > 0) & (arrays["count"] <= trees)).all()),
        "decay must be above 0 and at most 1": 0.0 < float(header["decay"]) <= 1.0,
        "evaluation must have a row a member": arrays["evaluation"].shape[0] == members,
    }
    for fact, holds in facts.items():
        if not holds:
            raise ValueError(fact)
