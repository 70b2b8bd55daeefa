"""NGBoost, run live, by the protocol of its own paper.

Two thousand trees of depth 3 at a rate of 0.01; those of the least validation likelihood are kept, and as many are
trained on the whole training part. Each tree sees all rows, of large tables half of them.
"""

from typing import Any

import numpy as np

from epiboost._optional import require
from epiboost._posterior.posterior import Posterior
from epiboost.paper.methods.clock import Clock
from epiboost.paper.methods.measures import measure
from epiboost.paper.problem import Fold
from epiboost.paper.protocol import Protocol

_TIMES = 2  # as many trees as a chain of the others
_RATE = 0.01
_MANY_ROWS = 30_000
_SHARE_OF_MANY = 0.5


def natural(fold: Fold, protocol: Protocol, seed: int, clock: Clock) -> dict[str, Any]:
    """Natural gradient boosting of mean and deviation."""
    library = require("ngboost", extra="paper", purpose="the comparison with NGBoost")
    options = {
        "learning_rate": _RATE,
        "minibatch_frac": _SHARE_OF_MANY if len(fold.y) > _MANY_ROWS else 1.0,
        "random_state": seed,
        "verbose": False,
    }
    most = _TIMES * protocol.n_estimators
    with clock("grid"):
        watched = library.NGBRegressor(n_estimators=most, **options)
        watched.fit(fold.X[fold.fit], fold.y[fold.fit])
        y = fold.y[fold.validation]
        losses = [-float(np.mean(stage.logpdf(y))) for stage in watched.staged_pred_dist(fold.X[fold.validation])]
    trees = int(np.argmin(losses)) + 1
    with clock("ngboost"):
        model = library.NGBRegressor(n_estimators=trees, **options).fit(fold.X, fold.y)
    with clock("judge"):
        inside = _posterior(model, fold.X_test)
        figures = measure(inside, None if fold.X_out is None else _posterior(model, fold.X_out), fold)
    return {
        "chosen": {"n_estimators": trees, "learning_rate": _RATE},
        "parameters": {"ngboost": {"n_estimators": trees, **options}},
        "results": {"ngboost": figures},
    }


def _posterior(model: Any, X: Any) -> Posterior:  # noqa: ANN401 (NGBoost has no types)
    parameters = model.pred_dist(X).params
    return Posterior(np.stack([parameters["loc"], parameters["scale"] ** 2], axis=-1)[np.newaxis], "normal")
