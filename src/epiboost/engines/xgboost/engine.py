"""The engine over XGBoost: by default one tree per output and step; ``multi_strategy`` changes that."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows
from epiboost._boosting.step_sizes import StepSizes, step_sizes
from epiboost._boosting.variance_guard import with_variance_guard
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._threads import configured_models, lock_of
from epiboost._typing import AnyArray, Bytes, Floats, LibraryObject
from epiboost.distributed.checked_partition import FLOAT32_MAX
from epiboost.distributed.rows import PartitionedRows
from epiboost.engines.base import Capabilities
from epiboost.engines.libraries.chain import Chain, grow_chain
from epiboost.engines.libraries.engine import ChainTask, LibraryEngine, Settings, library_module
from epiboost.engines.libraries.forest import BoosterForest
from epiboost.engines.model_files.trees import ModelShape
from epiboost.engines.model_files.xgboost import check_bytes
from epiboost.engines.options import SAMPLE_WEIGHT, Options
from epiboost.engines.xgboost.distributed import train_partitioned

_RESERVED = {
    **dict.fromkeys(
        (
            "objective", "num_class", "num_target", "booster", "base_score", "tree_method", "process_type", "updater",
            "num_parallel_tree",
        ),
        "this package",
    ),
    **dict.fromkeys(("n_estimators", "num_boost_round"), "n_estimators"),
    "learning_rate": "learning_rate",
    "max_depth": "max_depth",
    **dict.fromkeys(("max_leaves", "grow_policy"), "max_leaves"),
    "reg_lambda": "l2",
    **dict.fromkeys(("max_bin", "max_bins"), "max_bins"),
    **dict.fromkeys(("subsample", "sampling_method"), "subsample"),
    "seed": "random_state",
    "nthread": "n_jobs",
    "early_stopping_rounds": "early_stopping_rounds",
    **dict.fromkeys(("enable_categorical", "feature_types"), "categorical_features"),
    **dict.fromkeys(("scale_pos_weight", "class_weight"), SAMPLE_WEIGHT),
}  # fmt: skip
_ALLOWED = frozenset({
    "colsample_bylevel", "colsample_bynode", "colsample_bytree", "device", "gamma", "interaction_constraints",
    "max_cached_hist_node", "max_cat_threshold", "max_cat_to_onehot", "max_delta_step", "min_child_weight",
    "monotone_constraints", "multi_strategy", "reg_alpha", "seed_per_iteration", "verbosity",
})  # fmt: skip
_NO_EFFECT = frozenset({
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


@dataclass(frozen=True, repr=False)
class XGBoostForest(BoosterForest):
    """Models of XGBoost, one per chain."""

    library: ClassVar[str] = "xgboost"

    def _prepare(self, table: AnyArray) -> LibraryObject:
        return library_module(self.library).DMatrix(**_columns(table, self.n_codes), nthread=self._threads)

    def _sum_of_trees(self, member: int, prepared: LibraryObject, begin: int, end: int) -> AnyArray:
        booster = self._configured(member)
        raw: AnyArray = booster.predict(prepared, iteration_range=(begin, end), output_margin=True)
        return raw.astype(np.float64)

    def _configured(self, member: int) -> LibraryObject:
        """Return a booster whose number of threads is set.

        It is set once per booster: any call fails, or predicts something else, while another thread sets it.
        """
        booster, configured = self.boosters[member], configured_models()
        if booster not in configured:
            with lock_of(booster):
                if booster not in configured:
                    booster.set_param({"nthread": self._threads})
                    booster.save_config()  # configures the booster now, and not at its first prediction
                    configured.add(booster)
        return booster

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return header and arrays of a model file; see `BoosterForest.to_file`."""
        for member in range(len(self.boosters)):
            self._configured(member)
        return super().to_file()

    def _gains(self, member: int) -> Floats:
        used = self._configured(member)[: int(self.count[member])]
        gains = np.zeros(self.n_features)
        for name, gain in used.get_score(importance_type="total_gain").items():
            gains[int(name.removeprefix("f"))] = np.sum(gain)
        return gains

    @staticmethod
    def _to_bytes(booster: LibraryObject) -> Bytes:
        return np.frombuffer(bytes(booster.save_raw("ubj")), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes, shape: ModelShape) -> LibraryObject:
        library = library_module("xgboost")
        booster = library.Booster()
        try:
            check_bytes(content.tobytes(), shape)
            booster.load_model(bytearray(content.tobytes()))
        except (library.core.XGBoostError, ValueError) as error:
            message = f"a model of XGBoost cannot be read: {str(error).splitlines()[0]}"
            raise ValueError(message) from error
        return booster

    def _shape(self, member: int) -> tuple[int, int]:
        booster = self.boosters[member]
        return booster.num_features(), booster.num_boosted_rounds()


class XGBoostEngine(LibraryEngine):
    """Trains chains with XGBoost; see `LibraryEngine`.

    A member that is trained by several threads may differ in its last digits from one that is trained by one thread.
    """

    capabilities = Capabilities(
        unsupported=("random_strength", "structure_rows", "monotonic_constraints"), partitions="rows"
    )
    library = "xgboost"
    name = "XGBoost"
    forest = XGBoostForest
    controls = ("interaction_constraints", "min_child_weight", "colsample_bytree")

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> BoosterForest:
        """Train one chain per spec, on rows in memory or in the partitions of a Dask collection."""
        if isinstance(data.X, PartitionedRows):
            return self._fit_partitions(data.X, specs, progress)
        return super().fit(data, specs, progress)

    def _fit_partitions(self, rows: PartitionedRows, specs: Sequence[MemberSpec], progress: Progress) -> XGBoostForest:
        """Train on the workers that hold the rows, one chain after the other."""
        library = library_module(self.library)
        steps = step_sizes(specs[0], rows.objective, rows.total_weight)
        settings = {**self._settings(specs[0], steps, rows), **self._controls(specs[0]), **self.options}
        with self._library_errors(library):
            boosters = train_partitioned(rows, specs, steps, settings, progress)
        return XGBoostForest(
            boosters=tuple(boosters),
            objective=rows.objective,
            count=np.full(len(boosters), specs[0].n_estimators, dtype=np.int64),
            decay=steps.decay,
            n_codes=(0,) * rows.n_features,
            evaluation=np.empty((len(boosters), 0)),
            n_jobs=self.n_jobs,
        )

    def _known_options(self) -> Options:
        return Options("XGBoost", reserved=_RESERVED, allowed=_ALLOWED, no_effect=_NO_EFFECT, aliases=_ALIASES)

    def _error_class(self, library: ModuleType) -> type[Exception]:
        error: type[Exception] = library.core.XGBoostError
        return error

    def _settings(self, spec: MemberSpec, steps: StepSizes, rows: LearningRows | PartitionedRows) -> Settings:  # noqa: ARG002 (others need them)
        return {
            "tree_method": "hist",
            "multi_strategy": "one_output_per_tree",
            "learning_rate": steps.rate,
            "reg_lambda": steps.l2,
            "max_depth": spec.max_depth or 0,
            "max_leaves": spec.max_leaves or 0,
            "grow_policy": "lossguide" if spec.max_leaves else "depthwise",
            "max_bin": spec.max_bins,
            "min_child_weight": 0.0,
            "base_score": 0.0,
            "verbosity": 0,
        }

    def _controls(self, spec: MemberSpec) -> Settings:
        controls = super()._controls(spec)
        if "interaction_constraints" in controls:  # XGBoost takes the columns of a list for names, those of text not
            controls["interaction_constraints"] = json.dumps(controls["interaction_constraints"])
        return controls

    def _member_settings(self, spec: MemberSpec, threads: int) -> Settings:
        return {"nthread": threads, "seed": spec.seed % 2**31}

    def _prepare(
        self, library: ModuleType, rows: LearningRows, settings: Settings, threads: int
    ) -> tuple[LibraryObject, LibraryObject]:
        """Bin the training rows; evaluation rows are kept as they are."""
        label = np.tile(rows.labels[:, np.newaxis], len(rows.objective.start))
        columns = _columns(rows.X, rows.n_codes)
        train = library.QuantileDMatrix(**columns, label=label, max_bin=settings["max_bin"], nthread=threads)
        if rows.evaluation is None:
            return train, None
        return train, library.DMatrix(**_columns(rows.evaluation[0], rows.n_codes), nthread=threads)

    def _train_chain(self, task: ChainTask) -> Chain:
        train, evaluation = task.prepared
        objective = with_variance_guard(task.objective)
        booster = task.library.Booster(task.settings, [train] if evaluation is None else [train, evaluation])

        def step(tree: int) -> None:
            booster.update(train, tree, fobj=lambda raw, _: objective.gradients(raw, tree))

        def evaluation_scores() -> AnyArray:
            raw: AnyArray = booster.predict(evaluation, output_margin=True)
            return raw

        losses = grow_chain(task.objective, step, evaluation_scores, task.report_trees)
        trained = task.library.Booster()
        trained.load_model(bytearray(booster.save_raw("ubj")))  # without the training rows
        return Chain(trained, task.objective.spec.n_estimators, losses)


def _columns(table: AnyArray, n_codes: Sequence[int]) -> dict[str, Any]:
    """Return a table as XGBoost takes it: an unseen category is a missing value."""
    table = np.clip(table, -FLOAT32_MAX, FLOAT32_MAX)
    if not any(n_codes):
        return {"data": table}
    table[(np.asarray(n_codes) > 0) & (table < 0)] = np.nan
    kinds = ["c" if count else "q" for count in n_codes]
    return {"data": table, "feature_types": kinds, "enable_categorical": True}
