"""The command ``epiboost reproduce``."""

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    *,
    experiment: Annotated[
        str | None,
        typer.Argument(help="A table, a figure, regression, classification or all.", show_default="list them"),
    ] = None,
    engine: Annotated[str, typer.Option(help="native, catboost, lightgbm or xgboost.")] = "native",
    datasets: Annotated[
        str | None, typer.Option(help="Names of datasets, separated by commas.", show_default="all")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds per dataset, from the first.", min=1, show_default="all")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes, which share the cores.", min=1)] = 1,
    out: Annotated[Path, typer.Option(help="Folder for cells, tables and figures.")] = Path("reproduction"),
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Train tiny models, into the subfolder quick; the numbers have no meaning."),
    ] = False,
    renew: Annotated[bool, typer.Option("--renew", help="Run cells of earlier versions again.")] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Build tables from finished cells; run nothing.")
    ] = False,
) -> None:
    """Run the paper's experiments and compare with the published numbers; continue where the last run stopped.

    Example: epiboost reproduce table:uncertainty --datasets concrete,energy --folds 5
    """
    from epiboost.paper.reproduce import RunOptions, experiment_statuses  # noqa: PLC0415 (slow to import)
    from epiboost.paper.reproduce import reproduce as run  # noqa: PLC0415 (slow to import)

    names = None if datasets is None else tuple(name.strip() for name in datasets.split(",") if name.strip())
    options = RunOptions(
        engine=engine,
        datasets=names,
        folds=folds,
        n_jobs=jobs,
        out=out,
        quick=quick,
        renew=renew,
        run=not tables_only,
    )
    for line in experiment_statuses(options) if experiment is None else run(experiment, options):
        typer.echo(line)
