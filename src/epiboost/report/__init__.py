"""A report that shows whether a model can be trusted: one HTML page, made by one call, without network.

    predictions -> measurements -> facts -> verdicts -> cards, charts -> html

`report` predicts each table once (`predictions`), measures accuracy, calibration, abstention and out-of-domain rows
(`measurements`), and stores the numbers as plain values (`facts`). The rules for the verdicts on the first screen are
in `verdicts` and `ood_verdict`. `cards` writes the sentences, `charts` draws, and `html` puts all on a page.
"""

from epiboost.report.page import Report, report

__all__ = ["Report", "report"]
