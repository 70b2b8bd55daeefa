"""Commands with the options of `epiboost._cli.training_parameters`, and errors of the library that name options."""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from epiboost._cli.training_parameters import PARAMETERS

_PHRASES = {
    "an eval_set": "--valid",
    "sample_weight": "--weight",
}
"""Parts of the library's errors that only a Python programmer understands."""


def with_training_parameters(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with one option per parameter, instead of its argument ``parameters``, a dictionary of them."""
    signature = inspect.signature(command)
    names = [parameter.name for parameter in PARAMETERS]

    def run(**arguments: object) -> None:
        parameters = {name: arguments.pop(name) for name in names}
        command(**arguments, parameters=parameters)

    options = [
        inspect.Parameter(
            parameter.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=parameter.default,
            annotation=parameter.annotation,
        )
        for parameter in PARAMETERS
    ]
    own = [parameter for name, parameter in signature.parameters.items() if name != "parameters"]
    run.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]  # read by inspect
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def known_parameters(estimator: type, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that an estimator has; an error names an option that was given in vain."""
    known = inspect.signature(estimator).parameters
    for parameter in PARAMETERS:
        if parameter.name not in known and parameters[parameter.name] != parameter.default:
            message = f"{parameter.option} is not for this task: {estimator.__name__} has no such parameter"
            raise ValueError(message)
    return {name: value for name, value in parameters.items() if name in known}


@contextmanager
def option_errors() -> Iterator[None]:
    """Let errors of the library name options instead of parameters."""
    try:
        yield
    except ValueError as error:
        raise ValueError(name_options(str(error))) from error


def name_options(message: str) -> str:
    """Return an error of the library with options instead of parameters.

    >>> name_options("max_depth must be a whole number from 1 to 8; got 9")
    '--max-depth must be a whole number from 1 to 8; got 9'
    >>> name_options("engine='forest' supports no weights; fit with keep_folds=True")
    "--engine 'forest' supports no weights; fit with --keep-folds"
    """
    for phrase, replacement in _PHRASES.items():
        message = message.replace(phrase, replacement)
    for parameter in PARAMETERS:
        name, option = parameter.name, parameter.option
        if parameter.kind == "flag":
            message = re.sub(rf"\b{name}=True\b", option, message)
        message = re.sub(rf"\b{name}=", f"{option} ", message)
        # A name without an underscore is an ordinary word, except where a message begins with it.
        message = re.sub(rf"\b{name}\b" if "_" in name else rf"^{name}(?= must)", option, message)
    return message
