"""Constraints on the columns of a table, as constraints on the encoded columns that trees split."""

from epiboost._encoding.encoding import Encoding
from epiboost._inputs.constraints import Constraints


def encoded_constraints(constraints: Constraints, encoding: Encoding | None) -> Constraints:
    """Return the constraints of encoded columns.

    A constrained column is numeric and passed through. An encoded column is in a group if all of its sources are.

    Parameters
    ----------
    constraints : Constraints
        On the columns of the table.
    encoding : Encoding or None
        None if no column is categorical: then the columns are the same.
    """
    if encoding is None:
        return constraints
    single: dict[int, list[int]] = {}
    crosses: list[tuple[int, set[int]]] = []
    for position, sources in enumerate(encoding.sources):
        if len(sources) == 1:
            single.setdefault(sources[0], []).append(position)
        else:
            crosses.append((position, set(sources)))
    monotone = [0] * encoding.n_encoded
    for column, direction in enumerate(constraints.monotone):
        if direction:
            monotone[single[column][0]] = direction
    groups = tuple(
        (
            *(position for column in group for position in single[column]),
            *(position for position, sources in crosses if sources.issubset(group)),
        )
        for group in constraints.groups
    )
    return Constraints(tuple(monotone) if constraints.monotone else (), groups)
