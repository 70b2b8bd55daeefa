"""The models of the jobs; models that several jobs predict with are trained once."""

from functools import cache

import categories
import mixed
import tables
from peers import DEPTH, RATE, THREADS, Model, training
from tables import Table

from epiboost import EpiBoostClassifier, EpiBoostRegressor

MEMBERS = 10


def regressor(trees: int, **settings: object) -> EpiBoostRegressor:
    """Return ten members of depth 6 at rate 0.1, without out-of-fold chains; settings replace these."""
    return EpiBoostRegressor(**{**_options(trees), **settings})


def estimator(data: Table, trees: int, **settings: object) -> EpiBoostClassifier | EpiBoostRegressor:
    """Return the same for any table: a classifier if the target is of integers."""
    kind = EpiBoostClassifier if data.y.dtype.kind == "i" else EpiBoostRegressor
    return kind(**{**_options(trees), **settings})


@cache
def ours_trained(trees: int, ensemble: str = "sglb") -> EpiBoostRegressor:
    """Return a regressor trained on protein."""
    data = tables.protein()
    return regressor(trees, ensemble=ensemble, out_of_fold="auto").fit(data.X, data.y)


@cache
def catboost_trained(trees: int) -> Model | None:
    """Return CatBoost's model trained on protein; None if CatBoost is not installed."""
    peer = training("CatBoost", tables.protein(), trees)
    return None if peer is None else peer.run()


@cache
def trained_on_categories(name: str, trees: int) -> tuple[categories.Run, categories.Run]:
    """Train ten members of ours and one CatBoost model."""
    data = mixed.load(name)
    return categories.ours(data, RATE, trees=trees), categories.catboost(data, RATE, trees=trees)


def _options(trees: int) -> dict[str, object]:
    size = {"n_estimators": trees, "learning_rate": RATE, "max_depth": DEPTH}
    return {"n_members": MEMBERS, "n_jobs": THREADS, "random_state": 0, "out_of_fold": 0, **size}
