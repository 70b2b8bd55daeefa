"""The command ``epiboost``: the door to `epiboost._cli.commands`."""

import sys

from epiboost._optional import require


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        require("typer", extra="cli", purpose="the command line")
    except ImportError as error:
        sys.exit(f"epiboost: {error}")
    try:
        from epiboost._cli.commands import app  # noqa: PLC0415 (needs typer, which is optional)

        app(prog_name="epiboost")
    except KeyboardInterrupt:  # before a command was there to take it
        sys.stderr.write("epiboost: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
