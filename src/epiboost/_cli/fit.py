"""The command ``epiboost fit``."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from epiboost._cli import files
from epiboost._cli.columns import category_columns, choose_task, warn_about_numbers_in_text
from epiboost._cli.formatting import count
from epiboost._cli.options import Jobs

if TYPE_CHECKING:
    import pyarrow as pa

EnsembleKind: TypeAlias = Literal["single", "sgb", "sglb", "virtual", "bootstrap"]
"""The ensembles of `epiboost._boosting.recipe`, which is slow to import."""


def fit(
    *,
    train: Annotated[Path, typer.Argument(help="Training table: a .csv, .csv.gz or .parquet file.")],
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write the model to.", show_default=False)],
    task: Annotated[
        Literal["auto", "regression", "classification"],
        typer.Option(help="With auto, a target of text, booleans or two integers is classified."),
    ] = "auto",
    ensemble: Annotated[EnsembleKind, typer.Option(help="How the members are trained.")] = "sglb",
    engine: Annotated[
        str, typer.Option(help="Library that trains the trees: native, catboost, lightgbm, xgboost or forest.")
    ] = "native",
    members: Annotated[int, typer.Option(help="Number of ensemble members.", min=1)] = 10,
    trees: Annotated[
        int | None, typer.Option(help="Number of trees per member; by default it fits the table.", min=1)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Learning rate: above 0, at most 1; by default it fits the number of trees.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            help="Depth of trees, 1 to 8 without --leaves; by default it fits the table.",
            min=1,
        ),
    ] = None,
    leaves: Annotated[
        int | None,
        typer.Option(help="Leaves of leaf-wise trees, from 2 to 255; by default they fit the table.", min=2, max=255),
    ] = None,
    structure_rows: Annotated[
        int | None,
        typer.Option(help="Rows on which each tree chooses its splits; by default they fit the trees.", min=1),
    ] = None,
    reference_rows: Annotated[
        int,
        typer.Option(
            help="Largest number of training rows to keep, for novelty and drift. They become part of the model file; "
            "0 keeps none.",
            min=0,
        ),
    ] = 4000,
    weight: Annotated[str | None, typer.Option(help="Column with the sample weights.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column that is not a feature, such as a name; can be repeated.")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="Column of numbers that are categories, such as a zip code; can be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed; the same seed gives the same model.", min=0)] = None,
    jobs: Jobs = None,
) -> None:
    """Train a model on a table and write it to a file."""
    _check_output(output, train)
    ignored, named = ignore or [], categorical or []
    if target == weight or target in ignored:
        message = f"the column {target!r} is the target; it cannot be the weight or be ignored"
        raise ValueError(message)
    table = files.read_table(train, text=named)
    y = files.column(table, target, source=train)
    weights = None if weight is None else files.to_numpy(files.column(table, weight, source=train))
    files.select_columns(table, ignored, source=train)
    features = table.select([name for name in table.column_names if name not in {target, weight, *ignored}])
    _check_categorical(named, features)
    chosen, reason = choose_task(y) if task == "auto" else (task, "as requested")
    size = f"{count(table.num_rows, 'row')}, {count(features.num_columns, 'feature')}"
    typer.echo(f"{chosen.capitalize()} of {target!r} ({reason}): {size}")
    categories = category_columns(features, named)
    typer.echo(f"Categories: {files.quoted(categories) if categories else 'none'}")
    if not train.name.lower().endswith(".parquet"):
        inferred = [name for name in categories if name not in named]
        warn_about_numbers_in_text(table.select(inferred if task != "auto" else [target, *inferred]), target)

    from epiboost import EpiBoostClassifier, EpiBoostRegressor  # noqa: PLC0415 (slow to import)

    estimator = EpiBoostClassifier if chosen == "classification" else EpiBoostRegressor
    model = estimator(
        ensemble=ensemble,
        n_members=members,
        n_estimators="auto" if trees is None else trees,
        learning_rate="auto" if rate is None else rate,
        max_depth="auto" if depth is None else depth,
        max_leaves="auto" if leaves is None else leaves,
        structure_rows="auto" if structure_rows is None else structure_rows,
        reference_rows=reference_rows,
        engine=engine,
        categorical_features=categories if categorical else "auto",
        n_jobs=jobs,
        random_state=seed,
        verbose=1,
    )
    start = time.perf_counter()
    model.fit(features, files.to_numpy(y), sample_weight=weights)
    seconds = time.perf_counter() - start
    model.save(output)
    typer.echo(f"Trained in {seconds:.1f} s and wrote {output}")
    used = model.capacity_
    typer.echo(f"Trees: {model.n_iter_.max()} per chain, {used.size}, learning rate {used.learning_rate:g}")
    if model.out_of_fold_ is not None:
        score = f"accuracy {model.oof_score_:.3f}" if chosen == "classification" else f"R² {model.oof_score_:.3f}"
        loss = "" if math.isnan(model.oof_loss_) else f", negative log-likelihood {model.oof_loss_:.3f}"
        typer.echo(f"On rows that a chain had not seen: {score}{loss}")


def _check_output(output: Path, train: Path) -> None:
    files.check_writable(output, sources=[train])
    if output.suffix.lower() in files.ENDINGS:
        message = f"cannot write a model to {str(output)!r}: this ending is for tables; use .epib"
        raise ValueError(message)


def _check_categorical(named: list[str], features: "pa.Table") -> None:
    unknown = set(named) - set(features.column_names)
    if unknown:
        message = f"--categorical names {', '.join(map(repr, sorted(unknown)))}, which is not a feature of the table"
        raise ValueError(message)
