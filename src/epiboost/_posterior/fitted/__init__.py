"""Knowledge uncertainty of a model that is already trained, by another library.

A boosted model is a chain of trees, and the same chain some trees earlier is a model too. Models at several stages of
its second half are a virtual ensemble. A random forest is taken apart instead, into parts of as many trees each.

>>> import numpy as np
>>> from sklearn.ensemble import RandomForestRegressor
>>> X = np.linspace(0, 1, 50)[:, np.newaxis]
>>> forest = RandomForestRegressor(20, random_state=0).fit(X, X[:, 0])
>>> posterior_from(forest, X, n_members=4).uncertainty().knowledge.shape
(50,)
"""

import importlib
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

from epiboost._posterior.posterior import Posterior

__all__ = ["posterior_from"]

_READERS = {
    "catboost": "epiboost._posterior.fitted.catboost",
    "lightgbm": "epiboost._posterior.fitted.lightgbm",
    "xgboost": "epiboost._posterior.fitted.xgboost",
    "sklearn": "epiboost._posterior.fitted.sklearn",
}


def posterior_from(model: Any, X: Any, n_members: int = 10) -> Posterior:  # noqa: ANN401 (any library's)
    """Return what the stages of a fitted model say of every row.

    Member i of K is the model after n − (K − 1 − i) · ⌊n / 2K⌋ of its n trees; a forest is cut into K parts, of
    the same size up to one tree.

    Parameters
    ----------
    model : fitted model
        Of CatBoost, LightGBM or XGBoost, an estimator or a raw ``Booster``; scikit-learn's gradient boosting,
        histogram gradient boosting, random forests or extra trees.
    X : table of shape (n, features)
        As the model's own ``predict`` takes it.
    n_members : int, default=10
        At most half the trees of a boosted model, all those of a forest.

    Returns
    -------
    Posterior
        Class probabilities in the order of the model's classes; mean and variance if the model predicts both (as with
        CatBoost's ``RMSEWithUncertainty``); else a mean alone, of which only knowledge uncertainty is known.

    Warns
    -----
    UserWarning
        If the model was trained without Langevin noise, so that its stages differ by the progress of the fit alone, or
        if it was stopped early, so that these are not the stages of a chain that has settled.

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
    for library in _libraries(model):
        posterior: Posterior | None = importlib.import_module(_READERS[library]).posterior(model, X, int(n_members))
        if posterior is not None:
            return _labelled(posterior, getattr(model, "classes_", None))
    message = (
        "model must be a fitted model of CatBoost, LightGBM or XGBoost, or scikit-learn's gradient boosting or forest; "
        f"got {type(model).__module__}.{type(model).__qualname__}"
    )
    raise TypeError(message)


def _labelled(posterior: Posterior, classes: Any) -> Posterior:  # noqa: ANN401 (what the library has)
    """Return the posterior with the labels that a model knows; raw boosters know none."""
    if posterior.family != "categorical" or classes is None or len(classes) != posterior.parameters.shape[2]:
        return posterior
    return Posterior(posterior.parameters, posterior.family, np.asarray(classes))


def _libraries(model: object) -> Iterator[str]:
    """Yield the libraries that a model's class or its bases come from, nearest first."""
    seen = []
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in _READERS and library not in seen:
            seen.append(library)
            yield library
