"""What a run cost, by dataset and piece of work."""

from epiboost.paper.cells.results import Results
from epiboost.paper.methods.registry import METHODS
from epiboost.paper.problem import CLASSIFICATION, REGRESSION
from epiboost.paper.tables.build import NAMES

_PIECES = {
    "sgb grid": "grid SGB",
    "sglb grid": "grid SGLB",
    "sgb sgb_single": "one chain",
    "sgb sgb_ensemble": "SGB ensemble",
    "sglb sglb_ensemble": "SGLB ensemble",
    "sglb vsglb": "one chain",
    "other": "other",
    "budget": "budget",
    "judge": "judging",
    "forest": "one forest",
    "forests": "forests",
    "ngboost": "NGBoost",
    "deep": "Deep Ensembles",
}


def costs(results: Results, *, others: bool = True) -> str:
    """Return a Markdown table of processor seconds, summed over folds; the longest piece of a dataset is bold.

    Parameters
    ----------
    results : Results
    others : bool
        Whether methods that need no boosting engine are in it.
    """
    found: dict[str, dict[str, float]] = {}
    walls: dict[str, float] = {}
    for (dataset, piece), (wall, cpu) in results.seconds.items():
        if not others and METHODS[piece.partition(" ")[0]].engine is not None:
            continue
        column = _column(piece)
        own = found.setdefault(dataset, {})
        own[column] = own.get(column, 0.0) + cpu
        walls[dataset] = walls.get(dataset, 0.0) + wall
    columns = [name for name in dict.fromkeys(_PIECES.values()) if any(name in own for own in found.values())]
    head = ["dataset", *columns, "all, CPU s", "all, wall s"]
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for dataset in (*REGRESSION, *CLASSIFICATION):
        if dataset in found:
            own = found[dataset]
            most = max(own, key=lambda name: own[name])
            shown = [_shown(own.get(name), bold=name == most) for name in columns]
            lines.append(
                f"| {' | '.join([NAMES[dataset], *shown, f'{sum(own.values()):.1f}', f'{walls[dataset]:.1f}'])} |"
            )
    return "\n".join(lines) + "\n"


def _column(piece: str) -> str:
    method, _, part = piece.partition(" ")
    if method in {"forest", "forests", "ngboost", "deep", "budget"}:
        return _PIECES[method]
    if part == "judge":
        return _PIECES["judge"]
    return _PIECES.get(piece, _PIECES["other"])


def _shown(seconds: float | None, *, bold: bool) -> str:
    if seconds is None:
        return ""
    return f"**{seconds:.1f}**" if bold else f"{seconds:.1f}"
