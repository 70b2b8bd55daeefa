"""Render tables as Markdown, LaTeX and CSV."""

import csv
import io
from collections.abc import Callable, Sequence

from epiboost.paper.problem import n_folds
from epiboost.paper.tables.build import Entry
from epiboost.paper.tables.layout import DATASET_NAMES, METHOD_NAMES, METRIC_NAMES, TITLES

_SMALL = 0.1
_NOT_RUN = "—"
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
    """Return a table as Markdown: our result, then in brackets the published one and the difference.

    Bold results are not significantly worse than the best.
    """
    parts = [f"## {TITLES[name]}", *([f"**{note}**"] if note else [])]
    for block, block_entries in _blocks(entries):
        methods = _methods(block_entries)
        titles = " | ".join(["dataset", "metric", *(METHOD_NAMES[method] for method in methods)])
        lines = [f"**{block}**", "", f"| {titles} |", "|" + "---|" * (len(methods) + 2)]
        lines += [f"| {' | '.join(row)} |" for row in _rows(block_entries, methods, _markdown_entry)]
        parts.append("\n".join(lines))
    notes = "\n".join(f"- {line}" for line in _notes(entries))
    return "\n\n".join([*parts, *([notes] if notes else [])]) + "\n"


def latex(name: str, entries: Sequence[Entry], *, note: str = "") -> str:
    """Return a table as LaTeX; it needs the package booktabs."""
    notes = [*([note] if note else []), "Needs \\usepackage{booktabs}.", *_notes(entries)]
    parts = ["\n".join(f"% {line}" for line in (TITLES[name], *notes))]
    for block, block_entries in _blocks(entries):
        methods = _methods(block_entries)
        lines = [
            f"\\begin{{tabular}}{{ll{'r' * len(methods)}}}",
            "\\toprule",
            " & ".join([block, "", *(METHOD_NAMES[method] for method in methods)]) + " \\\\",
            "\\midrule",
            *(" & ".join(row).replace("%", "\\%") + " \\\\" for row in _rows(block_entries, methods, _latex_entry)),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def table_csv(name: str, entries: Sequence[Entry], *, engine: str) -> str:
    """Return a table as CSV, one result per line."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for entry in entries:
        theirs = entry.published
        writer.writerow(
            (
                name,
                engine,
                entry.block,
                entry.dataset,
                entry.metric,
                entry.method,
                _number(entry.value),
                _number(entry.spread),
                entry.folds,
                int(entry.best),
                "" if theirs is None else _number(theirs.value),
                "" if theirs is None else _number(theirs.spread),
                "" if theirs is None else int(theirs.highlighted),
                _number(entry.difference),
            )
        )
    return text.getvalue()


def _blocks(entries: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    blocks: dict[str, list[Entry]] = {}
    for entry in entries:
        blocks.setdefault(entry.block, []).append(entry)
    return list(blocks.items())


def _methods(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(entry.method for entry in entries))


def _rows(entries: Sequence[Entry], methods: Sequence[str], show: Callable[[Entry], str]) -> list[list[str]]:
    """Return one row per dataset and metric that has a result, ours or published."""
    by_row: dict[tuple[str, str], dict[str, Entry]] = {}
    for entry in entries:
        by_row.setdefault((entry.dataset, entry.metric), {})[entry.method] = entry
    rows = []
    for (dataset, metric), by_method in by_row.items():
        if any(entry.value is not None or entry.published is not None for entry in by_method.values()):
            rows.append(
                [DATASET_NAMES[dataset], METRIC_NAMES[metric], *(show(by_method[method]) for method in methods)]
            )
    return rows


def _markdown_entry(entry: Entry) -> str:
    return _entry(entry, lambda text: f"**{text}**", "−")


def _latex_entry(entry: Entry) -> str:
    return _entry(entry, lambda text: f"\\textbf{{{text}}}", "$-$").replace(_NOT_RUN, "---")


def _entry(entry: Entry, bold: Callable[[str], str], minus: str) -> str:
    if entry.value is None and entry.published is None:
        return ""
    decimals = _decimals(entry)
    ours = _NOT_RUN if entry.value is None else f"{entry.value:.{decimals}f}"
    if entry.value is not None and not entry.has_all_folds:
        ours += f" [{entry.folds}]"
    ours = bold(ours) if entry.best else ours
    if entry.published is not None:
        theirs = f"{entry.published.value:.{entry.published.decimals}f}"
        ours += (
            f" ({theirs})"
            if entry.difference is None
            else f" ({theirs}, {round(entry.difference, decimals) + 0.0:+.{decimals}f})"
        )
    return ours.replace("-", minus)


def _decimals(entry: Entry) -> int:
    if entry.metric.startswith(("prr", "ood")):
        return 1
    if entry.metric in {"rmse", "train_seconds"} and entry.value is not None and entry.value < _SMALL:
        return 4
    return 3 if entry.metric == "nll" and n_folds(entry.dataset) == 1 else 2


def _notes(entries: Sequence[Entry]) -> list[str]:
    """Return notes for the reader: which datasets are missing, what has fewer folds, which methods are quoted."""
    notes = []
    datasets = dict.fromkeys(entry.dataset for entry in entries)
    has_published = {entry.dataset for entry in entries if entry.published is not None}
    has_results = {entry.dataset for entry in entries if entry.value is not None}
    missing = [DATASET_NAMES[name] for name in datasets if name in has_published and name not in has_results]
    if missing:
        notes.append(f"Not run, only published results: {', '.join(missing)}.")
    if any(entry.value is not None and not entry.has_all_folds for entry in entries):
        notes.append(
            "A number in square brackets is the number of folds, where it is not all of them. Such a result has no "
            "difference from the published one, and is compared with the best on its own folds only."
        )
    methods_run = {entry.method for entry in entries if entry.value is not None}
    quoted = [METHOD_NAMES[method] for method in _methods(entries) if method not in methods_run]
    if quoted and len(missing) < len(datasets):
        notes.append(f"Not run here, published results quoted: {', '.join(quoted)}.")
    return notes


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
