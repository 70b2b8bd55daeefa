"""The command ``epiboost evaluate``. The metrics are computed in `epiboost._cli.evaluation_metrics`."""

from pathlib import Path
from typing import Annotated

import typer

from epiboost._cli.models import load_without_durations, read_features, read_rows
from epiboost._cli.options import InputFormat, ModelFile, TargetColumn
from epiboost._cli.tables.selection import column, only_other_column, to_numpy
from epiboost._cli.tables.writing import check_writable


def evaluate(
    *,
    model: ModelFile,
    test: Annotated[
        Path,
        typer.Argument(
            help="Test table with the target: .csv, .tsv, .jsonl or .parquet, also compressed; - is standard input."
        ),
    ],
    target: TargetColumn = None,
    ood: Annotated[Path | None, typer.Option(help="Table of out-of-domain rows.")] = None,
    coverage: Annotated[
        float,
        typer.Option(help="Coverage of prediction intervals, or of the prediction sets of a calibrated classifier."),
    ] = 0.9,
    plots: Annotated[Path | None, typer.Option(help="Folder to draw plots into.")] = None,
    json: Annotated[Path | None, typer.Option(help="File to write the metrics to.")] = None,
    table_format: InputFormat = None,
) -> None:
    """Evaluate a model on a table: its losses, and the quality of its uncertainties.

    Example: epiboost evaluate model.epib test.csv --target price --json metrics.json
    """
    from epiboost._cli import evaluation_metrics  # noqa: PLC0415 (slow to import)

    sources = [path for path in (model, test, ood) if path is not None]
    if json is not None:
        check_writable(json, sources=sources)
    if plots is not None:
        evaluation_metrics.check_folder(plots)
    fitted = load_without_durations(model, "evaluate")
    rows = read_rows(fitted, test, kind=table_format)
    features = rows.features
    name = only_other_column(rows.table, features.column_names, source=test) if target is None else target
    y = to_numpy(column(rows.table, name, source=test))
    X_ood = None if ood is None else read_features(fitted, ood, kind=table_format)
    result = evaluation_metrics.evaluate(fitted, features, y, X_ood, coverage=coverage)
    evaluation_metrics.show(result)
    if json is not None:
        evaluation_metrics.write_json(result, json)
        typer.echo(f"Wrote {json}")
    if plots is not None:
        for path in evaluation_metrics.draw(fitted, features, y, X_ood, plots):
            typer.echo(f"Drew {path}")
