"""The command ``epiboost predict``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epiboost._cli import files
from epiboost._cli.formatting import count
from epiboost._cli.models import load_model, read_features
from epiboost._cli.options import ModelFile, TableOutput

if TYPE_CHECKING:
    from epiboost._typing import AnyArray, Estimator, Floats, Table


def predict(
    *,
    model: ModelFile,
    test: Annotated[Path, typer.Argument(help="Table to predict: a .csv, .csv.gz or .parquet file.")],
    output: TableOutput,
    coverage: Annotated[
        float | None,
        typer.Option(help="Add the bounds of prediction intervals with this coverage (regression)."),
    ] = None,
) -> None:
    """Predict each row of a table, with its total, data and knowledge uncertainty and its novelty."""
    files.check_ending(output)
    files.check_writable(output, sources=[model, test])
    fitted = load_model(model)
    features = read_features(fitted, test)
    files.write_table(prediction_columns(fitted, features, coverage), output)
    typer.echo(f"Predicted {count(features.num_rows, 'row')} and wrote {output}")


def prediction_columns(model: "Estimator", features: "Table", coverage: float | None) -> "dict[str, AnyArray]":
    """Return the columns of the output table, each of shape (n,)."""
    posterior = model.predict_posterior(features)
    uncertainty = posterior.uncertainty()
    novelty = {} if model.reference_rows_ is None else {"novelty": _novelty(model, features)}
    if posterior.family == "mean" and coverage is None:
        return {"prediction": posterior.mean, "knowledge": uncertainty.knowledge, **novelty}
    parts = {"total": uncertainty.total, "data": uncertainty.data, "knowledge": uncertainty.knowledge, **novelty}
    if posterior.family == "normal":
        bounds = () if coverage is None else model.predict_interval(features, coverage).T
        return {"prediction": posterior.mean, **parts, **dict(zip(("lower", "upper"), bounds, strict=False))}
    if coverage is not None:
        message = "--coverage adds prediction intervals, which only a regression model has"
        raise ValueError(message)
    classes, probabilities = model.classes_, posterior.mean
    by_class = {f"probability_{label}": p for label, p in zip(classes, probabilities.T, strict=True)}
    return {"prediction": classes[probabilities.argmax(axis=1)], **parts, **by_class}


def _novelty(model: "Estimator", features: "Table") -> "Floats":
    """Return the novelty of each row, without another pass through the trees."""
    novelty: Floats = model.reference_rows_.novelty(model.schema_.transform(features))
    return novelty
