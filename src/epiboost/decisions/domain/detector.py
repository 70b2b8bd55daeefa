"""Detection of out-of-domain rows: rows with a larger score than rows of the domain have.

The threshold is an order statistic of the scores of n in-domain rows: the k-th smallest, with
k = ceil((n + 1)(1 − rate)). If these rows were not used for training, a new in-domain row exceeds it with a probability
of at most ``rate``, on average over such tables, for any model and any distribution. Without such rows the training
rows that the model keeps take their place, each as if it had been left out: its novelty among the others, its
uncertainty by the out-of-fold chain.
"""

from dataclasses import replace
from typing import Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._boosting.out_of_fold import DEFAULT_FOLDS
from epiboost._estimators.conformal import check_share, conformal_quantile
from epiboost._estimators.out_of_fold.options import MIN_CHAINS
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.unwrap import UnwrappedModel, unwrap
from epiboost._inputs.user_table import fitted_feature_names, select_rows
from epiboost._typing import Column, Estimator, Floats, Integers, Table
from epiboost.decisions.base import BaseDecision
from epiboost.decisions.domain.batches import ComparedColumns, DomainMonitor
from epiboost.decisions.domain.explanation import DomainExplanation, explain_rows
from epiboost.decisions.domain.score import (
    NOVELTY_MEASURES,
    DomainMeasure,
    DomainScore,
    ScoredRows,
    check_domain_measure,
    fit_score,
    score_by,
)
from epiboost.decisions.drift.batch import DriftTest, drift_test


class DomainDetector(OutlierMixin, BaseDecision):  # type: ignore[misc]  # scikit-learn has no types
    """Detects rows that are out of a fitted estimator's domain, at a given false alarm rate.

    The methods follow scikit-learn's outlier detectors: `predict` returns 1 in the domain and -1 out of it, and scores
    are larger in the domain. Every method takes a table ``X`` of shape (n, features).

    Parameters
    ----------
    estimator : fitted estimator
        A model of this package, alone, at the end of a pipeline or inside a search. It is not fitted again; `clone`
        keeps it.
    false_alarm_rate : float, default=0.05
        Largest probability that an in-domain row is flagged.
    measure : {"combined", "novelty", "knowledge", "total", "data"}, default="combined"
        What decides. ``"novelty"`` is how far the columns are from the training rows, and finds most foreign rows.
        ``"combined"`` adds total uncertainty to it, and ranks likely errors higher. The others are parts of the
        uncertainty; ``"knowledge"`` is the paper's.

    Attributes
    ----------
    estimator_ : UnwrappedModel
        Copy of the estimator as it was when `fit` was called.
    offset_ : float
        Rows with a lower score are out of the domain: ``decision_function = score_samples - offset_``.
    scores_ : array of shape (n,)
        Scores of the in-domain rows, ascending.
    score_ : DomainScore
        Scores rows; larger values are more foreign.
    compared_ : ComparedColumns
        What batches are compared by.
    has_own_rows_ : bool
        Whether `fit` was given rows.
    n_features_in_, feature_names_in_
        Number and names of the columns, where the estimator has them.

    Examples
    --------
    A table with a heart-shaped hole:

    >>> from epiboost import EpiBoostRegressor
    >>> from epiboost.datasets import make_heart
    >>> heart = make_heart(n_per_cell=100, random_state=0)
    >>> model = EpiBoostRegressor(n_members=5, n_estimators=200, learning_rate=0.3, random_state=0)
    >>> detector = DomainDetector(model.fit(heart.X, heart.y)).fit()
    >>> detector.predict([[4, 4], [0, 0]])
    array([-1,  1])
    >>> detector.drift(heart.cells.X[heart.cells.inside.ravel()]).p_value < 0.01
    True
    """

    def __init__(
        self, estimator: Estimator, *, false_alarm_rate: float = 0.05, measure: DomainMeasure = "combined"
    ) -> None:
        self.estimator = estimator
        self.false_alarm_rate = false_alarm_rate
        self.measure = measure

    def fit(self, X: Table = None, y: Column | None = None) -> Self:  # noqa: ARG002 (scikit-learn passes a target)
        """Learn the threshold.

        Parameters
        ----------
        X : table of shape (n, features), optional
            In-domain rows that the estimator was not trained, early-stopped or calibrated on: it is less uncertain
            about those. A rate of 0.05 needs at least 19 rows, 38 if the model keeps no training rows. By default the
            training rows that the model keeps, measured by its out-of-fold chains; then the false alarm rate holds in
            practice, and is not guaranteed.
        y : ignored

        Raises
        ------
        TypeError, NotFittedError
            If the estimator does not predict uncertainty, or is not fitted.
        ValueError
            If there are too few rows for the rate, no row has knowledge uncertainty, an uncertainty is NaN, or X is not
            given and the model keeps no measured rows.
        """
        check_domain_measure(self.measure)
        check_share(self.false_alarm_rate, "false_alarm_rate")
        model = unwrap(self.estimator, "predict_uncertainty").frozen_copy()
        score = score_by(model, self.measure)
        if X is None:
            score, scores = self._score_kept_rows(model, score)
            in_domain = None
        else:
            score, in_domain = self._score_given_rows(model, score, X)
            scores = in_domain.score
        scores = np.sort(scores)
        if self.measure == "knowledge" and not scores.any():
            message = (
                "the estimator has no knowledge uncertainty on these rows; use an ensemble of two or more members that "
                "differ, or another measure"
            )
            raise ValueError(message)
        try:
            self.offset_ = -conformal_quantile(scores, 1.0 - self.false_alarm_rate)
        except ValueError as error:
            needed = int(np.ceil(round(1.0 / self.false_alarm_rate, 9))) - 1
            message = f"a false alarm rate of {self.false_alarm_rate} needs at least {needed} rows, got {len(scores)}"
            raise ValueError(message) from error
        self.estimator_: UnwrappedModel = model
        self.score_: DomainScore = score
        self.scores_: Floats = -scores[::-1]
        names = fitted_feature_names(model.estimator, score.schema.n_features)
        self.compared_ = ComparedColumns.of(score, in_domain, names)
        self.has_own_rows_ = in_domain is not None
        self._copy_column_attributes()
        return self

    def score_samples(self, X: Table) -> Floats:
        """Return the score of each row, shape (n,): the larger, the more familiar."""
        check_is_fitted(self, "offset_")
        return -self.score_(X).score

    def decision_function(self, X: Table) -> Floats:
        """Return the score less the threshold, shape (n,): negative out of the domain."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Table) -> Integers:
        """Return 1 for rows in the domain and -1 for rows out of it, shape (n,)."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1).astype(np.int64)

    def explain(self, X: Table, *, n_similar: int = 5) -> DomainExplanation:
        """Explain what makes rows foreign, and which training rows are most like them.

        Parameters
        ----------
        X : table of shape (n, features)
        n_similar : int, default=5
            Number of training rows to show for each row.

        Returns
        -------
        DomainExplanation

        Raises
        ------
        ValueError
            If the measure is a part of the uncertainty, which columns do not explain; see `epiboost.explain`.
        """
        check_is_fitted(self, "offset_")
        if self.measure not in NOVELTY_MEASURES:
            message = (
                f"measure {self.measure!r} is not made of columns; use 'combined' or 'novelty', or epiboost.explain"
            )
            raise ValueError(message)
        scored = self.score_(X)
        schema = self.score_.schema
        columns, similar, affinity, kept = explain_rows(self.score_, scored, n_similar)
        uncertainty = np.zeros(len(columns)) if scored.uncertainty is None else scored.uncertainty
        names = self.compared_.names[: schema.n_features]
        return DomainExplanation(names, columns, uncertainty, similar, affinity, kept, scored.index)

    def drift(self, X: Table, *, random_state: int = 0) -> DriftTest:
        """Test whether a batch of rows comes from another distribution than the rows of the domain.

        Each column is compared and, if `fit` was given rows, novelty and total uncertainty too.
        The test is two-sided: it also finds a batch that has moved to a familiar corner of the domain.

        Parameters
        ----------
        X : table of shape (n, features)
            The batch, at least one row.
        random_state : int, default=0
            Seed of the permutations.

        Returns
        -------
        DriftTest
            ``p_value`` of the batch, and effect and adjusted p-value of each column.

        Raises
        ------
        ValueError
            If X has no rows, or an uncertainty is NaN.
        """
        check_is_fitted(self, "offset_")
        scored = self.score_(X)
        return drift_test(
            self.compared_.reference,
            self.compared_.of_rows(scored),
            names=self.compared_.names,
            is_categorical=self.compared_.is_categorical.tolist(),
            random_state=random_state,
            share_outside=float((-scored.score < self.offset_).mean()),
        )

    def monitor(self, *, false_alarm_rate: float = 0.01, random_state: int = 0) -> DomainMonitor:
        """Return a monitor of a stream of rows, which raises an alarm when the stream drifts.

        Parameters
        ----------
        false_alarm_rate : float, default=0.01
            Largest probability that an alarm is ever raised for a stream without drift.
        random_state : int, default=0
            Seed of the order among equal values.

        Raises
        ------
        ValueError
            If `fit` was not given rows: over a long stream, the small difference between training rows and new ones
            would raise an alarm.
        """
        check_is_fitted(self, "offset_")
        if not self.has_own_rows_:
            message = "a monitor compares with rows that the model was not trained on; give them to fit(X)"
            raise ValueError(message)
        return DomainMonitor(self.compared_, false_alarm_rate=false_alarm_rate, random_state=random_state)

    def _score_kept_rows(self, model: UnwrappedModel, score: DomainScore | None) -> tuple[DomainScore, Floats]:
        """Return the score, and those of the training rows that the model keeps."""
        reference: ReferenceRows | None = getattr(model.estimator, "reference_rows_", None)
        unmeasured = self.measure != "novelty" and reference is not None and not reference.is_measured
        if score is None or reference is None or unmeasured or self.measure in {"knowledge", "data"}:
            message = (
                f"give rows of the domain that the model was not trained on, fit(X): with measure={self.measure!r} "
            )
            if self.measure in {"knowledge", "data"}:
                message += "there are no measurements of rows that the members have not seen"
            elif reference is None:
                message += "the model must keep training rows (reference_rows), and this one keeps none"
            else:
                message += (
                    "the model needs out-of-fold chains, and this one has none; ensembles of at least "
                    f"{MIN_CHAINS} chains have them by default, smaller ones with out_of_fold={DEFAULT_FOLDS}"
                )
            raise ValueError(message)
        return score, score.of_reference_rows(reference)

    def _score_given_rows(
        self, model: UnwrappedModel, score: DomainScore | None, X: Table
    ) -> tuple[DomainScore, ScoredRows]:
        """Return the score and the rows that set the threshold: all, or every second if the others define the score."""
        if score is not None:
            return score, score(X)
        if self.measure not in NOVELTY_MEASURES:
            fitted = fit_score(model, self.measure, X)
            return fitted, fitted(X)
        given = model.transform(X)
        order = np.arange(len(given))
        fitted = fit_score(UnwrappedModel(model.estimator), self.measure, select_rows(given, order[::2]))
        return replace(fitted, model=model), fitted(select_rows(given, order[1::2]))
