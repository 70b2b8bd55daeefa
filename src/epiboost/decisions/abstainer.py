"""When to hand a case to a person, with a bound on the errors among the cases that are kept.

Cases of small uncertainty are kept, the others handed over. Where to draw the line is learned on validation rows. Take
the m surest of n validation rows and, as the line, the uncertainty of the next one. Given the line, these m rows are
independent draws of what will be kept, so that their errors follow a binomial distribution, and the bound of Clopper
and Pearson holds exactly for that line, whatever the model and the distribution. A case on the line itself is handed
over, so that ties do no harm.

To choose a line by the errors, several are tried, from the strictest on: those that keep 5 %, 10 %, … 100 % of the
validation rows. Of the risk ``1 − confidence`` of claiming too much, half is given to the first line and the rest is
shared out among the others; a line that passes its test hands its risk on to the next (the fallback procedure). For
lines set beforehand the risk of all claims together is then not above ``1 − confidence``. These lines are quantiles of
the validation rows and move a little from table to table. That this does no harm where errors grow more frequent with
uncertainty is seen in simulations, and not proved for every distribution. Of the lines that pass the one that keeps
most is taken. Lines that keep too few rows to pass with one error are not tried, unless there are no others.
"""

import math
import numbers
import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from epiboost._inputs.labels import label_codes
from epiboost._posterior.arrays import real_numbers
from epiboost._posterior.conformal import check_share
from epiboost._posterior.uncertainty import Measure, check_measure
from epiboost._posterior.unwrap import UnwrappedModel, unwrap
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.decisions.measures import measured

_N_LINES = 20


class TargetNotMetWarning(UserWarning):
    """The validation rows do not show that any part of the cases can be kept with as few errors as asked for."""


class Abstainer(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predict where the model is sure enough, and hand the other cases to a person.

    Parameters
    ----------
    model : fitted model
        An `EpiBoostRegressor`, `EpiBoostClassifier` or a calibrated one, on its own, at the end of a pipeline or inside
        a search. It is kept as it is when `fit` is called.
    max_error : float, optional
        Largest share of wrong predictions among the cases kept. As many are kept as the validation rows allow.
    coverage : float, optional
        Share of the cases to keep, in place of ``max_error``; the bound on their errors is then reported. It is less
        where many cases are equally uncertain: those on the line are handed over.
    confidence : float, default=0.95
        Probability, over validation tables, that the bound on the error holds.
    measure : {"total", "data", "knowledge"}, default="total"
        The uncertainty that decides.
    tolerance : float, optional
        How far a regressor's prediction may be from the target and not be wrong. Needed for a regressor, not allowed
        for a classifier.

    Attributes
    ----------
    model_ : UnwrappedModel
        The model as it was when `fit` was called.
    threshold_ : float
        A case is kept if its uncertainty is smaller; infinite if all are kept, minus infinity if none.
    met_ : bool
        Whether the target could be met. If not, `fit` warns and no case is kept.
    error_bound_ : float
        What the share of wrong predictions among the cases kept does not exceed, at the given confidence:
        ``max_error``, or with ``coverage`` the bound of Clopper and Pearson. 1 if none is kept.
    error_ : float
        That share on the validation rows; NaN if none is kept.
    coverage_ : float
        Share of the validation rows kept.

    References
    ----------
    C. Clopper, E. Pearson: The use of confidence or fiducial limits illustrated in the case of the binomial.
    Biometrika, 1934. B. Wiens: A fixed sequence Bonferroni procedure for testing multiple endpoints. Pharmaceutical
    Statistics, 2003. Y. Geifman, R. El-Yaniv: Selective classification for deep neural networks. NeurIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(3000, 1))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=3000) > 0
    >>> model = EpiBoostClassifier(n_members=3, n_estimators=50, random_state=0).fit(X[:500], y[:500])
    >>> abstainer = Abstainer(model, max_error=0.05).fit(X[500:2000], y[500:2000])
    >>> prediction, kept = abstainer.predict(X[2000:])
    >>> wrong = prediction != y[2000:]
    >>> bool(wrong.mean() > 0.1), bool(wrong[kept].mean() < 0.05), bool(kept.any())
    (True, True, True)
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 (any model that knows its uncertainty)
        *,
        max_error: float | None = None,
        coverage: float | None = None,
        confidence: float = 0.95,
        measure: Measure = "total",
        tolerance: float | None = None,
    ) -> None:
        self.model = model
        self.max_error = max_error
        self.coverage = coverage
        self.confidence = confidence
        self.measure = measure
        self.tolerance = tolerance

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401 (anything a user may pass)
        """Learn on validation rows when to hand a case over.

        Parameters
        ----------
        X : table of shape (n, features)
            Rows that the model has not been trained, early-stopped or calibrated on: the bound rests on it.
        y : array of shape (n,)

        Returns
        -------
        self

        Warns
        -----
        TargetNotMetWarning
            If no bound is as small as ``max_error``. Then every case is handed over.

        Raises
        ------
        TypeError
            If the model does not know its uncertainty.
        NotFittedError
            If the model is not fitted.
        ValueError
            For no rows, tables of different lengths, uncertainties that are NaN, targets that are not finite, labels
            that the model does not know, and parameters that make no sense. Uncertainties may be all equal: all cases
            are then kept, or none.
        """
        model = unwrap(self.model, "predict", "predict_uncertainty").frozen_copy()
        self._check_parameters(classifies=model.classes is not None)
        wrong = self._wrong(model, X, y)
        uncertainty = measured(model, X, self.measure)
        order = np.argsort(uncertainty, kind="stable")
        lines = np.append(uncertainty[order], np.inf)[self._ranks(len(order))]
        kept = np.searchsorted(uncertainty[order], lines)  # rows strictly below the line
        errors = np.concatenate([[0], np.cumsum(wrong[order])])[kept]
        chosen = self._choose(kept, errors)
        self.model_: UnwrappedModel = model
        self.met_ = chosen is not None
        self.threshold_, self.error_bound_, self.error_, self.coverage_ = -math.inf, 1.0, math.nan, 0.0
        if chosen is not None:
            self.threshold_ = float(lines[chosen])
            self.error_ = float(errors[chosen] / kept[chosen])
            self.coverage_ = float(kept[chosen] / len(order))
            bound = _upper_bound(int(errors[chosen]), int(kept[chosen]), 1.0 - self.confidence)
            self.error_bound_ = bound if self.max_error is None else self.max_error
        return self

    def predict(self, X: Any) -> tuple[AnyArray, npt.NDArray[np.bool_]]:  # noqa: ANN401 (anything a user may pass)
        """Predict, and say which predictions to keep.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        prediction : array of shape (n,)
            The model's prediction for every case.
        kept : array of bool, of shape (n,)
            False where the case is to be handed to a person.

        Raises
        ------
        ValueError
            For no rows and uncertainties that are NaN.
        """
        check_is_fitted(self, "threshold_")
        prediction: AnyArray = self.model_.predict(X)
        kept: npt.NDArray[np.bool_] = measured(self.model_, X, self.measure) < self.threshold_
        return prediction, kept

    def __sklearn_clone__(self) -> Self:
        """Keep the model: it is given, and not learned here."""
        return type(self)(**self.get_params(deep=False))

    def _check_parameters(self, *, classifies: bool) -> None:
        check_measure(self.measure)
        if (self.max_error is None) == (self.coverage is None):
            message = f"give max_error or coverage, one of them; got {self.max_error!r} and {self.coverage!r}"
            raise ValueError(message)
        check_share(self.confidence, "confidence")
        if self.max_error is not None:
            check_share(self.max_error, "max_error")
        if self.coverage is not None and not (isinstance(self.coverage, numbers.Real) and 0.0 < self.coverage <= 1.0):
            message = f"coverage must be a number above 0 and at most 1, got {self.coverage!r}"
            raise ValueError(message)
        if classifies and self.tolerance is not None:
            message = f"tolerance is for regressors: a label is right or wrong; got {self.tolerance!r}"
            raise ValueError(message)
        if not classifies and not (isinstance(self.tolerance, numbers.Real) and 0.0 <= self.tolerance < math.inf):
            message = (
                "a regressor needs tolerance, a number of at least 0: how far a prediction may be from the target and "
                f"not be wrong; got {self.tolerance!r}"
            )
            raise ValueError(message)

    def _wrong(self, model: UnwrappedModel, X: Any, y: Any) -> npt.NDArray[np.bool_]:  # noqa: ANN401 (anything a user may pass)
        prediction, target = np.asarray(model.predict(X)), np.asarray(y)
        if target.shape != prediction.shape:
            message = f"y must hold one target a row, shape {prediction.shape}, got {target.shape}"
            raise ValueError(message)
        if model.classes is not None:
            codes = (label_codes(labels, model.classes, name="y") for labels in (prediction, target))
            return np.not_equal(*codes)
        distance = np.abs(prediction - real_numbers(target, "y"))
        if not np.isfinite(distance).all():
            message = "y must be finite"
            raise ValueError(message)
        return np.asarray(distance > self.tolerance)

    def _ranks(self, n_samples: int) -> Integers:
        """Return how many validation rows each line keeps."""
        shares = np.arange(1, _N_LINES + 1) / _N_LINES if self.coverage is None else np.array([self.coverage])
        ranks: Integers = np.minimum(np.ceil(np.round(shares * (n_samples + 1), 9)), n_samples).astype(np.int64)
        return ranks

    def _choose(self, kept: Integers, errors: Integers) -> int | None:
        """Return the line that keeps most of those allowed, or warn that there is none."""
        if self.max_error is None:
            if kept[0] > 0:
                return 0
            message = (
                f"no share of the cases as large as coverage={self.coverage} can be told apart: too many have the same "
                "uncertainty; every case is handed over"
            )
        else:
            risk = 1.0 - self.confidence
            passed = _fallback(errors, kept, self.max_error, risk)
            if passed.any():
                return int(np.flatnonzero(passed)[-1])
            message = (
                f"an error of at most {self.max_error} cannot be shown at a confidence of {self.confidence}: "
                f"{_reason(errors, kept, self.max_error, risk)}; every case is handed over"
            )
        warnings.warn(message, TargetNotMetWarning, stacklevel=3)
        return None


def _fallback(errors: Integers, kept: Integers, max_error: float, risk: float) -> npt.NDArray[np.bool_]:
    """Test lines in their order: each has a share of the risk, and one that passes hands what it had to the next."""
    p_values: Floats = bdtr(errors, kept, max_error)
    passed = np.zeros(len(p_values), dtype=bool)
    inherited = 0.0
    for claim, own in _shared_out(kept, max_error, risk):
        passed[claim] = p_values[claim] <= own + inherited
        inherited = own + inherited if passed[claim] else 0.0
    return passed


def _shared_out(kept: Integers, max_error: float, risk: float) -> list[tuple[int, float]]:
    """Return the lines that are tested and the risk that each has of its own."""
    tested = np.flatnonzero(bdtr(1, kept, max_error) <= risk / 2)
    if not tested.size:
        tested = np.flatnonzero(bdtr(0, kept, max_error) <= risk / 2)
    return [(int(line), risk / 2 if place == 0 else risk / 2 / (len(tested) - 1)) for place, line in enumerate(tested)]


def _reason(errors: Integers, kept: Integers, max_error: float, risk: float) -> str:
    """Say why no line passed: too few rows for any, or bounds that are too high, each at its share of the risk."""
    tested = _shared_out(kept, max_error, risk)
    if not tested:
        needed = math.ceil(math.log(risk / 2) / math.log1p(-max_error))
        return f"even without any error {needed} kept rows are needed, and there are {kept.max()} in all"
    lowest = min(_upper_bound(int(errors[line]), int(kept[line]), own) for line, own in tested)
    alone = min(_upper_bound(int(wrong), int(n), risk) for wrong, n in zip(errors, kept, strict=True))
    return (
        f"{len(tested)} lines are tried and share the risk, and the lowest of their bounds is {lowest:.3g}; a single "
        f"line, set beforehand by coverage=, has the risk to itself, and its bound may be as low as {alone:.3g} here"
    )


def _upper_bound(errors: int, kept: int, risk: float) -> float:
    """Return the bound of Clopper and Pearson: the largest share of errors under which so few are not improbable."""
    return float(betaincinv(errors + 1, kept - errors, 1.0 - risk)) if errors < kept else 1.0
