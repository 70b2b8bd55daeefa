"""NGBoost with the protocol of its own paper.

Trees have depth 3, the learning rate is 0.01. At most 2000 trees are trained; the number of smallest validation loss is
chosen, and that many are trained on all training rows. Each tree is trained on all rows, or on half of them for large
tables.
"""

import numpy as np

from epiboost._optional import require
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Floats, LibraryObject
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.methods.inputs import EVALUATION, MethodInputs, MethodOutputs

_TREES_FACTOR = 2  # relative to the number of trees of a chain
_RATE = 0.01
_LARGE = 30_000
_ROW_SHARE_IF_LARGE = 0.5


def ngboost(inputs: MethodInputs) -> MethodOutputs:
    """Run natural gradient boosting of mean and standard deviation."""
    library = require("ngboost", extra="paper", purpose="the comparison with NGBoost")
    fold = inputs.fold
    options = {
        "learning_rate": _RATE,
        "minibatch_frac": _ROW_SHARE_IF_LARGE if len(fold.y) > _LARGE else 1.0,
        "random_state": inputs.seed,
        "verbose": False,
    }
    with inputs.timer("grid"):
        longest = library.NGBRegressor(n_estimators=_TREES_FACTOR * inputs.protocol.n_estimators, **options)
        longest.fit(fold.X[fold.fit], fold.y[fold.fit])
        y = fold.y[fold.validation]
        losses = [-float(np.mean(stage.logpdf(y))) for stage in longest.staged_pred_dist(fold.X[fold.validation])]
    n_trees = int(np.argmin(losses)) + 1
    with inputs.timer("ngboost"):
        model = library.NGBRegressor(n_estimators=n_trees, **options).fit(fold.X, fold.y)
    with inputs.timer(EVALUATION):
        posterior_ood = None if fold.X_ood is None else _posterior(model, fold.X_ood)
        scores = evaluate(_posterior(model, fold.X_test), posterior_ood, fold)
    return {
        "chosen": {"n_estimators": n_trees, "learning_rate": _RATE},
        "parameters": {"ngboost": {"n_estimators": n_trees, **options}},
        "results": {"ngboost": scores},
    }


def _posterior(model: LibraryObject, X: Floats) -> Posterior:
    parameters = model.pred_dist(X).params
    return Posterior(np.stack([parameters["loc"], parameters["scale"] ** 2], axis=-1)[np.newaxis], "normal")
