"""From a model and a table to the facts of a report. The table is predicted once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from epiboost._inputs.raw_values import cells, column_names
from epiboost._posterior.unwrap import UnwrappedModel, unwrap
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.report.drivers import Explained, evenly, explained, explained_other
from epiboost.report.facts import Facts, Kind, Listed, Points
from epiboost.report.formatting import cell, distinct, words
from epiboost.report.measurements import (
    classes_of,
    domain_of,
    finds_of,
    foreign_of,
    honesty_of,
    kept_of,
    quality_of,
    rejection_of,
)
from epiboost.report.model_facts import inner_of, model_facts, parameters_of, title_of
from epiboost.report.novelty import novelty_of
from epiboost.report.predictions import Answers

MOST_LISTED = 80
MOST_POINTS = 1500
_MOST_OTHERS = 400
_SHOWN_COLUMNS = 6
_UNUSUAL = 2.0
_MATERIAL = 0.1
_EXTRAORDINARY = 100.0
_NOISY = 1.5
_MUCH_ENTROPY = 0.5
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
    found = explained(model, X, answers, uncertain, verbose) if explain else Explained()
    theirs = explained_other(model, (X, ood), (answers, other), verbose) if explain and other is not None else ()
    points = _points(answers, other, uncertain, marked)
    shown = _Shown(asked, (X, ood), (answers, other), target=target, marked=marked, leading=found.leading)
    inner = inner_of(asked.estimator)
    return Facts(
        title=words(title or title_of(inner), _LONGEST_TITLE),
        task="regression" if asked.classes is None else "classification",
        unit=answers.uncertainty.unit,
        n_rows=len(answers),
        n_columns=len(column_names(X, None if asked.transformers else inner)),
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
        message = f"y must hold one target for each row, shape ({len(answers)},); got shape {target.shape}"
        raise ValueError(message)
    if answers.posterior.family == "categorical":
        return target
    try:
        numbers = target.astype(np.float64)
    except (TypeError, ValueError) as error:
        message = f"y must hold numbers, as this model predicts one; got {target[0]!r}"
        raise ValueError(message) from error
    if not np.isfinite(numbers).all():
        first = int(np.flatnonzero(~np.isfinite(numbers))[0])
        message = f"y must hold finite numbers; got {numbers[first]} in row {first + 1}"
        raise ValueError(message)
    return numbers


def _marks(answers: Answers) -> tuple[Kind, ...]:
    """Mark rows as unfamiliar, noisy or ordinary.

    Unfamiliar: knowledge uncertainty is twice the usual, and twice the usual part of the total; and it matters, being a
    tenth of the total, or is a hundred times the usual, which no noise explains. Twice the usual alone would not do, as
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


def _points(answers: Answers, other: Answers | None, uncertain: Integers, marked: tuple[Kind, ...]) -> Points:
    drawn = np.union1d(evenly(len(answers), MOST_POINTS - (0 if other is None else _MOST_OTHERS)), uncertain)
    standing_out = set(uncertain.tolist())
    kinds: list[Kind] = [marked[row] if row in standing_out else "ordinary" for row in drawn.tolist()]
    rows, data, knowledge = drawn, answers.data, answers.uncertainty.knowledge[drawn]
    data = None if data is None else data[drawn]
    if other is not None:
        theirs = evenly(len(other), _MOST_OTHERS)
        rows, knowledge = np.append(rows, theirs), np.append(knowledge, other.uncertainty.knowledge[theirs])
        data = None if data is None or other.data is None else np.append(data, other.data[theirs])
        kinds += ["other"] * len(theirs)
    return Points(rows, data, knowledge, tuple(kinds))


class _Shown:
    """The tables that rows are shown from: this one, and the other if there is one."""

    def __init__(
        self,
        asked: UnwrappedModel,
        tables: tuple[Any, Any],
        answers: tuple[Answers, Answers | None],
        *,
        target: AnyArray | None,
        marked: tuple[Kind, ...],
        leading: tuple[str, ...],
    ) -> None:
        self.tables, self.answers, self.target, self.marked = tables, answers, target, marked
        inner = inner_of(asked.estimator)
        self.names = column_names(tables[0], None if asked.transformers else inner)
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
