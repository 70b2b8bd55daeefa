"""The command ``epiboost report``."""

from pathlib import Path
from typing import Annotated

import typer

from epiboost._cli import files
from epiboost._cli.models import load_model, read_features, read_table, select_features
from epiboost._cli.options import ModelFile


def report(
    *,
    model: ModelFile,
    test: Annotated[
        Path, typer.Argument(help="Rows that the model was not trained on, with the target: .csv or .parquet.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.", show_default=False)],
    target: Annotated[
        str | None, typer.Option(help="Target column.", show_default="the only column that is not a feature, if any")
    ] = None,
    ood: Annotated[Path | None, typer.Option(help="Table of rows that may be out of domain, to compare.")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    explain: Annotated[bool, typer.Option(help="Show which features drive the uncertainty.")] = True,
) -> None:
    """Write an HTML page that shows whether a model can be trusted."""
    _check_output(output, sources=[path for path in (model, test, ood) if path is not None])
    fitted = load_model(model)
    table = read_table(fitted, test)
    features = select_features(fitted, table, source=test)
    if target is None and table.num_columns > features.num_columns:
        target = files.only_other_column(table, features, source=test)
    y = None if target is None else files.to_numpy(files.column(table, target, source=test))
    X_ood = None if ood is None else read_features(fitted, ood)

    from epiboost.report import report as write_report  # noqa: PLC0415 (slow to import)

    write_report(fitted, features, y, X_ood=X_ood, path=output, title=title, explain=explain, verbose=1)
    typer.echo(f"Wrote {output}")


def _check_output(output: Path, sources: list[Path]) -> None:
    files.check_writable(output, sources=sources)
    if output.suffix.lower() in {*files.ENDINGS, ".epib"}:
        kind = "models" if output.suffix.lower() == ".epib" else "tables"
        message = f"cannot write a report to {str(output)!r}: this ending is for {kind}; use .html"
        raise ValueError(message)
