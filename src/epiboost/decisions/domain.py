"""Which rows are foreign to a model: more uncertain, in knowledge, than rows of its own domain are.

The threshold is an order statistic of the knowledge uncertainty of in-domain rows: of n of them, the k-th smallest with
k = ceil((n + 1)(1 − rate)). A new in-domain row exceeds it with a probability of at most ``rate``, whatever the model
and the distribution, on average over such tables.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._posterior.conformal import check_share, conformal_quantile
from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._posterior.unwrap import UnwrappedModel, unwrap
from epiboost._typing import Floats, Integers
from epiboost.decisions.measures import measured


@dataclass(frozen=True, slots=True)
class DriftTest:
    """Whether a batch of rows comes from somewhere else.

    Attributes
    ----------
    statistic : float
        Probability that a row of the batch is less sure than an in-domain row; 0.5 without drift.
    p_value : float
        Probability of a statistic as large or larger without drift (Mann–Whitney, one-sided).
    share_outside : float
        Share of the batch that `predict` calls foreign; at most about the false alarm rate without drift.
    n_rows : int
        Rows of the batch.
    """

    statistic: float
    p_value: float
    share_outside: float
    n_rows: int


class DomainDetector(OutlierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Say which rows are unlike those the model knows, with a bound on false alarms.

    It follows scikit-learn's outlier detectors: `predict` gives 1 inside and -1 outside, and scores are larger inside.

    Parameters
    ----------
    model : fitted model
        With an ensemble of two or more members; a single one has no knowledge uncertainty. It may be at the end of a
        pipeline or inside a search, and is kept as it is when `fit` is called.
    false_alarm_rate : float, default=0.05
        Probability, at most, that an in-domain row is called foreign.
    measure : {"knowledge", "total", "data"}, default="knowledge"
        The uncertainty that decides.

    Attributes
    ----------
    model_ : UnwrappedModel
        The model as it was when `fit` was called.
    offset_ : float
        Score below which a row is foreign: ``decision_function = score_samples - offset_``.
    scores_ : array of shape (n,)
        Scores of the in-domain rows, in order.
    n_features_in_ : int
        Number of columns that the model reads.
    feature_names_in_ : array of shape (features,)
        Their names, if they had any.

    Examples
    --------
    Trained on a table with a heart-shaped hole:

    >>> from epiboost import EpiBoostRegressor
    >>> from epiboost.datasets import make_heart
    >>> heart = make_heart(n_per_cell=100, random_state=0)
    >>> model = EpiBoostRegressor(n_members=5, n_estimators=200, learning_rate=0.3, random_state=0)
    >>> detector = DomainDetector(model.fit(heart.X[:4000], heart.y[:4000])).fit(heart.X[4000:])
    >>> detector.predict([[4, 4], [0, 0]])
    array([-1,  1])
    >>> detector.drift(heart.cells.X[heart.cells.inside.ravel()]).p_value < 0.001
    True
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        *,
        false_alarm_rate: float = 0.05,
        measure: Measure = "knowledge",
    ) -> None:
        self.model = model
        self.false_alarm_rate = false_alarm_rate
        self.measure = measure

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ANN401, ARG002 (scikit-learn passes a target)
        """Learn the threshold from in-domain rows.

        Parameters
        ----------
        X : table of shape (n, features)
            Rows that the model has not been trained, early-stopped or calibrated on: it is surer of those than of any
            others. A rate of 0.05 takes 19 rows at least.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If the model does not know its uncertainty.
        NotFittedError
            If the model is not fitted.
        ValueError
            If there are too few rows for the rate, none of them has any knowledge uncertainty, or some is NaN.
        """
        check_measure(self.measure)
        check_share(self.false_alarm_rate, "false_alarm_rate")
        model = unwrap(self.model, "predict_uncertainty").frozen_copy()
        uncertainty = np.sort(measured(model, X, self.measure))
        if self.measure == "knowledge" and not uncertainty.any():
            message = "the model has no knowledge uncertainty: its ensemble needs two or more members that differ"
            raise ValueError(message)
        try:
            self.offset_ = -conformal_quantile(uncertainty, 1.0 - self.false_alarm_rate)
        except ValueError as error:
            needed = int(np.ceil(round(1.0 / self.false_alarm_rate, 9))) - 1
            message = (
                f"a false alarm rate of {self.false_alarm_rate} takes {needed} rows at least, got {len(uncertainty)}"
            )
            raise ValueError(message) from error
        self.model_: UnwrappedModel = model
        self.scores_: Floats = -uncertainty[::-1]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model, name):
                setattr(self, name, getattr(self.model, name))
        return self

    def score_samples(self, X: Any) -> Floats:  # noqa: ANN401 (anything a user may pass)
        """Return minus the uncertainty of each row: the larger, the more at home.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self, "offset_")
        return -measured(self.model_, X, self.measure)

    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401 (anything a user may pass)
        """Return how far each row's score is above the threshold; below zero is foreign.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self, "offset_")
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Integers:  # noqa: ANN401 (anything a user may pass)
        """Say for each row whether it is of the domain.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        integer array of shape (n,)
            1 inside, -1 outside.
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1).astype(np.int64)

    def drift(self, X: Any) -> DriftTest:  # noqa: ANN401 (anything a user may pass)
        """Test whether a whole batch is less sure than in-domain rows: many small surprises count too.

        Parameters
        ----------
        X : table of shape (n, features)
            The batch, of at least one row.

        Returns
        -------
        DriftTest
            A small p-value says that the batch comes from somewhere else. A drift to rows that the model knows better
            is not looked for. If all uncertainties are equal, the p-value is 1.

        Raises
        ------
        ValueError
            For no rows and uncertainties that are NaN.
        """
        from scipy.stats import mannwhitneyu  # noqa: PLC0415 (slow to import)

        check_is_fitted(self, "offset_")
        scores = self.score_samples(X)
        test = mannwhitneyu(-scores, -self.scores_, alternative="greater")
        return DriftTest(
            statistic=float(test.statistic) / (len(scores) * len(self.scores_)),
            p_value=float(test.pvalue),
            share_outside=float(np.mean(scores < self.offset_)),
            n_rows=len(scores),
        )

    def __sklearn_clone__(self) -> Self:
        """Keep the model: it is given, and not learned here."""
        return type(self)(**self.get_params(deep=False))
