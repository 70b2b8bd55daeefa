"""Tables of text in CSV files, and models that the command line trains on them."""

from epiboost import EpiBoostRegressor
from tests.support.command_line import epiboost

N = 60
COLOURS = ["red", "green", "blue"] * (N // 3)
_OPTIONS = ("--members", "2", "--trees", "5", "--seed", "0", "--jobs", "1")


def numbers(odd=(), n=N):
    """Return texts of distinct numbers; the first ones are replaced by other texts."""
    return [*odd, *(f"{place / 8}" for place in range(len(odd), n))]


def fit(path, *options, target="y"):
    """Train on a table; the model is written beside it."""
    result = epiboost("fit", path, "--target", target, "-o", path.parent / "model.epib", *_OPTIONS, *options)
    assert result.exit_code == 0, result.output
    return result


def load_fitted(path):
    """Return the model that was trained on a table."""
    return EpiBoostRegressor.load(path.parent / "model.epib")
