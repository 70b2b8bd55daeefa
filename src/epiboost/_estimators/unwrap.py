"""Finds the model inside a pipeline or a search, and the transformers that its input goes through first.

>>> import numpy as np
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from epiboost import EpiBoostRegressor
>>> X = np.random.default_rng(0).normal(size=(60, 2))
>>> pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0))
>>> unwrapped = unwrap(pipeline.fit(X, X[:, 0]), "predict_uncertainty")
>>> type(unwrapped.estimator).__name__, unwrapped.predict_uncertainty(X).unit
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
from epiboost._typing import AnyArray, Estimator, Table


@dataclass(frozen=True, slots=True, eq=False)
class UnwrappedModel:
    """A fitted model and the transformers that its input goes through first.

    Its methods take a table as the pipeline takes it.

    Attributes
    ----------
    estimator : fitted model
        The last step of the pipeline.
    transformers : tuple of fitted transformers
        In the order in which they are applied; empty for a model that is not in a pipeline.
    """

    estimator: Estimator
    transformers: tuple[Any, ...] = ()

    @property
    def classes(self) -> AnyArray | None:
        """Labels of a classifier; None for a regressor."""
        return getattr(self.estimator, "classes_", None)

    def transform(self, X: Table) -> Table:
        """Return the table that reaches the model."""
        for transformer in self.transformers:
            X = transformer.transform(X)
        return X

    def predict(self, X: Table) -> AnyArray:
        """Return the model's predictions."""
        prediction: AnyArray = self.estimator.predict(self.transform(X))
        return prediction

    def predict_uncertainty(self, X: Table) -> Uncertainty:
        """Return the model's uncertainty."""
        uncertainty: Uncertainty = self.estimator.predict_uncertainty(self.transform(X))
        return uncertainty

    def predict_posterior(self, X: Table) -> Posterior:
        """Return the model's posterior."""
        posterior: Posterior = self.estimator.predict_posterior(self.transform(X))
        return posterior

    def frozen_copy(self) -> Self:
        """Return a copy that does not change when the original model is fitted again.

        The model is copied shallowly: `fit` replaces fitted attributes and does not write into them.
        """
        return type(self)(copy.copy(self.estimator), copy.deepcopy(self.transformers))


def unwrap(estimator: Estimator, *methods: str) -> UnwrappedModel:
    """Return the last step of a pipeline, the best model of a search, or the estimator itself.

    Parameters
    ----------
    estimator : fitted model, Pipeline, or search with ``best_estimator_``
        Pipelines and searches may be nested.
    *methods : str
        Methods that the model must have.

    Returns
    -------
    UnwrappedModel

    Raises
    ------
    TypeError
        If the model lacks a method.
    NotFittedError
        If a search or the model is not fitted.
    """
    model, transformers = estimator, []
    while True:
        if isinstance(model, Pipeline):
            if len(model) > 1:
                transformers.append(model[:-1])
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
            "estimator must be a fitted model that predicts its uncertainty: one of this package, calibrated or not, a "
            "Pipeline that ends in one, or a search over one; "
            f"got {model!r}, which " + (f"lacks {', '.join(missing)}" if missing else "is a class and not an instance")
        )
        raise TypeError(message)
    if isinstance(model, BaseEstimator):
        check_is_fitted(model)
    return UnwrappedModel(model, tuple(transformers))
