"""Features that drive the uncertainty: Shapley values of a sample of rows."""

from dataclasses import dataclass, field

import numpy as np

from epiboost._estimators.unwrap import unwrap
from epiboost._inputs.user_table import select_rows
from epiboost._posterior.uncertainty import Measure
from epiboost._typing import AnyArray, Estimator, Floats, Integers, Table
from epiboost.explain import Attribution
from epiboost.explain.explainer import attribute_all
from epiboost.explain.sampling import Sampling
from epiboost.report.facts import Driver, RowKind
from epiboost.report.formatting import unique_names
from epiboost.report.predictions import Predictions

_MIN_SAMPLE, _MAX_SAMPLE = 20, 70
_MAX_CELLS = 500_000_000
"""Limit of the table cells that are predicted for Shapley values; of wide tables fewer rows are explained."""
_N_BACKGROUND = 30
_MIN_COALITIONS, _COALITIONS_PER_FEATURE = 512, 4
_MAX_NAMES = 10
_MIN_SHARE = 0.005


def evenly_spaced(n_rows: int, n_max: int) -> Integers:
    """Return evenly spaced row positions, at most ``n_max``."""
    if n_rows <= n_max:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, n_max).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Attributions of a sample of rows and of the most uncertain rows, by measure.

    Attributes
    ----------
    rows : integer array of shape (k,)
        Positions of the rows that are explained.
    in_sample : array of bool, of shape (k,)
        Whether a row is in the sample that represents the table.
    by_measure : dict from measure to Attribution
    """

    rows: Integers = field(default_factory=lambda: np.arange(0))
    in_sample: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    by_measure: dict[Measure, Attribution] = field(default_factory=dict)

    @property
    def n_sampled(self) -> int:
        """Number of rows that represent the table."""
        return int(np.count_nonzero(self.in_sample))

    @property
    def drivers(self) -> tuple[Driver, ...]:
        """Drivers of each measure."""
        return tuple(_driver(measure, attribution, self.in_sample) for measure, attribution in self.by_measure.items())

    @property
    def leading(self) -> tuple[str, ...]:
        """Full names of the features that drive uncertainty, most important first."""
        shares = [_shares(attribution.values[self.in_sample]) for attribution in self.by_measure.values()]
        if not shares:
            return ()
        names = next(iter(self.by_measure.values())).feature_names
        total = np.sum(shares, axis=0)
        return tuple(names[feature] for feature in np.argsort(-total, kind="stable") if total[feature] > 0.0)

    def reasons(self, uncertain: Integers, kinds: tuple[RowKind, ...]) -> dict[int, str]:
        """Return the feature that adds most to the uncertainty of each row: knowledge if unfamiliar, data if not."""
        position = {row: place for place, row in enumerate(self.rows.tolist())}
        reasons = {}
        for row in uncertain.tolist() if position else ():
            attribution = self.by_measure.get("knowledge" if kinds[row] == "unfamiliar" else "data")
            if attribution is not None and attribution.values[position[row]].max() > 0.0:
                reasons[row] = unique_names(attribution.feature_names)[int(attribution.values[position[row]].argmax())]
        return reasons


def explain_rows(
    estimator: Estimator, X: Table, predictions: Predictions, uncertain: Integers, verbose: int
) -> Explanation:
    """Explain a sample of rows and the uncertain rows, compared with other rows of the table."""
    measures: list[Measure] = [] if predictions.data is None else ["data"]
    if predictions.uncertainty.knowledge.any():
        measures.append("knowledge")
    if len(predictions) < 2 or not measures:  # noqa: PLR2004 (a row is compared with others)
        return Explanation()
    n_features = _n_features(estimator)
    affordable = _MAX_CELLS // (_n_coalitions(n_features) * n_features * _N_BACKGROUND) - len(uncertain)
    sample = evenly_spaced(len(predictions), min(max(affordable, _MIN_SAMPLE), _MAX_SAMPLE))
    rows = np.union1d(sample, uncertain)
    attributions = attribute_all(
        estimator,
        select_rows(X, rows),
        measures,
        background=select_rows(X, evenly_spaced(len(predictions), _N_BACKGROUND)),
        sampling=Sampling(n_coalitions=_n_coalitions(n_features)),
        verbose=verbose,
    )
    return Explanation(rows, np.isin(rows, sample), dict(zip(measures, attributions, strict=True)))


def explain_other_table(
    estimator: Estimator, tables: tuple[Table, Table], predictions: tuple[Predictions, Predictions], verbose: int
) -> tuple[Driver, ...]:
    """Return the features that change the knowledge uncertainty of the other table's rows, compared with this table."""
    this, other = predictions
    if not other.uncertainty.knowledge.any() or other.posterior.n_members == 1:
        return ()
    (attribution,) = attribute_all(
        estimator,
        select_rows(tables[1], evenly_spaced(len(other), _MIN_SAMPLE)),
        ["knowledge"],
        background=select_rows(tables[0], evenly_spaced(len(this), _N_BACKGROUND)),
        sampling=Sampling(n_coalitions=_n_coalitions(_n_features(estimator))),
        verbose=verbose,
    )
    return (_driver("knowledge", attribution, np.ones(len(attribution), dtype=bool), other=True),)


def _n_features(estimator: Estimator) -> int:
    return int(unwrap(estimator).estimator.n_features_in_)


def _n_coalitions(n_features: int) -> int:
    return max(_MIN_COALITIONS, _COALITIONS_PER_FEATURE * n_features)


def _shares(values: Floats) -> Floats:
    """Return the share of each feature in the sum of all mean absolute values, shape (features,)."""
    effect: Floats = np.abs(values).mean(axis=0)
    return effect / effect.sum() if effect.any() else effect


def _driver(measure: Measure, attribution: Attribution, in_sample: AnyArray, *, other: bool = False) -> Driver:
    shares = _shares(attribution.values[in_sample])
    order = np.argsort(-shares, kind="stable")[:_MAX_NAMES]
    order = order[shares[order] >= _MIN_SHARE]
    names = unique_names(attribution.feature_names)
    return Driver(
        other=other,
        measure=measure,
        names=tuple(names[feature] for feature in order),
        shares=tuple(shares[order].tolist()),
        n_hidden=len(shares) - len(order),
    )
