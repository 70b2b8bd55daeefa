"""``python -m epiboost`` is the command ``epiboost``."""

from epiboost.cli import main

if __name__ == "__main__":
    main()
