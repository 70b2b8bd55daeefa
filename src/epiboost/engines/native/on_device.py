"""Predictors of a native forest on the GPU: made when they are first used, one per GPU and choice of members."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from epiboost._inputs.device_arrays import is_on_device
from epiboost._typing import AnyArray, Floats, LibraryObject
from epiboost.engines.cuda.choice import is_gpu_used, pays_to_predict, warn_of_cpu
from epiboost.engines.cuda.device import DeviceError, cupy, device_errors
from epiboost.engines.cuda.prediction import CudaPredictor, Link, NormalSummary, Recalibration
from epiboost.engines.cuda.tables import parameters_of, probabilities_of, summary_of
from epiboost.engines.native.segments import segment_arrays

if TYPE_CHECKING:
    from epiboost.engines.native.forest import NativeForest

_MAX_PREDICTORS = 4  # that are kept; each takes the memory of the trees on the GPU
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DevicePredictors:
    """The predictors of a forest that are kept.

    Methods return None if the CPU shall predict the table: for small tables and where there is no GPU, if the forest's
    device is "auto", and for all tables if it is "cpu".
    """

    _kept: dict[tuple[int, tuple[int, ...] | None], CudaPredictor] = field(default_factory=dict)

    def parameters(self, forest: "NativeForest", prefixes: tuple[int, ...] | None, table: AnyArray) -> Floats | None:
        """Return the parameters of all members, shape (members, n, parameters), for a table on the host."""
        found = self._run(
            forest, prefixes, table, lambda predictor: parameters_of(predictor, table, threads=forest.threads)
        )
        return None if found is None else forest.objective.of_core(found)

    def normal_summary(
        self,
        forest: "NativeForest",
        prefixes: tuple[int, ...] | None,
        table: LibraryObject,
        recalibration: Recalibration | None,
    ) -> NormalSummary | None:
        """Return mean, data and knowledge uncertainty of each row, where the table is."""

        def compute(predictor: CudaPredictor) -> NormalSummary:
            return summary_of(predictor, table, recalibration, threads=forest.threads)

        return self._run(forest, prefixes, table, compute)

    def mean_probabilities(
        self, forest: "NativeForest", prefixes: tuple[int, ...] | None, table: LibraryObject
    ) -> LibraryObject | None:
        """Return the average probabilities of the members, shape (n, classes), where the table is."""
        return self._run(
            forest, prefixes, table, lambda predictor: probabilities_of(predictor, table, threads=forest.threads)
        )

    def _run(
        self,
        forest: "NativeForest",
        prefixes: tuple[int, ...] | None,
        table: LibraryObject,
        compute: Callable[[CudaPredictor], Result],
    ) -> Result | None:
        """Return what is computed with the predictor, on the GPU where the table is, or None."""
        is_there = is_on_device(table)  # then prediction there always pays
        if forest.device == "cpu" and not is_there:
            return None
        pays = is_there or pays_to_predict(len(table), int(forest.count.sum()))
        if not len(table) or not is_gpu_used(forest.device, pays=pays):
            return None
        try:
            with cupy().cuda.Device(table.device.id if is_there else None) as device:
                return compute(self._predictor(forest, int(device.id), prefixes))
        except DeviceError as error:
            if forest.device == "cuda" or is_there:
                raise
            warn_of_cpu(error)
            return None

    def _predictor(self, forest: "NativeForest", device: int, prefixes: tuple[int, ...] | None) -> CudaPredictor:
        predictor = self._kept.get((device, prefixes))
        if predictor is None:
            with device_errors("the trees of the model"):
                predictor = _compile(forest, prefixes)
            if len(self._kept) >= _MAX_PREDICTORS:
                self._kept.clear()
            self._kept[device, prefixes] = predictor
        return predictor


def _compile(forest: "NativeForest", prefixes: tuple[int, ...] | None) -> CudaPredictor:
    objective = forest.objective
    link = Link(objective.code, objective.start, *objective.units)
    return CudaPredictor.of(segment_arrays(forest, prefixes), forest.bins.borders, forest.bins.offsets, link)
