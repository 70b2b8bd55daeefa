"""Kinds of rows: unfamiliar, noisy or ordinary. The one definition, as a rule and in words.

The chart, its tooltips, the table of rows and the text of the page all use `row_kinds` and `kind_definitions`.

A row is unfamiliar if its knowledge uncertainty, and its share of the total, are more than twice the usual value; and
that share is at least a tenth, or knowledge uncertainty is more than a hundred times the usual value. The usual value
is the median over the more uncertain half of the rows. Knowledge uncertainty alone is not enough, as members disagree
more where targets are noisy. Its share alone is not enough, as it is always large where there is no noise.

A row is noisy if it is not unfamiliar and its data uncertainty is more than 1.5 times the median of all rows or, for a
classifier, more than half of the largest possible entropy if that is less.
"""

import numpy as np

from epiboost._typing import Floats
from epiboost.report.facts import Facts, KindThresholds, RowKind
from epiboost.report.formatting import number
from epiboost.report.predictions import Predictions

ROW_KINDS: tuple[RowKind, ...] = ("noisy", "unfamiliar", "ordinary")
"""The kinds of the rows of this table."""
_UNUSUAL = 2.0  # times the usual value; a rule of thumb
_RELEVANT_SHARE = 0.1  # of the total uncertainty; with less, the row is uncertain for other reasons
_EXTREME = 100.0  # times the usual value: the row is unfamiliar even if noise makes up most of the total
_NOISY = 1.5  # times the median data uncertainty; a rule of thumb
_HIGH_ENTROPY_SHARE = 0.5  # of the largest possible entropy


def kind_thresholds(predictions: Predictions) -> KindThresholds:
    """Return the thresholds that the rows of a table give."""
    knowledge, data = predictions.uncertainty.knowledge, predictions.data
    upper_half = predictions.score >= np.median(predictions.score)
    usual = float(np.median(knowledge[upper_half]))
    if data is None:
        return KindThresholds(_UNUSUAL * usual, _EXTREME * usual, share=None, data=None)
    noisy = _NOISY * float(np.median(data))
    if predictions.posterior.classes is not None:
        noisy = min(noisy, _HIGH_ENTROPY_SHARE * float(np.log(len(predictions.posterior.classes))))
    share = _UNUSUAL * float(np.median(_knowledge_share(knowledge, data)[upper_half]))
    return KindThresholds(_UNUSUAL * usual, _EXTREME * usual, share, noisy)


def row_kinds(knowledge: Floats, data: Floats | None, thresholds: KindThresholds) -> tuple[RowKind, ...]:
    """Return the kind of each row.

    >>> thresholds = KindThresholds(knowledge=0.2, extreme=10.0, share=0.15, data=1.5)
    >>> row_kinds(np.array([0.1, 0.3, 0.3]), np.array([1.6, 1.6, 1.9]), thresholds)
    ('noisy', 'unfamiliar', 'noisy')
    """
    unfamiliar = knowledge > thresholds.knowledge
    noisy = np.zeros(len(knowledge), dtype=bool)
    if data is not None and thresholds.share is not None and thresholds.data is not None:
        share = _knowledge_share(knowledge, data)
        unfamiliar &= share > thresholds.share
        unfamiliar &= (share >= _RELEVANT_SHARE) | (knowledge > thresholds.extreme)
        noisy = data > thresholds.data
    kinds: list[RowKind] = [
        "unfamiliar" if is_unfamiliar else "noisy" if is_noisy else "ordinary"
        for is_unfamiliar, is_noisy in zip(unfamiliar.tolist(), noisy.tolist(), strict=True)
    ]
    return tuple(kinds)


def kind_definitions(facts: Facts) -> dict[RowKind, str]:
    """Return the definition of each kind that rows of this model can have, with its thresholds."""
    thresholds, has_knowledge = facts.kind_thresholds, facts.out_of_domain.has_knowledge
    definitions: dict[RowKind, str] = {}
    if thresholds.data is not None:
        half = " or, if that is less, half of the largest possible value" if facts.task == "classification" else ""
        definitions["noisy"] = (
            f"{'Not unfamiliar, and data' if has_knowledge else 'Data'} uncertainty is more than "
            f"{number(thresholds.data)}: {_NOISY:g} times the median of all rows{half}."
        )
    if has_knowledge:
        definition = (
            f"Knowledge uncertainty is more than {number(thresholds.knowledge)}: {_UNUSUAL:g} times the median of the "
            "more uncertain half of the rows."
        )
        if thresholds.share is not None:
            definition += (
                f" Its share of the total is more than {number(thresholds.share)}, which is {_UNUSUAL:g} times the "
                f"median of that half; and the share is at least {_RELEVANT_SHARE:g}, or knowledge uncertainty is more "
                f"than {number(thresholds.extreme)}."
            )
        definitions["unfamiliar"] = definition
    definitions["ordinary"] = "All other rows."
    return definitions


def _knowledge_share(knowledge: Floats, data: Floats) -> Floats:
    share: Floats = knowledge / np.maximum(knowledge + data, np.finfo(np.float64).tiny)
    return share
