"""Knowledge uncertainty of a model that another library has trained.

A boosted model is a chain of trees, and the first trees of the chain are a model too. Models at several stages of the
second half of the chain form a virtual ensemble. A random forest is split into parts of equally many trees instead.

>>> import numpy as np
>>> from sklearn.ensemble import RandomForestRegressor
>>> X = np.linspace(0, 1, 50)[:, np.newaxis]
>>> forest = RandomForestRegressor(20, random_state=0).fit(X, X[:, 0])
>>> posterior_from(forest, X, n_members=4).uncertainty().knowledge.shape
(50,)
"""

import numbers
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from epiboost._inputs.schema import row_index
from epiboost._posterior.fitted.catboost import catboost_posterior
from epiboost._posterior.fitted.lightgbm import lightgbm_posterior
from epiboost._posterior.fitted.sklearn import sklearn_posterior
from epiboost._posterior.fitted.xgboost import xgboost_posterior
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Column, Estimator, LibraryObject, Table

__all__ = ["posterior_from"]

_Reader: TypeAlias = Callable[[Estimator, Table, int], Posterior | None]

_READERS: dict[str, _Reader] = {
    "catboost": catboost_posterior,
    "lightgbm": lightgbm_posterior,
    "xgboost": xgboost_posterior,
    "sklearn": sklearn_posterior,
}
"""Function that makes a posterior of a library's models; None means that it does not know the model."""


def posterior_from(estimator: Estimator, X: Table, n_members: int = 10) -> Posterior:
    """Return the posterior of a fitted model, whose members are stages of its chain of trees.

    Member i of K is the model after n − (K − 1 − i) · ⌊n / 2K⌋ of its n trees. A forest is split into K parts, whose
    sizes differ by at most one tree.

    Parameters
    ----------
    estimator : fitted model
        Of CatBoost, LightGBM or XGBoost, an estimator or a raw ``Booster``; scikit-learn's gradient boosting,
        histogram gradient boosting, random forests or extra trees.
    X : table of shape (n, features)
        As the model's own ``predict`` takes it.
    n_members : int, default=10
        At most half the trees of a boosted model, all trees of a forest.

    Returns
    -------
    Posterior
        Class probabilities in the order of the model's classes; mean and variance if the model predicts both (as with
        CatBoost's ``RMSEWithUncertainty``); otherwise a mean alone, with knowledge uncertainty only.

    Warns
    -----
    UserWarning
        If the model was trained without Langevin noise, so that its stages differ by the progress of the fit alone, or
        if it was stopped early, so that the chain has not converged.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import posterior_from
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> X = np.linspace(0, 1, 50)[:, np.newaxis]
    >>> model = ExtraTreesClassifier(30, max_depth=2, random_state=0).fit(X, np.where(X[:, 0] > 0.5, "high", "low"))
    >>> posterior_from(model, X, n_members=3).parameters.shape
    (3, 50, 2)
    """
    if not isinstance(n_members, numbers.Integral) or isinstance(n_members, bool) or n_members < 1:
        message = f"n_members must be a whole number of at least 1; got {n_members!r}"
        raise ValueError(message)
    for library in _libraries(estimator):
        posterior = _READERS[library](estimator, X, int(n_members))
        if posterior is not None:
            return _with_labels(posterior, getattr(estimator, "classes_", None), row_index(X))
    message = (
        "estimator must be a fitted model of CatBoost, LightGBM or XGBoost, or scikit-learn's gradient boosting or "
        f"forest; got {type(estimator).__module__}.{type(estimator).__qualname__}"
    )
    raise TypeError(message)


def _libraries(estimator: Estimator) -> Iterator[str]:
    """Yield the libraries that define the model's class and its base classes, nearest first."""
    modules = (base.__module__.partition(".")[0] for base in type(estimator).__mro__)
    yield from dict.fromkeys(library for library in modules if library in _READERS)


def _with_labels(posterior: Posterior, classes: Column | None, index: LibraryObject) -> Posterior:
    """Return the posterior with the index of the table and the model's class labels; raw boosters have none."""
    if posterior.family != "categorical" or classes is None or len(classes) != posterior.parameters.shape[2]:
        return replace(posterior, index=index)
    return replace(posterior, classes=np.asarray(classes), index=index)
