"""What the command line can do. Each command parses, makes one call and prints.

A known error is one line on standard error and exit code 1; an interrupt is one line and exit code 130, as shells have
it. An error that nobody foresaw keeps its traceback. What is slow to import is imported by the command that needs it.
"""

import time
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal

import typer

from epiboost._boosting.recipe import EnsembleKind
from epiboost._cli.errors import reported
from epiboost._cli.tables import (
    category_columns,
    choose_task,
    estimator_for,
    known_features,
    load_model,
    predicted_columns,
    text_columns,
    warn_of_numbers,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"epiboost {metadata.version('epiboost')}")
        raise typer.Exit


@app.callback()
def epiboost(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Gradient boosting that knows what it does not know."""


@app.command()
def fit(
    *,
    train: Annotated[Path, typer.Argument(help="The table to learn from: a .csv, .csv.gz or .parquet file.")],
    target: Annotated[str, typer.Option(help="The column to predict.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.", show_default=False)],
    task: Annotated[
        Literal["auto", "regression", "classification"],
        typer.Option(help="Auto: a target of text, of booleans or of two whole numbers is classified."),
    ] = "auto",
    ensemble: Annotated[EnsembleKind, typer.Option(help="Where the members come from.")] = "sglb",
    engine: Annotated[
        str, typer.Option(help="What trains the trees: native, catboost, lightgbm, xgboost or forest.")
    ] = "native",
    members: Annotated[int, typer.Option(help="Members of the ensemble.", min=1)] = 10,
    trees: Annotated[int, typer.Option(help="Trees of each member.", min=1)] = 1000,
    rate: Annotated[float, typer.Option(help="The learning rate: above 0, at most 1.")] = 0.1,
    depth: Annotated[int, typer.Option(help="The depth of each tree.", min=1, max=8)] = 6,
    weight: Annotated[str | None, typer.Option(help="The column that holds each row's weight.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column that is no feature, such as a name; may be given again.")
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(help="A column of numbers that only name things, such as a zip code; may be given again."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Give the same number to get the same model.", min=0)] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads to train on.", show_default="one a core")] = None,
) -> None:
    """Train a model on a table and write it to a file."""
    with reported():
        from epiboost._cli import files  # noqa: PLC0415 (see the head of this file)

        files.check_writable(output, sources=[train])
        if output.suffix.lower() in files.ENDINGS:
            message = f"cannot write a model to {str(output)!r}: that is a table's name; let it end in .epib"
            raise ValueError(message)
        if target == weight or target in (ignore or []):
            message = f"the column {target!r} is the target; it cannot be a weight or be ignored"
            raise ValueError(message)
        table = files.read_table(train, text=categorical or ())
        y = files.column(table, target, source=train)
        weights = None if weight is None else files.to_numpy(files.column(table, weight, source=train))
        ignored = files.select_columns(table, ignore or [], source=train).column_names
        others = {target, weight, *ignored}
        features = table.select([name for name in table.column_names if name not in others])
        strangers = set(categorical or []) - set(features.column_names)
        if strangers:
            message = f"--categorical names {', '.join(map(repr, sorted(strangers)))}, which is no feature of the table"
            raise ValueError(message)
        chosen, reason = choose_task(y) if task == "auto" else (task, "as asked")
        size = f"{_count(table.num_rows, 'row')}, {_count(features.num_columns, 'feature')}"
        typer.echo(f"{chosen.capitalize()} of {target!r} ({reason}): {size}")
        categories = category_columns(features, categorical or [])
        typer.echo(f"Categories: {files.listed(categories) if categories else 'none'}")
        if not train.name.lower().endswith(".parquet"):
            doubtful = [name for name in categories if name not in (categorical or [])]
            warn_of_numbers(table.select(doubtful if task != "auto" else [target, *doubtful]), target)
        model = estimator_for(chosen)(
            ensemble=ensemble,
            n_members=members,
            n_estimators=trees,
            learning_rate=rate,
            max_depth=depth,
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


@app.command()
def predict(
    *,
    model: Annotated[Path, typer.Argument(help="A model that epiboost fit wrote.")],
    test: Annotated[Path, typer.Argument(help="The table to predict: a .csv, .csv.gz or .parquet file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write: a .csv or .parquet file.", show_default=False)
    ],
    coverage: Annotated[
        float | None,
        typer.Option(help="Add the bounds of an interval meant to hold this share of targets (regression)."),
    ] = None,
) -> None:
    """Predict each row of a table, with its total, data and knowledge uncertainty."""
    with reported():
        from epiboost._cli import files  # noqa: PLC0415 (see the head of this file)

        files.check_ending(output)
        files.check_writable(output, sources=[model, test])
        fitted = load_model(model)
        features = known_features(fitted, files.read_table(test, text=text_columns(fitted)), source=test)
        columns = predicted_columns(fitted, features, coverage)
        files.write_table(columns, output)
        typer.echo(f"Predicted {_count(features.num_rows, 'row')} and wrote {output}")


@app.command()
def evaluate(
    *,
    model: Annotated[Path, typer.Argument(help="A model that epiboost fit wrote.")],
    test: Annotated[
        Path, typer.Argument(help="The table to judge it on, target included: a .csv, .csv.gz or .parquet file.")
    ],
    target: Annotated[
        str | None, typer.Option(help="The column to predict.", show_default="the one that is no feature")
    ] = None,
    ood: Annotated[Path | None, typer.Option(help="A table of rows from outside the domain.")] = None,
    coverage: Annotated[
        float,
        typer.Option(help="The coverage of the intervals, or of a calibrated classifier's sets, that are judged."),
    ] = 0.9,
    plots: Annotated[Path | None, typer.Option(help="A folder to draw pictures into.")] = None,
    json: Annotated[Path | None, typer.Option(help="A file to write the figures to.")] = None,
) -> None:
    """Judge a model on a table: its loss, and what its uncertainties are worth."""
    with reported():
        from epiboost._cli import evaluation, files  # noqa: PLC0415 (see the head of this file)

        sources = [path for path in (model, test, ood) if path is not None]
        if json is not None:
            files.check_writable(json, sources=sources)
        if plots is not None:
            evaluation.check_folder(plots)
        fitted = load_model(model)
        text = text_columns(fitted)
        table = files.read_table(test, text=text)
        features = known_features(fitted, table, source=test)
        name = files.only_other_column(table, features, source=test) if target is None else target
        y = files.to_numpy(files.column(table, name, source=test))
        outside = None if ood is None else known_features(fitted, files.read_table(ood, text=text), source=ood)
        found = evaluation.evaluate(fitted, features, y, outside, coverage=coverage)
        evaluation.show(found)
        if json is not None:
            evaluation.write_json(found, json)
            typer.echo(f"Wrote {json}")
        if plots is not None:
            for path in evaluation.draw(fitted, features, y, outside, plots):
                typer.echo(f"Drew {path}")


@app.command()
def report(
    *,
    model: Annotated[Path, typer.Argument(help="A model that epiboost fit wrote.")],
    test: Annotated[Path, typer.Argument(help="Rows it was not trained on, target included: a .csv or .parquet file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.", show_default=False)],
    target: Annotated[
        str | None, typer.Option(help="The column to predict.", show_default="the one that is no feature, if any")
    ] = None,
    ood: Annotated[Path | None, typer.Option(help="A table of rows from elsewhere, to be told from these.")] = None,
    title: Annotated[str | None, typer.Option(help="The heading of the page.")] = None,
    explain: Annotated[bool, typer.Option(help="Say which features drive the uncertainty.")] = True,
) -> None:
    """Write a page for the person who must decide whether to trust a model."""
    with reported():
        from epiboost._cli import files  # noqa: PLC0415 (see the head of this file)

        files.check_writable(output, sources=[path for path in (model, test, ood) if path is not None])
        if output.suffix.lower() in {*files.ENDINGS, ".epib"}:
            kind = "model" if output.suffix.lower() == ".epib" else "table"
            message = f"cannot write a report to {str(output)!r}: that is a {kind}'s name; let it end in .html"
            raise ValueError(message)
        fitted = load_model(model)
        text = text_columns(fitted)
        table = files.read_table(test, text=text)
        features = known_features(fitted, table, source=test)
        if target is None and table.num_columns > features.num_columns:
            target = files.only_other_column(table, features, source=test)
        y = None if target is None else files.to_numpy(files.column(table, target, source=test))
        outside = None if ood is None else known_features(fitted, files.read_table(ood, text=text), source=ood)
        fitted.report(features, y, ood=outside, path=output, title=title, explain=explain, verbose=1)
        typer.echo(f"Wrote {output}")


@app.command()
def explain(
    *,
    model: Annotated[Path, typer.Argument(help="A model that epiboost fit wrote.")],
    rows: Annotated[Path, typer.Argument(help="The rows to explain: a .csv or .parquet file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write the values: .csv or .parquet.", show_default=False)
    ],
    of: Annotated[
        Literal["knowledge", "data", "total", "mean"], typer.Option(help="What to explain; mean is the prediction.")
    ] = "knowledge",
    background: Annotated[
        Path | None,
        typer.Option(help="A table of usual rows, such as the training table.", show_default="the rows, one another"),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The class whose probability is explained (--of mean, classification).")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="A .png, .svg or .pdf file to draw the summary into.")] = None,
    seed: Annotated[int, typer.Option(help="Another number draws other samples.", min=0)] = 0,
) -> None:
    """Say which features make the model unsure of each row: a Shapley value for each."""
    with reported():
        from epiboost._cli import explaining, files  # noqa: PLC0415 (see the head of this file)
        from epiboost.explain import attribute  # noqa: PLC0415 (see the head of this file)

        sources = [path for path in (model, rows, background) if path is not None]
        files.check_ending(output)
        files.check_writable(output, sources=sources)
        if plot is not None:
            files.check_writable(plot, sources=sources)
            explaining.check_picture(plot, [output])
        fitted = load_model(model)
        text = text_columns(fitted)
        features = known_features(fitted, files.read_table(rows, text=text), source=rows)
        usual = None
        if background is not None:
            usual = known_features(fitted, files.read_table(background, text=text), source=background)
        asked = None if label is None else explaining.label_of(fitted, label)
        found = attribute(fitted, features, of, background=usual, label=asked, random_state=seed, verbose=1)
        explaining.write_values(found, output)
        typer.echo(f"Explained {of} of {_count(len(found), 'row')} and wrote {output}")
        typer.echo(f"The features that matter most: {', '.join(found.leading) or 'none; all values are zero'}")
        if usual is None:
            typer.echo(
                "The rows were compared with one another, so what all of them share counts nothing; to compare them "
                "with usual rows, give --background"
            )
        if plot is not None:
            explaining.draw_summary(found, plot)
            typer.echo(f"Drew {plot}")


@app.command()
def demo(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the picture.")] = Path("heart.png"),
    members: Annotated[int, typer.Option(help="Members of each ensemble.", min=2)] = 10,
    trees: Annotated[int, typer.Option(help="Trees of each member.", min=1)] = 1000,
    jobs: Annotated[int | None, typer.Option(help="Threads to train on.", show_default="one a core")] = None,
) -> None:
    """Find a heart-shaped hole in a table: train, measure and draw."""
    with reported():
        from epiboost._cli.demo import run  # noqa: PLC0415 (see the head of this file)

        run(output, n_members=members, n_estimators=trees, n_jobs=jobs)


@app.command()
def reproduce(
    *,
    experiment: Annotated[
        str | None,
        typer.Argument(help="A table, a figure, regression, classification or all.", show_default="list them"),
    ] = None,
    engine: Annotated[str, typer.Option(help="native, catboost, lightgbm or xgboost.")] = "native",
    datasets: Annotated[str | None, typer.Option(help="Only these, with commas between.", show_default="all")] = None,
    folds: Annotated[
        int | None, typer.Option(help="The first so many folds of each dataset.", min=1, show_default="all")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes, which share the cores.", min=1)] = 1,
    out: Annotated[Path, typer.Option(help="The folder of cells, tables and figures.")] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A rehearsal on tiny models, in the folder quick; figures mean nothing.")
    ] = False,
    renew: Annotated[bool, typer.Option("--renew", help="Do cells of earlier versions again.")] = False,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Build tables from the cells that are there; run nothing.")
    ] = False,
) -> None:
    """Run the paper's experiments and set the figures beside the published ones; go on where the last run stopped."""
    with reported():
        from epiboost.paper.reproduce import RunOptions, experiment_statuses  # noqa: PLC0415 (see the head of this file)
        from epiboost.paper.reproduce import reproduce as run  # noqa: PLC0415 (see the head of this file)

        chosen = None if datasets is None else tuple(name.strip() for name in datasets.split(",") if name.strip())
        options = RunOptions(
            engine=engine,
            datasets=chosen,
            folds=folds,
            n_jobs=jobs,
            out=out,
            quick=quick,
            renew=renew,
            run=not tables_only,
        )
        if experiment is None:
            for status in experiment_statuses(options):
                typer.echo(status)
            return
        for line in run(experiment, options):
            typer.echo(line)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
