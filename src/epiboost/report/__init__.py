"""A report for the person who must decide whether to trust a model: one page, no network, made from one call.

    facts  ->  sentences, charts  ->  page

`report` gathers numbers (`gathering`, `judging`), says them in sentences, draws them and sets them on a page. The page
is a Jinja2 template with autoescaping, the pictures are Vega-Lite charts; docs/report.md says why these two.
"""

from epiboost.report.page import Report, report

__all__ = ["Report", "report"]
