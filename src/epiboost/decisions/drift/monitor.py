"""Monitor for drift in a stream of rows, with a bounded probability of ever raising a false alarm.

Each column is tested by a conformal test martingale. A new value is ranked among the values of the reference and of all
earlier rows, which gives a conformal p-value. Without drift these p-values are independent and uniform. The martingale
is the capital of a gambler who bets against that: each bet multiplies the capital by 1 + ε·b(p), where b has mean zero.
Bets are on larger or smaller values, b(p) = 2p − 1, and on a wider or narrower spread, b(p) = 6(p − 1/2)² − 1/2. The
capital is divided among the bets, and after each row a small share of it is divided anew (Vovk's Simple Jumper, with
more bets), so that the gambler can change the bet when drift begins.

By Ville's inequality, the capital of a column ever reaches d / rate with a probability of at most rate / d without
drift. The alarm is raised when this happens in any of d columns. A category is ranked by its share among the rows that
are compared, the row itself included: ranks by the share in the reference alone would not be uniform, since the
reference never holds a category that is new to it.

At most 10,000 rows are remembered. Beyond that one row, drawn at random from the remembered ones and the new one, is
forgotten after each row. Which row is forgotten does not depend on which is the new one, so the p-values stay
independent and uniform.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epiboost._estimators.conformal import check_share
from epiboost._typing import Floats
from epiboost.decisions.drift.batch import check_columns, check_rows
from epiboost.decisions.drift.memory import BLOCK_ROWS, Memory, sample_reference

_JUMP = 0.01  # share of the capital divided anew after each row; the value of Vovk et al.
_LOCATION_BETS = (-0.5, 0.5)
_SPREAD_BETS = (-0.9, 0.9)
_LARGEST_LOG = 700.0  # of an evidence that a float can hold
_SHOWN_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class ColumnEvidence:
    """Evidence of drift of one column.

    Attributes
    ----------
    name : str
    evidence : float
        The largest capital so far, divided by the number of columns.
    """

    name: str
    evidence: float


@dataclass(frozen=True, slots=True, repr=False)
class DriftAlarm:
    """State of a `DriftMonitor`.

    Attributes
    ----------
    raised : bool
        Whether the evidence has reached the threshold. A raised alarm stays raised until `DriftMonitor.reset`.
    evidence : float
        The largest evidence of any column since the beginning of the stream.
    threshold : float
        1 / false_alarm_rate.
    n_rows : int
        Number of rows seen.
    columns : tuple of ColumnEvidence
        The strongest evidence first.
    """

    raised: bool
    evidence: float
    threshold: float
    n_rows: int
    columns: tuple[ColumnEvidence, ...]

    def __repr__(self) -> str:
        """Return whether the alarm is raised, the evidence and the columns that have the most of it."""
        state = "raised" if self.raised else "not raised"
        shown = ", ".join(f"{column.name}: {column.evidence:.3g}" for column in self.columns[:_SHOWN_COLUMNS])
        more = ", ..." if len(self.columns) > _SHOWN_COLUMNS else ""
        return (
            f"{type(self).__name__}({state} after {self.n_rows} rows, threshold {self.threshold:g}; evidence: "
            f"{shown}{more})"
        )


class DriftMonitor:
    """Monitors a stream of rows for drift, with a bounded probability of ever raising a false alarm.

    Parameters
    ----------
    reference : array of shape (m, d)
        Rows without drift, at least one; of more than 10,000 rows as many are drawn at random. Scores of a model must
        come from rows that it was not trained on.
    names : sequence of str
        Names of the d columns.
    is_categorical : sequence of bool
        Which of the d columns hold codes of categories: integers from 0, -1 for an unseen category. The codes must not
        be made from the reference, which would then hold no unseen category, but from other rows, such as those that a
        model was trained on. NaN is a missing value: a category of its own, and larger than all numbers.
    false_alarm_rate : float, default=0.01
        Largest probability that an alarm is ever raised without drift, however long the stream is.
    random_state : int, default=0
        Seed of the order of equal values and of the rows that are forgotten.

    References
    ----------
    V. Vovk, I. Petej, I. Nouretdinov, E. Ahlberg, L. Carlsson, A. Gammerman: Retrain or not retrain: conformal test
    martingales for change-point detection. COPA 2021.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> monitor = DriftMonitor(rng.normal(size=(1000, 2)), names=["age", "income"], is_categorical=[False, False])
    >>> monitor.update(rng.normal(size=(300, 2))).raised
    False
    >>> alarm = monitor.update(rng.normal(size=(100, 2)) + [0.0, 1.0])
    >>> alarm.raised, alarm.n_rows, alarm.columns[0].name
    (True, 400, 'income')
    """

    def __init__(
        self,
        reference: Floats,
        *,
        names: Sequence[str],
        is_categorical: Sequence[bool],
        false_alarm_rate: float = 0.01,
        random_state: int = 0,
    ) -> None:
        check_columns(names, is_categorical)
        check_share(false_alarm_rate, "false_alarm_rate")
        reference = check_rows(reference, len(names), "reference")
        self._seeds = np.random.SeedSequence(random_state).spawn(3)
        reference = sample_reference(reference, np.random.default_rng(self._seeds[0]))
        self._reference = reference.copy()
        self._names = tuple(str(name) for name in names)
        self._is_categorical = np.asarray(is_categorical, dtype=bool)
        self._threshold = 1.0 / false_alarm_rate
        self.reset()

    def reset(self) -> None:
        """Forget the stream and its evidence: the monitor is as it was when it was made."""
        _, ties, forgotten = (np.random.default_rng(seed) for seed in self._seeds)
        self._ties = ties
        self._memory = Memory(self._reference, self._is_categorical, forgotten)
        self._gambler = _Gambler(len(self._names))
        self._n_rows = 0

    def update(self, rows: Floats) -> DriftAlarm:
        """Take the next rows of the stream, in their order.

        Rows may come one by one or in batches of any size; the evidence is the same.

        Parameters
        ----------
        rows : array of shape (n, d)
            At least one row.

        Returns
        -------
        DriftAlarm

        Raises
        ------
        ValueError
            If there is no row, or the number of columns is not that of the reference.
        """
        rows = check_rows(rows, len(self._names), "rows")
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            self._gambler.bet(self._memory.p_values(block, self._ties.random(block.shape)))
        self._n_rows += len(rows)
        return self._alarm()

    def _alarm(self) -> DriftAlarm:
        log_evidence = self._gambler.log_peak - np.log(len(self._names))
        evidence = np.exp(np.minimum(log_evidence, _LARGEST_LOG))
        order = np.argsort(-log_evidence, kind="stable")
        columns = tuple(ColumnEvidence(self._names[column], float(evidence[column])) for column in order)
        strongest = columns[0].evidence
        return DriftAlarm(strongest >= self._threshold, strongest, self._threshold, self._n_rows, columns)


class _Gambler:
    """The capitals of the test martingales, one per column, in logs.

    Attributes
    ----------
    log_capital, log_peak : array of shape (d,)
        The present and the largest capital.
    """

    def __init__(self, n_columns: int) -> None:
        n_bets = len(_LOCATION_BETS) + len(_SPREAD_BETS) + 1  # the last bet is to hold
        self.shares = np.full((n_bets, n_columns), 1.0 / n_bets)
        self.log_capital = np.zeros(n_columns)
        self.log_peak = np.zeros(n_columns)

    def bet(self, p_values: Floats) -> None:
        """Bet on rows of p-values, shape (n, d), one row after the other."""
        returns = _returns(p_values)
        gains = np.empty_like(p_values)
        shares = self.shares
        for row, factors in enumerate(returns):
            shares = ((1.0 - _JUMP) * shares + _JUMP / len(shares)) * factors
            gains[row] = shares.sum(axis=0)
            shares /= gains[row]
        self.shares = shares
        log_capitals = self.log_capital + np.log(gains).cumsum(axis=0)
        self.log_capital = log_capitals[-1]
        self.log_peak = np.maximum(self.log_peak, log_capitals.max(axis=0))


def _returns(p_values: Floats) -> Floats:
    """Return the factor of each bet, shape (n, bets, d), for p-values of shape (n, d)."""
    location = [1.0 + size * (2.0 * p_values - 1.0) for size in _LOCATION_BETS]
    spread = [1.0 + size * (6.0 * (p_values - 0.5) ** 2 - 0.5) for size in _SPREAD_BETS]
    return np.stack([*location, *spread, np.ones_like(p_values)], axis=1)
