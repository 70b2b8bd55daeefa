"""The command ``epiboost demo``. The experiment is in `epiboost._cli.heart`."""

from pathlib import Path
from typing import Annotated

import typer

from epiboost._cli.options import Jobs, Trees


def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write.")] = Path("heart.png"),
    members: Annotated[int, typer.Option(help="Number of members per ensemble.", min=2)] = 10,
    trees: Trees = 1000,
    jobs: Jobs = None,
) -> None:
    """Find a heart-shaped hole in a table: train, measure and draw.

    Example: epiboost demo --members 5 --trees 300 -o heart.png
    """
    from epiboost._cli.heart import run  # noqa: PLC0415 (slow to import)

    run(output, n_members=members, n_estimators=trees, n_jobs=jobs)
