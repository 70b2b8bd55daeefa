"""The numbers of a report, as plain values."""

from epiboost.report.facts.abstention import AbstentionLevel
from epiboost.report.facts.calibration import Calibration
from epiboost.report.facts.drivers import Driver
from epiboost.report.facts.facts import Facts, Task
from epiboost.report.facts.out_of_domain import (
    DomainComparison,
    Drift,
    ForeignRow,
    NewColumn,
    NewValues,
    OutOfDomain,
)
from epiboost.report.facts.quality import ClassQuality, Quality
from epiboost.report.facts.rows import KindThresholds, Points, RowKind, RowTable

__all__ = [
    "AbstentionLevel",
    "Calibration",
    "ClassQuality",
    "DomainComparison",
    "Drift",
    "Driver",
    "Facts",
    "ForeignRow",
    "KindThresholds",
    "NewColumn",
    "NewValues",
    "OutOfDomain",
    "Points",
    "Quality",
    "RowKind",
    "RowTable",
    "Task",
]
