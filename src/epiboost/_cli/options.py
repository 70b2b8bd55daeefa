"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ModelFile: TypeAlias = Annotated[Path, typer.Argument(help="Model file, written by epiboost fit.")]
TableOutput: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", help="File to write: .csv or .parquet.", show_default=False)
]
Jobs: TypeAlias = Annotated[int | None, typer.Option(help="Number of threads.", show_default="one per core")]
Trees: TypeAlias = Annotated[int, typer.Option(help="Number of trees per member.", min=1)]
