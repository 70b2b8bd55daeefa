"""The native engine: symmetric trees on binned tables, in C++.

The model is a few arrays, and what is done with them here is array work: training fills them (trainer.hpp), prediction
reads them (predictor.hpp).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.recipe import MAX_DEPTH, MemberSpec
from epiboost._boosting.truncation import check_prefixes
from epiboost._encoding.binned import BinnedEncoding
from epiboost._encoding.encoding import Encoding
from epiboost._files.checks import require_arrays, require_facts
from epiboost._inputs.table import Dataset
from epiboost._native import native
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Bytes, Family, Floats
from epiboost.distributed.members import ON_CLUSTER
from epiboost.engines.base import Capabilities
from epiboost.engines.native.chains import chain_table, options_of, train_here, train_on_cluster
from epiboost.engines.native.quick_trees import left_by_trees
from epiboost.engines.native.rows import bin_evaluation, bin_rows
from epiboost.engines.parallel import thread_count


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
    encoding : Encoding or None
        How columns of categories become numbers; None if there are none.
    """

    bins: Bins
    objective: Objective
    feature: AnyArray
    threshold: AnyArray
    leaf: AnyArray
    count: AnyArray
    decay: float
    evaluation: Floats
    n_jobs: int | str | None = None
    encoding: Encoding | None = None
    _ready: dict[tuple[int, ...] | None, Any] = field(default_factory=dict, repr=False, compare=False)
    _encoded: BinnedEncoding | None = field(default=None, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {**self.__dict__, "_ready": {}, "_encoded": None}

    @property
    def n_features(self) -> int:
        """How many columns a table must have."""
        return self.bins.n_features if self.encoding is None else self.encoding.n_features

    @property
    def family(self) -> Family:
        """Which distribution the outputs are parameters of."""
        return self.objective.family

    @property
    def n_codes(self) -> tuple[int, ...]:
        """Number of codes per column, 0 for a column of numbers."""
        return (0,) * self.n_features if self.encoding is None else tuple(self.encoding.sizes.tolist())

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
        if self.encoding is None:
            return self._parameters(ready.predict, table, ready)
        encoding = self._binned(self.encoding)
        encoded, unseen = encoding.transform(table, threads=thread_count(self.n_jobs))
        parameters = self._parameters(ready.predict_bins, encoded, ready)
        new = np.flatnonzero(unseen)
        if len(parameters) > 1 and len(new):  # these rows are predicted anew, each member having its own view of them
            parameters[:, new] = self._one_each(encoding.lend(table[new], encoded[new], len(parameters)), ready)
        return parameters

    def _binned(self, encoding: Encoding) -> BinnedEncoding:
        """Return the bins of what categories become, made when they are first asked for."""
        if self._encoded is None:
            object.__setattr__(self, "_encoded", BinnedEncoding.of(encoding, self.bins))
        return cast("BinnedEncoding", self._encoded)

    def _parameters(
        self,
        predict: Callable[..., None],
        table: AnyArray,
        ready: Any,  # noqa: ANN401 (a class of the native module)
        first: int = 0,
        chains: int | None = None,
    ) -> Floats:
        """Return what some of the chains say of a table of numbers, or of bins."""
        count = ready.chains if chains is None else chains
        parameters = np.empty((count * ready.parts, len(table), ready.parameters))
        predict(table, thread_count(self.n_jobs), first, parameters)
        return parameters

    def _one_each(self, tables: Iterable[Bytes], ready: Any) -> Floats:  # noqa: ANN401
        """Return what each member says of a table of its own."""
        return np.stack(
            [
                self._parameters(ready.predict_bins, table, ready, member // ready.parts, 1)[member % ready.parts]
                for member, table in enumerate(tables)
            ]
        )

    def _make_ready(self, prefixes: tuple[int, ...] | None) -> Any:  # noqa: ANN401 (a class of the native module)
        """Return the native predictor: leaf values then have the shrinkage of later trees of their part in them."""
        members, trees = self.feature.shape[:2]
        if prefixes is None:
            end = self.count[:, np.newaxis].astype(np.int32)
        else:
            end = np.tile(np.asarray(check_prefixes(prefixes, trees), dtype=np.int32), (members, 1))
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
        header: dict[str, Any] = {"objective": self.objective.to_header(), "decay": self.decay}
        header["encoding"], statistics = (None, {}) if self.encoding is None else self.encoding.to_file()
        return header, {
            **statistics,
            "borders": self.bins.borders,
            "offsets": self.bins.offsets,
            "feature": self.feature,
            "threshold": self.threshold,
            "leaf": self.leaf,
            "count": self.count,
            "evaluation": self.evaluation,
        }

    @classmethod
    def from_file(
        cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | str | None
    ) -> "NativeForest":
        """Build a forest from a model file's parts; anything that does not fit together is a ValueError."""
        bins = Bins.from_file(arrays["borders"], arrays["offsets"])
        _check_arrays(header, arrays, bins.n_features)
        encoding = None if header["encoding"] is None else Encoding.from_file(header["encoding"], arrays)
        if encoding is not None and encoding.n_encoded != bins.n_features:
            message = f"the encoding makes {encoding.n_encoded} columns, the bins are of {bins.n_features}"
            raise ValueError(message)
        return cls(
            bins=bins,
            objective=objective_from_header(header["objective"]),
            feature=arrays["feature"],
            threshold=arrays["threshold"],
            leaf=arrays["leaf"],
            count=arrays["count"],
            decay=float(header["decay"]),
            evaluation=arrays["evaluation"],
            n_jobs=n_jobs,
            encoding=encoding,
        )


@dataclass(frozen=True, slots=True)
class NativeEngine:
    """Trains chains in the native core.

    Parameters
    ----------
    n_jobs : int or "dask", optional
        Threads; or the workers of the Dask cluster that is in use, which train a member each.
    borders : sequence of sequences of numbers, optional
        Where the bins of each column end, ascending; None takes quantiles of the rows.
    """

    n_jobs: int | str | None = None
    borders: Sequence[Sequence[float]] | None = field(default=None, repr=False)

    capabilities: ClassVar[Capabilities] = Capabilities(partitions="bins", cluster=True)

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> NativeForest:
        """Train one chain a spec; specs may differ in their seeds alone."""
        threads = thread_count(self.n_jobs)
        seeds = np.array([spec.seed for spec in specs], dtype=np.uint64)
        left = partial(left_by_trees, self._here().fit, specs[0])
        ready = bin_rows(data, specs, threads, self.given_bins(specs[0].max_bins), left=left)
        bins, encoding, objective = ready.bins, ready.encoding, ready.objective
        evaluation = None if data.evaluation is None else bin_evaluation(data.evaluation, ready, threads)
        options = options_of(specs[0], objective, float(ready.weight.sum()))
        del data  # of a large table every copy counts: whoever trains may let go of it
        tables = [chain_table(ready, evaluation, options)]
        del ready, evaluation
        if self.n_jobs == ON_CLUSTER:
            trees = train_on_cluster(tables.pop(), seeds, progress)
        else:
            trees = train_here(tables.pop(), seeds, threads, progress)
        feature, threshold, leaf, count, losses = trees
        kept = int(count.max())
        return NativeForest(
            bins=bins,
            objective=objective,
            feature=np.ascontiguousarray(feature[:, :kept]),
            threshold=np.ascontiguousarray(threshold[:, :kept]),
            leaf=np.ascontiguousarray(leaf[:, :kept]),
            count=count,
            decay=1.0 - options["shrink"] * options["learning_rate"],
            evaluation=losses + np.log(objective.units[1]),
            n_jobs=self.n_jobs,
            encoding=encoding,
        )

    def given_bins(self, max_bins: int) -> Bins | None:
        """Return the bins that were given, or None."""
        return None if self.borders is None else Bins.of(self.borders, max_bins)

    def _here(self) -> "NativeEngine":
        """Return an engine for trials: on this machine, since they are small, and of borders of their own columns."""
        return NativeEngine(None if self.n_jobs == ON_CLUSTER else self.n_jobs)


_FILE_TYPES = {
    "feature": (np.uint16, 3),
    "threshold": (np.uint8, 3),
    "leaf": (np.float32, 4),
    "count": (np.int32, 1),
    "evaluation": (np.float64, 2),
}


def _check_arrays(header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_columns: int) -> None:
    require_arrays(arrays, _FILE_TYPES)
    members, trees, depth = arrays["feature"].shape
    outputs = len(objective_from_header(header["objective"]).start)
    facts = {
        "depth must be from 1 to 8": 1 <= depth <= MAX_DEPTH,
        "there must be trees": members > 0 and trees > 0,
        "threshold must have the shape of feature": arrays["threshold"].shape == arrays["feature"].shape,
        "features must be columns of the table": bool((arrays["feature"] < n_columns).all()),
        "leaf must hold a value for every leaf": arrays["leaf"].shape == (members, trees, 1 << depth, outputs),
        "leaf values must be finite": bool(np.isfinite(arrays["leaf"]).all()),
        "count must say how many trees each member has": arrays["count"].shape == (members,)
        and bool(((arrays["count"] > 0) & (arrays["count"] <= trees)).all()),
        "decay must be above 0 and at most 1": 0.0 < float(header["decay"]) <= 1.0,
        "evaluation must have a row a member": arrays["evaluation"].shape[0] == members,
    }
    require_facts(facts)
