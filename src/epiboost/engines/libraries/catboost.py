"""The engine over CatBoost, which trains by its own Langevin boosting.

Settings that differ from CatBoost's defaults, and why:

- ``bootstrap_type="No"``: by default CatBoost trains each tree of a Langevin chain on a random part of the rows.
- ``leaf_estimation_method="Gradient"``: with Newton steps, the default, noise affects the choice of splits only and
  leaf values have none; a chain on fixed leaves then does not move.
- ``langevin``, ``diffusion_temperature`` and ``model_shrink_rate`` instead of ``posterior_sampling``, which overwrites
  the other two: noise and shrinkage are those of every engine, for the weight of the rows and ``temperature``.
- ``boost_from_average`` for two classes: the chain starts at their log-odds. Chains of three classes or more start at
  zero, because CatBoost has no such option for them, and with a baseline it would switch shrinkage off.
- ``l2_leaf_reg`` divided by the mean weight of the rows, by which CatBoost multiplies it.
- Targets are standardised, because CatBoost's noise is in the units of the target.

A trained model already includes the shrinkage: its first t of T trees sum to cᵀ⁻ᵗ times the chain after t trees.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np

from epiboost._boosting.objectives import BINARY, Bernoulli
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows
from epiboost._boosting.step_sizes import StepSizes, step_sizes
from epiboost._typing import AnyArray, Bytes, Floats, LibraryObject
from epiboost.engines.base import Capabilities
from epiboost.engines.libraries.chain import Chain
from epiboost.engines.libraries.engine import ChainTask, LibraryEngine, Settings, library_module
from epiboost.engines.libraries.forest import BoosterForest
from epiboost.engines.model_files.catboost import check_bytes
from epiboost.engines.model_files.trees import ModelShape
from epiboost.engines.options import SAMPLE_WEIGHT, Options
from epiboost.engines.parallel import TrainingCancelled, TreeCallback

_LOSSES = {"normal": "RMSEWithUncertainty", "categorical": "MultiClass"}
_RESERVED = {
    **dict.fromkeys(
        (
            "loss_function", "objective", "leaf_estimation_method", "leaf_estimation_iterations", "boost_from_average",
            "classes_count", "class_names", "target_border", "allow_const_label",
        ),
        "this package",
    ),
    **dict.fromkeys(("langevin", "posterior_sampling", "model_shrink_rate", "model_shrink_mode"), "ensemble"),
    **dict.fromkeys(("cat_features", "text_features", "embedding_features"), "categorical_features"),
    "diffusion_temperature": "temperature",
    "random_strength": "random_strength",
    **dict.fromkeys(
        ("bootstrap_type", "subsample", "bagging_temperature", "sampling_unit", "sampling_frequency", "mvs_reg"),
        "subsample",
    ),
    **dict.fromkeys(("iterations", "n_estimators", "num_boost_round", "num_trees"), "n_estimators"),
    **dict.fromkeys(("learning_rate", "eta"), "learning_rate"),
    **dict.fromkeys(("depth", "max_depth", "grow_policy", "max_leaves", "num_leaves"), "max_depth"),
    **dict.fromkeys(("l2_leaf_reg", "reg_lambda"), "l2"),
    **dict.fromkeys(("border_count", "max_bin"), "max_bins"),
    **dict.fromkeys(("random_seed", "random_state"), "random_state"),
    "thread_count": "n_jobs",
    **dict.fromkeys(
        ("use_best_model", "od_type", "od_wait", "od_pval", "early_stopping_rounds"), "early_stopping_rounds"
    ),
    **dict.fromkeys(("verbose", "verbose_eval", "silent", "logging_level"), "verbose"),
    **dict.fromkeys(("class_weights", "auto_class_weights", "scale_pos_weight"), SAMPLE_WEIGHT),
}  # fmt: skip
_NO_EFFECT = frozenset({
    "best_model_min_trees", "callback", "custom_loss", "custom_metric", "eval_metric", "metadata", "metric_period",
    "name", "save_snapshot", "snapshot_file", "snapshot_interval", "train_final_model",
})  # fmt: skip


@dataclass(frozen=True, repr=False)
class CatBoostForest(BoosterForest):
    """Models of CatBoost, one per chain."""

    library: ClassVar[str] = "catboost"

    @property
    def _start(self) -> Floats:
        return np.zeros(len(self.objective.start))  # CatBoost's model holds it

    def _factor(self, member: int, end: int) -> float:
        return float(self.decay ** (end - self.boosters[member].tree_count_))

    def _prepare(self, table: AnyArray) -> LibraryObject:
        return library_module(self.library).Pool(_columns(table, self.n_codes), thread_count=self._threads)

    def _sum_of_trees(self, member: int, prepared: LibraryObject, begin: int, end: int) -> AnyArray:
        raw: AnyArray = self.boosters[member].predict(
            prepared, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end, thread_count=self._threads
        )
        return raw

    def _gains(self, member: int) -> Floats:
        changes = self.boosters[member].get_feature_importance(
            type="PredictionValuesChange", thread_count=self._threads
        )
        gains = np.zeros(self.n_features)
        # numbers come first in CatBoost's table, categories after them
        gains[np.argsort(np.asarray(self.n_codes) > 0, kind="stable")] = changes
        return gains

    @staticmethod
    def _to_bytes(booster: LibraryObject) -> Bytes:
        copy = booster.copy()
        metadata = copy.get_metadata()
        for name in list(metadata.keys()):  # times, versions and parameters of the training
            del metadata[name]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            copy.save_model(str(path), format="cbm")
            return np.frombuffer(path.read_bytes(), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes, shape: ModelShape) -> LibraryObject:
        library = library_module("catboost")
        try:
            check_bytes(content.tobytes(), shape)
            return library.CatBoost().load_model(blob=content.tobytes())
        except (library.CatBoostError, ValueError) as error:
            message = f"a model of CatBoost cannot be read: {error}"
            raise ValueError(message) from error

    def _shape(self, member: int) -> tuple[int, int]:
        booster = self.boosters[member]
        return len(booster.feature_names_), booster.tree_count_


class CatBoostEngine(LibraryEngine):
    """Trains chains with CatBoost; see `LibraryEngine`."""

    capabilities = Capabilities(
        ensembles=("sglb", "sgb", "virtual", "single"),
        unsupported=(
            "interaction_constraints", "max_features", "max_leaves", "min_samples_leaf", "monotonic_constraints",
            "structure_rows", "variance_guard",
        ),
        distributions=False,
    )  # fmt: skip
    library = "catboost"
    name = "CatBoost"
    forest = CatBoostForest
    controls = ("", "", "")  # none of them has the same meaning
    max_row_share = 0.95

    def _known_options(self) -> Options:
        return Options("CatBoost", reserved=_RESERVED, no_effect=_NO_EFFECT)

    def _error_class(self, library: ModuleType) -> type[Exception]:
        error: type[Exception] = library.CatBoostError
        return error

    @contextmanager
    def _quiet(self, library: ModuleType) -> Iterator[None]:
        # CatBoost prints at any logging level. Its loggers belong to one thread: to this one, while others train.
        with ExitStack() as stack:
            with suppress(library.CatBoostError):  # another thread may have them already
                stack.enter_context(library.core.log_fixup(log_cout=_NullStream(), log_cerr=_NullStream()))
            yield

    def _steps(self, spec: MemberSpec, rows: LearningRows) -> StepSizes:
        return step_sizes(replace(spec, variance_guard=0.0), rows.objective, rows.total)

    def _settings(self, spec: MemberSpec, steps: StepSizes, rows: LearningRows) -> Settings:
        settings: Settings = {
            "loss_function": "Logloss" if isinstance(rows.objective, Bernoulli) else _LOSSES[rows.objective.family],
            "iterations": spec.n_estimators,
            "learning_rate": steps.rate,
            "depth": spec.max_depth,
            "l2_leaf_reg": steps.l2 * len(rows.y) / rows.total,  # CatBoost multiplies it by the mean weight of the rows
            "border_count": spec.max_bins - 1,
            "random_strength": spec.random_strength,
            "leaf_estimation_method": "Gradient",
            "leaf_estimation_iterations": 1,
            "boost_from_average": isinstance(rows.objective, Bernoulli),
            "model_shrink_rate": steps.shrink,
            "bootstrap_type": "No",
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
        if spec.subsample < 1.0:
            settings |= {"bootstrap_type": "Bernoulli", "subsample": spec.subsample}
        if spec.temperature:
            settings |= {"langevin": True, "diffusion_temperature": rows.total / spec.temperature}
        if len(rows.objective.start) > BINARY:
            settings |= {"classes_count": len(rows.objective.start)}
            del settings["boost_from_average"]
        return settings

    def _member_settings(self, spec: MemberSpec, threads: int) -> Settings:
        return {"random_seed": spec.seed % 2**31, "thread_count": threads}

    def _prepare(self, library: ModuleType, rows: LearningRows, settings: Settings, threads: int) -> LibraryObject:  # noqa: ARG002 (other libraries need them)
        table = _columns(rows.X, rows.n_codes)
        return library.Pool(table, label=_labels(rows), weight=rows.weight, thread_count=threads)

    def _train_chain(self, task: ChainTask) -> Chain:
        callback = _CatBoostCallback(task.report_trees)
        booster = task.library.CatBoost(task.settings).fit(task.prepared, callbacks=[callback])
        if callback.cancelled:
            raise TrainingCancelled
        return _evaluated_chain(booster, task)


class _CatBoostCallback:
    """Reports each tree, and ends the training when it is cancelled."""

    def __init__(self, report_trees: TreeCallback) -> None:
        self.report_trees = report_trees
        self.cancelled = False

    def after_iteration(self, _: object) -> bool:
        """Return whether to go on."""
        try:
            self.report_trees(1)
        except TrainingCancelled:
            self.cancelled = True
        return not self.cancelled


class _NullStream:
    """Discards CatBoost's messages, which are about settings that users have not made."""

    def write(self, text: str) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing."""


def _labels(rows: LearningRows) -> AnyArray:
    """Return targets or class numbers.

    CatBoost starts from the logarithm of the target's standard deviation. A constant target, which is 0 here, is given
    a standard deviation of one unit, a billionth of its size.
    """
    if rows.objective.family == "categorical":
        return rows.y.astype(np.int64)
    if np.ptp(rows.y) == 0.0:
        return rows.y + np.where(np.arange(len(rows.y)) % 2, 1.0, -1.0)
    return rows.y


def _columns(table: AnyArray, n_codes: Sequence[int]) -> LibraryObject:
    """Return a table as CatBoost takes it: categories are text, and a missing value is a category."""
    if not any(n_codes):
        return np.ascontiguousarray(table)
    is_category = np.asarray(n_codes) > 0
    codes = table[:, is_category]
    words = np.where(np.isnan(codes), b"missing", np.nan_to_num(codes).astype(np.int64).astype("S"))
    with np.errstate(over="ignore"):  # a number beyond single precision becomes infinite, on one side of all borders
        numbers = table[:, ~is_category].astype(np.float32)
    return library_module("catboost").FeaturesData(
        num_feature_data=numbers if numbers.shape[1] else None, cat_feature_data=words.astype(object)
    )


def _evaluated_chain(booster: LibraryObject, task: ChainTask) -> Chain:
    """Return the chain with its evaluation loss after each tree."""
    rows, spec, threads = task.objective.rows, task.objective.spec, task.settings["thread_count"]
    if rows.evaluation is None:
        return Chain(booster, spec.n_estimators, [])
    table, y, weight = rows.evaluation
    pool = task.library.Pool(_columns(table, rows.n_codes), thread_count=threads)
    stages = booster.staged_predict(pool, prediction_type="RawFormulaVal", thread_count=threads)
    losses = []
    for end, raw in enumerate(stages, start=1):
        scores = raw.reshape(len(y), -1) * task.objective.steps.decay ** (end - booster.tree_count_)
        losses.append(rows.objective.loss(scores, y, weight))
    return Chain(booster, spec.n_estimators, losses)
