"""Prediction with a reject option: uncertain rows are left to a person, and the error of the others is bounded."""

import math
import numbers
import warnings
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.conformal import check_share
from epiboost._estimators.unwrap import UnwrappedModel, unwrap
from epiboost._inputs.labels import label_codes
from epiboost._posterior.parameters import real_numbers
from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._typing import AnyArray, Column, Estimator, Table
from epiboost.decisions.base import BaseDecision, predict_measure
from epiboost.decisions.kept_errors import kept_errors
from epiboost.decisions.thresholds import (
    Candidates,
    candidate_thresholds,
    clopper_pearson_bound,
    fallback_procedure,
    why_none_passed,
)

_N_CANDIDATES = 20


class TargetNotMetWarning(UserWarning):
    """No threshold meets the requested error rate or coverage on the validation rows; every row is rejected."""


class Abstainer(BaseDecision):
    """Accepts the predictions of a fitted estimator that are certain enough, and rejects the others.

    `fit` learns a threshold of the uncertainty from validation rows. `predict` returns the estimator's predictions of
    all rows, `accept` says which of them to use; the other rows go to a person.

    Parameters
    ----------
    estimator : fitted estimator
        An `EpiBoostRegressor`, `EpiBoostClassifier` or a calibrated one, alone, at the end of a pipeline or inside a
        search. It is not fitted again; `clone` keeps it.
    max_error : float, optional
        Largest rate of wrong predictions among the accepted rows. As many rows are accepted as the validation rows
        allow.
    coverage : float, optional
        Share of the rows to accept, in place of ``max_error``; `error_bound_` is then the bound on their error rate.
        Fewer are accepted where many uncertainties are equal: rows at the threshold are rejected.
    confidence : float, default=0.95
        Probability, over validation tables, that the bound on the error rate holds.
    measure : {"total", "data", "knowledge"}, default="total"
        The part of the uncertainty that decides.
    tolerance : float, optional
        Largest absolute error of a regressor's prediction that does not count as wrong. Needed for a regressor, not
        allowed for a classifier.

    Attributes
    ----------
    estimator_ : UnwrappedModel
        Copy of the estimator as it was when `fit` was called.
    threshold_ : float
        A row is accepted if its uncertainty is smaller. Infinity accepts every row, minus infinity none.
    met_ : bool
        Whether the target was met. If not, `fit` warns and every row is rejected.
    error_bound_ : float
        Upper bound on the error rate of accepted rows, at the given confidence: ``max_error``, or the Clopper–Pearson
        bound if ``coverage`` was given; 1 if no row is accepted. If `fit` had no rows, that of the out-of-fold chains.
    error_ : float
        Error rate of the accepted validation rows; NaN if there are none.
    coverage_ : float
        Share of the validation rows that are accepted.
    classes_ : array of shape (classes,)
        Labels of a classifier.
    n_features_in_, feature_names_in_
        Number and names of the columns, where the estimator has them.

    Notes
    -----
    An abstainer is a classifier or a regressor as its estimator is, so it may stand at the end of a `Pipeline` and in
    `cross_val_predict`, `cross_val_score` and `GridSearchCV`. Three things to know:

    - Only the threshold is learned there. The rows must not be those that the estimator was trained on.
    - If the estimator is a fitted pipeline, pass the pipeline to the abstainer. In
      ``make_pipeline(scaler, Abstainer(estimator))`` calling `fit` fits the scaler again, which the estimator has not
      been trained with; ``FrozenEstimator(scaler)`` prevents that.
    - Predictions do not depend on the threshold. Search for parameters by what is accepted, for example with
      ``scoring=lambda abstainer, X, y: abstainer.accept(X).mean()`` and ``max_error``.

    References
    ----------
    Y. Geifman, R. El-Yaniv: Selective classification for deep neural networks. NeurIPS 2017. See also
    `epiboost.decisions.thresholds`.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(3000, 1))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=3000) > 0
    >>> model = EpiBoostClassifier(n_members=3, n_estimators=50, random_state=0).fit(X[:500], y[:500])
    >>> abstainer = Abstainer(model, max_error=0.05).fit(X[500:2000], y[500:2000])
    >>> prediction, accepted = abstainer.predict(X[2000:]), abstainer.accept(X[2000:])
    >>> wrong = prediction != y[2000:]
    >>> bool(wrong.mean() > 0.1), bool(wrong[accepted].mean() < 0.05), bool(accepted.any())
    (True, True, True)
    """

    def __init__(
        self,
        estimator: Estimator,
        *,
        max_error: float | None = None,
        coverage: float | None = None,
        confidence: float = 0.95,
        measure: Measure = "total",
        tolerance: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_error = max_error
        self.coverage = coverage
        self.confidence = confidence
        self.measure = measure
        self.tolerance = tolerance

    def fit(self, X: Table = None, y: Column = None) -> Self:
        """Learn the threshold from validation rows.

        Parameters
        ----------
        X : table of shape (n, features), optional
            Rows that the estimator was not trained, early-stopped or calibrated on; otherwise the bound does not hold.
            By default the training rows that the model keeps, with the errors of its out-of-fold chains. The bound is
            then that of these chains, which see fewer rows than the members and err a little more often.
        y : array of shape (n,), optional

        Warns
        -----
        TargetNotMetWarning
            If the target cannot be met. Every row is then rejected.

        Raises
        ------
        TypeError, NotFittedError
            If the estimator does not predict uncertainty, or is not fitted.
        ValueError
            If one of X and y is given alone, or none of them and the model keeps no rows with out-of-fold errors, X has
            no rows, y is of another length, not finite or holds labels unknown to the estimator, an
            uncertainty is NaN, or a parameter is not allowed.
        """
        estimator = unwrap(self.estimator, "predict", "predict_uncertainty").frozen_copy()
        self._check_parameters(is_classifier=estimator.classes is not None)
        if X is None and y is None:
            uncertainty, wrong = kept_errors(estimator.estimator, self.measure, self.tolerance or 0.0)
        elif X is None or y is None:
            message = "give X and y, or none of them for the training rows that the model keeps"
            raise ValueError(message)
        else:
            wrong = self._is_wrong(estimator, X, y)
            uncertainty = predict_measure(estimator, X, self.measure)
        shares = np.arange(1, _N_CANDIDATES + 1) / _N_CANDIDATES if self.coverage is None else np.array([self.coverage])
        candidates = candidate_thresholds(uncertainty, wrong, shares)
        chosen = self._choose(candidates)
        if chosen is None:
            warnings.warn(self._why_not_met(candidates), TargetNotMetWarning, stacklevel=2)
        self.estimator_: UnwrappedModel = estimator
        self.__dict__.pop("classes_", None)  # of an earlier fit
        if estimator.classes is not None:
            self.classes_: AnyArray = estimator.classes
        self._copy_column_attributes()
        self._set_threshold(candidates, chosen, n_rows=len(wrong))
        return self

    def predict(self, X: Table) -> AnyArray:
        """Return the estimator's predictions of all rows, accepted or not: labels or numbers, shape (n,)."""
        check_is_fitted(self, "threshold_")
        prediction: AnyArray = self.estimator_.predict(X)
        return prediction

    def accept(self, X: Table) -> npt.NDArray[np.bool_]:
        """Return which rows are certain enough to use their predictions.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        array of bool, of shape (n,)
            True where the uncertainty is below the threshold; False where the row is left to a person.

        Raises
        ------
        ValueError
            If X has no rows, or an uncertainty is NaN.
        """
        check_is_fitted(self, "threshold_")
        accepted: npt.NDArray[np.bool_] = predict_measure(self.estimator_, X, self.measure) < self.threshold_
        return accepted

    def score(self, X: Table, y: Column, sample_weight: Column | None = None) -> float:
        """Return the accuracy of a classifier or R² of a regressor on all rows, accepted or not.

        Parameters
        ----------
        X : table of shape (n, features)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        """
        metric = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        """Return the tags of a classifier or of a regressor, as the estimator is."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if getattr(self.estimator, "classes_", None) is None:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def _check_parameters(self, *, is_classifier: bool) -> None:
        check_measure(self.measure)
        if (self.max_error is None) == (self.coverage is None):
            message = f"give either max_error or coverage; got {self.max_error!r} and {self.coverage!r}"
            raise ValueError(message)
        check_share(self.confidence, "confidence")
        if self.max_error is not None:
            check_share(self.max_error, "max_error")
        if self.coverage is not None and not (isinstance(self.coverage, numbers.Real) and 0.0 < self.coverage <= 1.0):
            message = f"coverage must be a number above 0 and at most 1, got {self.coverage!r}"
            raise ValueError(message)
        if is_classifier and self.tolerance is not None:
            message = f"tolerance is for regressors; leave it out for a classifier, got {self.tolerance!r}"
            raise ValueError(message)
        if not is_classifier and not (isinstance(self.tolerance, numbers.Real) and 0.0 <= self.tolerance < math.inf):
            message = (
                "a regressor needs tolerance, the largest absolute error that is not wrong: a number of at least 0, "
                f"got {self.tolerance!r}"
            )
            raise ValueError(message)

    def _is_wrong(self, estimator: UnwrappedModel, X: Table, y: Column) -> npt.NDArray[np.bool_]:
        """Return for each validation row whether its prediction is wrong."""
        prediction, target = np.asarray(estimator.predict(X)), np.asarray(y)
        if target.shape != prediction.shape:
            message = f"y must hold one target per row, shape {prediction.shape}, got {target.shape}"
            raise ValueError(message)
        if estimator.classes is not None:
            codes = (label_codes(labels, estimator.classes, name="y") for labels in (prediction, target))
            return np.not_equal(*codes)
        absolute_error = np.abs(prediction - real_numbers(target, "y"))
        if not np.isfinite(absolute_error).all():
            message = "y must be finite"
            raise ValueError(message)
        return np.asarray(absolute_error > self.tolerance)

    def _choose(self, candidates: Candidates) -> int | None:
        """Return the position of the chosen threshold; None if no threshold meets the target."""
        if self.max_error is None:
            return 0 if candidates.n_accepted[0] > 0 else None
        passed = fallback_procedure(candidates, self.max_error, 1.0 - self.confidence)
        return int(np.flatnonzero(passed)[-1]) if passed.any() else None

    def _why_not_met(self, candidates: Candidates) -> str:
        if self.max_error is None:
            return (
                f"every row is rejected: no threshold accepts rows at coverage={self.coverage}, since too many rows "
                "have the same uncertainty"
            )
        reason = why_none_passed(candidates, self.max_error, 1.0 - self.confidence)
        return (
            f"every row is rejected: an error rate of at most {self.max_error} cannot be shown at a confidence of "
            f"{self.confidence}: {reason}"
        )

    def _set_threshold(self, candidates: Candidates, chosen: int | None, *, n_rows: int) -> None:
        self.met_ = chosen is not None
        self.threshold_, self.error_bound_, self.error_, self.coverage_ = -math.inf, 1.0, math.nan, 0.0
        if chosen is None:
            return
        n_errors, n_accepted = int(candidates.n_errors[chosen]), int(candidates.n_accepted[chosen])
        self.threshold_ = float(candidates.thresholds[chosen])
        self.error_ = n_errors / n_accepted
        self.coverage_ = n_accepted / n_rows
        bound = clopper_pearson_bound(n_errors, n_accepted, 1.0 - self.confidence)
        self.error_bound_ = bound if self.max_error is None else self.max_error
