"""Detection of out-of-domain rows by their uncertainty."""

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from epiboost._typing import AnyArray, Floats
from epiboost.metrics.inputs import check_length, check_uncertainty, check_weight


def ood_auc_score(
    is_out: npt.ArrayLike, uncertainty: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the area under the ROC curve of detecting out-of-domain rows by their uncertainty.

    It is the probability that an out-of-domain row has a larger uncertainty than an in-domain row; ties count half.

    Parameters
    ----------
    is_out : array of bool, of shape (n,)
        Whether the row is out of domain; both kinds of rows must be present.
    uncertainty : array of shape (n,)
        Only the order matters; infinite values are allowed. Knowledge uncertainty is the usual choice.
    sample_weight : array of shape (n,), optional
        Weights: none negative, not all zero.

    Returns
    -------
    float
        1 is perfect, 0.5 is chance; exactly 0.5 if all uncertainties are equal.

    Raises
    ------
    ValueError
        If all rows are of one kind, for empty arrays, NaN and negative weights.

    Examples
    --------
    >>> ood_auc_score([False, False, True, True], [0.1, 0.3, 0.3, 0.9])
    0.875
    """
    outside, rank, weight = _check(is_out, uncertainty, sample_weight)
    return float(roc_auc_score(outside, rank, sample_weight=weight))


def ood_average_precision_score(
    is_out: npt.ArrayLike, uncertainty: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the area under the precision–recall curve (AUPR) of detecting out-of-domain rows by their uncertainty.

    Parameters
    ----------
    is_out, uncertainty, sample_weight
        As in `ood_auc_score`, whose errors are raised too.

    Returns
    -------
    float
        1 is perfect; chance, and uncertainties that are all equal, give the share of out-of-domain rows.

    Examples
    --------
    >>> ood_average_precision_score([False, False, True, True], [0.1, 0.2, 0.3, 0.9])
    1.0
    """
    outside, rank, weight = _check(is_out, uncertainty, sample_weight)
    return float(average_precision_score(outside, rank, sample_weight=weight))


def ood_false_positive_rate(
    is_out: npt.ArrayLike,
    uncertainty: npt.ArrayLike,
    *,
    true_positive_rate: float = 0.95,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Return the share of in-domain rows that are flagged when 95 % of the out-of-domain rows are (FPR at 95 % TPR).

    Rows of equal uncertainty are flagged together.

    Parameters
    ----------
    is_out, uncertainty, sample_weight
        As in `ood_auc_score`, whose errors are raised too.
    true_positive_rate : float, default=0.95
        Smallest share of out-of-domain rows to detect: above 0, at most 1.

    Returns
    -------
    float
        0 is perfect; 1 if all uncertainties are equal.

    Examples
    --------
    >>> ood_false_positive_rate([False, False, True, True], [0.1, 0.5, 0.4, 0.9])
    0.5
    """
    if not 0.0 < true_positive_rate <= 1.0:
        message = f"true_positive_rate must be above 0 and at most 1, got {true_positive_rate!r}"
        raise ValueError(message)
    outside, rank, weight = _check(is_out, uncertainty, sample_weight)
    false_positive, true_positive, _ = roc_curve(outside, rank, sample_weight=weight, drop_intermediate=False)
    reached = np.searchsorted(true_positive, true_positive_rate * (1.0 - 1e-12))  # rates are rounded sums
    return float(false_positive[reached])


def check_is_out(is_out: npt.ArrayLike, n_samples: int) -> npt.NDArray[np.bool_]:
    """Return a boolean array: which samples are out of domain.

    >>> check_is_out([0, 1], 2)
    array([False,  True])
    """
    outside = np.asarray(is_out)
    if outside.ndim != 1 or not np.isin(outside, (0, 1)).all():
        message = f"is_out must hold true and false, in the shape (n,), got {outside.dtype} of shape {outside.shape}"
        raise ValueError(message)
    check_length(outside, n_samples, "is_out")
    return outside.astype(bool)


def _check(
    is_out: npt.ArrayLike, uncertainty: npt.ArrayLike, sample_weight: npt.ArrayLike | None
) -> tuple[AnyArray, AnyArray, Floats]:
    """Return which rows are out of domain, the ranks of the uncertainties (always finite) and the weights."""
    score: Floats = check_uncertainty(uncertainty)
    outside = check_is_out(is_out, len(score))
    weight = check_weight(sample_weight, len(score))
    counted = weight > 0.0
    if outside[counted].all() or not outside[counted].any():
        side = "out of domain" if outside[counted].any() else "in domain"
        message = f"is_out must hold rows of both kinds, got {len(score)} that are all {side}"
        raise ValueError(message)
    return outside, np.unique(score, return_inverse=True)[1], weight
