"""Data of the tooltips: the rows of the uncertainty chart, as JSON for the script of the page."""

import json
from typing import Any

import numpy as np

from epiboost.report.facts import Facts
from epiboost.report.formatting import number, text

_CELL_LENGTHS = (40, 20, 10)
_MAX_BYTES = 1_000_000
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def tooltip_data(facts: Facts) -> str:
    """Return the tooltips as JSON; texts are cut until it is small enough."""
    data = ""
    for max_length in _CELL_LENGTHS:
        data = script_data(_tooltips(facts, max_length))
        if len(data.encode()) <= _MAX_BYTES:
            break
    return data


def script_data(value: object) -> str:
    """Return JSON that cannot end the HTML element that holds it.

    >>> json.loads(script_data("</script>")), "<" in script_data("</script>")
    ('</script>', False)
    """
    encoded = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, escape in _ESCAPES.items():
        encoded = encoded.replace(letter, escape)
    return encoded


def _tooltips(facts: Facts, max_length: int) -> dict[str, Any]:
    """Return the names once, and one list of values per row; the first names are not features."""
    table = facts.point_rows
    names = ["prediction"]
    columns: list[tuple[str, ...] | list[str]] = [table.prediction]
    if table.target is not None:
        names.append("target")
        columns.append(table.target)
    if table.data is not None:
        names.append("data")
        columns.append([number(value) for value in table.data.tolist()])
    names.append("knowledge")
    columns.append([number(value) for value in table.knowledge.tolist()])
    if table.novelty is not None:
        names.append("novelty")
        columns.append([number(value) for value in table.novelty.tolist()])
    columns += [column.tolist() for column in np.asarray(table.cells).T]
    titles = [
        f"Row {row + 1:,}{' of the other table' if kind == 'other' else f', {kind}'}"
        for row, kind in zip(table.row.tolist(), facts.points.kind, strict=True)
    ]
    rows = [
        [title, *(text(value, max_length) for value in values)] for title, *values in zip(titles, *columns, strict=True)
    ]
    return {"names": [*names, *table.names], "n_first": len(names), "rows": rows}
