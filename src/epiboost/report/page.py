"""The page: facts, sentences and pictures set in a template, everything in one file.

What comes from the data is escaped wherever it stands. In HTML by Jinja2's autoescaping; in the pictures by Vega, which
writes text as text; in the script's data by `_script_data`, so that no value can end the element it stands in. Should
something slip through all the same, the page's own policy lets no script run but the one whose hash it names, and lets
nothing be fetched.
"""

import base64
import datetime as dt
import hashlib
import html
import json
import os
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from epiboost._files.atomic import whole_file
from epiboost._optional import require
from epiboost.explain.shapley import import_shap
from epiboost.report import charts
from epiboost.report.collect import MOST_LISTED, MOST_POINTS, gather
from epiboost.report.facts import Facts, Listed
from epiboost.report.formatting import count, number, percent, words
from epiboost.report.verdicts import cards_of, error_text, threshold_text

_FRAME = '<iframe srcdoc="{}" style="width:100%;height:800px;border:0" title="Report on a model"></iframe>'
_MOST_CLASSES = 30
_MOST_NEW = 10
_CELL_LENGTHS = (40, 20, 10)
_MOST_HOVER_BYTES = 1_000_000
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A finished report.

    Attributes
    ----------
    html : str
        The page.
    facts : Facts
        The numbers that it shows.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = EpiBoostRegressor(n_members=2, n_estimators=20, random_state=0).fit(X[:100], X[:100, 0])
    >>> report(model, X[100:], X[100:, 0])
    Report('Can this regressor be trusted?', 100 rows)
    """

    html: str
    facts: Facts

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, whole or not at all.

        Parameters
        ----------
        path : str or path
            By custom it ends in ``.html``.

        Returns
        -------
        Path
        """
        target = Path(path)
        with whole_file(target) as draft:
            draft.write_text(self.html, encoding="utf-8", errors="replace")
        return target

    def __repr__(self) -> str:
        """Say what it is about."""
        return f"Report({self.facts.title!r}, {count(self.facts.n_rows, 'row')})"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own."""
        return _FRAME.format(html.escape(self.html))


def report(
    estimator: Any,  # noqa: ANN401 (any of the models)
    X: Any,  # noqa: ANN401 (anything the model reads)
    y: npt.ArrayLike | None = None,
    *,
    X_ood: Any = None,  # noqa: ANN401 (anything the model reads)
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    explain: bool = True,
    verbose: int = 0,
) -> Report:
    """Make a report on a model: how good, how honest, when to hand over, what is foreign, and why.

    Parameters
    ----------
    estimator : fitted model
        One of this package, calibrated or not, on its own, at the end of a pipeline or inside a search.
    X : table of shape (n, features)
        Rows that the model has not been trained, early-stopped or calibrated on.
    y : array of shape (n,), optional
        Their targets. Without them nothing can be said of errors.
    X_ood : table of shape (k, features), optional
        Rows from elsewhere, to be told from the others.
    path : str or path, optional
        Where to write the page.
    title : str, optional
        The heading of the page.
    explain : bool, default=True
        Whether to say which features drive the uncertainty, which takes most of the time.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    Report

    Raises
    ------
    ImportError
        If what a report is made with is not installed.
    TypeError
        If the model does not know its uncertainty.
    ValueError
        For targets that do not fit the rows, labels that the model does not know, and what else the model refuses.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    >>> model = EpiBoostClassifier(n_members=3, n_estimators=30, random_state=0).fit(X[:150], y[:150])
    >>> made = report(model, X[150:], y[150:], X_ood=X[150:] + 9)
    >>> made.facts.quality.error < 0.5, made.html.startswith("<!DOCTYPE html>")
    (True, True)
    """
    _check_packages(explain=explain)
    _check_options(path, title, X_ood)
    facts = gather(estimator, X, y, X_ood, explain=explain, title=title, verbose=verbose)
    made = Report(page_of(facts), facts)
    if path is not None:
        made.save(path)
    return made


def page_of(facts: Facts) -> str:
    """Set facts on a page."""
    template = _template()
    script = _part("script.js")
    policy = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    markup = require("markupsafe", extra="report", purpose="writing a report").Markup
    pictures = {
        "rejection": charts.rejection_chart(facts),
        "calibration": charts.calibration_chart(facts),
        "uncertainty": charts.uncertainty_chart(facts),
        "domain": "" if facts.domain is None else charts.domain_chart(facts.domain),
    }
    page: str = template.render(
        facts=facts,
        cards=cards_of(facts),
        pictures={name: markup(picture) for name, picture in pictures.items()},
        drivers=[(driver, markup(charts.driver_chart(driver))) for driver in facts.drivers if driver.names],
        rows=_table_rows(facts),
        hover=markup(_hover_data(facts)),
        style=markup(_part("style.css")),
        script=markup(script),
        script_hash=policy,
        error_text=lambda error: error_text(facts, error),
        threshold_text=lambda threshold: threshold_text(facts, threshold),
        share_text=lambda share: "–" if share is None else percent(share),
        infinity=float("inf"),
        most_classes=_MOST_CLASSES,
        most_new=_MOST_NEW,
        percent=percent,
        number=number,
        count=count,
        today=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        most_points=MOST_POINTS,
        most_listed=MOST_LISTED,
    )
    return page


def _check_options(path: str | os.PathLike[str] | None, title: str | None, ood: Any) -> None:  # noqa: ANN401
    """Refuse what cannot be written or read, before any work is spent."""
    if title is not None and not isinstance(title, str):
        message = f"title must be a text or None; got {title!r}"
        raise TypeError(message)
    if isinstance(ood, str | os.PathLike):
        message = f"ood must be a table of rows, not a file's name; got {os.fspath(ood)!r}"
        raise TypeError(message)
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        message = f"path must name a file; {str(target)!r} is a folder"
        raise IsADirectoryError(message)
    if not target.parent.is_dir():
        message = f"path must lie in a folder that is there; {str(target.parent)!r} is not"
        raise FileNotFoundError(message)


def _check_packages(*, explain: bool) -> None:
    """Say what is missing before any work is spent."""
    for package in ("jinja2", "vl_convert"):
        require(package, extra="report", purpose="writing a report")
    if explain:
        import_shap()


@cache
def _template() -> Any:  # noqa: ANN401 (a template; jinja2 is optional)
    jinja2 = require("jinja2", extra="report", purpose="writing a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(_part("template.html.j2"))


@cache
def _part(name: str) -> str:
    return resources.files("epiboost.report").joinpath(name).read_text(encoding="utf-8")


def _table_rows(facts: Facts) -> list[dict[str, Any]]:
    """Return the rows of the table of uncertain rows, each value with the number that it is sorted by."""
    listed = facts.uncertain
    rows = []
    for place in range(len(listed.row)):
        cells = [_number_cell(listed.doubt[place])]
        if listed.data is not None:
            cells += [_number_cell(listed.data[place]), _number_cell(listed.knowledge[place])]
        rows.append(
            {
                "row": int(listed.row[place]) + 1,
                "kind": listed.kind[place],
                "prediction": listed.prediction[place],
                "target": None if listed.target is None else listed.target[place],
                "error": _error_cell(facts, place),
                "numbers": cells,
                "reason": listed.reason[place],
                "cells": listed.cells[place].tolist(),
            }
        )
    return rows


def _number_cell(value: float) -> tuple[float, str]:
    return float(value), number(float(value))


def _error_cell(facts: Facts, place: int) -> tuple[float, str] | None:
    listed = facts.uncertain
    if listed.error is None:
        return None
    error = float(listed.error[place])
    if facts.task == "classification":
        return error, "wrong" if error else "right"
    return error, number(error)


def _hover_data(facts: Facts) -> str:
    """Return the rows under the pointer for the script, their cells cut until they are few enough bytes."""
    data = ""
    for longest in _CELL_LENGTHS:
        data = _script_data(_hovered(facts, longest))
        if len(data.encode()) <= _MOST_HOVER_BYTES:
            break
    return data


def _hovered(facts: Facts, longest: int) -> dict[str, Any]:
    """Return what is shown of a row under the pointer: names once, then values."""
    listed: Listed = facts.hovered
    names = ["prediction"]
    columns: list[tuple[str, ...] | list[str]] = [listed.prediction]
    if listed.target is not None:
        names.append("target")
        columns.append(listed.target)
    if listed.data is not None:
        names.append("data")
        columns.append([number(value) for value in listed.data.tolist()])
    names.append("knowledge")
    columns.append([number(value) for value in listed.knowledge.tolist()])
    columns += [column.tolist() for column in np.asarray(listed.cells).T]
    heads = [
        f"Row {row + 1:,}" + (" of the other table" if kind == "other" else f", {kind}" * (kind != "ordinary"))
        for row, kind in zip(listed.row.tolist(), facts.points.kind, strict=True)
    ]
    rows = [[head, *(words(value, longest) for value in values)] for head, *values in zip(heads, *columns, strict=True)]
    return {"names": [*names, *listed.names], "n_own": len(names), "rows": rows}


def _script_data(value: object) -> str:
    """Return JSON that no HTML parser can take for the end of its element.

    >>> json.loads(_script_data("</script>")), "<" in _script_data("</script>")
    ('</script>', False)
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, escaped in _UNSAFE.items():
        text = text.replace(letter, escaped)
    return text
