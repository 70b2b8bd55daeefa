"""Detection of out-of-domain rows: rows with more knowledge uncertainty than in-domain rows have.

The threshold is an order statistic of the knowledge uncertainty of n in-domain rows: the k-th smallest, with
k = ceil((n + 1)(1 − rate)). A new in-domain row exceeds it with a probability of at most ``rate``, on average over such
tables, for any model and any distribution.
"""

from typing import Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.conformal import check_share, conformal_quantile
from epiboost._estimators.unwrap import UnwrappedModel, unwrap
from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._typing import Column, Estimator, Floats, Integers, Table
from epiboost.decisions.base import BaseDecision, predict_measure
from epiboost.decisions.drift import DriftTest


class DomainDetector(OutlierMixin, BaseDecision):  # type: ignore[misc]  # scikit-learn has no types
    """Detects rows that are out of a fitted estimator's domain, with a bound on the false alarm rate.

    The methods follow scikit-learn's outlier detectors: `predict` returns 1 in the domain and -1 out of it, and scores
    are larger in the domain. Every method takes a table ``X`` of shape (n, features).

    Parameters
    ----------
    estimator : fitted estimator
        An ensemble of two or more members, alone, at the end of a pipeline or inside a search; a single member has no
        knowledge uncertainty. It is not fitted again; `clone` keeps it.
    false_alarm_rate : float, default=0.05
        Largest probability that an in-domain row is flagged.
    measure : {"knowledge", "total", "data"}, default="knowledge"
        The part of the uncertainty that decides.

    Attributes
    ----------
    estimator_ : UnwrappedModel
        Copy of the estimator as it was when `fit` was called.
    offset_ : float
        Rows with a lower score are out of the domain: ``decision_function = score_samples - offset_``.
    scores_ : array of shape (n,)
        Scores of the in-domain rows, ascending.
    n_features_in_, feature_names_in_
        Number and names of the columns, where the estimator has them.

    Examples
    --------
    A table with a heart-shaped hole:

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

    def __init__(self, estimator: Estimator, *, false_alarm_rate: float = 0.05, measure: Measure = "knowledge") -> None:
        self.estimator = estimator
        self.false_alarm_rate = false_alarm_rate
        self.measure = measure

    def fit(self, X: Table, y: Column | None = None) -> Self:  # noqa: ARG002 (scikit-learn passes a target)
        """Learn the threshold from in-domain rows.

        Parameters
        ----------
        X : table of shape (n, features)
            Rows that the estimator was not trained, early-stopped or calibrated on: it is less uncertain about those. A
            rate of 0.05 needs at least 19 rows.
        y : ignored

        Raises
        ------
        TypeError, NotFittedError
            If the estimator does not predict uncertainty, or is not fitted.
        ValueError
            If there are too few rows for the rate, no row has knowledge uncertainty, or an uncertainty is NaN.
        """
        check_measure(self.measure)
        check_share(self.false_alarm_rate, "false_alarm_rate")
        estimator = unwrap(self.estimator, "predict_uncertainty").frozen_copy()
        uncertainty = np.sort(predict_measure(estimator, X, self.measure))
        if self.measure == "knowledge" and not uncertainty.any():
            message = (
                "the estimator has no knowledge uncertainty on these rows; use an ensemble of two or more members that "
                "differ, or another measure"
            )
            raise ValueError(message)
        try:
            self.offset_ = -conformal_quantile(uncertainty, 1.0 - self.false_alarm_rate)
        except ValueError as error:
            needed = int(np.ceil(round(1.0 / self.false_alarm_rate, 9))) - 1
            message = (
                f"a false alarm rate of {self.false_alarm_rate} needs at least {needed} rows, got {len(uncertainty)}"
            )
            raise ValueError(message) from error
        self.estimator_: UnwrappedModel = estimator
        self.scores_: Floats = -uncertainty[::-1]
        self._copy_column_attributes()
        return self

    def score_samples(self, X: Table) -> Floats:
        """Return the negative uncertainty of each row, shape (n,): the larger, the more familiar."""
        check_is_fitted(self, "offset_")
        return -predict_measure(self.estimator_, X, self.measure)

    def decision_function(self, X: Table) -> Floats:
        """Return the score less the threshold, shape (n,): negative out of the domain."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Table) -> Integers:
        """Return 1 for rows in the domain and -1 for rows out of it, shape (n,)."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1).astype(np.int64)

    def drift(self, X: Table) -> DriftTest:
        """Test whether a batch of rows is more uncertain than in-domain rows.

        The test uses all rows of the batch, so it also detects small shifts of many rows.

        Parameters
        ----------
        X : table of shape (n, features)
            The batch, at least one row.

        Returns
        -------
        DriftTest
            A small p-value says that the batch comes from another distribution. The test is one-sided: a drift towards
            rows with less uncertainty is not detected. If all uncertainties are equal, the p-value is 1.

        Raises
        ------
        ValueError
            If X has no rows, or an uncertainty is NaN.
        """
        return DriftTest.from_uncertainty(-self.score_samples(X), -self.scores_, threshold=-self.offset_)
