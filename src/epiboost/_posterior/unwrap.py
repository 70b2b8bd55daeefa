"""Models at the end of a pipeline or inside a search: which one is asked, and what it is given.

>>> import numpy as np
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from epiboost import EpiBoostRegressor
>>> X = np.random.default_rng(0).normal(size=(60, 2))
>>> pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0))
>>> asked = unwrap(pipeline.fit(X, X[:, 0]), "predict_uncertainty")
>>> type(asked.model).__name__, asked.predict_uncertainty(X).unit
('EpiBoostRegressor', 'variance')
"""

import copy
from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class Wrapped:
    """A fitted model and the steps that its rows go through first.

    Attributes
    ----------
    model : fitted model
        The one that answers.
    steps : tuple of fitted transformers
        From the first to the last; none for a model on its own.
    """

    model: Any
    steps: tuple[Any, ...] = ()

    @property
    def classes(self) -> AnyArray | None:
        """Labels of a classifier; None for a regressor."""
        return getattr(self.model, "classes_", None)

    def rows(self, X: Any) -> Any:  # noqa: ANN401 (anything the steps read)
        """Return what the model is given for these rows."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def predict(self, X: Any) -> AnyArray:  # noqa: ANN401 (anything the steps read)
        """Return the model's predictions."""
        prediction: AnyArray = self.model.predict(self.rows(X))
        return prediction

    def predict_uncertainty(self, X: Any) -> Uncertainty:  # noqa: ANN401 (anything the steps read)
        """Return the model's uncertainty."""
        uncertainty: Uncertainty = self.model.predict_uncertainty(self.rows(X))
        return uncertainty

    def predict_posterior(self, X: Any) -> Posterior:  # noqa: ANN401 (anything the steps read)
        """Return what the model's members say."""
        posterior: Posterior = self.model.predict_posterior(self.rows(X))
        return posterior

    def kept(self) -> Self:
        """Return the model as it is now: fitting it anew replaces what it has learned, and does not reach the copy."""
        return type(self)(copy.copy(self.model), copy.deepcopy(self.steps))


def unwrap(estimator: Any, *methods: str) -> Wrapped:  # noqa: ANN401 (anything a user may pass)
    """Find the model that answers: the last step of a pipeline, the best one of a search, or the estimator itself.

    Parameters
    ----------
    estimator : fitted model, Pipeline, or search with ``best_estimator_``
        Wrapped as often as one likes.
    *methods : str
        What the model must be able to do.

    Returns
    -------
    Wrapped

    Raises
    ------
    TypeError
        If the model lacks a method.
    NotFittedError
        If a search or the model is not fitted.
    """
    model, steps = estimator, []
    while True:
        if isinstance(model, Pipeline):
            if len(model) > 1:
                steps.append(model[:-1])
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "param_grid") or hasattr(model, "param_distributions"):
            check_is_fitted(model, "best_estimator_")
        else:
            break
    missing = [name for name in methods if not callable(getattr(model, name, None))]
    if missing or isinstance(model, type):
        message = (
            "a fitted model that knows its uncertainty is needed: one of this package, calibrated or not, a Pipeline "
            f"that ends in one or a search over one; got {model!r}, which has no {' nor '.join(missing) or 'instance'}"
        )
        raise TypeError(message)
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    return Wrapped(model, tuple(steps))
