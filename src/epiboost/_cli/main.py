"""Entry point of the command ``epiboost``. It works without Typer, and then says how to install it."""

import sys

from epiboost._optional import require

_INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    try:
        require("typer", extra="cli", purpose="the command line")
    except ImportError as error:
        sys.exit(f"epiboost: {error}")
    try:
        from epiboost._cli.app import app  # noqa: PLC0415 (needs typer, which is optional)

        app(prog_name="epiboost")
    except KeyboardInterrupt:  # before a command could handle it
        sys.stderr.write("epiboost: interrupted\n")
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
