"""The charts of a report: Vega-Lite specifications, drawn to SVG by vl-convert-python before the page is written.

The report does not use the matplotlib displays of `epiboost.plots`: every mark of a Vega-Lite SVG carries a text, which
the page shows under the pointer, by the arrow keys and to screen readers, and its colours are CSS variables, which
follow light and dark mode. A matplotlib SVG has neither.

vl-convert-python (BSD-3-Clause) needs no browser and no network. No text of the data is put where Vega-Lite would
evaluate it as an expression: fields have fixed names, and data are values.
"""

from epiboost.report.charts.calibration import calibration_chart
from epiboost.report.charts.domain import domain_chart
from epiboost.report.charts.drivers import driver_chart
from epiboost.report.charts.rejection import rejection_chart
from epiboost.report.charts.uncertainty import uncertainty_chart

__all__ = ["calibration_chart", "domain_chart", "driver_chart", "rejection_chart", "uncertainty_chart"]
