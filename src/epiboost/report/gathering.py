"""From a model and a table to the facts of a report. The table is predicted once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from epiboost._typing import AnyArray, Floats, Integers
from epiboost.cells import cells, column_names, rows_of
from epiboost.explain import Attribution
from epiboost.explain.shapley import attribute_all
from epiboost.report.answers import Answers
from epiboost.report.facts import Driver, Facts, Kind, Listed, Points
from epiboost.report.judging import (
    classes_of,
    domain_of,
    finds_of,
    foreign_of,
    honesty_of,
    kept_of,
    quality_of,
    rejection_of,
)
from epiboost.report.novelty import novelty_of
from epiboost.report.recipe import inner_of, model_facts, parameters_of, title_of
from epiboost.report.texts import cell, distinct, words
from epiboost.uncertainty import Measure
from epiboost.wrapped import Wrapped, unwrap

MOST_LISTED = 80
MOST_POINTS = 1500
_MOST_OTHERS = 400
_FEWEST_SAMPLED, _MOST_SAMPLED = 20, 70
_MOST_CELLS = 500_000_000
"""Cells of the tables that are predicted to find what drives uncertainty: wide tables are explained by fewer rows."""
_N_BACKGROUND = 30
_FEWEST_COALITIONS, _COALITIONS_A_FEATURE = 512, 4
_SHOWN_COLUMNS = 6
_UNUSUAL = 2.0
_MATERIAL = 0.1
_EXTRAORDINARY = 20.0
_NOISY = 1.5
_MUCH_ENTROPY = 0.5
_SHOWN_DRIVERS = 10
_LEAST_SHARE = 0.005
_LONGEST_CELL = 40
_LONGEST_TITLE = 200


def gather(
    model: Any,  # noqa: ANN401 (any of the models)
    X: Any,  # noqa: ANN401 (anything the model reads)
    y: npt.ArrayLike | None,
    ood: Any,  # noqa: ANN401 (anything the model reads)
    *,
    explain: bool,
    title: str | None,
    verbose: int,
) -> Facts:
    """Return what there is to say; see `epiboost.report.report` for the parameters."""
    asked = unwrap(model, "predict_posterior", "predict_uncertainty")
    answers = Answers.of(asked.predict_posterior(X))
    target = None if y is None else _checked_target(y, answers)
    other = None if ood is None else Answers.of(asked.predict_posterior(ood))
    honesty = None if target is None else honesty_of(asked, X, target, answers)
    curves, scores = ({}, {}) if target is None else rejection_of(target, answers)
    new, rows_with_new = novelty_of(asked, X, len(answers))
    marked = _marks(answers)
    uncertain = _most_uncertain(answers)
    found = _explained(model, X, answers, uncertain, verbose) if explain else _Explained()
    theirs = _explained_other(model, (X, ood), (answers, other), verbose) if explain and other is not None else ()
    points = _points(answers, other, uncertain, marked)
    shown = _Shown(asked, (X, ood), (answers, other), target=target, marked=marked, leading=found.leading)
    inner = inner_of(asked.model)
    return Facts(
        title=words(title or title_of(inner), _LONGEST_TITLE),
        task="regression" if asked.classes is None else "classification",
        unit=answers.uncertainty.unit,
        n_rows=len(answers),
        n_columns=len(column_names(X, None if asked.steps else inner)),
        deciding=answers.deciding,
        quality=None if target is None else quality_of(target, answers),
        honesty=None if honesty is None else honesty[0],
        classes=() if target is None else classes_of(target, answers, asked.classes),
        finds=None if target is None else finds_of(target, answers),
        kept=kept_of(target, answers, asked.classes),
        foreign=foreign_of(answers, new, rows_with_new),
        rejection=curves,
        scores=scores,
        reliability=None if honesty is None else honesty[1],
        points=points,
        uncertain=shown.listed(uncertain, np.zeros(len(uncertain), dtype=bool), found.reasons(uncertain, marked)),
        hovered=shown.listed(points.row, np.array([kind == "other" for kind in points.kind]), {}),
        domain=None if other is None else domain_of(answers, other, novelty_of(asked, ood, len(other))[0]),
        drivers=(*found.drivers, *theirs),
        n_explained=found.n_sampled,
        model=model_facts(asked, answers),
        parameters=parameters_of(inner),
    )


def _checked_target(y: npt.ArrayLike, answers: Answers) -> AnyArray:
    target = np.asarray(y)
    if target.shape != (len(answers),):
        message = f"y must hold one target a row, shape ({len(answers)},); got shape {target.shape}"
        raise ValueError(message)
    return target


def _marks(answers: Answers) -> tuple[Kind, ...]:
    """Mark rows as unfamiliar, noisy or ordinary.

    Unfamiliar: knowledge uncertainty is twice the usual, and twice the usual part of the total; and it matters, being a
    tenth of the total, or is twenty times the usual, which no noise explains. Twice the usual alone would not do, as
    noise raises both parts: the members disagree more where targets scatter. Neither would the part of the total, as of
    a row without noise any doubt is one of knowledge. What is usual is the median over the more uncertain half of the
    rows.

    Noisy: not that, and data uncertainty is half as large again as the median of all rows, or half of what it can be at
    all with so many classes.
    """
    knowledge, data = answers.uncertainty.knowledge, answers.data
    doubtful = answers.doubt >= np.median(answers.doubt)
    usual = np.median(knowledge[doubtful])
    unfamiliar = knowledge > _UNUSUAL * usual
    noisy = np.zeros(len(answers), dtype=bool)
    if data is not None:
        share = knowledge / np.maximum(knowledge + data, np.finfo(np.float64).tiny)
        unfamiliar &= share > _UNUSUAL * np.median(share[doubtful])
        unfamiliar &= (share >= _MATERIAL) | (knowledge > _EXTRAORDINARY * usual)
        noisy = data > _NOISY * np.median(data)
        if answers.posterior.classes is not None:
            noisy |= data >= _MUCH_ENTROPY * np.log(len(answers.posterior.classes))
    kinds: list[Kind] = [
        "unfamiliar" if is_unfamiliar else "noisy" if is_noisy else "ordinary"
        for is_unfamiliar, is_noisy in zip(unfamiliar.tolist(), noisy.tolist(), strict=True)
    ]
    return tuple(kinds)


def _most_uncertain(answers: Answers) -> Integers:
    """Return the rows of most doubt, and then of those left the least known, half as many."""
    by_doubt = np.argsort(-answers.doubt, kind="stable")
    by_knowledge = np.argsort(-answers.uncertainty.knowledge, kind="stable")
    first = by_doubt[: MOST_LISTED // 2]
    left = by_knowledge[~np.isin(by_knowledge, first)]
    chosen = np.concatenate([first, left[: MOST_LISTED - len(first)]])
    return chosen[np.argsort(-answers.doubt[chosen], kind="stable")]


def _evenly(n_rows: int, most: int) -> Integers:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).astype(np.int64)


def _points(answers: Answers, other: Answers | None, uncertain: Integers, marked: tuple[Kind, ...]) -> Points:
    drawn = np.union1d(_evenly(len(answers), MOST_POINTS - (0 if other is None else _MOST_OTHERS)), uncertain)
    standing_out = set(uncertain.tolist())
    kinds: list[Kind] = [marked[row] if row in standing_out else "ordinary" for row in drawn.tolist()]
    rows, data, knowledge = drawn, answers.data, answers.uncertainty.knowledge[drawn]
    data = None if data is None else data[drawn]
    if other is not None:
        theirs = _evenly(len(other), _MOST_OTHERS)
        rows, knowledge = np.append(rows, theirs), np.append(knowledge, other.uncertainty.knowledge[theirs])
        data = None if data is None or other.data is None else np.append(data, other.data[theirs])
        kinds += ["other"] * len(theirs)
    return Points(rows, data, knowledge, tuple(kinds))


@dataclass(frozen=True, slots=True, eq=False)
class _Explained:
    """What drives uncertainty: attributions of some rows, by measure."""

    rows: Integers = field(default_factory=lambda: np.arange(0))
    sampled: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    by_measure: dict[Measure, Attribution] = field(default_factory=dict)

    @property
    def n_sampled(self) -> int:
        return int(np.count_nonzero(self.sampled))

    @property
    def drivers(self) -> tuple[Driver, ...]:
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


def _explained(
    model: Any,  # noqa: ANN401 (any of the models)
    X: Any,  # noqa: ANN401 (anything the model reads)
    answers: Answers,
    uncertain: Integers,
    verbose: int,
) -> _Explained:
    measures: list[Measure] = [] if answers.data is None else ["data"]
    if answers.uncertainty.knowledge.any():
        measures.append("knowledge")
    if len(answers) < 2 or not measures:  # noqa: PLR2004 (a row is compared with others)
        return _Explained()
    n_features = int(unwrap(model).model.n_features_in_)
    n_coalitions = max(_FEWEST_COALITIONS, _COALITIONS_A_FEATURE * n_features)
    affordable = _MOST_CELLS // (n_coalitions * n_features * _N_BACKGROUND) - len(uncertain)
    sample = _evenly(len(answers), min(max(affordable, _FEWEST_SAMPLED), _MOST_SAMPLED))
    rows = np.union1d(sample, uncertain)
    found = attribute_all(
        model,
        rows_of(X, rows),
        measures,
        background=rows_of(X, _evenly(len(answers), _N_BACKGROUND)),
        n_coalitions=n_coalitions,
        verbose=verbose,
    )
    return _Explained(rows, np.isin(rows, sample), dict(zip(measures, found, strict=True)))


def _explained_other(
    model: Any,  # noqa: ANN401 (any of the models)
    tables: tuple[Any, Any],
    answers: tuple[Answers, Answers],
    verbose: int,
) -> tuple[Driver, ...]:
    """Return what makes the rows of the other table less known, or better known, than those of this."""
    own, theirs = answers
    if not theirs.uncertainty.knowledge.any() or theirs.posterior.n_members == 1:
        return ()
    n_features = int(unwrap(model).model.n_features_in_)
    found = attribute_all(
        model,
        rows_of(tables[1], _evenly(len(theirs), _FEWEST_SAMPLED)),
        ["knowledge"],
        background=rows_of(tables[0], _evenly(len(own), _N_BACKGROUND)),
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


class _Shown:
    """The tables that rows are shown from: this one, and the other if there is one."""

    def __init__(
        self,
        asked: Wrapped,
        tables: tuple[Any, Any],
        answers: tuple[Answers, Answers | None],
        *,
        target: AnyArray | None,
        marked: tuple[Kind, ...],
        leading: tuple[str, ...],
    ) -> None:
        self.tables, self.answers, self.target, self.marked = tables, answers, target, marked
        inner = inner_of(asked.model)
        self.names = column_names(tables[0], None if asked.steps else inner)
        shown = distinct(self.names)
        first = [self.names.index(name) for name in leading if name in self.names]
        rest = [place for place in range(len(shown)) if place not in first]
        self.columns = (first + rest)[:_SHOWN_COLUMNS]
        self.shown = tuple(shown[place] for place in self.columns)

    def listed(self, rows: Integers, other: AnyArray, reasons: dict[int, str]) -> Listed:
        """Return rows with their values; those from the other table come last."""
        own, theirs = rows[~other], rows[other]

        def both(read: Callable[[Answers], AnyArray]) -> AnyArray:
            parts = [read(self.answers[0])[own]]
            if len(theirs) and self.answers[1] is not None:
                parts.append(read(self.answers[1])[theirs])
            return np.concatenate(parts)

        knows_data = self.answers[0].data is not None
        target, error = self._targets(own, len(theirs))
        shown = [self._cells(0, own)] + ([self._cells(1, theirs)] if len(theirs) else [])
        return Listed(
            row=rows,
            other=other,
            kind=tuple(self.marked[row] for row in own.tolist()) + ("other",) * len(theirs),
            prediction=tuple(cell(value, _LONGEST_CELL) for value in both(lambda found: found.prediction).tolist()),
            target=target,
            error=error,
            doubt=both(lambda found: found.doubt),
            knowledge=both(lambda found: found.uncertainty.knowledge),
            data=both(lambda found: found.uncertainty.data) if knows_data else None,
            reason=tuple(reasons.get(row, "") for row in rows.tolist()),
            names=self.shown,
            cells=np.concatenate(shown),
        )

    def _targets(self, own: Integers, n_others: int) -> tuple[tuple[str, ...] | None, Floats | None]:
        if self.target is None:
            return None, None
        target, prediction = self.target[own], self.answers[0].prediction[own]
        named = tuple(cell(value, _LONGEST_CELL) for value in target.tolist()) + ("unknown",) * n_others
        wrong = self.answers[0].posterior.family == "categorical"
        error = (target != prediction).astype(np.float64) if wrong else np.abs(target.astype(np.float64) - prediction)
        return named, np.append(error, np.full(n_others, np.nan))

    def _cells(self, which: int, rows: Integers) -> AnyArray:
        found = cells(self.tables[which], self.names, rows)[:, self.columns]
        shown = np.empty(found.shape, dtype=object)
        shown.ravel()[:] = [cell(value, _LONGEST_CELL) for value in found.ravel().tolist()]
        return shown
