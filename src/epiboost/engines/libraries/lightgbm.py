"""The engine over LightGBM: trees grown leaf by leaf, one tree per output and step.

Where no split is worth its regularisation, LightGBM grows a tree with one leaf of value zero, and no tree at all if
that happens for every output. The chain still takes the step: every row's score changes by the value of a single leaf.
These uniform steps are stored beside LightGBM's model, with the number of its iterations after each step of the chain.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows
from epiboost._boosting.step_sizes import StepSizes
from epiboost._boosting.variance_guard import with_variance_guard
from epiboost._files.requirements import require_facts
from epiboost._threads import lock_of
from epiboost._typing import AnyArray, Bytes, Floats, Integers, LibraryObject
from epiboost.engines.libraries.chain import Chain, grow_chain
from epiboost.engines.libraries.engine import ChainTask, LibraryEngine, Settings, library_module
from epiboost.engines.libraries.forest import BoosterForest
from epiboost.engines.model_files.lightgbm import END, check_text
from epiboost.engines.model_files.trees import ModelShape
from epiboost.engines.options import SAMPLE_WEIGHT, Options

_RESERVED = {
    **dict.fromkeys(
        ("objective", "num_class", "boosting", "data", "valid", "input_model", "tree_learner"), "this package"
    ),
    **dict.fromkeys(("linear_tree", "linear_lambda"), "this package, whose leaves hold constants"),
    "num_iterations": "n_estimators",
    "learning_rate": "learning_rate",
    "max_depth": "max_depth",
    "num_leaves": "max_leaves",
    "lambda_l2": "l2",
    "max_bin": "max_bins",
    **dict.fromkeys(
        (
            "bagging_fraction", "bagging_freq", "pos_bagging_fraction", "neg_bagging_fraction", "bagging_by_query",
            "bagging_seed", "data_sample_strategy", "top_rate", "other_rate",
        ),
        "subsample",
    ),
    "seed": "random_state",
    "num_threads": "n_jobs",
    "categorical_feature": "categorical_features",
    **dict.fromkeys(("early_stopping_round", "early_stopping_min_delta"), "early_stopping_rounds"),
    **dict.fromkeys(("scale_pos_weight", "is_unbalance", "class_weight"), SAMPLE_WEIGHT),
}  # fmt: skip
_ALLOWED = frozenset({
    "bin_construct_sample_cnt", "cat_l2", "cat_smooth", "cegb_penalty_feature_coupled", "cegb_penalty_feature_lazy",
    "cegb_penalty_split", "cegb_tradeoff", "data_random_seed", "deterministic", "device_type", "enable_bundle",
    "extra_seed", "extra_trees", "feature_contri", "feature_fraction", "feature_fraction_bynode",
    "feature_fraction_seed", "feature_pre_filter", "force_col_wise", "force_row_wise", "forcedbins_filename",
    "forcedsplits_filename", "gpu_device_id", "gpu_device_id_list", "gpu_platform_id", "gpu_use_dp",
    "histogram_pool_size", "interaction_constraints", "is_enable_sparse", "lambda_l1", "max_bin_by_feature",
    "max_cat_threshold", "max_cat_to_onehot", "max_delta_step", "min_data_in_bin", "min_data_in_leaf",
    "min_data_per_group", "min_gain_to_split", "min_sum_hessian_in_leaf", "monotone_constraints",
    "monotone_constraints_method", "monotone_penalty", "num_gpu", "num_grad_quant_bins", "path_smooth",
    "quant_train_renew_leaf", "stochastic_rounding", "use_missing", "use_quantized_grad", "verbosity",
    "zero_as_missing",
})  # fmt: skip


@dataclass(frozen=True, repr=False)
class LightGBMForest(BoosterForest):
    """Models of LightGBM, one per chain.

    Attributes
    ----------
    iterations : array of shape (members, steps)
        Number of iterations that the library's model has after each step.
    uniform : array of shape (members, steps, outputs)
        What each step adds to the score of every row, beside the trees.
    """

    iterations: Integers = field(kw_only=True)
    uniform: Floats = field(kw_only=True)

    library: ClassVar[str] = "lightgbm"

    def _prepare(self, table: AnyArray) -> AnyArray:
        return np.ascontiguousarray(table, dtype=np.float64)

    def _sum_of_trees(self, member: int, prepared: AnyArray, begin: int, end: int) -> AnyArray:
        iterations = self.iterations[member]
        first, last = int(iterations[begin - 1]) if begin else 0, int(iterations[end - 1])
        uniform = self.uniform[member, begin:end].sum(axis=0)
        if first == last:  # no tree was grown in these steps
            return np.tile(uniform, (len(prepared), 1))
        with lock_of(self.boosters[member]):  # LightGBM keeps the first and last iteration of a call in its model
            raw: AnyArray = self.boosters[member].predict(
                prepared, start_iteration=first, num_iteration=last - first, raw_score=True, num_threads=self._threads
            )
        return np.asarray(raw.reshape(len(prepared), -1) + uniform)

    def _gains(self, member: int) -> Floats:
        used = int(self.iterations[member, int(self.count[member]) - 1])
        if not used:  # no tree was grown; zero would mean all of them
            return np.zeros(self.n_features)
        gains: Floats = self.boosters[member].feature_importance("gain", iteration=used)
        return gains

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return header and arrays of a model file; see `BoosterForest.to_file`."""
        header, arrays = super().to_file()
        return header, {**arrays, "iterations": self.iterations, "uniform": self.uniform}

    @classmethod
    def _extra_arrays(cls, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        iterations, uniform = arrays["iterations"], arrays["uniform"]
        facts = {
            "iterations must be whole numbers that never decrease": iterations.dtype == np.int64
            and iterations.ndim == 2  # noqa: PLR2004 (members and steps)
            and bool((np.diff(iterations, axis=1, prepend=0) >= 0).all()),
            "uniform must be finite numbers, one row per step": uniform.dtype == np.float64
            and uniform.ndim == 3  # noqa: PLR2004 (members, steps and outputs)
            and uniform.shape[:2] == iterations.shape
            and bool(np.isfinite(uniform).all()),
            "iterations must have as many steps as a chain": len(iterations) == len(arrays["count"])
            and iterations.shape[1] >= int(arrays["count"].max()),
        }
        require_facts(facts)
        return {"iterations": iterations, "uniform": uniform}

    def _shape(self, member: int) -> tuple[int, int]:
        booster = self.boosters[member]
        steps = self.iterations.shape[1]
        needed = int(self.iterations[member, int(self.count[member]) - 1])
        fits = needed <= booster.current_iteration() and self.uniform.shape[2] == len(self.objective.start)
        return booster.num_feature(), steps if fits else 0

    @staticmethod
    def _to_bytes(booster: LibraryObject) -> Bytes:
        trees, end, _ = booster.model_to_string().partition(END)  # the rest is for training
        return np.frombuffer((trees + end).encode(), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes, shape: ModelShape) -> LibraryObject:
        library = library_module("lightgbm")
        try:
            text = content.tobytes().decode("ascii")
            check_text(text, shape)
            return library.Booster(model_str=text)
        except (library.basic.LightGBMError, ValueError) as error:
            message = f"a model of LightGBM cannot be read: {error}"
            raise ValueError(message) from error


@dataclass(frozen=True)
class _LightGBMChain(Chain):
    """A chain with uniform steps; see `LightGBMForest`."""

    iterations: list[int]
    uniform: list[Floats]


class LightGBMEngine(LibraryEngine):
    """Trains chains with LightGBM; see `LibraryEngine`."""

    library = "lightgbm"
    name = "LightGBM"
    forest = LightGBMForest
    controls = ("interaction_constraints", "min_sum_hessian_in_leaf", "feature_fraction")
    max_row_share = 0.6  # it estimates the number of rows of a leaf by their weight, and a lighter row counts as none

    def _known_options(self) -> Options:
        known = library_module("lightgbm").basic._ConfigAliases._get_all_param_aliases()  # noqa: SLF001 (no public one)
        aliases = {alias: option for option, others in known.items() for alias in others}
        no_effect = known.keys() - _RESERVED.keys() - _ALLOWED
        return Options("LightGBM", reserved=_RESERVED, allowed=_ALLOWED, no_effect=no_effect, aliases=aliases)

    def _error_class(self, library: ModuleType) -> type[Exception]:
        error: type[Exception] = library.basic.LightGBMError
        return error

    def _settings(self, spec: MemberSpec, steps: StepSizes, rows: LearningRows) -> Settings:
        _check_monotone(self.options.get("monotone_constraints"), rows.categories)
        order = {} if self.options.get("force_row_wise") else {"force_col_wise": True}
        return {
            "learning_rate": steps.rate,
            "lambda_l2": steps.l2,
            "max_depth": spec.max_depth or -1,
            "num_leaves": spec.max_leaves or 2 ** (spec.max_depth or 0),
            "max_bin": spec.max_bins,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 1e-6,  # rows outside a tree's subsample have hessian zero
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            **order,  # sums by column have the same order at any number of threads
            "deterministic": True,
            "verbosity": -1,
        }

    def _member_settings(self, spec: MemberSpec, threads: int) -> Settings:
        return {"num_threads": threads, "seed": spec.seed % 2**31}

    def _prepare(
        self, library: ModuleType, rows: LearningRows, settings: Settings, threads: int
    ) -> tuple[LibraryObject, LibraryObject]:
        """Bin the training rows, and the evaluation rows with the same borders."""
        settings = {**settings, "num_threads": threads}
        train = library.Dataset(
            rows.X, label=rows.labels, categorical_feature=rows.categories, params=settings, free_raw_data=True
        ).construct()
        if rows.evaluation is None:
            return train, None
        table, y, _ = rows.evaluation
        evaluation = train.create_valid(np.ascontiguousarray(table, dtype=np.float64), label=y, params=settings)
        return train, evaluation.construct()

    def _train_chain(self, task: ChainTask) -> _LightGBMChain:
        train, evaluation = task.prepared
        settings = {**task.settings, "objective": "none", "num_class": len(task.objective.rows.objective.start)}
        growing = _GrowingChain(task.library.Booster(settings, train), evaluation, task.objective, settings)
        losses = grow_chain(task.objective, growing.step, growing.evaluation_scores, task.report_trees)
        booster = task.library.Booster(model_str=growing.booster.model_to_string())  # without the training rows
        return _LightGBMChain(booster, task.objective.spec.n_estimators, losses, growing.iterations, growing.uniform)

    def _extra_arrays(self, chains: Sequence[Chain]) -> dict[str, AnyArray]:
        trained = [chain for chain in chains if isinstance(chain, _LightGBMChain)]
        steps = max(len(chain.iterations) for chain in trained)
        iterations = np.zeros((len(trained), steps), dtype=np.int64)
        uniform = np.zeros((len(trained), steps, len(trained[0].uniform[0])))
        for member, chain in enumerate(trained):
            iterations[member, : len(chain.iterations)] = chain.iterations
            iterations[member, len(chain.iterations) :] = chain.iterations[-1]
            uniform[member, : len(chain.uniform)] = chain.uniform
        return {"iterations": iterations, "uniform": uniform}


class _GrowingChain:
    """A chain while it grows: LightGBM's trees, and the uniform steps beside them."""

    def __init__(
        self, booster: LibraryObject, evaluation: LibraryObject, chain: LangevinObjective, settings: Settings
    ) -> None:
        self.booster, self.objective, self.settings = booster, with_variance_guard(chain), settings
        self.iterations: list[int] = []
        self.uniform: list[Floats] = []
        self.uniform_sum = np.zeros(len(chain.rows.objective.start))
        if evaluation is not None:
            booster.add_valid(evaluation, "evaluation")

    def step(self, tree: int) -> None:
        """Grow one tree per output; an output without a tree takes a uniform step."""
        before: list[AnyArray] = []
        leaf_value = np.zeros(len(self.uniform_sum))

        def gradients(raw: AnyArray, _: object) -> tuple[AnyArray, AnyArray]:
            raw = raw.reshape(-1, len(self.uniform_sum))
            before.append(raw.copy())
            gradient, hessian = self.objective.gradients(raw + self.uniform_sum, tree)
            leaf_value[:] = self._value_of_one_leaf(gradient, hessian)
            return gradient.squeeze(), hessian.squeeze()

        self.booster.update(fobj=gradients)
        after = self._scores(self.booster.eval_train)
        has_no_tree = (before[0] == after).all(axis=0)
        self.uniform.append(np.where(has_no_tree, leaf_value, 0.0))
        self.uniform_sum = self.uniform_sum + self.uniform[-1]
        self.iterations.append(int(self.booster.current_iteration()))

    def evaluation_scores(self) -> AnyArray:
        """Return the score of the evaluation rows."""
        return self._scores(self.booster.eval_valid) + self.uniform_sum

    def _scores(self, evaluate: Callable[..., Any]) -> AnyArray:
        """Return LightGBM's score of its training or evaluation rows, shape (n, outputs)."""
        scores: list[AnyArray] = []

        def metric(raw: AnyArray, _: object) -> tuple[str, float, bool]:
            scores.append(raw.reshape(-1, len(self.uniform_sum)))
            return "scores", 0.0, False

        evaluate(metric)
        return scores[0]

    def _value_of_one_leaf(self, gradient: Floats, hessian: Floats) -> Floats:
        """Return the value of one leaf with all rows, by LightGBM's formula."""
        total = gradient.sum(axis=0)
        total = np.sign(total) * np.maximum(np.abs(total) - float(self.settings.get("lambda_l1", 0.0)), 0.0)
        weight = hessian.sum(axis=0) + self.settings["lambda_l2"]
        value = -np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        limit = float(self.settings.get("max_delta_step", 0.0))
        if limit > 0:
            value = np.clip(value, -limit, limit)
        return np.asarray(self.settings["learning_rate"] * value)


def _check_monotone(constraints: LibraryObject, categories: Sequence[int]) -> None:
    """Raise an error for constraints on categorical columns, with which LightGBM would end the process."""
    given = constraints.split(",") if isinstance(constraints, str) else constraints or ()
    if constrained := [column for column, direction in enumerate(given) if int(direction) and column in categories]:
        message = f"monotone_constraints are for numbers; set those of the categorical columns {constrained} to 0"
        raise ValueError(message)
