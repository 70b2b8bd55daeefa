"""The command ``epiboost predict``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epiboost._cli.formatting import count, wrote
from epiboost._cli.models import load_model, read_rows
from epiboost._cli.options import InputFormat, Keep, ModelFile, OutputFormat, TableOutput
from epiboost._cli.parameter_options import option_errors
from epiboost._cli.tables.formats import is_standard_output
from epiboost._cli.tables.selection import with_kept_columns
from epiboost._cli.tables.writing import check_table_output, write_table

if TYPE_CHECKING:
    from epiboost._typing import AnyArray, Estimator, Floats, Table


@dataclass(frozen=True, slots=True)
class Requested:
    """What is to be predicted beside the prediction and its uncertainty.

    Attributes
    ----------
    coverages : sequence of float
        Coverages of prediction intervals, or of the prediction sets of a classifier.
    quantiles : sequence of float
        Quantiles of the target.
    guarantee : bool
        Whether intervals and sets shall be those of the kept folds, with a guarantee.
    """

    coverages: Sequence[float] = ()
    quantiles: Sequence[float] = ()
    guarantee: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for option, values in (("--coverage", self.coverages), ("--quantile", self.quantiles)):
            outside = [value for value in values if not 0.0 < value < 1.0]
            if outside:
                message = f"{option} must be strictly between 0 and 1; got {outside[0]:g}"
                raise ValueError(message)
        if self.guarantee and not self.coverages:
            message = "--guarantee is for the intervals or sets of --coverage, which is not given"
            raise ValueError(message)


def predict(
    *,
    model: ModelFile,
    test: Annotated[
        Path,
        typer.Argument(
            help="Table to predict: .csv, .tsv, .jsonl or .parquet, also compressed; - is standard input.",
        ),
    ],
    output: TableOutput,
    coverage: Annotated[
        list[float] | None,
        typer.Option(
            help="Add prediction intervals of this coverage, or the prediction sets of a classifier; can be repeated."
        ),
    ] = None,
    quantile: Annotated[
        list[float] | None,
        typer.Option(help="Add this quantile of the target, such as 0.5 (regression); can be repeated."),
    ] = None,
    guarantee: Annotated[
        bool,
        typer.Option(
            "--guarantee",
            help="Make intervals and sets with a guarantee, by out-of-fold chains; needs epiboost fit --keep-folds.",
        ),
    ] = False,
    keep: Keep = None,
    table_format: InputFormat = None,
    output_format: OutputFormat = None,
) -> None:
    """Predict each row of a table, with its total, data and knowledge uncertainty and its novelty.

    Example: epiboost predict model.epib new.csv --coverage 0.9 --keep name -o predictions.csv
    """
    requested = Requested(coverage or (), quantile or (), guarantee=guarantee)
    check_table_output(output, output_format, sources=[model, test])
    fitted = load_model(model)
    rows = read_rows(fitted, test, kind=table_format, keep=keep)
    with option_errors():
        columns = prediction_columns(fitted, rows.features, requested)
    write_table(with_kept_columns(columns, rows.kept), output, output_format)
    typer.echo(f"Predicted {count(rows.features.num_rows, 'row')}{wrote(output)}", err=is_standard_output(output))


def prediction_columns(model: "Estimator", features: "Table", requested: Requested) -> "dict[str, AnyArray]":
    """Return the columns of the output table, each of shape (n,)."""
    posterior = model.predict_posterior(features)
    uncertainty = posterior.uncertainty()
    novelty = {} if model.reference_rows_ is None else {"novelty": _novelty(model, features)}
    measures = ("knowledge",) if posterior.family == "mean" else ("total", "data", "knowledge")  # mean: no spread
    parts = {**{measure: getattr(uncertainty, measure) for measure in measures}, **novelty}
    if posterior.family != "categorical":
        return {
            "prediction": posterior.quantile(0.5) if hasattr(model, "predict_survival_function") else posterior.mean,
            **parts,
            **_interval_columns(model, features, requested),
            **_quantile_columns(model, features, requested.quantiles),
        }
    if requested.quantiles:
        message = "--quantile is for regression, and this model is a classifier; use --coverage for prediction sets"
        raise ValueError(message)
    classes, probabilities = model.classes_, posterior.mean
    by_class = {f"probability_{label}": p for label, p in zip(classes, probabilities.T, strict=True)}
    sets = _set_columns(model, features, requested)
    return {"prediction": classes[probabilities.argmax(axis=1)], **parts, **by_class, **sets}


def _interval_columns(model: "Estimator", features: "Table", requested: Requested) -> "dict[str, AnyArray]":
    """Return lower and upper ends of intervals; with several coverages, their names end in the coverage."""
    if not requested.coverages:
        return {}
    intervals = model.predict_interval(features, list(requested.coverages), **_guarantee(model, requested))
    ends = dict(zip(_suffixes(requested.coverages), intervals.transpose(1, 2, 0), strict=True))
    return {
        f"{end}{suffix}": both[place] for suffix, both in ends.items() for place, end in enumerate(("lower", "upper"))
    }


def _quantile_columns(model: "Estimator", features: "Table", quantiles: Sequence[float]) -> "dict[str, AnyArray]":
    if not quantiles:
        return {}
    distinct = list(dict.fromkeys(quantiles))
    predicted = model.predict_quantile(features, distinct)
    return {f"quantile_{q:g}": values for q, values in zip(distinct, predicted.T, strict=True)}


def _set_columns(model: "Estimator", features: "Table", requested: Requested) -> "dict[str, AnyArray]":
    """Return one column per class: whether it belongs to the prediction set of a row."""
    if not requested.coverages:
        return {}
    if getattr(model, "out_of_fold_", True) is None:
        message = (
            "prediction sets (--coverage) need out-of-fold chains or a calibrated model; train with --out-of-fold 4, "
            "or use epiboost calibrate"
        )
        raise ValueError(message)
    sets = model.predict_set(features, list(requested.coverages), **_guarantee(model, requested))
    suffixes = _suffixes(requested.coverages)
    return {
        f"in_set{suffix}_{label}": sets[:, place, number]
        for place, suffix in enumerate(suffixes)
        for number, label in enumerate(model.classes_)
    }


def _guarantee(model: "Estimator", requested: Requested) -> dict[str, bool]:
    """Return the argument for intervals and sets; those of a calibrated model always have a guarantee."""
    if not requested.guarantee or not hasattr(model, "out_of_fold_"):
        return {}
    if model.out_of_fold_ is None:
        message = (
            "--guarantee needs out-of-fold chains; train with --out-of-fold 4 --keep-folds, or use epiboost calibrate"
        )
        raise ValueError(message)
    return {"guarantee": True}


def _suffixes(coverages: Sequence[float]) -> list[str]:
    """Return the ends of column names.

    >>> _suffixes([0.9]), _suffixes([0.5, 0.9])
    ([''], ['_0.5', '_0.9'])
    """
    return [""] if len(coverages) == 1 else [f"_{coverage:g}" for coverage in coverages]


def _novelty(model: "Estimator", features: "Table") -> "Floats":
    """Return the novelty of each row, without another pass through the trees."""
    novelty: Floats = model.reference_rows_.novelty(model.schema_.transform(features))
    return novelty
