"""Rows of the table of the most uncertain rows."""

from typing import Any

from epiboost.report.facts import Facts
from epiboost.report.formatting import number


def table_rows(facts: Facts) -> list[dict[str, Any]]:
    """Return one dictionary per row; numbers are pairs of the value to sort by and its text."""
    table = facts.uncertain_rows
    rows = []
    for position in range(len(table.row)):
        numbers = [_number_cell(table.score[position])]
        if table.data is not None:
            numbers += [_number_cell(table.data[position]), _number_cell(table.knowledge[position])]
        if table.novelty is not None:
            numbers.append(_number_cell(table.novelty[position]))
        rows.append(
            {
                "row": int(table.row[position]) + 1,
                "kind": table.kind[position],
                "prediction": table.prediction[position],
                "target": None if table.target is None else table.target[position],
                "error": _error_cell(facts, position),
                "numbers": numbers,
                "reason": table.reason[position],
                "cells": table.cells[position].tolist(),
            }
        )
    return rows


def _number_cell(value: float) -> tuple[float, str]:
    return float(value), number(float(value))


def _error_cell(facts: Facts, position: int) -> tuple[float, str] | None:
    if facts.uncertain_rows.error is None:
        return None
    error = float(facts.uncertain_rows.error[position])
    if facts.task == "classification":
        return error, "wrong" if error else "correct"
    return _number_cell(error)
