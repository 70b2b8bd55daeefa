"""LightGBM's trees: grown leaf by leaf, one tree an output and step.

Where no split of all rows is worth its regularisation, LightGBM grows a tree of one leaf that is worth nothing, and no
tree at all if that happens to every output. The step is due all the same: every row then moves alike, by the value of
that one leaf, as in a tree of any other library. Such moves are kept beside LightGBM's model, with the number of its
iterations after each step of the chain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import Rows
from epiboost._boosting.step_sizes import Steps
from epiboost._boosting.variance_guard import gradients_of
from epiboost._files.checks import require_facts
from epiboost._typing import AnyArray, Bytes, Floats, Integers
from epiboost.engines.libraries.engine import LibraryEngine, library_of
from epiboost.engines.libraries.forest import Booster, BoosterForest, Chain, grow
from epiboost.engines.options import WEIGHTS, Options
from epiboost.engines.parallel import Grown

_OWN = {
    **dict.fromkeys(
        ("objective", "num_class", "boosting", "data", "valid", "input_model", "tree_learner"), "this package"
    ),
    **dict.fromkeys(("linear_tree", "linear_lambda"), "this package, whose leaves are worth one number"),
    "num_iterations": "n_estimators",
    "learning_rate": "learning_rate",
    **dict.fromkeys(("max_depth", "num_leaves"), "max_depth"),
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
    **dict.fromkeys(("scale_pos_weight", "is_unbalance", "class_weight"), WEIGHTS),
}  # fmt: skip
_FREE = frozenset({
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


@dataclass(frozen=True)
class LightGBMForest(BoosterForest):
    """Models of LightGBM, one a chain.

    Attributes
    ----------
    iterations : array of shape (members, steps)
        Iterations that the library's model has after each step.
    uniform : array of shape (members, steps, outputs)
        What each step moved every row by, beside the trees.
    """

    iterations: Integers = field(kw_only=True)
    uniform: Floats = field(kw_only=True)

    library: ClassVar[str] = "lightgbm"

    def _ready(self, table: AnyArray) -> AnyArray:
        return np.ascontiguousarray(table, dtype=np.float64)

    def _raw(self, member: int, ready: AnyArray, begin: int, end: int) -> AnyArray:
        own = self.iterations[member]
        first, last = int(own[begin - 1]) if begin else 0, int(own[end - 1])
        moved = self.uniform[member, begin:end].sum(axis=0)
        if first == last:  # no tree was grown on the way
            return np.tile(moved, (len(ready), 1))
        raw: AnyArray = self.boosters[member].predict(
            ready, start_iteration=first, num_iteration=last - first, raw_score=True, num_threads=self._threads
        )
        return np.asarray(raw.reshape(len(ready), -1) + moved)

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return what a model file must hold: the library's own model files are in it as bytes."""
        header, arrays = super().to_file()
        return header, {**arrays, "iterations": self.iterations, "uniform": self.uniform}

    @classmethod
    def _extra(cls, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        iterations, uniform = arrays["iterations"], arrays["uniform"]
        facts = {
            "iterations must be whole numbers that do not fall": iterations.dtype == np.int64
            and iterations.ndim == 2  # noqa: PLR2004 (members and steps)
            and bool((np.diff(iterations, axis=1, prepend=0) >= 0).all()),
            "uniform must be finite numbers, one row a step": uniform.dtype == np.float64
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
        grown = int(self.iterations[member, int(self.count[member]) - 1])
        fits = grown <= booster.current_iteration() and self.uniform.shape[2] == len(self.objective.start)
        return booster.num_feature(), steps if fits else 0

    @staticmethod
    def _to_bytes(booster: Booster) -> Bytes:
        return np.frombuffer(booster.model_to_string().encode(), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes) -> Booster:
        library = library_of("lightgbm")
        try:
            return library.Booster(model_str=content.tobytes().decode())
        except (library.basic.LightGBMError, UnicodeDecodeError) as error:
            message = f"LightGBM cannot read a model: {error}"
            raise ValueError(message) from error


@dataclass(frozen=True)
class _Walk(Chain):
    """A chain that has steps without trees; see `LightGBMForest`."""

    iterations: list[int]
    uniform: list[Floats]


class LightGBMEngine(LibraryEngine):
    """Trains chains with LightGBM; see `LibraryEngine`."""

    library = "lightgbm"
    name = "LightGBM"
    forest = LightGBMForest

    def _rules(self) -> Options:
        known = library_of("lightgbm").basic._ConfigAliases._get_all_param_aliases()  # noqa: SLF001 (it has no other)
        aliases = {alias: option for option, others in known.items() for alias in others}
        idle = known.keys() - _OWN.keys() - _FREE
        return Options("LightGBM", own=_OWN, free=_FREE, idle=idle, aliases=aliases)

    def _errors(self, library: ModuleType) -> type[Exception]:
        error: type[Exception] = library.basic.LightGBMError
        return error

    def _settings(self, spec: MemberSpec, steps: Steps, rows: Rows) -> dict[str, Any]:  # noqa: ARG002 (others need them)
        order = {} if self.options.get("force_row_wise") else {"force_col_wise": True}
        return {
            "learning_rate": steps.rate,
            "lambda_l2": steps.l2,
            "max_depth": spec.max_depth,
            "num_leaves": 2**spec.max_depth,
            "max_bin": spec.max_bins,
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 1e-6,  # rows that a tree does not see have none
            "min_data_in_bin": 1,
            "feature_pre_filter": False,
            **order,  # sums by column have one order at any number of threads
            "deterministic": True,
            "verbosity": -1,
        }

    def _own(self, spec: MemberSpec, threads: int) -> dict[str, Any]:
        return {"num_threads": threads, "seed": spec.seed % 2**31}

    def _prepared(self, library: ModuleType, rows: Rows, settings: dict[str, Any], threads: int) -> tuple[Any, Any]:
        """Bin the training rows, and those that are watched with the same borders."""
        settings = {**settings, "num_threads": threads}
        train = library.Dataset(
            rows.X, label=rows.y, categorical_feature=rows.categories, params=settings, free_raw_data=True
        ).construct()
        if rows.evaluation is None:
            return train, None
        table, y, _ = rows.evaluation
        watched = train.create_valid(np.ascontiguousarray(table, dtype=np.float64), label=y, params=settings)
        return train, watched.construct()

    def _chain(
        self,
        library: ModuleType,
        chain: LangevinObjective,
        settings: dict[str, Any],
        prepared: tuple[Any, Any],
        grown: Grown,
    ) -> _Walk:
        settings = {**settings, "objective": "none", "num_class": len(chain.rows.objective.start)}
        walk = _Walking(library.Booster(settings, prepared[0]), prepared[1], chain, settings)
        count, losses = grow(chain, walk.step, walk.watch, grown)
        own = library.Booster(model_str=walk.booster.model_to_string())
        return _Walk(own, count, losses, walk.iterations, walk.uniform)

    def _extra(self, chains: Sequence[Chain]) -> dict[str, AnyArray]:
        walks = [chain for chain in chains if isinstance(chain, _Walk)]
        steps = max(len(walk.iterations) for walk in walks)
        iterations = np.zeros((len(walks), steps), dtype=np.int64)
        uniform = np.zeros((len(walks), steps, len(walks[0].uniform[0])))
        for member, walk in enumerate(walks):
            iterations[member, : len(walk.iterations)] = walk.iterations
            iterations[member, len(walk.iterations) :] = walk.iterations[-1]
            uniform[member, : len(walk.uniform)] = walk.uniform
        return {"iterations": iterations, "uniform": uniform}


class _Walking:
    """A chain while it grows: LightGBM's trees, and the moves of all rows alike beside them."""

    def __init__(self, booster: Booster, watched: object, chain: LangevinObjective, settings: dict[str, Any]) -> None:
        self.booster, self.objective, self.settings = booster, gradients_of(chain), settings
        self.iterations: list[int] = []
        self.uniform: list[Floats] = []
        self.moved = np.zeros(len(chain.rows.objective.start))
        self.seen: dict[int, AnyArray] = {}
        if watched is not None:
            booster.add_valid(watched, "watched")

    def step(self, tree: int) -> None:
        """Grow a tree an output, or move all rows alike where there is none."""
        before: list[AnyArray] = []
        value = np.zeros(len(self.moved))

        def gradients(raw: AnyArray, _: object) -> tuple[AnyArray, AnyArray]:
            raw = raw.reshape(-1, len(self.moved))
            before.append(raw.copy())
            gradient, hessian = self.objective.gradients(raw + self.moved, tree)
            value[:] = self._value_of_all(gradient, hessian)
            return gradient.squeeze(), hessian.squeeze()

        self.booster.update(fobj=gradients)
        after = self._scores(self.booster.eval_train)
        alike = (before[0] == after).all(axis=0)  # no tree moved this output
        self.uniform.append(np.where(alike, value, 0.0))
        self.moved = self.moved + self.uniform[-1]
        self.iterations.append(int(self.booster.current_iteration()))

    def watch(self) -> AnyArray:
        """Return the score of the rows that are watched."""
        return self._scores(self.booster.eval_valid) + self.moved

    def _scores(self, evaluate: Any) -> AnyArray:  # noqa: ANN401 (a method of the booster)
        """Return LightGBM's score of rows it knows, shape (n, outputs)."""
        seen: list[AnyArray] = []

        def look(raw: AnyArray, _: object) -> tuple[str, float, bool]:
            seen.append(raw.reshape(-1, len(self.moved)))
            return "seen", 0.0, False

        evaluate(look)
        return seen[0]

    def _value_of_all(self, gradient: Floats, hessian: Floats) -> Floats:
        """Return what a leaf of all rows is worth, by LightGBM's own formula."""
        total = gradient.sum(axis=0)
        total = np.sign(total) * np.maximum(np.abs(total) - float(self.settings.get("lambda_l1", 0.0)), 0.0)
        weight = hessian.sum(axis=0) + self.settings["lambda_l2"]
        value = -np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        most = float(self.settings.get("max_delta_step", 0.0))
        if most > 0:
            value = np.clip(value, -most, most)
        return np.asarray(self.settings["learning_rate"] * value)
