"""The door from a model to its report. What stands behind it is imported when the door is used, and not before."""

import importlib
import os
from typing import Any


class Reporting:
    """What every model can do: write a report of itself."""

    def report(
        self,
        X: Any,  # noqa: ANN401 (anything a user may pass)
        y: Any = None,  # noqa: ANN401 (anything a user may pass)
        *,
        ood: Any = None,  # noqa: ANN401 (anything a user may pass)
        path: str | os.PathLike[str] | None = None,
        title: str | None = None,
        explain: bool = True,
        verbose: int = 0,
    ) -> Any:  # noqa: ANN401 (a Report, which is not known here)
        """Make a report for the person who must decide whether to trust the model: one page, no network.

        Parameters
        ----------
        X : table of shape (n, features)
            Rows that the model has not been trained, early-stopped or calibrated on.
        y : array of shape (n,), optional
            Their targets. Without them nothing can be said of errors.
        ood : table of shape (k, features), optional
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
        epiboost.report.Report
            ``.html``, ``.save(path)``; a notebook shows it.

        Raises
        ------
        ImportError
            If what a report is made with is not installed.
        ValueError
            For targets that do not fit the rows, labels that the model does not know, and what else the model refuses.
        """
        # By name: a report knows models, and models do not know of reports.
        module = importlib.import_module("epiboost.report")
        return module.report(self, X, y, ood=ood, path=path, title=title, explain=explain, verbose=verbose)
