"""Trained chains of the native engine: arrays, prediction, and the parts of a model file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.recipe import thread_count
from epiboost._display import short_repr
from epiboost._encoding.binned import BinnedEncoding
from epiboost._encoding.encoding import Encoding
from epiboost._inputs.device_arrays import is_on_device
from epiboost._native import Predictor, native
from epiboost._threads import shared_threads
from epiboost._typing import AnyArray, Bytes, Device, Family, Floats, LibraryObject
from epiboost.engines.base import check_width
from epiboost.engines.cuda.prediction import Recalibration
from epiboost.engines.native.on_device import DevicePredictors
from epiboost.engines.native.segments import segment_arrays
from epiboost.engines.native.tree_arrays import check_arrays, find_leaves

_MAX_PREDICTORS = 4  # compiled predictors that are kept; each takes the memory of the trees
_WORK_PER_THREAD = 1_000_000  # trees times rows: some 0.2 ms, several times what it takes to start a thread


@dataclass(frozen=True)
class NativeForest:
    """Chains of trees as arrays.

    Attributes
    ----------
    feature, threshold : arrays of shape (members, trees, splits)
        Split s of a tree compares the bin of ``feature`` with ``threshold``. In a symmetric tree it splits all leaves:
        bit s of the leaf index is set if the bin is above.
    parent : array of shape (members, trees, splits)
        In a leaf-wise tree split s divides this leaf: rows whose bin is above go to leaf s + 1. It is 255 for splits
        that were not made. Symmetric trees have no columns here.
    leaf : array of shape (members, trees, leaves, outputs)
        Learning rate times the value of the weak learner.
    count : array of shape (members,)
        Number of trees in use.
    decay : float
        Factor on the score at each later tree: 1 - gamma * learning_rate.
    evaluation : array of shape (members, trees)
        Losses on the evaluation rows.
    encoding : Encoding or None
        Encoding of the categorical columns; None if there are none.
    device : {"cpu", "cuda", "auto"}
        Where it predicts; no part of a file.
    """

    bins: Bins
    objective: Objective
    feature: AnyArray
    threshold: AnyArray
    parent: AnyArray
    leaf: AnyArray
    count: AnyArray
    decay: float
    evaluation: Floats
    n_jobs: int | str | None = None
    encoding: Encoding | None = None
    device: Device = "cpu"
    _predictors: dict[tuple[int, ...] | None, Predictor] = field(default_factory=dict, repr=False, compare=False)
    _on_device: DevicePredictors = field(default_factory=DevicePredictors, repr=False, compare=False)

    __repr__ = short_repr

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the caches."""
        state = {**self.__dict__, "_predictors": {}, "_on_device": DevicePredictors()}
        for name in ("binned_encoding", "threads", "n_features"):
            state.pop(name, None)
        return state

    @cached_property
    def n_features(self) -> int:
        """Number of columns that a table must have."""
        return self.bins.n_features if self.encoding is None else self.encoding.n_features

    @cached_property
    def threads(self) -> int:
        """Number of threads."""
        return thread_count(self.n_jobs)

    @property
    def family(self) -> Family:
        """Distribution whose parameters the outputs are."""
        return self.objective.family

    @property
    def n_codes(self) -> tuple[int, ...]:
        """Number of codes per column, 0 for a numeric column."""
        return (0,) * self.n_features if self.encoding is None else tuple(self.encoding.sizes.tolist())

    @property
    def n_trees(self) -> AnyArray:
        """Number of trees per chain, shape (members,)."""
        return self.count

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs)."""
        check_width(table, self.n_features)
        members = None if prefixes is None else tuple(int(prefix) for prefix in prefixes)
        if self.encoding is None:
            parameters = self._on_device.parameters(self, members, table)
            if parameters is not None:
                return parameters
            predictor = self._predictor(members)
            return self._parameters(predictor.predict, table, predictor)
        encoded, unseen = self.binned(table)
        parameters = self._on_device.parameters(self, members, encoded)
        predictor = self._predictor(members)
        if parameters is None:
            parameters = self._parameters(predictor.predict_bins, encoded, predictor)
        rows = np.flatnonzero(unseen)
        if len(parameters) > 1 and len(rows):  # rows with unseen categories are encoded differently for each member
            imputed = self.binned_encoding.impute_unseen(table[rows], encoded[rows], len(parameters))
            parameters[:, rows] = self._predict_each(imputed, predictor)
        return parameters

    def on(self, device: Device) -> "NativeForest":
        """Return the forest that predicts on a device; both share their arrays and caches."""
        if device == self.device:
            return self
        forest = object.__new__(type(self))
        forest.__dict__.update(self.__dict__, device=device)
        return forest

    def normal_summary(
        self, table: LibraryObject, prefixes: tuple[int, ...] | None, recalibration: Sequence[float] | None
    ) -> tuple[LibraryObject, LibraryObject, LibraryObject] | None:
        """Return mean, data and knowledge uncertainty of each row, where the table is, or None; see `DeviceForest`."""
        if self.family != "normal":
            return None
        check_width(table, self.n_features)
        if self.encoding is None:
            settings = None if recalibration is None else Recalibration(*recalibration)
            summary = self._on_device.normal_summary(self, prefixes, table, settings)
            if summary is not None or is_on_device(table):
                return summary
            return self._summary_on_host(table, prefixes, recalibration)
        if self.device != "cpu" or self.encoding.has_unseen_codes(table):
            return None
        encoded, unseen = self.binned(table)
        if unseen.any():  # such rows are encoded differently for each member
            return None
        return self._summary_on_host(encoded, prefixes, recalibration)

    def _summary_on_host(
        self, table: AnyArray, prefixes: tuple[int, ...] | None, recalibration: Sequence[float] | None
    ) -> tuple[Floats, Floats, Floats]:
        """Return the summary of a table of numbers or of bins; parameters of members are never written as a whole."""
        predictor = self._predictor(prefixes)
        summarize = predictor.summarize if self.encoding is None else predictor.summarize_bins
        with shared_threads(self.threads) as threads:
            return summarize(table, recalibration, self._threads_for(table, predictor.chains, threads))

    def mean_probabilities(self, table: LibraryObject, prefixes: tuple[int, ...] | None) -> LibraryObject | None:
        """Return average probabilities, where a table of numbers is; None if `predict` shall do it."""
        if self.encoding is not None or self.family != "categorical":
            return None
        return self._on_device.mean_probabilities(self, prefixes, table)

    def binned(self, table: AnyArray) -> tuple[Bytes, AnyArray]:
        """Return bins of shape (n, binned columns), and whether a row has a category that was not seen in training."""
        check_width(table, self.n_features)
        with shared_threads(self.threads) as threads:
            if self.encoding is None:
                return self.bins.transform(table, threads=threads), np.zeros(len(table), dtype=bool)
            return self.binned_encoding.transform(table, threads=threads)

    def leaf_indices(self, table: AnyArray, n_trees: int) -> Bytes:
        """Return the leaf of each row in trees that are spread evenly over the members, shape (n, trees)."""
        bins, _ = self.binned(table)
        in_use = np.flatnonzero(np.arange(self.feature.shape[1]) < self.count[:, np.newaxis])
        chosen = in_use[np.linspace(0, len(in_use) - 1, min(n_trees, len(in_use))).astype(np.int64)]
        leaves = np.zeros((len(table), len(chosen)), dtype=np.uint8)
        for position, (member, tree) in enumerate(zip(*np.divmod(chosen, self.feature.shape[1]), strict=True)):
            above = bins[:, self.feature[member, tree]] > self.threshold[member, tree]
            leaves[:, position] = find_leaves(above, self.parent[member, tree])
        return leaves

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return the header and the arrays of a model file."""
        header: dict[str, Any] = {"objective": self.objective.to_header(), "decay": self.decay}
        header["encoding"], statistics = (None, {}) if self.encoding is None else self.encoding.to_file()
        return header, {
            **statistics,
            "borders": self.bins.borders,
            "offsets": self.bins.offsets,
            "feature": self.feature,
            "threshold": self.threshold,
            "parent": self.parent,
            "leaf": self.leaf,
            "count": self.count,
            "evaluation": self.evaluation,
        }

    @classmethod
    def from_file(
        cls, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], n_jobs: int | str | None
    ) -> "NativeForest":
        """Build a forest from the parts of a model file; raise ValueError if they are inconsistent."""
        arrays = {"parent": np.empty((*arrays["feature"].shape[:2], 0), np.uint8), **arrays}  # older files have none
        bins = Bins.from_file(arrays["borders"], arrays["offsets"])
        check_arrays(header, arrays, bins.n_features)
        encoding = None if header["encoding"] is None else Encoding.from_file(header["encoding"], arrays)
        if encoding is not None and encoding.n_encoded != bins.n_features:
            message = f"the encoding has {encoding.n_encoded} columns, the bins have {bins.n_features}"
            raise ValueError(message)
        return cls(
            bins=bins,
            objective=objective_from_header(header["objective"]),
            feature=arrays["feature"],
            threshold=arrays["threshold"],
            parent=arrays["parent"],
            leaf=arrays["leaf"],
            count=arrays["count"],
            decay=float(header["decay"]),
            evaluation=arrays["evaluation"],
            n_jobs=n_jobs,
            encoding=encoding,
        )

    @cached_property
    def binned_encoding(self) -> BinnedEncoding:
        """The bins of the encoding, which must not be None."""
        if self.encoding is None:
            message = "a forest without categories has no encoding"
            raise TypeError(message)
        return BinnedEncoding.of(self.encoding, self.bins)

    def _parameters(
        self,
        predict: Callable[[AnyArray, int, int, Floats], None],
        table: AnyArray,
        predictor: Predictor,
        first_chain: int = 0,
        n_chains: int | None = None,
    ) -> Floats:
        """Return the parameters of some chains for a table of numbers or of bins."""
        count = predictor.chains if n_chains is None else n_chains
        parameters = np.empty((count * predictor.segments, len(table), predictor.parameters))
        with shared_threads(self.threads) as threads:
            predict(table, self._threads_for(table, count, threads), first_chain, parameters)
        return self.objective.of_core(parameters)

    def _threads_for(self, table: AnyArray, chains: int, most: int) -> int:
        trees: int = chains * self.feature.shape[1]
        return min(most, len(table) * trees // _WORK_PER_THREAD + 1)

    def predict_bins(self, bins: Bytes, prefixes: Sequence[int] | None, chain: int) -> Floats:
        """Return the parameters of one chain for a table of bins, shape (prefixes, samples, outputs)."""
        predictor = self._predictor(None if prefixes is None else tuple(prefixes))
        return self._parameters(predictor.predict_bins, bins, predictor, chain, 1)

    def _predict_each(self, tables: Iterable[Bytes], predictor: Predictor) -> Floats:
        """Return the parameters of each member for its own table of bins."""
        predictions = []
        for member, table in enumerate(tables):
            chain, segment = divmod(member, predictor.segments)
            predictions.append(self._parameters(predictor.predict_bins, table, predictor, chain, 1)[segment])
        return np.stack(predictions)

    def _predictor(self, prefixes: tuple[int, ...] | None) -> Predictor:
        """Return the native predictor of these prefixes; cached."""
        predictor = self._predictors.get(prefixes)
        if predictor is None:
            predictor = self._compile(prefixes)
            if len(self._predictors) >= _MAX_PREDICTORS:
                self._predictors.clear()
            self._predictors[prefixes] = predictor  # another thread may clear the cache before this one returns
        return predictor

    def _compile(self, prefixes: tuple[int, ...] | None) -> Predictor:
        """Return a new native predictor, one segment per prefix."""
        return native().Predictor(
            self.bins.borders,
            self.bins.offsets,
            *segment_arrays(self, prefixes),
            self.objective.code,
            self.objective.start,
            *self.objective.units,
        )
