"""CatBoost's trees, by its own Langevin boosting.

What its settings are here, and why:

- ``bootstrap_type="No"``: left to itself, CatBoost shows each tree of a Langevin chain a random part of the rows.
- ``leaf_estimation_method="Gradient"``: with Newton's steps, its default, noise reaches the choice of splits alone and
  leaf values have none; a chain on fixed leaves then stands still.
- ``langevin``, ``diffusion_temperature`` and ``model_shrink_rate`` in place of ``posterior_sampling``, which overwrites
  the two others: noise and shrinkage are as for every engine, for the weight of the rows and ``temperature``.
- ``boost_from_average`` for two classes: the chain starts at their log-odds. Of several it starts at zero, there is no
  such option for those; and with a baseline CatBoost would switch shrinkage off.
- ``l2_leaf_reg`` divided by the mean weight of the rows, by which CatBoost multiplies it.
- Targets are standardised, because CatBoost's noise is in the units of the target.

A trained model is shrunk already: its first t of T trees sum to cᵀ⁻ᵗ times the chain as it was after t trees.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.objectives import BINARY, Bernoulli
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows
from epiboost._boosting.scores import loss_of
from epiboost._boosting.step_sizes import Steps, steps_of
from epiboost._typing import AnyArray, Bytes, Floats
from epiboost.engines.libraries.engine import LibraryEngine, library_of
from epiboost.engines.libraries.forest import Booster, BoosterForest, Chain
from epiboost.engines.options import WEIGHTS, Options
from epiboost.engines.parallel import Grown, Stopped

_LOSSES = {"normal": "RMSEWithUncertainty", "categorical": "MultiClass"}
_OWN = {
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
    **dict.fromkeys(("class_weights", "auto_class_weights", "scale_pos_weight"), WEIGHTS),
}  # fmt: skip
_IDLE = frozenset({
    "best_model_min_trees", "callback", "custom_loss", "custom_metric", "eval_metric", "metadata", "metric_period",
    "name", "save_snapshot", "snapshot_file", "snapshot_interval", "train_final_model",
})  # fmt: skip


@dataclass(frozen=True)
class CatBoostForest(BoosterForest):
    """Models of CatBoost, one a chain."""

    library: ClassVar[str] = "catboost"

    @property
    def _start(self) -> Floats:
        return np.zeros(len(self.objective.start))  # it is in CatBoost's own model

    def _factor(self, member: int, end: int) -> float:
        return float(self.decay ** (end - self.boosters[member].tree_count_))

    def _ready(self, table: AnyArray) -> Any:  # noqa: ANN401 (a Pool)
        return library_of(self.library).Pool(_columns(table, self.sizes), thread_count=self._threads)

    def _raw(self, member: int, ready: Any, begin: int, end: int) -> AnyArray:  # noqa: ANN401 (a Pool)
        raw: AnyArray = self.boosters[member].predict(
            ready, prediction_type="RawFormulaVal", ntree_start=begin, ntree_end=end, thread_count=self._threads
        )
        return raw

    @staticmethod
    def _to_bytes(booster: Booster) -> Bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            booster.save_model(str(path), format="cbm")
            return np.frombuffer(path.read_bytes(), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes) -> Booster:
        library = library_of("catboost")
        try:
            return library.CatBoost().load_model(blob=content.tobytes())
        except library.CatBoostError as error:
            message = f"CatBoost cannot read a model: {error}"
            raise ValueError(message) from error

    def _shape(self, member: int) -> tuple[int, int]:
        booster = self.boosters[member]
        return len(booster.feature_names_), booster.tree_count_


class CatBoostEngine(LibraryEngine):
    """Trains chains with CatBoost; see `LibraryEngine`."""

    cannot = ("structure_rows", "variance_guard")
    library = "catboost"
    name = "CatBoost"
    forest = CatBoostForest

    def _rules(self) -> Options:
        return Options("CatBoost", own=_OWN, idle=_IDLE)

    def _errors(self, library: ModuleType) -> type[Exception]:
        error: type[Exception] = library.CatBoostError
        return error

    @contextmanager
    def _quiet(self, library: ModuleType) -> Iterator[None]:
        # It prints at any level of logging, and its loggers belong to one thread: to this one, while others train.
        with ExitStack() as stack:
            with suppress(library.CatBoostError):  # they may belong to another already
                stack.enter_context(library.core.log_fixup(log_cout=_Nowhere(), log_cerr=_Nowhere()))
            yield

    def _steps(self, spec: MemberSpec, rows: Rows) -> Steps:
        return steps_of(replace(spec, variance_guard=0.0), rows.objective, rows.total)

    def _settings(self, spec: MemberSpec, steps: Steps, rows: Rows) -> dict[str, Any]:
        settings = {
            "loss_function": "Logloss" if isinstance(rows.objective, Bernoulli) else _LOSSES[rows.objective.family],
            "iterations": spec.n_estimators,
            "learning_rate": steps.rate,
            "depth": spec.max_depth,
            "l2_leaf_reg": steps.l2 * len(rows.y) / rows.total,  # CatBoost multiplies it by the mean weight of the rows
            "border_count": spec.max_bins - 1,
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

    def _own(self, spec: MemberSpec, threads: int) -> dict[str, Any]:
        return {"random_seed": spec.seed % 2**31, "thread_count": threads}

    def _prepared(self, library: ModuleType, rows: Rows, settings: dict[str, Any], threads: int) -> Any:  # noqa: ANN401, ARG002
        table = _columns(rows.X, rows.sizes)
        return library.Pool(table, label=_labels(rows), weight=rows.weight, thread_count=threads)

    def _chain(
        self,
        library: ModuleType,
        chain: LangevinObjective,
        settings: dict[str, Any],
        prepared: Any,  # noqa: ANN401 (a Pool)
        grown: Grown,
    ) -> Chain:
        count = _Count(grown)
        booster = library.CatBoost(settings).fit(prepared, callbacks=[count])
        if count.stopped:
            raise Stopped
        return _watched(library, booster, chain, settings["thread_count"])


class _Count:
    """Passes on that a tree is grown, and whether there are to be more."""

    def __init__(self, grown: Grown) -> None:
        self.grown = grown
        self.stopped = False

    def after_iteration(self, _: object) -> bool:
        """Say whether to go on."""
        try:
            self.grown(1)
        except Stopped:
            self.stopped = True
        return not self.stopped


class _Nowhere:
    """Takes what CatBoost says of settings that users have not made."""

    def write(self, text: str) -> None:
        """Forget it."""

    def flush(self) -> None:
        """Do nothing."""


def _labels(rows: Rows) -> AnyArray:
    """Return targets or class numbers.

    CatBoost starts from the logarithm of the target's spread. A constant one, which is 0 here, is given a spread of one
    unit, a billionth of its size.
    """
    if rows.objective.family == "categorical":
        return rows.y.astype(np.int64)
    if np.ptp(rows.y) == 0.0:
        return rows.y + np.where(np.arange(len(rows.y)) % 2, 1.0, -1.0)
    return rows.y


def _columns(table: AnyArray, sizes: Sequence[int]) -> Any:  # noqa: ANN401 (an array, or CatBoost's container)
    """Return a table as CatBoost takes it: categories are text there, and the missing one is a category."""
    if not any(sizes):
        return np.ascontiguousarray(table)
    is_category = np.asarray(sizes) > 0
    codes = table[:, is_category]
    words = np.where(np.isnan(codes), b"missing", np.nan_to_num(codes).astype(np.int64).astype("S"))
    numbers = table[:, ~is_category].astype(np.float32)
    return library_of("catboost").FeaturesData(
        num_feature_data=numbers if numbers.shape[1] else None, cat_feature_data=words.astype(object)
    )


def _watched(library: ModuleType, booster: Booster, chain: LangevinObjective, threads: int) -> Chain:
    """Measure the chain after each tree on the rows that are watched, and cut it where it would have stopped."""
    rows, spec = chain.rows, chain.spec
    if rows.evaluation is None:
        return Chain(booster, spec.n_estimators, [])
    table, y, weight = rows.evaluation
    losses: list[float] = []
    best = 0
    pool = library.Pool(_columns(table, rows.sizes), thread_count=threads)
    stages = booster.staged_predict(pool, prediction_type="RawFormulaVal", thread_count=threads)
    for end, raw in enumerate(stages):
        scores = raw.reshape(len(y), -1) * chain.steps.decay ** (end + 1 - booster.tree_count_)
        losses.append(loss_of(rows.objective, scores, y, weight))
        best = end if losses[end] < losses[best] else best
        if spec.patience is not None and end - best >= spec.patience:
            break
    return Chain(booster, spec.n_estimators if spec.patience is None else best + 1, losses)
