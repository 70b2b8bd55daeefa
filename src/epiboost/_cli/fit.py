"""The command ``epiboost fit``. Its training parameters are in `epiboost._cli.training_parameters`."""

import math
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from epiboost._cli.columns import category_columns, choose_task, warn_about_numbers_in_text
from epiboost._cli.formatting import count
from epiboost._cli.options import InputFormat, WeightColumn
from epiboost._cli.parameter_options import known_parameters, option_errors, with_training_parameters
from epiboost._cli.tables.selection import quoted, to_numpy
from epiboost._cli.tables.writing import check_model_output
from epiboost._cli.training_rows import ColumnRoles, TrainingTable, read_evaluation_set, read_training_table
from epiboost._progress import on_terminal

if TYPE_CHECKING:
    from epiboost import EpiBoostClassifier, EpiBoostRegressor, EpiBoostSurvivalRegressor
    from epiboost._typing import AnyArray

_ESTIMATORS = {
    "classification": "EpiBoostClassifier",
    "regression": "EpiBoostRegressor",
    "survival analysis": "EpiBoostSurvivalRegressor",
}
_SCORES = {
    "EpiBoostClassifier": "accuracy",
    "EpiBoostRegressor": "R²",
    "EpiBoostSurvivalRegressor": "concordance index",
}


@with_training_parameters
def fit(
    *,
    train: Annotated[
        Path,
        typer.Argument(
            help="Training table: .csv, .tsv, .jsonl or .parquet, also compressed; - is standard input.",
        ),
    ],
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write the model to.", show_default=False)],
    task: Annotated[
        Literal["auto", "regression", "classification"],
        typer.Option(help="With auto, a target of text, booleans or two integers is classified."),
    ] = "auto",
    event: Annotated[
        str | None,
        typer.Option(
            help="Column of true and false, or of 1 and 0: whether the target, a duration, has ended then or was only "
            "seen to last longer (survival analysis)."
        ),
    ] = None,
    weight: WeightColumn = None,
    groups: Annotated[
        str | None,
        typer.Option(help="Column of groups, such as patients: rows of one group are in the same fold."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", "--id", help="Column that is not a feature, such as a name; can be repeated."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="Column of numbers that are categories, such as a zip code; can be repeated."),
    ] = None,
    valid: Annotated[
        Path | None, typer.Option(help="Table on which the loss is measured during training, for early stopping.")
    ] = None,
    table_format: InputFormat = None,
    parameters: dict[str, Any],
) -> None:
    """Train a model on a table and write it to a file.

    Example: epiboost fit train.csv --target price --id name -o model.epib
    """
    check_model_output(output, sources=[path for path in (train, valid) if path is not None])
    roles = ColumnRoles(target, weight, groups, tuple(ignore or ()), tuple(categorical or ()), event)
    rows = read_training_table(train, roles, kind=table_format)
    chosen, reason = _task_of(task, rows, str(parameters["distribution"]))
    size = f"{count(rows.features.num_rows, 'row')}, {count(rows.features.num_columns, 'feature')}"
    typer.echo(f"{chosen.capitalize()} of {target!r} ({reason}): {size}")
    categories = category_columns(rows.features, list(roles.categorical))
    typer.echo(f"Categories: {quoted(categories) if categories else 'none'}")
    if rows.has_inferred_types:
        inferred = [name for name in categories if name not in roles.categorical]
        warn_about_numbers_in_text(rows.table.select(inferred if task != "auto" else [target, *inferred]), target)
    evaluation = None if valid is None else read_evaluation_set(valid, rows, roles, kind=table_format)

    import epiboost  # noqa: PLC0415 (slow to import)

    estimator = getattr(epiboost, _ESTIMATORS[chosen])
    parameters["class_weight"] = _weights_of_labels(parameters["class_weight"], to_numpy(rows.y))
    if rows.event is not None and parameters["distribution"] == "normal":  # the default of other tasks
        del parameters["distribution"]
    model = estimator(
        **known_parameters(estimator, parameters),
        categorical_features=categories if categorical else "auto",
        verbose=int(on_terminal()),
    )
    start = time.perf_counter()
    with option_errors(), warnings.catch_warnings():
        warnings.simplefilter("ignore", epiboost.NumbersAsTextWarning)  # said above, in the words of the command line
        model.fit(rows.features, rows.target, rows.weights, evaluation, rows.groups)
    seconds = time.perf_counter() - start
    model.save(output)
    typer.echo(f"Trained in {seconds:.1f} s and wrote {output}")
    _show(model)


def _task_of(task: str, rows: "TrainingTable", distribution: str) -> tuple[str, str]:
    """Return the task and the reason."""
    if rows.event is None:
        if task == "auto" and distribution != "normal":
            return "regression", "--distribution is for numbers"
        return choose_task(rows.y) if task == "auto" else (task, "as requested")
    if task == "classification":
        message = "--event is for durations; leave out --task classification"
        raise ValueError(message)
    return "survival analysis", "--event tells which durations have ended"


def _weights_of_labels(class_weight: object, y: "AnyArray") -> object:
    """Return the weights of classes by their labels; the names of a JSON object are text."""
    if not isinstance(class_weight, dict):
        return class_weight
    label_of = {str(label): label for label in set(y.tolist())}
    return {label_of.get(name, name): weight for name, weight in class_weight.items()}


def _show(model: "EpiBoostRegressor | EpiBoostClassifier | EpiBoostSurvivalRegressor") -> None:
    """Print the size of a trained model and its out-of-fold scores."""
    used = model.capacity_
    choice = getattr(model, "family_choice_", None)
    if choice is not None:
        typer.echo(str(choice).capitalize())
    elif model.distribution_ not in {"normal", "categorical"}:
        typer.echo(f"Distribution: {model.distribution_}")
    typer.echo(f"Trees: {model.n_iter_.max()} per chain, {used.size}, learning rate {used.learning_rate:g}")
    if model.out_of_fold_ is not None:
        score = f"{_SCORES[type(model).__name__]} {model.oof_score_:.3f}"
        loss = "" if math.isnan(model.oof_loss_) else f", negative log-likelihood {model.oof_loss_:.3f}"
        typer.echo(f"On rows that a chain had not seen: {score}{loss}")
