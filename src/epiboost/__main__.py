"""``python -m epiboost`` is the command ``epiboost``."""

from epiboost._cli.main import main

if __name__ == "__main__":
    main()
