"""Tables as Markdown, as LaTeX and as CSV."""

import csv
import io
from collections.abc import Callable, Sequence

from epiboost.paper.problem import n_folds
from epiboost.paper.tables.build import HEADINGS, METRICS, NAMES, TITLES, Entry

_SMALL = 0.1
_EMPTY = "—"
_COLUMNS = (
    "table",
    "engine",
    "task",
    "dataset",
    "metric",
    "method",
    "value",
    "spread",
    "folds",
    "best",
    "published",
    "published_spread",
    "published_best",
    "difference",
)


def markdown(name: str, entries: Sequence[Entry], *, note: str = "") -> str:
    """Return a table as Markdown: ours, in brackets published and difference; bold is not different from the best."""
    parts = [f"## {TITLES[name]}", *([f"**{note}**"] if note else [])]
    for block, own in _blocks(entries):
        methods = _methods(own)
        titles = " | ".join(["dataset", "metric", *(HEADINGS[method] for method in methods)])
        lines = [f"**{block}**", "", f"| {titles} |", "|" + "---|" * (len(methods) + 2)]
        lines += [f"| {' | '.join(row)} |" for row in _rows(own, methods, _markdown_entry)]
        parts.append("\n".join(lines))
    remarks = "\n".join(f"- {line}" for line in _remarks(entries))
    return "\n\n".join([*parts, *([remarks] if remarks else [])]) + "\n"


def latex(name: str, entries: Sequence[Entry], *, note: str = "") -> str:
    """Return a table as LaTeX, which needs the package booktabs."""
    remarks = [*([note] if note else []), "Needs \\usepackage{booktabs}.", *_remarks(entries)]
    parts = ["\n".join(f"% {line}" for line in (TITLES[name], *remarks))]
    for block, own in _blocks(entries):
        methods = _methods(own)
        lines = [
            f"\\begin{{tabular}}{{ll{'r' * len(methods)}}}",
            "\\toprule",
            " & ".join([block, "", *(HEADINGS[method] for method in methods)]) + " \\\\",
            "\\midrule",
            *(" & ".join(row).replace("%", "\\%") + " \\\\" for row in _rows(own, methods, _latex_entry)),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def table_csv(name: str, entries: Sequence[Entry], *, engine: str) -> str:
    """Return a table as CSV, one figure a line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in entries:
        theirs = one.published
        writer.writerow(
            (
                name,
                engine,
                one.block,
                one.dataset,
                one.metric,
                one.method,
                _plain(one.value),
                _plain(one.spread),
                one.folds,
                int(one.best),
                "" if theirs is None else _plain(theirs.value),
                "" if theirs is None else _plain(theirs.spread),
                "" if theirs is None else int(theirs.highlighted),
                _plain(one.difference),
            )
        )
    return text.getvalue()


def _blocks(entries: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    blocks: dict[str, list[Entry]] = {}
    for one in entries:
        blocks.setdefault(one.block, []).append(one)
    return list(blocks.items())


def _methods(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(one.method for one in entries))


def _rows(entries: Sequence[Entry], methods: Sequence[str], show: Callable[[Entry], str]) -> list[list[str]]:
    """Return a line for each dataset and metric of which anything is known, ours or published."""
    by_line: dict[tuple[str, str], dict[str, Entry]] = {}
    for one in entries:
        by_line.setdefault((one.dataset, one.metric), {})[one.method] = one
    rows = []
    for (dataset, metric), own in by_line.items():
        if any(one.value is not None or one.published is not None for one in own.values()):
            rows.append([NAMES[dataset], METRICS[metric], *(show(own[method]) for method in methods)])
    return rows


def _markdown_entry(one: Entry) -> str:
    return _entry(one, lambda text: f"**{text}**", "−")


def _latex_entry(one: Entry) -> str:
    return _entry(one, lambda text: f"\\textbf{{{text}}}", "$-$").replace(_EMPTY, "---")


def _entry(one: Entry, bold: Callable[[str], str], minus: str) -> str:
    if one.value is None and one.published is None:
        return ""
    decimals = _decimals(one)
    ours = _EMPTY if one.value is None else f"{one.value:.{decimals}f}"
    if one.value is not None and not one.all_folds:
        ours += f" [{one.folds}]"
    ours = bold(ours) if one.best else ours
    if one.published is not None:
        theirs = f"{one.published.value:.{one.published.decimals}f}"
        ours += (
            f" ({theirs})"
            if one.difference is None
            else f" ({theirs}, {round(one.difference, decimals) + 0.0:+.{decimals}f})"
        )
    return ours.replace("-", minus)


def _decimals(one: Entry) -> int:
    if one.metric.startswith(("prr", "ood")):
        return 1
    if one.metric in {"rmse", "train_seconds"} and one.value is not None and one.value < _SMALL:
        return 4
    return 3 if one.metric == "nll" and n_folds(one.dataset) == 1 else 2


def _remarks(entries: Sequence[Entry]) -> list[str]:
    """Return what a reader must know: what is missing, what is of fewer folds, what is quoted."""
    remarks = []
    datasets = dict.fromkeys(one.dataset for one in entries)
    quoted_sets = {one.dataset for one in entries if one.published is not None}
    missing = [
        NAMES[d] for d in datasets if d in quoted_sets and all(one.value is None for one in entries if one.dataset == d)
    ]
    if missing:
        remarks.append(f"Missing, published figures alone: {', '.join(missing)}.")
    if any(one.value is not None and not one.all_folds for one in entries):
        remarks.append(
            "A number in square brackets says of how many folds a figure is; without, it is of all. Such a figure has "
            "no difference from the published one. It is compared with the best on its own folds; few tell little."
        )
    quoted = [m for m in _methods(entries) if all(one.value is None for one in entries if one.method == m)]
    if quoted and len(missing) < len(datasets):
        remarks.append(f"Quoted as published, not run here: {', '.join(HEADINGS[m] for m in quoted)}.")
    return remarks


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
