"""Rejection curves: how well uncertainty ranks the errors of a model.

Sort the samples by uncertainty and hand the most uncertain ones, one after the other, to an expert who knows the
answer. The remaining error falls from the model's error to zero. How fast it falls shows how well the uncertainty ranks
the errors. It falls fastest for an oracle that knows the errors, and along a straight line for a random order. The
prediction–rejection ratio is the area gained over the random order as a share of the area that the oracle gains:

    PRR = (area − random area) / (oracle area − random area)

It is 1 for a ranking as good as the oracle's, 0 for a random one, and negative for a worse one.

**Ties.** Samples of equal uncertainty have no order. The curve is the average over all their orders, a straight line,
so that the result does not depend on the order of the rows. Weights are counts: a sample of weight two is the same as
the sample twice.

References
----------
A. Malinin, L. Prokhorenkova, A. Ustimenko, "Uncertainty in Gradient Boosting via Ensembles", ICLR 2021.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from epiboost._display import short_repr
from epiboost._inputs.labels import check_present, check_same_kind
from epiboost._typing import AnyArray, Floats
from epiboost.metrics.inputs import check_uncertainty, check_values, check_weight

Loss: TypeAlias = Literal["auto", "zero_one", "squared", "absolute"]
"""Loss of a prediction; auto is zero_one for labels and squared for numbers."""

_RANDOM_AREA = 0.5


class UndefinedScoreError(ValueError):
    """Raised if a score is not defined: all errors are equal, so that no order of samples is better than another."""


@dataclass(frozen=True, slots=True, eq=False)
class RejectionCurve:
    """Remaining error as the most uncertain samples are rejected: handed to an expert who knows the answer.

    Attributes
    ----------
    rejected : array of shape (k,)
        Share of rejected samples, from 0 to 1.
    error : array of shape (k,)
        Mean error of all samples, where rejected ones have error zero: from the model's error down to 0.
    oracle_rejected : array of shape (j,)
        Share of samples rejected by the oracle, which rejects the largest errors first.
    oracle_error : array of shape (j,)
        Mean error that remains then.
    """

    rejected: Floats
    error: Floats
    oracle_rejected: Floats
    oracle_error: Floats

    __repr__ = short_repr

    @property
    def score(self) -> float:
        """Prediction–rejection ratio; raises an `UndefinedScoreError` if all errors are equal."""
        base = self.error[0]
        # Sums are rounded, so equal errors are recognised by the oracle's curve, whose ties are exact.
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
    """Return the remaining error as the most uncertain samples are rejected.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n,)
        Targets and predictions, unless ``errors`` are given.
    uncertainty : array of shape (n,)
        Only the order matters; infinite values are allowed. Total uncertainty is the usual choice.
    errors : array of shape (n,), optional
        Error of each prediction, in place of ``y_true`` and ``y_pred``: finite, none negative.
    loss : {"auto", "zero_one", "squared", "absolute"}, default="auto"
        How errors are measured: by default squared if targets or predictions are floating-point numbers, else 0 or 1.
        For a classifier whose labels are floating-point numbers use "zero_one", as `scorer` does.
    sample_weight : array of shape (n,), optional
        Weights: none negative, not all zero.

    Returns
    -------
    RejectionCurve
        One point per group of equal uncertainties. If there are no errors at all, both curves are zero; if all
        uncertainties are equal, the curve is that of a random order.

    Raises
    ------
    ValueError
        For empty arrays, arrays of different lengths, NaN, errors that are negative or too large to be
        squared, and weights that are negative, all zero or of infinite sum.

    Examples
    --------
    The only error is among the two most uncertain of four samples:

    >>> curve = rejection_curve(["a", "b", "b", "b"], ["a", "b", "a", "b"], uncertainty=[0.1, 0.2, 0.3, 0.4])
    >>> curve.rejected, curve.error
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.25, 0.25, 0.  , 0.  , 0.  ]))
    """
    error = _check_errors(y_true, y_pred, errors, loss)
    if uncertainty is None:
        message = "uncertainty is missing; give one number per sample"
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
    """Return the prediction–rejection ratio (PRR): how well uncertainty ranks errors. The paper reports it times 100.

    Parameters
    ----------
    y_true, y_pred, uncertainty, errors, loss, sample_weight
        As in `rejection_curve`, whose errors are raised too.

    Returns
    -------
    float
        1 is perfect, 0 is random; exactly 0 if all uncertainties are equal.

    Raises
    ------
    UndefinedScoreError
        If all errors are equal: no order is then better than another.

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
        As in `rejection_curve`.

    Returns
    -------
    array of shape (n,)
        Zero or larger.

    Raises
    ------
    ValueError
        For empty arrays, arrays of different lengths and, if the loss needs numbers, NaN and errors that are too large
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
        message = (
            f"y_true and y_pred must have the same shape (n,), n at least 1, got {targets.shape}, {predictions.shape}"
        )
        raise ValueError(message)
    if loss == "auto":
        loss = "squared" if "f" in {targets.dtype.kind, predictions.dtype.kind} else "zero_one"
    return _zero_one(targets, predictions) if loss == "zero_one" else _distances(targets, predictions, loss)


def _zero_one(targets: AnyArray, predictions: AnyArray) -> Floats:
    check_present(targets, "y_true")
    check_present(predictions, "y_pred")
    try:
        check_same_kind(targets, predictions)
    except TypeError as error:
        message = f"y_true holds {targets.dtype} and y_pred {predictions.dtype}; give labels of the same kind"
        raise ValueError(message) from error
    return np.not_equal(targets, predictions).astype(np.float64)


def _distances(targets: AnyArray, predictions: AnyArray, loss: Loss) -> Floats:
    with np.errstate(over="ignore"):
        distance = np.abs(check_values(targets, "y_true") - check_values(predictions, "y_pred"))
        errors: Floats = np.square(distance) if loss == "squared" else distance
    if not np.isfinite(errors).all():
        message = f"{loss} errors must be finite, got {np.count_nonzero(~np.isfinite(errors))} that are too large"
        raise ValueError(message)
    return errors


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
    """Return the rejected share and the remaining error after each group of equal scores.

    Equal scores are sorted by error and weight, so that the order of the sums does not depend on the order of the rows.
    """
    order = np.lexsort((weight, error, -score))
    score, weight = score[order], weight[order]
    rejected = np.cumsum(weight)
    unit = np.ldexp(1.0, np.frexp(error.max())[1] - 1)  # avoids overflow of sums; a power of two is exact
    removed = np.cumsum(weight * (error[order] / unit))
    ends = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    share = rejected[ends] / rejected[-1]
    remaining = np.append(removed[-1], np.maximum(removed[-1] - removed[ends], 0.0)) / rejected[-1]
    return np.append(0.0, share), remaining * unit


def _area(x: Floats, y: Floats) -> float:
    """Return the area under a piecewise linear curve."""
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)
