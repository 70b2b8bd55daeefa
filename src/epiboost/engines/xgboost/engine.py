"""XGBoost's trees: by default one an output and step; ``multi_strategy`` chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows
from epiboost._boosting.step_sizes import Steps, steps_of
from epiboost._boosting.variance_guard import gradients_of
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Bytes
from epiboost.distributed.checked_partition import FLOAT32_MAX
from epiboost.distributed.rows import PartitionedRows
from epiboost.engines.libraries.engine import LibraryEngine, library_of
from epiboost.engines.libraries.forest import Booster, BoosterForest, Chain, grow
from epiboost.engines.options import WEIGHTS, Options
from epiboost.engines.parallel import Grown
from epiboost.engines.xgboost.distributed import train_partitioned

_OWN = {
    **dict.fromkeys(
        (
            "objective", "num_class", "num_target", "booster", "base_score", "tree_method", "process_type", "updater",
            "num_parallel_tree",
        ),
        "this package",
    ),
    **dict.fromkeys(("n_estimators", "num_boost_round"), "n_estimators"),
    "learning_rate": "learning_rate",
    **dict.fromkeys(("max_depth", "max_leaves", "grow_policy"), "max_depth"),
    "reg_lambda": "l2",
    **dict.fromkeys(("max_bin", "max_bins"), "max_bins"),
    **dict.fromkeys(("subsample", "sampling_method"), "subsample"),
    "seed": "random_state",
    "nthread": "n_jobs",
    "early_stopping_rounds": "early_stopping_rounds",
    **dict.fromkeys(("enable_categorical", "feature_types"), "categorical_features"),
    **dict.fromkeys(("scale_pos_weight", "class_weight"), WEIGHTS),
}  # fmt: skip
_FREE = frozenset({
    "colsample_bylevel", "colsample_bynode", "colsample_bytree", "device", "gamma", "interaction_constraints",
    "max_cached_hist_node", "max_cat_threshold", "max_cat_to_onehot", "max_delta_step", "min_child_weight",
    "monotone_constraints", "multi_strategy", "reg_alpha", "seed_per_iteration", "verbosity",
})  # fmt: skip
_IDLE = frozenset({
    "callbacks", "custom_metric", "disable_default_eval_metric", "eval_metric", "feature_weights", "importance_type",
    "missing", "refresh_leaf", "validate_parameters",
})  # fmt: skip
_ALIASES = {
    "alpha": "reg_alpha",
    "eta": "learning_rate",
    "lambda": "reg_lambda",
    "lambda_": "reg_lambda",
    "min_split_loss": "gamma",
    "n_jobs": "nthread",
    "nthreads": "nthread",
    "random_state": "seed",
}


@dataclass(frozen=True)
class XGBoostForest(BoosterForest):
    """Models of XGBoost, one a chain."""

    library: ClassVar[str] = "xgboost"

    def _ready(self, table: AnyArray) -> Any:  # noqa: ANN401 (a DMatrix)
        return library_of(self.library).DMatrix(**_columns(table, self.sizes), nthread=self._threads)

    def _raw(self, member: int, ready: Any, begin: int, end: int) -> AnyArray:  # noqa: ANN401 (a DMatrix)
        booster = self.boosters[member]
        booster.set_param({"nthread": self._threads})
        raw: AnyArray = booster.predict(ready, iteration_range=(begin, end), output_margin=True)
        return raw.astype(np.float64)

    @staticmethod
    def _to_bytes(booster: Booster) -> Bytes:
        return np.frombuffer(bytes(booster.save_raw("ubj")), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes) -> Booster:
        library = library_of("xgboost")
        booster = library.Booster()
        try:
            booster.load_model(bytearray(content.tobytes()))
        except library.core.XGBoostError as error:
            message = f"XGBoost cannot read a model: {str(error).splitlines()[0]}"
            raise ValueError(message) from error
        return booster

    def _shape(self, member: int) -> tuple[int, int]:
        booster = self.boosters[member]
        return booster.num_features(), booster.num_boosted_rounds()


class XGBoostEngine(LibraryEngine):
    """Trains chains with XGBoost; see `LibraryEngine`.

    A member that is trained by several threads may differ in its last digits from one that is trained by one.
    """

    library = "xgboost"
    name = "XGBoost"
    forest = XGBoostForest
    takes_partitions: ClassVar[str] = "rows"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> BoosterForest:
        """Train one chain a spec, on rows that are here or in partitions; specs may differ in their seeds alone."""
        if isinstance(data.X, PartitionedRows):
            return self._fit_partitions(data.X, specs, progress)
        return super().fit(data, specs, progress)

    def _fit_partitions(self, rows: PartitionedRows, specs: Sequence[MemberSpec], progress: Progress) -> XGBoostForest:
        """Train where the rows are, all workers together at one chain after the other."""
        library = library_of(self.library)
        steps = steps_of(specs[0], rows.objective, rows.total_weight)
        settings = {**self._settings(specs[0], steps, rows), **self.options}
        with self._our_errors(library):
            boosters = train_partitioned(rows, specs, steps, settings, progress)
        return XGBoostForest(
            boosters=tuple(boosters),
            objective=rows.objective,
            count=np.full(len(boosters), specs[0].n_estimators, dtype=np.int64),
            decay=steps.decay,
            sizes=(0,) * rows.n_features,
            evaluation=np.empty((len(boosters), 0)),
            n_jobs=self.n_jobs,
        )

    def _rules(self) -> Options:
        return Options("XGBoost", own=_OWN, free=_FREE, idle=_IDLE, aliases=_ALIASES)

    def _errors(self, library: ModuleType) -> type[Exception]:
        error: type[Exception] = library.core.XGBoostError
        return error

    def _settings(self, spec: MemberSpec, steps: Steps, rows: Rows | PartitionedRows) -> dict[str, Any]:  # noqa: ARG002 (others need them)
        return {
            "tree_method": "hist",
            "multi_strategy": "one_output_per_tree",
            "learning_rate": steps.rate,
            "reg_lambda": steps.l2,
            "max_depth": spec.max_depth,
            "max_bin": spec.max_bins,
            "min_child_weight": 0.0,
            "base_score": 0.0,
            "verbosity": 0,
        }

    def _own(self, spec: MemberSpec, threads: int) -> dict[str, Any]:
        return {"nthread": threads, "seed": spec.seed % 2**31}

    def _prepared(self, library: ModuleType, rows: Rows, settings: dict[str, Any], threads: int) -> tuple[Any, Any]:
        """Bin the training rows, and those that are watched with the same borders."""
        label = np.tile(rows.y[:, np.newaxis], len(rows.objective.start))
        columns = _columns(rows.X, rows.sizes)
        train = library.QuantileDMatrix(**columns, label=label, max_bin=settings["max_bin"], nthread=threads)
        if rows.evaluation is None:
            return train, None
        return train, library.DMatrix(**_columns(rows.evaluation[0], rows.sizes), nthread=threads)

    def _chain(
        self,
        library: ModuleType,
        chain: LangevinObjective,
        settings: dict[str, Any],
        prepared: tuple[Any, Any],
        grown: Grown,
    ) -> Chain:
        train, watched = prepared
        objective = gradients_of(chain)
        booster = library.Booster(settings, [train] if watched is None else [train, watched])

        def step(tree: int) -> None:
            booster.update(train, tree, fobj=lambda raw, _: objective.gradients(raw, tree))

        def watch() -> AnyArray:
            raw: AnyArray = booster.predict(watched, output_margin=True)
            return raw

        count, losses = grow(chain, step, watch, grown)
        own = library.Booster()
        own.load_model(bytearray(booster.save_raw("ubj")))  # without the training rows
        return Chain(own, count, losses)


def _columns(table: AnyArray, sizes: Sequence[int]) -> dict[str, Any]:
    """Return a table as XGBoost takes it: a category that training has not seen is a missing one there."""
    table = np.clip(table, -FLOAT32_MAX, FLOAT32_MAX)
    if not any(sizes):
        return {"data": table}
    table[(np.asarray(sizes) > 0) & (table < 0)] = np.nan
    kinds = ["c" if size else "q" for size in sizes]
    return {"data": table, "feature_types": kinds, "enable_categorical": True}
