"""Names of columns: which are stored, and whether those of a later table match them.

Rules and messages are scikit-learn's, so that its users and its checks meet what they know.
"""

import warnings
from collections.abc import Sequence
from typing import Any

_MAX_LISTED = 5


def feature_names(columns: Sequence[Any]) -> tuple[str, ...] | None:
    """Return the names of columns if all of them are text, None if none is.

    >>> feature_names(["age", "town"]), feature_names([0, 1])
    (('age', 'town'), None)
    """
    types = sorted({type(name).__name__ for name in columns})
    if len(types) > 1 and "str" in types:
        message = (
            f"Feature names are only supported if all input features have string names, but your input has {types} as "
            "feature name / column name types. If you want feature names to be stored and validated, you must convert "
            "them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you can remove "
            "feature / column names from your input data, or convert them all to a non-string data type."
        )
        raise TypeError(message)
    return tuple(columns) if types == ["str"] else None


def check_feature_names(names: tuple[str, ...] | None, fitted: tuple[str, ...] | None, owner: str) -> None:
    """Raise an error if names differ from those of `fit`; warn if only one of the two tables had names."""
    if fitted is None:
        if names is not None:
            warnings.warn(f"X has feature names, but {owner} was fitted without feature names", stacklevel=4)
    elif names is None:
        warnings.warn(f"X does not have valid feature names, but {owner} was fitted with feature names", stacklevel=4)
    elif names != fitted:
        unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += f"Feature names unseen at fit time:\n{_listed(unseen)}"
        if missing:
            message += f"Feature names seen at fit time, yet now missing:\n{_listed(missing)}"
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)


def check_n_features(found: int, fitted: int, owner: str) -> None:
    """Raise an error if a table has another number of columns than that of `fit`."""
    if found != fitted:
        message = f"X has {found} features, but {owner} is expecting {fitted} features as input."
        raise ValueError(message)


def _listed(names: Sequence[str]) -> str:
    lines = [f"- {name}\n" for name in names[:_MAX_LISTED]]
    return "".join([*lines, "- ...\n"] if len(names) > _MAX_LISTED else lines)
