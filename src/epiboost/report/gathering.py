"""From a model and a table to the facts of a report. The table is predicted once."""

import platform
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from epiboost._base import BaseEpiBoost
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.calibrated.base import BaseCalibrated
from epiboost.cells import cells, column_names, names_of, rows_of
from epiboost.explain import Attribution
from epiboost.explain.game import numbers_of
from epiboost.explain.shapley import attribute_all
from epiboost.report.answers import Answers
from epiboost.report.facts import Driver, Facts, Kind, Listed, Points
from epiboost.report.judging import domain_of, foreign_of, honesty_of, kept_of, quality_of, rejection_of
from epiboost.report.texts import cell, number, words
from epiboost.training import version_of
from epiboost.uncertainty import Measure
from epiboost.wrapped import Wrapped, unwrap

MOST_LISTED = 80
MOST_POINTS = 1500
_MOST_OTHERS = 400
_MOST_SAMPLED = 70
_N_BACKGROUND = 30
_FEWEST_COALITIONS, _COALITIONS_A_FEATURE = 512, 6
_SHOWN_COLUMNS = 6
_SHOWN_DRIVERS = 10
_LONGEST_CELL = 40
_LONGEST_VALUE = 200


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
    marked = _marks(answers)
    uncertain = _most_uncertain(answers)
    drivers, reasons, n_explained = (), {}, 0
    if explain:
        drivers, reasons, n_explained = _explained(model, X, answers, uncertain, marked, verbose)
    points = _points(answers, other, uncertain, marked)
    table = _Table(asked, X, ood, target, answers, other, marked, _leading(drivers))
    everyday = asked.model.model_ if isinstance(asked.model, BaseCalibrated) else asked.model
    return Facts(
        title=words(title or _title(everyday), _LONGEST_VALUE),
        task="regression" if asked.classes is None else "classification",
        unit=answers.uncertainty.unit,
        n_rows=len(answers),
        n_columns=len(column_names(X, everyday)),
        deciding=answers.deciding,
        quality=None if target is None else quality_of(target, answers),
        honesty=None if honesty is None else honesty[0],
        kept=kept_of(target, answers, asked.classes),
        foreign=foreign_of(answers, _unseen(asked, X, len(answers))),
        rejection=curves,
        scores=scores,
        reliability=None if honesty is None else honesty[1],
        points=points,
        uncertain=table.listed(uncertain, np.zeros(len(uncertain), dtype=bool), reasons),
        hovered=table.listed(points.row, np.array([kind == "other" for kind in points.kind]), {}),
        domain=None if other is None else domain_of(answers, other, _unseen(asked, ood, len(other))),
        drivers=drivers,
        n_explained=n_explained,
        model=_model_facts(asked, answers),
        parameters=_parameters(everyday),
    )


def _checked_target(y: npt.ArrayLike, answers: Answers) -> AnyArray:
    target = np.asarray(y)
    if target.shape != (len(answers),):
        message = f"y must hold one target a row, shape ({len(answers)},); got shape {target.shape}"
        raise ValueError(message)
    return target


def _marks(answers: Answers) -> tuple[Kind, ...]:
    """Say of each row whether it stands out more by its data or by its knowledge uncertainty."""
    knowledge = _rank(answers.uncertainty.knowledge)
    unfamiliar = knowledge > _rank(answers.data) if answers.data is not None else np.ones(len(answers), dtype=bool)
    return tuple("unfamiliar" if is_so else "noisy" for is_so in unfamiliar.tolist())


def _rank(values: Floats) -> Floats:
    """Return what share of the values is smaller, half of the equal ones included."""
    order = np.sort(values)
    below, upto = np.searchsorted(order, values), np.searchsorted(order, values, side="right")
    rank: Floats = (below + upto) / (2.0 * len(values))
    return rank


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


def _explained(
    model: Any,  # noqa: ANN401 (any of the models)
    X: Any,  # noqa: ANN401 (anything the model reads)
    answers: Answers,
    uncertain: Integers,
    marked: tuple[Kind, ...],
    verbose: int,
) -> tuple[tuple[Driver, ...], dict[int, str], int]:
    """Return what drives each uncertainty, the feature behind each uncertain row, and from how many rows it comes."""
    measures: list[Measure] = [] if answers.data is None else ["data"]
    if answers.uncertainty.knowledge.any():
        measures.append("knowledge")
    if len(answers) < 2 or not measures:  # noqa: PLR2004 (a row is compared with others)
        return (), {}, 0
    sample = _evenly(len(answers), _MOST_SAMPLED)
    rows = np.union1d(sample, uncertain)
    n_features = int(unwrap(model).model.n_features_in_)
    found = attribute_all(
        model,
        rows_of(X, rows),
        measures,
        background=rows_of(X, _evenly(len(answers), _N_BACKGROUND)),
        n_coalitions=max(_FEWEST_COALITIONS, _COALITIONS_A_FEATURE * n_features),
        verbose=verbose,
    )
    by_measure: dict[str, Attribution] = dict(zip(measures, found, strict=True))
    sampled = np.isin(rows, sample)
    drivers = tuple(_driver(measure, by_measure[measure], sampled) for measure in measures)
    place = {row: position for position, row in enumerate(rows.tolist())}
    reasons = {row: _reason(by_measure, marked[row], place[row]) for row in uncertain.tolist()}
    return drivers, reasons, len(sample)


def _driver(measure: Measure, found: Attribution, sampled: AnyArray) -> Driver:
    effect = np.abs(found.values[sampled]).mean(axis=0)
    order = np.argsort(-effect, kind="stable")[:_SHOWN_DRIVERS]
    shares = effect / effect.sum() if effect.any() else effect
    order = order[shares[order] > 0.0]
    names = tuple(words(found.names[feature], _LONGEST_CELL) for feature in order)
    return Driver(measure, names, tuple(shares[order].tolist()), len(effect) - len(order))


def _reason(found: dict[str, Attribution], kind: Kind, place: int) -> str:
    explained = found.get("knowledge" if kind == "unfamiliar" else "data")
    if explained is None or explained.values[place].max() <= 0.0:
        return ""
    return words(explained.first(1)[place, 0], _LONGEST_CELL)


def _leading(drivers: tuple[Driver, ...]) -> tuple[str, ...]:
    """Return the names of the features that drive uncertainty, most important first."""
    total: dict[str, float] = {}
    for driver in drivers:
        for name, share in zip(driver.names, driver.shares, strict=True):
            total[name] = total.get(name, 0.0) + share
    return tuple(sorted(total, key=lambda name: -total[name]))


class _Table:
    """The tables that rows are shown from."""

    def __init__(
        self,
        asked: Wrapped,
        X: Any,  # noqa: ANN401 (anything the model reads)
        ood: Any,  # noqa: ANN401 (anything the model reads)
        target: AnyArray | None,
        answers: Answers,
        other: Answers | None,
        marked: tuple[Kind, ...],
        leading: tuple[str, ...],
    ) -> None:
        self.tables, self.target, self.answers, self.marked = (X, ood), target, (answers, other), marked
        inner = asked.model.model_ if isinstance(asked.model, BaseCalibrated) else asked.model
        self.names = column_names(X, None if asked.steps else inner)
        shown = [words(name, _LONGEST_CELL) for name in self.names]
        first = [shown.index(name) for name in leading if name in shown]
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


def _unseen(asked: Wrapped, X: Any, n_rows: int) -> AnyArray:  # noqa: ANN401 (anything the model reads)
    """Return for each row whether it holds a category that training has not seen."""
    inner = asked.model.model_ if isinstance(asked.model, BaseCalibrated) else asked.model
    vocabularies = getattr(inner, "vocabularies_", ())
    if not isinstance(inner, BaseEpiBoost) or not vocabularies:
        return np.zeros(n_rows, dtype=bool)
    categories = [place for place, vocabulary in enumerate(vocabularies) if vocabulary is not None]
    unseen: AnyArray = (numbers_of(asked.model, asked.rows(X))[:, categories] == -1.0).any(axis=1)
    return unseen


def _title(model: Any) -> str:  # noqa: ANN401 (any model)
    return f"Can this {'classifier' if hasattr(model, 'classes_') else 'regressor'} be trusted?"


def _model_facts(asked: Wrapped, answers: Answers) -> tuple[tuple[str, str], ...]:
    model = asked.model
    inner = model.model_ if isinstance(model, BaseCalibrated) else model
    facts = [("Model", type(model).__name__)]
    if isinstance(model, BaseCalibrated):
        facts.append(("Calibrated on", f"{len(model.scores_):,} rows, besides those that the scales were learned from"))
    if asked.classes is not None:
        facts.append(("Classes", _some([words(label) for label in asked.classes.tolist()])))
    if isinstance(inner, BaseEpiBoost):
        facts += _recipe_facts(inner, answers)
    training = getattr(inner, "training_", None)
    if training is not None:
        facts.append(("Training rows", f"{training.n_rows:,}"))
        facts.append(("Training time", f"{number(training.seconds)} s"))
        facts.append(("Versions at training", ", ".join(f"{name} {text}" for name, text in training.versions)))
    now = [("epiboost", version_of("epiboost")), ("Python", platform.python_version()), ("NumPy", np.__version__)]
    facts.append(("Versions of this report", ", ".join(f"{name} {text}" for name, text in now)))
    return tuple((name, words(text, _LONGEST_VALUE)) for name, text in facts)


def _recipe_facts(model: BaseEpiBoost, answers: Answers) -> list[tuple[str, str]]:
    trees = sorted({int(n) for n in np.ravel(model.n_trees_)})
    n_trees = f"{trees[0]:,}" if len(trees) == 1 else f"{trees[0]:,} to {trees[-1]:,}"
    seed = "none was given" if model.random_state is None else str(model.random_state)
    return [
        ("Recipe", f"{model.ensemble}, {answers.posterior.n_members} members, engine {model.engine}"),
        ("Trees a chain", f"{n_trees}, depth {model.max_depth}, learning rate {model.learning_rate:g}"),
        ("Features", _some([words(name) for name in names_of(model, int(model.n_features_in_))])),
        ("Seed", seed),
    ]


def _parameters(model: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 (any model)
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return tuple((name, words(value, _LONGEST_VALUE)) for name, value in sorted(parameters.items()))


def _some(texts: list[str], most: int = 12) -> str:
    """Return how many there are, and the first by name."""
    named = ", ".join(texts[:most])
    return f"{len(texts)}: {named}" + (" …" if len(texts) > most else "")
