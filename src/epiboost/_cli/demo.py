"""The command ``epiboost demo``. The experiment is in `epiboost._cli.heart`."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write.")] = Path("heart.png"),
    members: Annotated[int, typer.Option(help="Number of members per ensemble.", min=2)] = 10,
    trees: Annotated[int, typer.Option(help="Number of trees per member.", min=1)] = 1000,
    jobs: Annotated[int | None, typer.Option(help="Number of threads.", show_default="one per core")] = None,
) -> None:
    """Find a heart-shaped hole in a table: train, measure and draw."""
    from epiboost._cli.heart import run  # noqa: PLC0415 (slow to import)

    run(output, n_members=members, n_estimators=trees, n_jobs=jobs)
