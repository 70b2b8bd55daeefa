"""CatBoost's trees, by its own Langevin boosting.

What its settings are here, and why:

- ``bootstrap_type="No"``: left to itself, CatBoost shows each tree of a Langevin chain a random part of the rows.
- ``leaf_estimation_method="Gradient"``: with Newton's steps, its default, noise reaches the choice of splits alone and
  leaf values have none; a chain on fixed leaves then stands still.
- ``langevin``, ``diffusion_temperature`` and ``model_shrink_rate`` in place of ``posterior_sampling``, which overwrites
  the two others: noise and shrinkage are as for every engine, for the weight of the rows and ``temperature``.
- Targets are standardised, because CatBoost's noise is in the units of the target.

A trained model is shrunk already: its first t of T trees sum to cᵀ⁻ᵗ times the chain as it was after t trees.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray, Bytes, Floats
from epiboost.data import Dataset
from epiboost.engines.booster import Booster, BoosterForest, Chain, evaluation_of, our_errors, refuse_own
from epiboost.engines.crew import Grown, train_members
from epiboost.engines.rows import Rows, learning_rows
from epiboost.engines.scores import loss_of
from epiboost.engines.steps import Steps, steps_of
from epiboost.engines.threads import thread_count
from epiboost.members import MemberSpec
from epiboost.objectives import BINARY
from epiboost.progress import Progress

_LOSSES = {"normal": "RMSEWithUncertainty", "categorical": "MultiClass"}
_OWN = {
    **dict.fromkeys(
        ("loss_function", "objective", "leaf_estimation_method", "leaf_estimation_iterations"), "this package"
    ),
    **dict.fromkeys(("langevin", "posterior_sampling", "model_shrink_rate", "model_shrink_mode"), "ensemble"),
    **dict.fromkeys(("boost_from_average", "classes_count", "class_names", "cat_features"), "this package"),
    "diffusion_temperature": "temperature",
    **dict.fromkeys(("bootstrap_type", "subsample", "bagging_temperature", "sampling_unit"), "subsample"),
    **dict.fromkeys(("iterations", "n_estimators", "num_boost_round", "num_trees"), "n_estimators"),
    **dict.fromkeys(("learning_rate", "eta"), "learning_rate"),
    **dict.fromkeys(("depth", "max_depth", "grow_policy", "max_leaves", "num_leaves"), "max_depth"),
    **dict.fromkeys(("l2_leaf_reg", "reg_lambda"), "l2"),
    **dict.fromkeys(("border_count", "max_bin"), "max_bins"),
    **dict.fromkeys(("random_seed", "random_state"), "random_state"),
    "thread_count": "n_jobs",
    **dict.fromkeys(("use_best_model", "od_type", "od_wait", "early_stopping_rounds"), "early_stopping_rounds"),
}


@dataclass(frozen=True)
class CatBoostForest(BoosterForest):
    """Models of CatBoost, one a chain."""

    library: ClassVar[str] = "catboost"

    @property
    def _start(self) -> Floats:
        return np.zeros(len(self.objective.start))  # CatBoost starts from nothing

    def _factor(self, booster: Booster, end: int) -> float:
        return float(self.decay ** (end - booster.tree_count_))

    def _ready(self, table: AnyArray) -> Any:  # noqa: ANN401 (a Pool)
        return _library().Pool(_columns(table, self.sizes))

    def _raw(self, booster: Booster, ready: Any, begin: int, end: int) -> AnyArray:  # noqa: ANN401 (a Pool)
        raw: AnyArray = booster.predict(
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
        library = _library()
        try:
            return library.CatBoost().load_model(blob=content.tobytes())
        except library.CatBoostError as error:
            message = f"CatBoost cannot read a model: {error}"
            raise ValueError(message) from error

    @staticmethod
    def _shape(booster: Booster) -> tuple[int, int]:
        return len(booster.feature_names_), booster.tree_count_


class CatBoostEngine:
    """Trains chains with CatBoost.

    Parameters
    ----------
    n_jobs : int, optional
        Threads: members are trained side by side, and share them.
    options
        Parameters of CatBoost that have no counterpart among those of the estimators.
    """

    cannot = ("structure_rows", "variance_guard")

    def __init__(self, *, n_jobs: int | None = None, **options: Any) -> None:  # noqa: ANN401 (CatBoost's)
        refuse_own(options, _OWN)
        self.n_jobs = n_jobs
        self.options = options

    def __repr__(self) -> str:
        """Say what it is made of."""
        return f"CatBoostEngine(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> CatBoostForest:
        """Train one chain a spec on one pool; specs may differ in their seeds alone."""
        library = _library()
        spec, rows = specs[0], learning_rows(data)
        steps = steps_of(replace(spec, variance_guard=0.0), rows.objective, rows.total)
        settings = {**_settings(spec, steps, rows, data.n_classes), **self.options}
        labels = rows.y.astype(np.int64) if data.n_classes else rows.y
        with our_errors("CatBoost", library.CatBoostError):
            pool = library.Pool(_columns(rows.X, rows.sizes), label=labels, weight=rows.weight)

        def chain(own: MemberSpec, threads: int, grown: Grown) -> Chain:
            own_settings = {**settings, "random_seed": own.seed % 2**31, "thread_count": threads}
            with our_errors("CatBoost", library.CatBoostError):
                booster = library.CatBoost(own_settings).fit(pool)
            grown(own.n_estimators)
            return _watched(library, booster, own, rows, steps)

        threads = thread_count(self.n_jobs)
        chains = train_members(chain, specs, threads=threads, trees=spec.n_estimators, progress=progress)
        return CatBoostForest(
            boosters=tuple(one.booster for one in chains),
            objective=rows.objective,
            count=np.array([one.count for one in chains], dtype=np.int64),
            decay=steps.decay,
            sizes=rows.sizes or (0,) * rows.X.shape[1],
            evaluation=evaluation_of(chains),
            n_jobs=self.n_jobs,
        )


def _library() -> ModuleType:
    return require("catboost", extra="catboost", purpose="engine='catboost'")


def _settings(spec: MemberSpec, steps: Steps, rows: Rows, n_classes: int) -> dict[str, Any]:
    settings = {
        "loss_function": "Logloss" if n_classes == BINARY else _LOSSES[rows.objective.family],
        "iterations": spec.n_estimators,
        "learning_rate": steps.rate,
        "depth": spec.max_depth,
        "l2_leaf_reg": steps.l2,
        "border_count": spec.max_bins - 1,
        "leaf_estimation_method": "Gradient",
        "leaf_estimation_iterations": 1,
        "boost_from_average": False,
        "model_shrink_rate": steps.shrink,
        "bootstrap_type": "No",
        "allow_const_label": True,
        "allow_writing_files": False,
        "logging_level": "Silent",
    }
    if spec.subsample < 1.0:
        settings |= {"bootstrap_type": "Bernoulli", "subsample": spec.subsample}
    if spec.temperature:
        settings |= {"langevin": True, "diffusion_temperature": rows.total / spec.temperature}
    if n_classes > BINARY:
        settings |= {"classes_count": n_classes}
        del settings["boost_from_average"]
    return settings


def _columns(table: AnyArray, sizes: Sequence[int]) -> Any:  # noqa: ANN401 (an array, or CatBoost's container)
    """Return a table as CatBoost takes it: categories are text there, and the missing one is a category."""
    if not any(sizes):
        return np.ascontiguousarray(table)
    is_category = np.asarray(sizes) > 0
    codes = table[:, is_category]
    words = np.where(np.isnan(codes), b"missing", np.nan_to_num(codes).astype(np.int64).astype("S"))
    numbers = table[:, ~is_category].astype(np.float32)
    return _library().FeaturesData(
        num_feature_data=numbers if numbers.shape[1] else None, cat_feature_data=words.astype(object)
    )


def _watched(library: ModuleType, booster: Booster, spec: MemberSpec, rows: Rows, steps: Steps) -> Chain:
    """Measure the chain after each tree on the rows that are watched, and cut it where it would have stopped."""
    if rows.evaluation is None:
        return Chain(booster, spec.n_estimators, [])
    table, y, weight = rows.evaluation
    losses: list[float] = []
    stages = booster.staged_predict(library.Pool(_columns(table, rows.sizes)), prediction_type="RawFormulaVal")
    for end, raw in enumerate(stages, start=1):
        scores = raw.reshape(len(y), -1) * steps.decay ** (end - booster.tree_count_)
        losses.append(loss_of(rows.objective, scores, y, weight))
        if spec.patience is not None and end - 1 - int(np.argmin(losses)) >= spec.patience:
            break
    return Chain(booster, spec.n_estimators if spec.patience is None else int(np.argmin(losses)) + 1, losses)
