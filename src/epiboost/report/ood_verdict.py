"""What is foreign, in plain sentences: a tick only where two tables were compared and hardly differ."""

import numpy as np

from epiboost.report.cards import Card, Verdict
from epiboost.report.facts import Facts
from epiboost.report.formatting import count, percent
from epiboost.report.ood_facts import Domain, Novelty
from epiboost.report.significance import CLEAR, FEWEST_ROWS, too_few

_TOLERATED = 0.02
_CLEAR_P_VALUE = 0.001
_NO_DIFFERENCE = 0.5
_SMALL_DIFFERENCE = 0.1
_QUESTION = "What is foreign to it?"


def foreign_card(facts: Facts) -> Card:
    """Return the card of foreign rows: those of the other table, or else of this one."""
    domain = facts.domain
    if not facts.foreign.knows:
        sentence = "It has no knowledge uncertainty, so it cannot tell what is foreign: that takes two or more members."
        new = facts.foreign.new if domain is None else domain.new
        sentence += _new_rows(new, "Of this table" if domain is None else "Of the other table")
        figures = _figures(facts)
        return Card("foreign", _QUESTION, "–", "cannot say", sentence, "care", "cannot tell", figures)
    if domain is None or domain.share is None:
        return _foreign_here(facts)
    verdict, word = _difference(facts, domain)
    share = percent(domain.share)
    sentence = (
        f"Of {count(domain.n_rows, 'row')} of the other table {share} are less known to it than almost all rows here; "
        f"by chance it would be {percent(domain.false_alarm_rate)}."
    )
    if word == _UNNOTICED:
        sentence += " It is surer of the other table than of this: its doubt does not find those rows."
    sentence += _new_rows(domain.new, "There")
    return Card("foreign", _QUESTION, share, "of the other table", sentence, verdict, word, _figures(facts))


_UNNOTICED = "differs, but is not noticed"


def _difference(facts: Facts, domain: Domain) -> tuple[Verdict, str]:
    """Say whether the other table differs, in either direction."""
    if too_few(min(facts.n_rows, domain.n_rows)):
        return "none", "too few rows to judge"
    surer = domain.auc < _NO_DIFFERENCE
    clear = domain.chance is not None and domain.chance < _CLEAR_P_VALUE
    if clear and surer:
        return "care", _UNNOTICED
    if clear or domain.new.clear:
        return "care", "the other table differs"
    n, m = facts.n_rows, domain.n_rows
    error = float(np.sqrt((n + m + 1) / (12.0 * n * m)))
    if abs(domain.auc - _NO_DIFFERENCE) + CLEAR * error <= _SMALL_DIFFERENCE:
        return "good", "hardly a difference"
    return "none", "no clear difference"


def _foreign_here(facts: Facts) -> Card:
    """Say what stands out of one table; no tick, as a table that is foreign as a whole may look calm."""
    foreign = facts.foreign
    if foreign.n_far is None:
        sentence = (
            f"With fewer than {FEWEST_ROWS} rows it is not said which of them stand out."
            f"{_new_rows(foreign.new, 'Here')}"
        )
        return Card("foreign", _QUESTION, "–", "too few rows", sentence, "none", "too few rows to judge")
    share = foreign.n_foreign / facts.n_rows
    sentence = (
        f"{foreign.n_far:,} of {count(facts.n_rows, 'row')} stand far out from the others in what it does not know."
    )
    sentence += _new_rows(foreign.new, "Here")
    care = foreign.new.clear or foreign.n_far > _TOLERATED * facts.n_rows
    if not care:
        sentence += " Rows are compared with one another: whether all are foreign is told by a second table only."
    word = "much is new to it" if care else "nothing stands out"
    label = "of the rows stand out or are new"
    return Card(
        "foreign", _QUESTION, percent(share), label, sentence, "care" if care else "none", word, _figures(facts)
    )


def _new_rows(new: Novelty, where: str) -> str:
    if not new.n_rows:
        return ""
    holds = "holds" if new.n_rows == 1 else "hold"
    return f" {where} {count(new.n_rows, 'row')} {holds} a value that training has not seen ({_named(new)})."


def _named(new: Novelty) -> str:
    names = ", ".join(column.name for column in new.columns[:2])
    return names if len(new.columns) <= 2 else f"{names}, …"  # noqa: PLR2004 (two are named)


def _figures(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return how many rows of each table hold something new."""
    domain = facts.domain
    what = "values" if facts.foreign.new.ranges else "categories"
    found = [(f"rows here with {what} not seen in training", f"{facts.foreign.new.n_rows:,}")]
    if domain is not None:
        found = [
            ("a row there is less known than one here", percent(domain.auc)),
            *found,
            (f"rows there with {what} not seen in training", f"{domain.new.n_rows:,}"),
        ]
    return tuple(found)
