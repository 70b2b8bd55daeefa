"""Entry point of the command ``epiboost``. It works without Typer, and then says how to install it."""

import sys

from epiboost._optional import require

_FAILED = 2
_INTERRUPTED = 130


def main() -> None:
    """Run the command line."""
    extra = "demo" if sys.argv[1:2] == ["demo"] else "cli"  # the demo needs more
    try:
        require("typer", extra=extra, purpose="the command line")
    except ImportError as error:
        sys.stderr.write(f"epiboost: {error}\n")
        sys.exit(_FAILED)
    try:
        from epiboost._cli.app import app  # noqa: PLC0415 (needs typer, which is optional)

        app(prog_name="epiboost")
    except KeyboardInterrupt:  # before a command could handle it
        sys.stderr.write("epiboost: interrupted\n")
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
