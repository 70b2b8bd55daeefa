"""The function `report` and its result."""

import html
import os
from dataclasses import dataclass
from pathlib import Path

from epiboost._files.atomic import atomic_write
from epiboost._optional import require
from epiboost._typing import Column, Estimator, Table
from epiboost.explain.shapley import import_shap
from epiboost.report.collect import collect_facts
from epiboost.report.facts import Facts
from epiboost.report.formatting import count
from epiboost.report.html.render import render_page

_FRAME = '<iframe srcdoc="{}" style="width:100%;height:800px;border:0" title="Report on a model"></iframe>'


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A finished report. Notebooks display it.

    Attributes
    ----------
    html : str
        The page.
    facts : Facts
        The numbers on the page.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> from epiboost.report import report
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = EpiBoostRegressor(n_members=2, n_estimators=20, random_state=0).fit(X[:100], X[:100, 0])
    >>> report(model, X[100:], X[100:, 0])
    Report('Can this regressor be trusted?', 100 rows)
    """

    html: str
    facts: Facts

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file; an existing file is replaced only once all is written.

        Parameters
        ----------
        path : str or path
            By convention it ends in ``.html``.

        Returns
        -------
        Path
        """
        target = Path(path)
        with atomic_write(target) as file:
            file.write(self.html.encode(errors="replace"))
        return target

    def __repr__(self) -> str:
        """Return title and size."""
        return f"Report({self.facts.title!r}, {count(self.facts.n_rows, 'row')})"

    def _repr_html_(self) -> str:
        """Return a frame with the page, for notebooks."""
        return _FRAME.format(html.escape(self.html))


def report(
    estimator: Estimator,
    X: Table,
    y: Column | None = None,
    *,
    X_ood: Table | None = None,
    path: str | os.PathLike[str] | None = None,
    title: str | None = None,
    explain: bool = True,
    verbose: int = 0,
) -> Report:
    """Make a report on a fitted model: accuracy, calibration, abstention and out-of-domain rows, as one HTML page.

    Parameters
    ----------
    estimator : fitted model
        A model of this package, calibrated or not, a pipeline that ends in one, or a search over one.
    X : table of shape (n, features)
        Rows that were not used for training, early stopping or calibration.
    y : array of shape (n,), optional
        Their targets. Without them errors cannot be measured.
    X_ood : table of shape (k, features), optional
        Rows that may be out of domain, to compare with ``X``. Without them ``X`` is compared with the training rows
        that the model keeps.
    path : str or path, optional
        File to write the page to.
    title : str, optional
        Title of the page.
    explain : bool, default=True
        Whether to compute which features drive the uncertainty, which takes most of the time.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    Report

    Raises
    ------
    ImportError
        If a package of the extra ``report`` is not installed.
    TypeError
        If the model does not predict uncertainty.
    ValueError
        If the targets do not fit the rows, a label is unknown to the model, or the model refuses the table.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    >>> model = EpiBoostClassifier(n_members=3, n_estimators=30, random_state=0).fit(X[:150], y[:150])
    >>> page = report(model, X[150:], y[150:], X_ood=X[150:] + 9)
    >>> page.facts.quality.error < 0.5, page.html.startswith("<!DOCTYPE html>")
    (True, True)
    """
    _check_packages(explain=explain)
    _check_options(path, title, X_ood)
    facts = collect_facts(estimator, X, y, X_ood, explain=explain, title=title, verbose=verbose)
    page = Report(render_page(facts), facts)
    if path is not None:
        page.save(path)
    return page


def _check_packages(*, explain: bool) -> None:
    """Raise an error for missing packages, before any work is done."""
    for package in ("jinja2", "vl_convert"):
        require(package, extra="report", purpose="writing a report")
    if explain:
        import_shap()


def _check_options(path: str | os.PathLike[str] | None, title: str | None, X_ood: Table | None) -> None:
    """Raise an error for options that cannot be used, before any work is done."""
    if title is not None and not isinstance(title, str):
        message = f"title must be a str or None; got {title!r}"
        raise TypeError(message)
    if isinstance(X_ood, str | os.PathLike):
        message = f"X_ood must be a table, not the name of a file; got {os.fspath(X_ood)!r}"
        raise TypeError(message)
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        message = f"path must name a file; {str(target)!r} is a folder"
        raise IsADirectoryError(message)
    if not target.parent.is_dir():
        message = f"path must be in an existing folder; {str(target.parent)!r} does not exist"
        raise FileNotFoundError(message)
