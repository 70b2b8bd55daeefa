"""The Typer application: all commands, each in a file of its name.

Start-up is light: NumPy, scikit-learn and matplotlib are imported by the function that needs them, when it runs.
A known error is one line on standard error and exit code 2, that of a wrong option; an interrupt is one line and exit
code 130. Any other error keeps its traceback, with exit code 1. `drift` adds exit code 3.
"""

from importlib import metadata
from typing import Annotated

import typer

from epiboost._cli.calibrate import calibrate
from epiboost._cli.demo import demo
from epiboost._cli.drift import drift
from epiboost._cli.errors import with_known_errors
from epiboost._cli.evaluate import evaluate
from epiboost._cli.explain import explain
from epiboost._cli.fit import fit
from epiboost._cli.predict import predict
from epiboost._cli.report import report
from epiboost._cli.reproduce import reproduce

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"epiboost {metadata.version('epiboost')}")
        raise typer.Exit


@app.callback()
def epiboost(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Gradient boosting that knows what it does not know.

    Example: epiboost fit train.csv --target price -o model.epib
    """


for command in (fit, predict, calibrate, evaluate, report, explain, drift, demo, reproduce):
    app.command()(with_known_errors(command))
