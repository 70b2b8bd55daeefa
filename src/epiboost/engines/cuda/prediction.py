"""Prediction on a GPU: from a table to the distribution parameters of all members, with the bits of the CPU."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.cuda.compilation import kernels
from epiboost.engines.cuda.compiled_trees import CompiledTrees, ForestArrays
from epiboost.engines.cuda.device import cupy
from epiboost.engines.cuda.plan import STAGED_COLUMNS, STAGED_ROWS, Launch, TreeSizes, launch_of, padded

_THREADS = 256
_NUMBERS = {"float64": "double", "float32": "float", "uint8": "unsigned char"}
_NORMAL, _BERNOULLI, _CATEGORICAL = 0, 1, 2  # codes of objectives; families follow
_MAX_SHARED_BYTES = 48 << 10  # more must be asked for


class Link(NamedTuple):
    """How scores become parameters; see `Objective`.

    Attributes
    ----------
    objective : int
        Code of the objective.
    start : array of shape (outputs,)
    location, scale : float
        Units of the target.
    """

    objective: int
    start: Floats
    location: float
    scale: float

    @property
    def n_parameters(self) -> int:
        """Number of parameters per row: a Bernoulli has one score but two probabilities, a family keeps its scores."""
        return 2 if self.objective == _BERNOULLI else len(self.start)


class Recalibration(NamedTuple):
    """The numbers of a recalibration of Normals; the native core has the same (``recalibration.hpp``)."""

    factor: float
    reference: float
    power: float
    knowledge: float
    limit: float


class NormalSummary(NamedTuple):
    """The mean of an ensemble of Normals, and both parts of its variance, each of shape (rows,)."""

    mean: LibraryObject
    data: LibraryObject
    knowledge: LibraryObject


@dataclass(frozen=True, slots=True)
class CudaPredictor:
    """A forest on the GPU.

    Attributes
    ----------
    trees : CompiledTrees
        Its sizes are read on the host.
    borders, offsets : arrays
        Borders of the bins of all columns, see `Bins`.
    link : Link
    """

    trees: CompiledTrees
    borders: Floats
    offsets: AnyArray
    link: Link
    _on_device: dict[str, LibraryObject] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, forest: ForestArrays, borders: Floats, offsets: AnyArray, link: Link) -> Self:
        """Return the predictor of a forest, with its arrays on the GPU."""
        predictor = cls(CompiledTrees.of(forest), borders, offsets, link)
        trees = predictor.trees
        arrays = {name: getattr(trees, name) for name in ("split", "leaf", "batches", "unit", "segments", "decay")}
        arrays |= {"borders": borders, "offsets": offsets.astype(np.int64), "start": np.asarray(link.start)}
        predictor._on_device.update({name: cupy().asarray(array) for name, array in arrays.items()})
        cupy().cuda.get_current_stream().synchronize()  # other streams, which predict, do not wait for the copies
        return predictor

    @property
    def n_columns(self) -> int:
        """Number of columns of a table."""
        return len(self.offsets) - 1

    @property
    def row_bytes(self) -> int:
        """Bytes that a row takes on the GPU: bins, scores, parameters and a summary."""
        numbers = self.trees.n_members * (self.trees.n_outputs + self.link.n_parameters) + self.link.n_parameters + 3
        return self.n_columns + 8 * numbers

    def parameters(self, table: LibraryObject) -> LibraryObject:
        """Return the parameters of all members, shape (members, rows, parameters), on the GPU; of families the scores.

        Parameters
        ----------
        table : array of shape (rows, columns), on the GPU
            Numbers of single or double precision, or bins.
        """
        rows = len(table)
        parameters = cupy().empty((self.trees.n_members, rows, self.link.n_parameters))
        if rows:
            self._link(self._scores(self._bins(table)), rows, parameters)
        return parameters

    def summarize_normal(self, parameters: LibraryObject, recalibration: Recalibration | None) -> NormalSummary:
        """Return mean, data and knowledge uncertainty of Normals, recalibrated if there is a recalibration."""
        members, rows, _ = parameters.shape
        summary = NormalSummary(*(cupy().empty(rows) for _ in range(3)))
        if rows:
            numbers = Recalibration(1.0, 1.0, 1.0, 1.0, 1.0) if recalibration is None else recalibration
            kernel = kernels("parameters").get_function("summarize_normal")
            settings = (np.bool_(recalibration is not None), *map(np.float64, numbers))
            kernel((_blocks(rows),), (_THREADS,), (parameters, np.int32(members), np.int64(rows), *settings, *summary))
        return summary

    def mean_probabilities(self, parameters: LibraryObject) -> LibraryObject:
        """Return the average probabilities of the members, shape (rows, classes)."""
        members, rows, classes = parameters.shape
        mean = cupy().empty((rows, classes))
        if rows:
            kernel = kernels("parameters").get_function("average_members")
            arguments = (parameters, np.int32(members), np.int64(rows * classes), mean)
            kernel((_blocks(rows * classes),), (_THREADS,), arguments)
        return mean

    def _bins(self, table: LibraryObject) -> LibraryObject:
        """Return the bins of a table, shape (columns, padded rows)."""
        rows, columns = table.shape
        bins = cupy().empty((columns, padded(rows)), dtype=np.uint8)
        kernel = kernels("bins", f"EPIBOOST_NUMBER={_NUMBERS[str(table.dtype)]}").get_function("find_bins")
        strides = (np.int64(stride // table.itemsize) for stride in table.strides)
        given = (table, np.int64(rows), np.int32(columns), *strides)
        borders, offsets = self._on_device["borders"], self._on_device["offsets"]
        grid = (padded(rows) // STAGED_ROWS, -(-columns // STAGED_COLUMNS))
        kernel(grid, (_THREADS,), (*given, borders, offsets, bins, np.int64(padded(rows))))
        return bins

    def _scores(self, bins: LibraryObject) -> LibraryObject:
        """Return raw scores without the start, shape (members, outputs, padded rows)."""
        trees, arrays = self.trees, self._on_device
        columns, rows = bins.shape
        sizes = TreeSizes(
            trees.split.shape[1], trees.leaf.shape[2], trees.n_outputs, trees.n_chains, trees.is_symmetric
        )
        launch = launch_of(rows, columns, sizes)
        kernel = _sum_kernel(sizes, launch)
        scores = cupy().empty((trees.n_members, trees.n_outputs, rows))
        table = (bins, np.int64(rows), np.int32(columns))
        forest = (arrays["split"], arrays["leaf"], np.int32(trees.n_outputs), arrays["batches"], arrays["unit"])
        segments = (arrays["segments"], arrays["decay"], np.int32(trees.segments.shape[1]))
        kernel(
            launch.grid,
            (launch.threads,),
            (*table, *forest, *segments, scores),
            shared_mem=launch.shared_bytes,
        )
        return scores

    def _link(self, scores: LibraryObject, rows: int, parameters: LibraryObject) -> None:
        """Write the parameters of scores."""
        link, start = self.link, self._on_device["start"]
        module = kernels("parameters")
        given = (scores, np.int64(scores.shape[2]), np.int64(rows))
        grid = (_blocks(rows), self.trees.n_members)
        if link.objective == _NORMAL:
            location = link.location + link.scale * float(link.start[0])
            units = (np.float64(location), np.float64(link.scale), np.float64(link.start[1]))
            module.get_function("normal_parameters")(grid, (_THREADS,), (*given, *units, parameters))
        elif link.objective == _BERNOULLI:
            module.get_function("bernoulli_parameters")(grid, (_THREADS,), (*given, start, parameters))
        else:
            kernel = "categorical_parameters" if link.objective == _CATEGORICAL else "complete_scores"
            outputs = np.int32(len(link.start))
            module.get_function(kernel)(grid, (_THREADS,), (*given, outputs, start, parameters))


def _sum_kernel(sizes: TreeSizes, launch: Launch) -> LibraryObject:
    constants = {
        "LEVELS": sizes.splits if sizes.is_symmetric else 0,
        "SPLITS": sizes.splits,
        "LEAVES": sizes.leaves,
        "PLANES": launch.planes,
        "STAGED": int(launch.is_staged),
    }
    macros = tuple(f"EPIBOOST_{name}={value}" for name, value in constants.items())
    kernel = kernels("scores", *macros).get_function("add_leaf_values")
    if launch.shared_bytes > _MAX_SHARED_BYTES:
        kernel.max_dynamic_shared_size_bytes = launch.shared_bytes
    return kernel


def _blocks(threads: int) -> int:
    return -(-threads // _THREADS)
