"""The command ``epiboost calibrate``."""

from pathlib import Path
from typing import Annotated

import typer

from epiboost._cli.formatting import count
from epiboost._cli.models import load_model, read_rows
from epiboost._cli.options import InputFormat, ModelFile, TargetColumn, WeightColumn
from epiboost._cli.tables.selection import column, only_other_column, to_numpy
from epiboost._cli.tables.writing import check_model_output


def calibrate(
    *,
    model: ModelFile,
    table: Annotated[
        Path,
        typer.Argument(
            help="Rows that the model was not trained on, with the target: .csv, .tsv, .jsonl or .parquet, also "
            "compressed; - is standard input.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write the calibrated model to.", show_default=False)
    ],
    target: TargetColumn = None,
    weight: WeightColumn = None,
    seed: Annotated[int, typer.Option(help="Seed of the split of the rows.", min=0)] = 0,
    table_format: InputFormat = None,
) -> None:
    """Calibrate a model on new rows, so that its intervals or sets have guaranteed coverage.

    Example: epiboost calibrate model.epib new.csv --target price -o calibrated.epib
    """
    check_model_output(output, sources=[model, table])
    fitted = load_model(model)
    rows = read_rows(fitted, table, kind=table_format)
    known = [*rows.features.column_names, *filter(None, [weight])]
    name = only_other_column(rows.table, known, source=table) if target is None else target
    y = to_numpy(column(rows.table, name, source=table))
    options = {} if weight is None else {"sample_weight": to_numpy(column(rows.table, weight, source=table))}
    fitted.calibrate(rows.features, y, random_state=seed, **options).save(output)
    typer.echo(f"Calibrated on {count(len(y), 'row')} and wrote {output}")
