"""The command ``epiboost report``."""

from pathlib import Path
from typing import Annotated

import typer

from epiboost._cli.models import load_without_durations, read_features, read_rows
from epiboost._cli.options import InputFormat, ModelFile
from epiboost._cli.tables.formats import format_of_name
from epiboost._cli.tables.selection import column, only_other_column, to_numpy
from epiboost._cli.tables.writing import check_writable


def report(
    *,
    model: ModelFile,
    test: Annotated[
        Path,
        typer.Argument(
            help="Rows that the model was not trained on, with the target: .csv, .tsv, .jsonl or .parquet, also "
            "compressed; - is standard input."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.", show_default=False)],
    target: Annotated[
        str | None, typer.Option(help="Target column.", show_default="the only column that is not a feature, if any")
    ] = None,
    ood: Annotated[Path | None, typer.Option(help="Table of rows that may be out of domain, to compare.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    explain: Annotated[bool, typer.Option(help="Show which features drive the uncertainty.")] = True,
    table_format: InputFormat = None,
) -> None:
    """Write an HTML page that shows whether a model can be trusted.

    Example: epiboost report model.epib test.csv --target price -o report.html
    """
    _check_output(output, sources=[path for path in (model, test, ood) if path is not None])
    fitted = load_without_durations(model, "report")
    rows = read_rows(fitted, test, kind=table_format)
    features = rows.features
    if target is None and rows.table.num_columns > features.num_columns:
        target = only_other_column(rows.table, features.column_names, source=test)
    y = None if target is None else to_numpy(column(rows.table, target, source=test))
    X_ood = None if ood is None else read_features(fitted, ood, kind=table_format)

    from epiboost.report import report as write_report  # noqa: PLC0415 (slow to import)

    write_report(fitted, features, y, X_ood=X_ood, path=output, title=title, explain=explain, verbose=1)
    typer.echo(f"Wrote {output}")


def _check_output(output: Path, sources: list[Path]) -> None:
    check_writable(output, sources=sources)
    if output.suffix.lower() == ".epib" or format_of_name(output) is not None:
        kind = "models" if output.suffix.lower() == ".epib" else "tables"
        message = f"cannot write a report to {str(output)!r}: this ending is for {kind}; use .html"
        raise ValueError(message)
