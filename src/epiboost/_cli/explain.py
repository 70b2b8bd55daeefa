"""The command ``epiboost explain``."""

import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from epiboost._cli.formatting import count, wrote
from epiboost._cli.models import load_model, read_features, read_rows
from epiboost._cli.options import InputFormat, Keep, ModelFile, OutputFormat, TableOutput
from epiboost._cli.tables.formats import TableKind, is_standard_output
from epiboost._cli.tables.selection import with_kept_columns
from epiboost._cli.tables.writing import check_table_output, check_writable, write_table
from epiboost._files.atomic import atomic_write
from epiboost._optional import require

if TYPE_CHECKING:
    import pyarrow as pa

    from epiboost._typing import Estimator
    from epiboost.explain import Attribution

_SIZE = (6.4, 4.4)
_DOTS_PER_INCH = 150
_PLOT_ENDINGS = (".png", ".svg", ".pdf")


def explain(
    *,
    model: ModelFile,
    rows: Annotated[
        Path,
        typer.Argument(
            help="Rows to explain: .csv, .tsv, .jsonl or .parquet, also compressed; - is standard input.",
        ),
    ],
    output: TableOutput,
    measure: Annotated[
        Literal["knowledge", "data", "total", "mean", "score"],
        typer.Option(help="What to explain; mean is the prediction, score the raw score of a class."),
    ] = "knowledge",
    background: Annotated[
        Path | None,
        typer.Option(help="Table of typical rows, such as the training table.", show_default="the rows themselves"),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Class that is explained (--measure mean or score, classification).")
    ] = None,
    groups: Annotated[
        Literal["correlated"] | None, typer.Option(help="Explain correlated features together, as one.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File to draw a summary into: .png, .svg or .pdf.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sampling.", min=0)] = 0,
    keep: Keep = None,
    table_format: InputFormat = None,
    output_format: OutputFormat = None,
) -> None:
    """Write one Shapley value per row and feature: which features make the model uncertain.

    Example: epiboost explain model.epib new.csv --background train.csv --keep name -o why.csv
    """
    sources = [path for path in (model, rows, background) if path is not None]
    check_table_output(output, output_format, sources=sources)
    if plot is not None:
        check_writable(plot, sources=sources)
        _check_plot(plot, output)
    fitted = load_model(model)
    explained = read_rows(fitted, rows, kind=table_format, keep=keep)
    typical = None if background is None else read_features(fitted, background, kind=table_format)
    known_label = None if label is None else _known_label(fitted, label)

    from epiboost.explain import attribute  # noqa: PLC0415 (slow to import)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the caution, which is printed below
        attribution = attribute(
            fitted,
            explained.features,
            measure,
            background=typical,
            label=known_label,
            groups=groups,
            random_state=seed,
            verbose=1,
        )
    write_values(attribution, output, kept=explained.kept, kind=output_format)
    say = partial(typer.echo, err=is_standard_output(output))
    say(f"Explained {measure} of {count(len(attribution), 'row')}{wrote(output)}")
    say(f"Most important features: {', '.join(attribution.leading) or 'none; all values are zero'}")
    if attribution.caution:
        say(attribution.caution.replace("groups='correlated'", "--groups correlated"))
    if typical is None:
        say(
            "The rows were compared with each other, so a value that all rows share has no effect; to compare them "
            "with typical rows, give --background"
        )
    if plot is not None:
        _draw_summary(attribution, plot)
        say(f"Drew {plot}")


def write_values(
    attribution: "Attribution", path: Path, *, kept: "pa.Table | None" = None, kind: TableKind | None = None
) -> None:
    """Write the measure of each row, the base value and one column per feature; base and features add to the measure.

    Kept columns come first. A feature that has the name of another column gets the prefix ``value of``, more than once
    if necessary.
    """
    columns = with_kept_columns({attribution.measure: attribution.output, "base": attribution.base_values}, kept)
    for name, values in zip(attribution.feature_names, attribution.values.T, strict=True):
        unique = name
        while unique in columns or (unique != name and unique in attribution.feature_names):
            unique = f"value of {unique}"
        columns[unique] = values
    write_table(columns, path, kind)


def _known_label(model: "Estimator", text: str) -> object:
    """Return the class label of a model whose text is given."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        message = f"--label is for classification, and this model is a regressor; got {text!r}"
        raise ValueError(message)
    labels: dict[str, object] = {str(label): label for label in classes.tolist()}
    if text not in labels:
        message = f"--label must be one of {', '.join(map(repr, labels))}; got {text!r}"
        raise ValueError(message)
    return labels[text]


def _check_plot(plot: Path, output: Path) -> None:
    """Raise an error if the plot cannot be drawn, before any work is done."""
    if plot.suffix.lower() not in _PLOT_ENDINGS:
        endings = f"{', '.join(_PLOT_ENDINGS[:-1])} or {_PLOT_ENDINGS[-1]}"
        message = f"cannot draw {str(plot)!r}: its name must end in {endings}"
        raise ValueError(message)
    if plot.resolve() == output.resolve():
        message = f"cannot draw {str(plot)!r}: --output writes the values to this file"
        raise ValueError(message)


def _draw_summary(attribution: "Attribution", path: Path) -> None:
    from epiboost.plots import AttributionDisplay  # noqa: PLC0415 (slow to import)

    figure_class = require("matplotlib.figure", extra="plot", purpose="drawing uncertainty").Figure
    figure = figure_class(figsize=_SIZE, layout="constrained")
    AttributionDisplay(attribution).plot(figure.subplots())
    with atomic_write(path) as file:
        figure.savefig(file, dpi=_DOTS_PER_INCH, format=path.suffix.removeprefix(".").lower())
