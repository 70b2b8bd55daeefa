"""LightGBM's trees: grown leaf by leaf, one tree an output and step."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray, Bytes
from epiboost.data import Dataset
from epiboost.engines.booster import Booster, BoosterForest, Chain, evaluation_of, grow, our_errors, refuse_own
from epiboost.engines.crew import Grown, train_members
from epiboost.engines.langevin import LangevinObjective
from epiboost.engines.rows import Rows, learning_rows
from epiboost.engines.steps import steps_of
from epiboost.engines.threads import thread_count
from epiboost.members import MemberSpec
from epiboost.progress import Progress

_OWN = {
    **dict.fromkeys(("objective", "num_class", "boosting", "data", "valid"), "this package"),
    **dict.fromkeys(("num_iterations", "n_estimators", "num_boost_round"), "n_estimators"),
    **dict.fromkeys(("learning_rate", "eta"), "learning_rate"),
    **dict.fromkeys(("max_depth", "num_leaves"), "max_depth"),
    **dict.fromkeys(("lambda_l2", "reg_lambda"), "l2"),
    **dict.fromkeys(("max_bin", "max_bins"), "max_bins"),
    **dict.fromkeys(("bagging_fraction", "bagging_freq", "subsample", "subsample_freq"), "subsample"),
    **dict.fromkeys(("seed", "random_state", "random_seed"), "random_state"),
    **dict.fromkeys(("num_threads", "n_jobs", "nthread"), "n_jobs"),
}


@dataclass(frozen=True)
class LightGBMForest(BoosterForest):
    """Models of LightGBM, one a chain."""

    library: ClassVar[str] = "lightgbm"

    def _ready(self, table: AnyArray) -> AnyArray:
        return np.ascontiguousarray(table, dtype=np.float64)

    def _raw(self, booster: Booster, ready: AnyArray, begin: int, end: int) -> AnyArray:
        if begin >= booster.current_iteration():  # the chain could grow no more
            return np.zeros((len(ready), len(self.objective.start)))
        raw: AnyArray = booster.predict(
            ready, start_iteration=begin, num_iteration=end - begin, raw_score=True, num_threads=self._threads
        )
        return raw

    @staticmethod
    def _to_bytes(booster: Booster) -> Bytes:
        return np.frombuffer(booster.model_to_string().encode(), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes) -> Booster:
        library = _library()
        try:
            return library.Booster(model_str=content.tobytes().decode())
        except (library.basic.LightGBMError, UnicodeDecodeError) as error:
            message = f"LightGBM cannot read a model: {error}"
            raise ValueError(message) from error

    @staticmethod
    def _shape(booster: Booster) -> tuple[int, int]:
        return booster.num_feature(), 2**31  # a chain that could grow no more has fewer trees than steps


class LightGBMEngine:
    """Trains chains with LightGBM.

    Parameters
    ----------
    n_jobs : int, optional
        Threads: members are trained side by side, and share them.
    options
        Parameters of LightGBM that have no counterpart among those of the estimators.
    """

    cannot = ("structure_rows",)

    def __init__(self, *, n_jobs: int | None = None, **options: Any) -> None:  # noqa: ANN401 (LightGBM's)
        refuse_own(options, _OWN)
        self.n_jobs = n_jobs
        self.options = options

    def __repr__(self) -> str:
        """Say what it is made of."""
        return f"LightGBMEngine(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> LightGBMForest:
        """Train one chain a spec on one dataset; specs may differ in their seeds alone."""
        library = _library()
        spec, threads, rows = specs[0], thread_count(self.n_jobs), learning_rows(data)
        steps = steps_of(spec, rows.objective, rows.total)
        settings = {**_settings(spec, steps.rate, steps.l2), **self.options}
        with our_errors("LightGBM", library.basic.LightGBMError):
            train, watched = _datasets(library, rows, settings)

        def chain(own: MemberSpec, own_threads: int, grown: Grown) -> Chain:
            own_settings = {
                **settings,
                "objective": "none",
                "num_class": len(rows.objective.start),
                "num_threads": own_threads,
                "seed": own.seed % 2**31,
            }
            with our_errors("LightGBM", library.basic.LightGBMError):
                return _chain(library, LangevinObjective(rows, steps, own), own_settings, (train, watched), grown)

        chains = train_members(chain, specs, threads=threads, trees=spec.n_estimators, progress=progress)
        return LightGBMForest(
            boosters=tuple(one.booster for one in chains),
            objective=rows.objective,
            count=np.array([one.count for one in chains], dtype=np.int64),
            decay=steps.decay,
            sizes=rows.sizes or (0,) * rows.X.shape[1],
            evaluation=evaluation_of(chains),
            n_jobs=self.n_jobs,
        )


def _library() -> ModuleType:
    return require("lightgbm", extra="lightgbm", purpose="engine='lightgbm'")


def _settings(spec: MemberSpec, rate: float, l2: float) -> dict[str, Any]:
    return {
        "learning_rate": rate,
        "lambda_l2": l2,
        "max_depth": spec.max_depth,
        "num_leaves": 2**spec.max_depth,
        "max_bin": spec.max_bins,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 1e-6,  # rows that a tree does not see have none
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "force_col_wise": True,  # sums have one order at any number of threads
        "deterministic": True,
        "verbosity": -1,
    }


def _datasets(library: ModuleType, rows: Rows, settings: dict[str, Any]) -> tuple[Any, Any]:
    """Bin the training rows, and those that are watched with the same borders."""
    train = library.Dataset(
        rows.X, label=rows.y, categorical_feature=rows.categories, params=settings, free_raw_data=True
    ).construct()
    if rows.evaluation is None:
        return train, None
    table, y, _ = rows.evaluation
    return train, train.create_valid(
        np.ascontiguousarray(table, dtype=np.float64), label=y, params=settings
    ).construct()


def _chain(
    library: ModuleType, objective: LangevinObjective, settings: dict[str, Any], datasets: tuple[Any, Any], grown: Grown
) -> Chain:
    train, watched = datasets
    booster = library.Booster(settings, train)
    scores: list[AnyArray] = []
    if watched is not None:
        booster.add_valid(watched, "watched")

    def update(tree: int) -> bool:
        def gradients(raw: AnyArray, _: object) -> tuple[AnyArray, AnyArray]:
            gradient, hessian = objective.gradients(raw, tree)
            return gradient.squeeze(), hessian.squeeze()

        return bool(booster.update(fobj=gradients))

    def look(raw: AnyArray, _: object) -> tuple[str, float, bool]:
        scores[:] = [raw]
        return "seen", 0.0, False

    def watch() -> AnyArray:
        booster.eval_valid(look)
        return scores[0]

    count, losses = grow(objective, update, watch, grown)
    return Chain(library.Booster(model_str=booster.model_to_string()), count, losses)
