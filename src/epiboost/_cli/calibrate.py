"""The command ``epiboost calibrate``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from epiboost._cli.formatting import count
from epiboost._cli.models import load_without_durations, read_rows
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
    groups: Annotated[
        str | None, typer.Option(help="Feature whose values are groups that each get the guarantee.")
    ] = None,
    asymmetric: Annotated[
        bool, typer.Option("--asymmetric", help="Compute both ends of intervals apart, for skewed targets.")
    ] = False,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Guarantee the coverage of sets for each class.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the split of the rows.", min=0)] = 0,
    table_format: InputFormat = None,
) -> None:
    """Calibrate a model on new rows, so that its intervals or sets have guaranteed coverage.

    Example: epiboost calibrate model.epib new.csv --target price -o calibrated.epib
    """
    check_model_output(output, sources=[model, table])
    fitted = load_without_durations(model, "calibrate")
    rows = read_rows(fitted, table, kind=table_format)
    known = [*rows.features.column_names, *filter(None, [weight])]
    name = only_other_column(rows.table, known, source=table) if target is None else target
    y = to_numpy(column(rows.table, name, source=table))
    is_classifier = hasattr(fitted, "classes_")
    for option, is_given, is_right in (
        ("--asymmetric", asymmetric, not is_classifier),
        ("--per-class", per_class, is_classifier),
    ):
        if is_given and not is_right:
            message = f"{option} is not for a {'classifier' if is_classifier else 'regressor'}"
            raise typer.BadParameter(message)
    options: dict[str, Any] = (
        {} if weight is None else {"sample_weight": to_numpy(column(rows.table, weight, source=table))}
    )
    if groups is not None:
        options["groups"] = groups
    if asymmetric:
        options["symmetric"] = False
    if per_class:
        options["per_class"] = True
    fitted.calibrate(rows.features, y, random_state=seed, **options).save(output)
    typer.echo(f"Calibrated on {count(len(y), 'row')} and wrote {output}")
