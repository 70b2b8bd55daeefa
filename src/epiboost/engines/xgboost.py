"""XGBoost's trees: by default one an output and step; ``multi_strategy`` chooses."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from epiboost._optional import require
from epiboost._typing import AnyArray, Bytes
from epiboost.data import Dataset
from epiboost.distributed.rows import PartitionedRows
from epiboost.engines.booster import Booster, BoosterForest, Chain, evaluation_of, grow, our_errors, refuse_own
from epiboost.engines.crew import Grown, train_members
from epiboost.engines.langevin import LangevinObjective
from epiboost.engines.rows import Rows, learning_rows
from epiboost.engines.steps import steps_of
from epiboost.engines.threads import thread_count
from epiboost.engines.xgboost_dask import train_partitioned
from epiboost.members import MemberSpec
from epiboost.progress import Progress

_OWN = {
    **dict.fromkeys(("objective", "num_class", "num_target", "booster", "base_score", "tree_method"), "this package"),
    **dict.fromkeys(("n_estimators", "num_boost_round"), "n_estimators"),
    **dict.fromkeys(("learning_rate", "eta"), "learning_rate"),
    **dict.fromkeys(("max_depth", "max_leaves", "grow_policy"), "max_depth"),
    **dict.fromkeys(("lambda", "reg_lambda"), "l2"),
    **dict.fromkeys(("max_bin", "max_bins"), "max_bins"),
    **dict.fromkeys(("subsample", "sampling_method"), "subsample"),
    **dict.fromkeys(("seed", "random_state"), "random_state"),
    **dict.fromkeys(("n_jobs", "nthread"), "n_jobs"),
}


@dataclass(frozen=True)
class XGBoostForest(BoosterForest):
    """Models of XGBoost, one a chain."""

    library: ClassVar[str] = "xgboost"

    def _ready(self, table: AnyArray) -> Any:  # noqa: ANN401 (a DMatrix)
        return _library().DMatrix(**_columns(table, self.sizes), nthread=self._threads)

    def _raw(self, booster: Booster, ready: Any, begin: int, end: int) -> AnyArray:  # noqa: ANN401 (a DMatrix)
        booster.set_param({"nthread": self._threads})
        raw: AnyArray = booster.predict(ready, iteration_range=(begin, end), output_margin=True)
        return raw.astype(np.float64)

    @staticmethod
    def _to_bytes(booster: Booster) -> Bytes:
        return np.frombuffer(bytes(booster.save_raw("ubj")), dtype=np.uint8)

    @staticmethod
    def _from_bytes(content: Bytes) -> Booster:
        library = _library()
        booster = library.Booster()
        try:
            booster.load_model(bytearray(content.tobytes()))
        except library.core.XGBoostError as error:
            message = f"XGBoost cannot read a model: {str(error).splitlines()[0]}"
            raise ValueError(message) from error
        return booster

    @staticmethod
    def _shape(booster: Booster) -> tuple[int, int]:
        return booster.num_features(), booster.num_boosted_rounds()


class XGBoostEngine:
    """Trains chains with XGBoost.

    Parameters
    ----------
    n_jobs : int, optional
        Threads: members are trained side by side, and share them. A member that is trained by several threads may
        differ in its last digits from one that is trained by one.
    options
        Parameters of XGBoost that have no counterpart among those of the estimators.
    """

    cannot = ("structure_rows",)
    takes_partitions = "rows"

    def __init__(self, *, n_jobs: int | None = None, **options: Any) -> None:  # noqa: ANN401 (XGBoost's)
        refuse_own(options, _OWN)
        self.n_jobs = n_jobs
        self.options = options

    def __repr__(self) -> str:
        """Say what it is made of."""
        return f"XGBoostEngine(n_jobs={self.n_jobs}, options={self.options})"

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> XGBoostForest:
        """Train one chain a spec on one dataset; specs may differ in their seeds alone."""
        if isinstance(data.X, PartitionedRows):
            return self._fit_partitions(data.X, specs, progress)
        library = _library()
        spec, threads, rows = specs[0], thread_count(self.n_jobs), learning_rows(data)
        steps = steps_of(spec, rows.objective, rows.total)
        settings = {**_settings(spec, steps.rate, steps.l2), **self.options}
        with our_errors("XGBoost", library.core.XGBoostError):
            train, watched = _datasets(library, rows, spec.max_bins, threads)

        def chain(own: MemberSpec, own_threads: int, grown: Grown) -> Chain:
            own_settings = {**settings, "nthread": own_threads, "seed": own.seed % 2**31}
            with our_errors("XGBoost", library.core.XGBoostError):
                return _chain(library, LangevinObjective(rows, steps, own), own_settings, (train, watched), grown)

        chains = train_members(chain, specs, threads=threads, trees=spec.n_estimators, progress=progress)
        return XGBoostForest(
            boosters=tuple(one.booster for one in chains),
            objective=rows.objective,
            count=np.array([one.count for one in chains], dtype=np.int64),
            decay=steps.decay,
            sizes=rows.sizes or (0,) * rows.X.shape[1],
            evaluation=evaluation_of(chains),
            n_jobs=self.n_jobs,
        )

    def _fit_partitions(self, rows: PartitionedRows, specs: Sequence[MemberSpec], progress: Progress) -> XGBoostForest:
        """Train where the rows are, all workers together at one chain after the other."""
        steps = steps_of(specs[0], rows.objective, rows.total)
        settings = {**_settings(specs[0], steps.rate, steps.l2), **self.options}
        with our_errors("XGBoost", _library().core.XGBoostError):
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


def _library() -> ModuleType:
    return require("xgboost", extra="xgboost", purpose="engine='xgboost'")


def _settings(spec: MemberSpec, rate: float, l2: float) -> dict[str, Any]:
    return {
        "tree_method": "hist",
        "multi_strategy": "one_output_per_tree",
        "learning_rate": rate,
        "reg_lambda": l2,
        "max_depth": spec.max_depth,
        "max_bin": spec.max_bins,
        "min_child_weight": 0.0,
        "base_score": 0.0,
        "verbosity": 0,
    }


def _columns(table: AnyArray, sizes: Sequence[int]) -> dict[str, Any]:
    """Return a table as XGBoost takes it: a category that training has not seen is a missing one there."""
    if not any(sizes):
        return {"data": table}
    table = np.where((np.asarray(sizes) > 0) & (table < 0), np.nan, table)
    kinds = ["c" if size else "q" for size in sizes]
    return {"data": table, "feature_types": kinds, "enable_categorical": True}


def _datasets(library: ModuleType, rows: Rows, max_bins: int, threads: int) -> tuple[Any, Any]:
    """Bin the training rows, and those that are watched with the same borders."""
    outputs = len(rows.objective.start)
    train = library.QuantileDMatrix(
        **_columns(rows.X, rows.sizes), label=np.tile(rows.y[:, np.newaxis], outputs), max_bin=max_bins, nthread=threads
    )
    if rows.evaluation is None:
        return train, None
    return train, library.DMatrix(**_columns(rows.evaluation[0], rows.sizes), nthread=threads)


def _chain(
    library: ModuleType, objective: LangevinObjective, settings: dict[str, Any], datasets: tuple[Any, Any], grown: Grown
) -> Chain:
    train, watched = datasets
    booster = library.Booster(settings, [train] if watched is None else [train, watched])

    def update(tree: int) -> bool:
        booster.update(train, tree, fobj=lambda raw, _: objective.gradients(raw, tree))
        return False

    def watch() -> AnyArray:
        raw: AnyArray = booster.predict(watched, output_margin=True)
        return raw

    count, losses = grow(objective, update, watch, grown)
    own = library.Booster()
    own.load_model(bytearray(booster.save_raw("ubj")))  # without the training rows
    return Chain(own, count, losses)
