"""Renders facts as one HTML page without external files.

Everything that comes from the data is escaped: in HTML by Jinja2's autoescaping, in the charts by Vega, in the data of
the script by `epiboost.report.html.tooltips.script_data`. As a second protection the content security policy of the
page allows one script, by its hash, and no requests.
"""

import base64
import datetime as dt
import hashlib
from functools import cache
from importlib import resources

from epiboost._optional import require
from epiboost._typing import LibraryObject
from epiboost.report import charts
from epiboost.report.cards import make_cards
from epiboost.report.cards.texts import SCORES, error_text, threshold_text
from epiboost.report.facts import Facts
from epiboost.report.formatting import count, number, percent
from epiboost.report.html.comparisons import compared_tables
from epiboost.report.html.rows import table_rows
from epiboost.report.html.tooltips import tooltip_data
from epiboost.report.measurements.shown_rows import MAX_POINTS, MAX_TABLE_ROWS
from epiboost.report.ood_verdict import differs_clearly, is_more_familiar
from epiboost.report.row_kinds import kind_definitions

_MAX_CLASSES = 30
_MAX_NEW_COLUMNS = 10
_MAX_DRIFT_COLUMNS = 8


def render_page(facts: Facts) -> str:
    """Return the page."""
    script = _read("script.js")
    markup = require("markupsafe", extra="report", purpose="writing a report").Markup
    pictures = {
        "rejection": charts.rejection_chart(facts),
        "calibration": charts.calibration_chart(facts),
        "uncertainty": charts.uncertainty_chart(facts),
    }
    comparisons = [
        (compared, markup(charts.domain_chart(compared.domain, (compared.inside, compared.outside))))
        for compared in compared_tables(facts)
    ]
    page: str = _template().render(
        facts=facts,
        cards=make_cards(facts),
        pictures={name: markup(picture) for name, picture in pictures.items()},
        drivers=[(driver, markup(charts.driver_chart(driver))) for driver in facts.drivers if driver.names],
        definitions=kind_definitions(facts),
        kind_counts={kind: count(n_rows, "row") for kind, n_rows in facts.kind_counts},
        rows=table_rows(facts),
        comparisons=comparisons,
        differs_clearly=differs_clearly,
        is_more_familiar=is_more_familiar,
        score_names=SCORES,
        tooltips=markup(tooltip_data(facts)),
        style=markup(_read("style.css")),
        script=markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        error_text=lambda error: error_text(facts, error),
        threshold_text=lambda threshold: threshold_text(facts, threshold),
        share_text=lambda share: "–" if share is None else percent(share),
        infinity=float("inf"),
        max_classes=_MAX_CLASSES,
        max_new_columns=_MAX_NEW_COLUMNS,
        max_drift_columns=_MAX_DRIFT_COLUMNS,
        max_points=MAX_POINTS,
        max_table_rows=MAX_TABLE_ROWS,
        percent=percent,
        number=number,
        count=count,
        today=dt.datetime.now(tz=dt.UTC).date().isoformat(),
    )
    return page


@cache
def _template() -> LibraryObject:
    jinja2 = require("jinja2", extra="report", purpose="writing a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(_read("template.html.j2"))


@cache
def _read(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
