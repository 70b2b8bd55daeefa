"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from epiboost._cli.tables.formats import TableKind

ModelFile: TypeAlias = Annotated[Path, typer.Argument(help="Model file, written by epiboost fit or calibrate.")]
TableOutput: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="Table to write: .csv, .tsv, .jsonl or .parquet, also compressed; - is standard output.",
        show_default=False,
    ),
]
InputFormat: TypeAlias = Annotated[
    TableKind | None,
    typer.Option(
        "--format",
        help="Format of tables whose name does not tell it.",
        show_default="told by the content of standard input",
    ),
]
OutputFormat: TypeAlias = Annotated[
    TableKind | None,
    typer.Option(help="Format of the table to write, if its name does not tell it.", show_default="csv"),
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", "--id", help="Column to copy to the output unchanged, such as a number or name; can be repeated."
    ),
]
TargetColumn: TypeAlias = Annotated[
    str | None, typer.Option(help="Target column.", show_default="the only column that is not a feature")
]
WeightColumn: TypeAlias = Annotated[str | None, typer.Option(help="Column with the sample weights.")]
Jobs: TypeAlias = Annotated[int | None, typer.Option(help="Number of threads.", show_default="one per core")]
Trees: TypeAlias = Annotated[int, typer.Option(help="Number of trees per member.", min=1)]
