"""What drives uncertainty: Shapley values of some rows, and the features that lead."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epiboost._inputs.raw_values import rows_of
from epiboost._posterior.uncertainty import Measure
from epiboost._posterior.unwrap import unwrap
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.explain import Attribution
from epiboost.explain.shapley import attribute_all
from epiboost.report.facts import Driver, Kind
from epiboost.report.formatting import distinct
from epiboost.report.predictions import Answers

_FEWEST_SAMPLED, _MOST_SAMPLED = 20, 70
_MOST_CELLS = 500_000_000
"""Cells of the tables that are predicted to find what drives uncertainty: wide tables are explained by fewer rows."""
_N_BACKGROUND = 30
_FEWEST_COALITIONS, _COALITIONS_A_FEATURE = 512, 4
_SHOWN_DRIVERS = 10
_LEAST_SHARE = 0.005


def evenly(n_rows: int, most: int) -> Integers:
    """Return positions of rows, evenly spaced, of all if there are no more."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Explained:
    """What drives uncertainty: attributions of some rows, by measure."""

    rows: Integers = field(default_factory=lambda: np.arange(0))
    sampled: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    by_measure: dict[Measure, Attribution] = field(default_factory=dict)

    @property
    def n_sampled(self) -> int:
        """Rows that stand for the table."""
        return int(np.count_nonzero(self.sampled))

    @property
    def drivers(self) -> tuple[Driver, ...]:
        """What drives each part of the uncertainty."""
        return tuple(_driver(measure, found, self.sampled) for measure, found in self.by_measure.items())

    @property
    def leading(self) -> tuple[str, ...]:
        """The whole names of the features that drive uncertainty, most important first."""
        shares = [_shares(found.values[self.sampled]) for found in self.by_measure.values()]
        if not shares:
            return ()
        names = next(iter(self.by_measure.values())).names
        total = np.sum(shares, axis=0)
        return tuple(names[place] for place in np.argsort(-total, kind="stable") if total[place] > 0.0)

    def reasons(self, uncertain: Integers, marked: tuple[Kind, ...]) -> dict[int, str]:
        """Return for each uncertain row the feature that adds most to what it is marked for."""
        place = {row: position for position, row in enumerate(self.rows.tolist())}
        found = {}
        for row in uncertain.tolist() if place else ():
            explained = self.by_measure.get("knowledge" if marked[row] == "unfamiliar" else "data")
            if explained is not None and explained.values[place[row]].max() > 0.0:
                found[row] = distinct(explained.names)[int(explained.values[place[row]].argmax())]
        return found


def explained(
    model: Any,  # noqa: ANN401 (any of the models)
    X: Any,  # noqa: ANN401 (anything the model reads)
    answers: Answers,
    uncertain: Integers,
    verbose: int,
) -> Explained:
    """Return what drives the uncertainty of some rows, beside other rows of their table."""
    measures: list[Measure] = [] if answers.data is None else ["data"]
    if answers.uncertainty.knowledge.any():
        measures.append("knowledge")
    if len(answers) < 2 or not measures:  # noqa: PLR2004 (a row is compared with others)
        return Explained()
    n_features = int(unwrap(model).estimator.n_features_in_)
    n_coalitions = max(_FEWEST_COALITIONS, _COALITIONS_A_FEATURE * n_features)
    affordable = _MOST_CELLS // (n_coalitions * n_features * _N_BACKGROUND) - len(uncertain)
    sample = evenly(len(answers), min(max(affordable, _FEWEST_SAMPLED), _MOST_SAMPLED))
    rows = np.union1d(sample, uncertain)
    found = attribute_all(
        model,
        rows_of(X, rows),
        measures,
        background=rows_of(X, evenly(len(answers), _N_BACKGROUND)),
        n_coalitions=n_coalitions,
        verbose=verbose,
    )
    return Explained(rows, np.isin(rows, sample), dict(zip(measures, found, strict=True)))


def explained_other(
    model: Any,  # noqa: ANN401 (any of the models)
    tables: tuple[Any, Any],
    answers: tuple[Answers, Answers],
    verbose: int,
) -> tuple[Driver, ...]:
    """Return what makes the rows of the other table less known, or better known, than those of this."""
    own, theirs = answers
    if not theirs.uncertainty.knowledge.any() or theirs.posterior.n_members == 1:
        return ()
    n_features = int(unwrap(model).estimator.n_features_in_)
    found = attribute_all(
        model,
        rows_of(tables[1], evenly(len(theirs), _FEWEST_SAMPLED)),
        ["knowledge"],
        background=rows_of(tables[0], evenly(len(own), _N_BACKGROUND)),
        n_coalitions=max(_FEWEST_COALITIONS, _COALITIONS_A_FEATURE * n_features),
        verbose=verbose,
    )
    return (_driver("knowledge", found[0], np.ones(len(found[0]), dtype=bool), other=True),)


def _shares(values: Floats) -> Floats:
    """Return what part of all effects each feature has."""
    effect: Floats = np.abs(values).mean(axis=0)
    return effect / effect.sum() if effect.any() else effect


def _driver(measure: Measure, found: Attribution, sampled: AnyArray, *, other: bool = False) -> Driver:
    shares = _shares(found.values[sampled])
    order = np.argsort(-shares, kind="stable")[:_SHOWN_DRIVERS]
    order = order[shares[order] >= _LEAST_SHARE]
    named = distinct(found.names)
    return Driver(
        other, measure, tuple(named[place] for place in order), tuple(shares[order].tolist()), len(shares) - len(order)
    )
