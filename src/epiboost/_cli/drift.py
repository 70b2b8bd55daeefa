"""The command ``epiboost drift``."""

from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epiboost._cli.formatting import count
from epiboost._cli.models import ModelRows, load_model, read_features, read_rows
from epiboost._cli.options import InputFormat, ModelFile
from epiboost._cli.tables.writing import check_writable
from epiboost._files.atomic import atomic_write
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import Estimator
    from epiboost.decisions import DomainDetector, DriftTest

_DRIFTED = 3
_SMALLEST_P_VALUE = 0.001  # 999 permutations
_SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class ForeignRow:
    """A row of the batch, and what makes it foreign.

    Attributes
    ----------
    row : int
        Position in the table, from 1.
    score : float
        The larger, the more foreign; the sum of what columns and uncertainty add.
    is_outside : bool
        Whether the row is out of the domain.
    columns : dict from str to float
        What each column adds, the largest first.
    uncertainty : float
        What uncertainty adds.
    kept : dict from str to object
        Values of the kept columns.
    """

    row: int
    score: float
    is_outside: bool
    columns: dict[str, float]
    uncertainty: float
    kept: dict[str, object]


def drift(
    *,
    model: ModelFile,
    batch: Annotated[
        Path,
        typer.Argument(
            help="Batch of new rows to test: .csv, .tsv, .jsonl or .parquet, also compressed; - is standard input.",
        ),
    ],
    reference: Annotated[
        Path | None,
        typer.Option(
            help="Table of rows without drift that the model was not trained on.",
            show_default="the training rows that the model keeps",
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of columns to print.", min=1)] = 10,
    rows: Annotated[int, typer.Option(help="Number of most foreign rows to explain.", min=0)] = 0,
    fail_on_drift: Annotated[
        float | None, typer.Option(help="Exit with code 3 if the p-value is at most this number, such as 0.01.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File to write the test to, with all columns.")] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", "--id", help="Column to show with the rows of --rows, such as a name; can be repeated."),
    ] = None,
    table_format: InputFormat = None,
) -> None:
    """Test whether a batch of rows comes from another distribution than the training rows, without labels.

    Example: epiboost drift model.epib today.csv --rows 5 --id name --fail-on-drift 0.01
    """
    sources = [path for path in (model, batch, reference) if path is not None]
    if json is not None:
        check_writable(json, sources=sources)
    if fail_on_drift is not None and not _SMALLEST_P_VALUE <= fail_on_drift < 1.0:
        message = (
            f"--fail-on-drift must be at least {_SMALLEST_P_VALUE}, the smallest p-value of the test, and below 1; got "
            f"{fail_on_drift:g}"
        )
        raise ValueError(message)
    fitted = load_model(model)
    tested = read_rows(fitted, batch, kind=table_format, keep=keep)
    compare_with = None if reference is None else read_features(fitted, reference, kind=table_format)
    detector = fit_detector(fitted, compare_with)
    test = detector.drift(tested.features)
    n_reference = len(detector.compared_.reference)
    compared = f"{count(n_reference, 'row')} of {reference}"
    if reference is None:
        compared = f"{count(n_reference, 'training row')} that the model keeps"
    typer.echo(f"Drift of {count(test.n_rows, 'row')}, compared with {compared}: p-value {test.p_value:.3g}")
    typer.echo(
        f"Out of domain: {100 * test.share_outside:.1f} % of the rows; without drift about "
        f"{100 * detector.false_alarm_rate:g} %"
    )
    _show_columns(test, top)
    foreign = most_foreign(detector, tested, rows) if rows else []
    if foreign:
        _show_rows(foreign, tested.features)
    if json is not None:
        content = asdict(test) | {"n_reference": n_reference, "rows": [asdict(row) for row in foreign]}
        with atomic_write(json) as file:
            file.write((dumps(content, indent=2, allow_nan=False, default=str) + "\n").encode())
        typer.echo(f"Wrote {json}")
    if fail_on_drift is not None and test.p_value <= fail_on_drift:
        raise typer.Exit(_DRIFTED)


def fit_detector(model: "Estimator", reference: "pa.Table | None") -> "DomainDetector":
    """Return a detector fitted to a reference, or to the training rows that the model keeps.

    It compares novelty alone if the model has no out-of-fold chains to measure the uncertainty of training rows.
    """
    from epiboost.decisions import DomainDetector  # noqa: PLC0415 (slow to import)

    if reference is not None:
        return DomainDetector(model).fit(reference)
    kept = model.reference_rows_
    if kept is None:
        message = (
            "the model keeps no training rows to compare with: it was trained with --reference-rows 0, or its file is "
            "of an earlier version; give --reference, a table of rows that it was not trained on"
        )
        raise ValueError(message)
    return DomainDetector(model, measure="combined" if kept.is_measured else "novelty").fit()


def most_foreign(detector: "DomainDetector", tested: ModelRows, n_rows: int) -> list[ForeignRow]:
    """Return the most foreign rows, the most foreign first."""
    scores = detector.score_samples(tested.features)
    order = scores.argsort(kind="stable")[:n_rows]
    explanation = detector.explain(tested.features.take(order), n_similar=1)
    kept = [{} for _ in order] if tested.kept is None else tested.kept.take(order).to_pylist()
    return [
        ForeignRow(
            int(row) + 1,
            float(-scores[row]),
            bool(scores[row] < detector.offset_),
            dict(explanation.top(position, len(explanation.names))),
            float(explanation.uncertainty[position]),
            kept[position],
        )
        for position, row in enumerate(order)
    ]


def _show_columns(test: "DriftTest", top: int) -> None:
    """Print effect and adjusted p-value of columns as a table."""
    shown = test.columns[:top]
    title = "Columns, the strongest evidence first"
    if len(shown) < len(test.columns):
        title += f" ({len(shown)} of {len(test.columns)})"
    _print_table(
        title,
        ("column", "effect", "adjusted p-value"),
        [(column.name, f"{column.effect:.2f}", f"{column.p_value:.3g}") for column in shown],
    )


def _show_rows(foreign: list[ForeignRow], features: "pa.Table") -> None:
    """Print what makes rows foreign as a table."""
    lines = [
        (
            str(found.row),
            *(_text(value) for value in found.kept.values()),
            f"{found.score:.1f}",
            "yes" if found.is_outside else "no",
            _reasons(found, features),
        )
        for found in foreign
    ]
    heads = ("row", *foreign[0].kept, "score", "out of domain", "what adds to the score")
    _print_table("Most foreign rows, numbered from 1", heads, lines)


def _reasons(found: ForeignRow, features: "pa.Table") -> str:
    """Return the columns that add most, with the row's values, and what uncertainty adds."""
    columns = list(found.columns.items())[:_SHOWN_REASONS]
    values = [features.column(name)[found.row - 1].as_py() for name, _ in columns]
    reasons = [f"{name} = {_text(value)} ({added:.1f})" for (name, added), value in zip(columns, values, strict=True)]
    if found.uncertainty > 0.0:
        reasons.append(f"uncertainty ({found.uncertainty:.1f})")
    return ", ".join(reasons) or "nothing"


def _text(value: object) -> str:
    """Return the value of a field as text.

    >>> _text(0.123456), _text("Oslo"), _text(None)
    ('0.1235', 'Oslo', 'missing')
    """
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _print_table(title: str, heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> None:
    """Print texts as a table; brackets in them are no markup."""
    console = require("rich.console", extra="cli", purpose="printing a table").Console()
    text = require("rich.text", extra="cli", purpose="printing a table").Text
    table = require("rich.table", extra="cli", purpose="printing a table").Table(*heads, title=title)
    for line in lines:
        table.add_row(*(text(cell) for cell in line))
    console.print(table)
