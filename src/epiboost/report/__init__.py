"""A report that shows whether a model can be trusted: one HTML page, made by one call, without network.

- ``report(estimator, X, y, X_ood=..., path="report.html")`` measures a fitted model on rows that it was not trained on,
  and writes the page. `report` needs the extra ``report``.
- `Report` is the result: `Report.html` is the page, `Report.facts` has its numbers, `Report.save` writes it. Notebooks
  display it.

How it works, for contributors::

    predictions -> measurements -> facts -> verdicts -> cards, charts -> html

The function predicts each table once (`predictions`), measures accuracy, calibration, abstention and out-of-domain rows
(`measurements`), and stores the numbers as plain values (`facts`). The rules for the verdicts on the first screen are
in `verdicts` and `ood_verdict`. `cards` writes the sentences, `charts` draws, and `html` puts all on a page.
"""

from epiboost.report.page import Report, report

__all__ = ["Report", "report"]
