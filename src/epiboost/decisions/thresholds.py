"""Choice of an acceptance threshold, with a bound on the error rate of the accepted rows.

A row is accepted if its uncertainty is below the threshold. The threshold is learned from validation rows.

**Bound.** Take the m least uncertain of n validation rows, and as threshold the uncertainty of the next one. Given the
threshold, these m rows are independent draws of the rows that will be accepted. Their number of errors is binomial, so
the Clopper–Pearson bound is exact for that threshold, for any model and any distribution. A row whose uncertainty
equals the threshold is rejected, so ties do no harm.

**Choice by error rate.** Several thresholds are tested, the strictest first: those that accept 5 %, 10 %, … 100 % of
the validation rows. The risk ``1 − confidence`` of a false claim is split: half goes to the first threshold, the rest
in equal shares to the others. A threshold that passes its test hands its risk on to the next (the fallback procedure).
For thresholds that are fixed in advance, the probability of any false claim is then at most ``1 − confidence``. The
thresholds used here are quantiles of the validation rows and vary a little from table to table. In simulations this
does no harm where errors become more frequent with uncertainty; it is not proved for every distribution. Of the
thresholds that pass, the one that accepts most rows is chosen. Thresholds that accept too few rows to pass with one
error are not tested, unless there are no others.

References
----------
C. Clopper, E. Pearson: The use of confidence or fiducial limits illustrated in the case of the binomial. Biometrika,
1934. B. Wiens: A fixed sequence Bonferroni procedure for testing multiple endpoints. Pharmaceutical Statistics, 2003.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr, betaincinv

from epiboost._typing import Floats, Integers


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidate thresholds, the strictest first, and what each accepts of the validation rows.

    Attributes
    ----------
    thresholds : array of shape (k,)
    n_accepted : integer array of shape (k,)
        Validation rows with an uncertainty below the threshold.
    n_errors : integer array of shape (k,)
        Wrong predictions among them.
    """

    thresholds: Floats
    n_accepted: Integers
    n_errors: Integers

    def error_bounds(self, risk: float) -> Floats:
        """Return the Clopper–Pearson bound of each threshold, each at the full risk."""
        pairs = zip(self.n_errors.tolist(), self.n_accepted.tolist(), strict=True)
        return np.array([clopper_pearson_bound(*pair, risk) for pair in pairs])


def candidate_thresholds(uncertainty: Floats, wrong: npt.NDArray[np.bool_], shares: Floats) -> Candidates:
    """Return thresholds that accept given shares of the validation rows, or less where uncertainties are equal.

    Parameters
    ----------
    uncertainty : array of shape (n,)
    wrong : array of bool, of shape (n,)
        Whether the prediction is wrong.
    shares : array of shape (k,)
        Ascending, above 0 and at most 1.

    Examples
    --------
    >>> found = candidate_thresholds(np.array([3.0, 1.0, 2.0]), np.array([True, False, False]), np.array([0.5, 1.0]))
    >>> found.thresholds, found.n_accepted, found.n_errors
    (array([ 3., inf]), array([2, 3]), array([0, 1]))
    """
    order = np.argsort(uncertainty, kind="stable")
    ascending = uncertainty[order]
    ranks = np.minimum(np.ceil(np.round(shares * (len(order) + 1), 9)), len(order)).astype(np.int64)
    thresholds = np.append(ascending, np.inf)[ranks]
    n_accepted = np.searchsorted(ascending, thresholds)
    n_errors = np.concatenate([[0], np.cumsum(wrong[order])])[n_accepted]
    return Candidates(thresholds, n_accepted, n_errors)


def fallback_procedure(candidates: Candidates, max_error: float, risk: float) -> npt.NDArray[np.bool_]:
    """Return which thresholds pass the test that their error rate is at most ``max_error``.

    Parameters
    ----------
    candidates : Candidates
    max_error : float
    risk : float
        Probability, at most, that any threshold passes whose error rate is larger.

    Returns
    -------
    array of bool, of shape (k,)
    """
    p_values: Floats = bdtr(candidates.n_errors, candidates.n_accepted, max_error)
    passed = np.zeros(len(p_values), dtype=bool)
    inherited = 0.0
    for place, share in _risk_shares(candidates, max_error, risk):
        passed[place] = p_values[place] <= share + inherited
        inherited = share + inherited if passed[place] else 0.0
    return passed


def why_none_passed(candidates: Candidates, max_error: float, risk: float) -> str:
    """Return why no threshold passed: too few validation rows, or error bounds that are too high."""
    tested = _risk_shares(candidates, max_error, risk)
    if not tested:
        needed = math.ceil(math.log(risk / 2) / math.log1p(-max_error))
        return f"even without errors {needed} accepted rows are needed, got {candidates.n_accepted.max()}"
    shared = min(
        clopper_pearson_bound(int(candidates.n_errors[place]), int(candidates.n_accepted[place]), share)
        for place, share in tested
    )
    return (
        f"{len(tested)} thresholds are tested and share the risk, and their lowest error bound is {shared:.3g}; with "
        "coverage= a single threshold has the whole risk, and its error bound is as low as "
        f"{candidates.error_bounds(risk).min():.3g} on these rows"
    )


def clopper_pearson_bound(n_errors: int, n_accepted: int, risk: float) -> float:
    """Return the upper Clopper–Pearson bound on an error rate, which holds with probability ``1 − risk``.

    It is the rate at which so few errors, or fewer, have the probability ``risk``.

    >>> round(clopper_pearson_bound(0, 59, 0.05), 3)
    0.05
    """
    return float(betaincinv(n_errors + 1, n_accepted - n_errors, 1.0 - risk)) if n_errors < n_accepted else 1.0


def _risk_shares(candidates: Candidates, max_error: float, risk: float) -> list[tuple[int, float]]:
    """Return the positions of the thresholds that are tested, each with its share of the risk."""
    n_accepted = candidates.n_accepted
    tested = np.flatnonzero(bdtr(1, n_accepted, max_error) <= risk / 2)
    if not tested.size:
        tested = np.flatnonzero(bdtr(0, n_accepted, max_error) <= risk / 2)
    return [(place, risk / 2 if i == 0 else risk / 2 / (len(tested) - 1)) for i, place in enumerate(tested.tolist())]
