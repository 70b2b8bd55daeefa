"""Whether the predictions a model is unsure of are those it gets wrong.

Sort the samples by uncertainty and hand the most uncertain ones, one after the other, to somebody who knows the answer:
the error that is left falls from the model's error to none. How fast it falls says how well the uncertainty ranks the
errors. An oracle that knows the errors falls fastest; handing over samples at random falls along a straight line. The
prediction–rejection ratio is the area gained over random as a share of the area that the oracle gains:

    PRR = (area − random area) / (oracle area − random area)

It is 1 for a ranking as good as the oracle's, 0 for one no better than chance, negative for one that is worse.

**Ties.** Samples of equal uncertainty have no order. The curve then is the average over all their orders, a straight
line from the first of them to the last, so that the result does not depend on the order of the rows. Weights are
counts: a sample of weight two is the same as the sample twice.

References
----------
A. Malinin, L. Prokhorenkova, A. Ustimenko, "Uncertainty in Gradient Boosting via Ensembles", ICLR 2021.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from epiboost._inputs.labels import check_present, check_same_kind
from epiboost._typing import Floats
from epiboost.metrics.inputs import check_uncertainty, check_values, check_weight

Loss: TypeAlias = Literal["auto", "zero_one", "squared", "absolute"]
"""How an error is measured; auto is zero_one for labels and squared for numbers."""

_RANDOM_AREA = 0.5


class UndefinedScoreError(ValueError):
    """A score that has no value for what it is asked of: all errors are equal, and no order is better than another."""


@dataclass(frozen=True, slots=True, eq=False)
class RejectionCurve:
    """The error that is left when the most uncertain samples are handed to somebody who knows the answer.

    Attributes
    ----------
    rejected : array of shape (k,)
        Share of the samples handed over, from 0 to 1.
    error : array of shape (k,)
        Mean error of all samples, those handed over counting as right: from the model's error down to 0.
    oracle_rejected : array of shape (j,)
        Share handed over by the oracle, which takes the largest errors first.
    oracle_error : array of shape (j,)
        Mean error it leaves.
    """

    rejected: Floats
    error: Floats
    oracle_rejected: Floats
    oracle_error: Floats

    @property
    def score(self) -> float:
        """The prediction–rejection ratio; an error is raised if all errors are equal, so that no order is better."""
        base = self.error[0]
        # All errors equal is a matter of rounding here; what gave the curve has looked at the errors themselves.
        if base == 0.0 or len(self.oracle_rejected) == 2:  # noqa: PLR2004 (one straight line)
            message = (
                "the prediction-rejection ratio is not defined when all errors are equal"
                + (": the model makes none" if base == 0.0 else "")
                + "; no order of the samples is better than another"
            )
            raise UndefinedScoreError(message)
        gain = _RANDOM_AREA - _area(self.rejected, self.error / base)
        return float(gain / (_RANDOM_AREA - _area(self.oracle_rejected, self.oracle_error / base)))


def rejection_curve(
    y_true: npt.ArrayLike | None = None,
    y_pred: npt.ArrayLike | None = None,
    uncertainty: npt.ArrayLike | None = None,
    *,
    errors: npt.ArrayLike | None = None,
    loss: Loss = "auto",
    sample_weight: npt.ArrayLike | None = None,
) -> RejectionCurve:
    """Follow the error down as the most uncertain samples are handed over.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        Targets and predictions, unless ``errors`` are given.
    uncertainty : array of shape (n,)
        Larger is less sure; only the order matters, and it may be infinite. Total uncertainty is the usual choice.
    errors : array of shape (n,), optional
        The error of each prediction in place of ``y_true`` and ``y_pred``: finite, none negative.
    loss : {"auto", "zero_one", "squared", "absolute"}, default="auto"
        How errors are measured: by default squared if targets or predictions are floating-point numbers, else 0 or 1.
        For a classifier whose labels are such numbers say "zero_one", as `scorer` does by itself.
    sample_weight : array of shape (n,), optional
        What each sample counts for; none may be negative, nor all zero.

    Returns
    -------
    RejectionCurve
        One point a group of equal uncertainties. If there are no errors at all, both lines are zero; if all
        uncertainties are equal, the curve is that of a random order.

    Raises
    ------
    ValueError
        For empty arrays, arrays of different lengths, NaN, errors that are negative or too large to be
        squared, and weights that are negative, all zero or too large to be added up.

    Examples
    --------
    The one error is found among the two most uncertain of four samples:

    >>> curve = rejection_curve(["a", "b", "b", "b"], ["a", "b", "a", "b"], uncertainty=[0.1, 0.2, 0.3, 0.4])
    >>> curve.rejected, curve.error
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.25, 0.25, 0.  , 0.  , 0.  ]))
    """
    error = _check_errors(y_true, y_pred, errors, loss)
    if uncertainty is None:
        message = "uncertainty is missing; give one number a sample"
        raise ValueError(message)
    score = check_uncertainty(uncertainty, len(error))
    weight = check_weight(sample_weight, len(error))
    counted = weight > 0.0
    error, score, weight = error[counted], score[counted], weight[counted]
    return RejectionCurve(*_remaining(error, score, weight), *_remaining(error, error, weight))


def prediction_rejection_score(
    y_true: npt.ArrayLike | None = None,
    y_pred: npt.ArrayLike | None = None,
    uncertainty: npt.ArrayLike | None = None,
    *,
    errors: npt.ArrayLike | None = None,
    loss: Loss = "auto",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the prediction–rejection ratio: how well uncertainty ranks errors (the paper's PRR, divided by 100).

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        Targets and predictions, unless ``errors`` are given.
    uncertainty : array of shape (n,)
        Larger is less sure; only the order matters, and it may be infinite. Total uncertainty is the usual choice.
    errors : array of shape (n,), optional
        The error of each prediction in place of ``y_true`` and ``y_pred``: finite, none negative.
    loss : {"auto", "zero_one", "squared", "absolute"}, default="auto"
        How errors are measured: by default squared if targets or predictions are floating-point numbers, else 0 or 1.
        For a classifier whose labels are such numbers say "zero_one", as `scorer` does by itself.
    sample_weight : array of shape (n,), optional
        What each sample counts for; none may be negative, nor all zero.

    Returns
    -------
    float
        1 is perfect, 0 is random; 0 exactly if all uncertainties are equal.

    Raises
    ------
    UndefinedScoreError
        If all errors are equal, all zero among them: no order is then better than another.
    ValueError
        For empty arrays, arrays of different lengths, NaN, errors that are negative or too large to be
        squared, and weights that are negative, all zero or too large to be added up.

    Examples
    --------
    >>> prediction_rejection_score([1.0, 2.0, 3.0], [1.0, 2.5, 5.0], uncertainty=[0.1, 0.2, 0.9])
    1.0
    >>> prediction_rejection_score(errors=[0, 0, 1], uncertainty=[3, 3, 3])
    0.0
    """
    return rejection_curve(y_true, y_pred, uncertainty, errors=errors, loss=loss, sample_weight=sample_weight).score


def prediction_errors(y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, loss: Loss = "auto") -> Floats:
    """Return the error of each prediction.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        Numbers or labels.
    loss : {"auto", "zero_one", "squared", "absolute"}, default="auto"
        Auto is squared if targets or predictions are floating-point numbers, else 0 or 1.

    Returns
    -------
    array of shape (n,)
        None is negative.

    Raises
    ------
    ValueError
        For empty arrays, arrays of different lengths and, where numbers are needed, NaN and errors too large
        to be squared.

    Examples
    --------
    >>> prediction_errors([1.0, 2.0], [1.0, 4.0]), prediction_errors(["a", "b"], ["b", "b"])
    (array([0., 4.]), array([1., 0.]))
    """
    if loss not in get_args(Loss):
        message = f"loss must be one of {get_args(Loss)}, got {loss!r}"
        raise ValueError(message)
    targets, predictions = np.asarray(y_true), np.asarray(y_pred)
    if targets.shape != predictions.shape or targets.ndim != 1 or not targets.size:
        message = f"y_true and y_pred must be of one shape (n,), n at least 1, got {targets.shape}, {predictions.shape}"
        raise ValueError(message)
    if loss == "auto":
        loss = "squared" if "f" in {targets.dtype.kind, predictions.dtype.kind} else "zero_one"
    if loss == "zero_one":
        check_present(targets, "y_true")
        check_present(predictions, "y_pred")
        try:
            check_same_kind(targets, predictions)
        except TypeError as error:
            message = f"y_true holds {targets.dtype} and y_pred {predictions.dtype}; give labels of the same kind"
            raise ValueError(message) from error
        wrong: Floats = np.not_equal(targets, predictions).astype(np.float64)
        return wrong
    with np.errstate(over="ignore"):
        distance = np.abs(check_values(targets, "y_true") - check_values(predictions, "y_pred"))
        found: Floats = np.square(distance) if loss == "squared" else distance
    if not np.isfinite(found).all():
        message = f"{loss} errors must be finite, got {np.count_nonzero(~np.isfinite(found))} that are too large"
        raise ValueError(message)
    return found


def _check_errors(
    y_true: npt.ArrayLike | None, y_pred: npt.ArrayLike | None, errors: npt.ArrayLike | None, loss: Loss
) -> Floats:
    if errors is None:
        if y_true is None or y_pred is None:
            message = "give y_true and y_pred, or errors"
            raise ValueError(message)
        return prediction_errors(y_true, y_pred, loss=loss)
    if y_true is not None or y_pred is not None:
        message = "give y_true and y_pred, or errors, not both"
        raise ValueError(message)
    values = check_values(errors, "errors")
    if values.min() < 0.0:
        message = f"errors must not be negative, got {values.min()}"
        raise ValueError(message)
    return values


def _remaining(error: Floats, score: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return share handed over and error left, at the ends of groups of equal score.

    Equal scores are further sorted by error and weight, so that sums are taken in one order whatever that of the rows.
    """
    order = np.lexsort((weight, error, -score))
    score, weight = score[order], weight[order]
    handed_over = np.cumsum(weight)
    unit = np.ldexp(1.0, np.frexp(error.max())[1] - 1)  # no sum of errors is too large; a power of two rounds nothing
    removed = np.cumsum(weight * (error[order] / unit))
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    share = handed_over[ends] / handed_over[-1]
    left = np.append(removed[-1], np.maximum(removed[-1] - removed[ends], 0.0)) / handed_over[-1]
    return np.append(0.0, share), left * unit


def _area(x: Floats, y: Floats) -> float:
    """Return the area under the straight lines between the points."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)
