"""Decisions based on uncertainty: reject uncertain predictions, detect out-of-domain rows, choose rows to label."""

from epiboost.decisions.abstainer import Abstainer, TargetNotMetWarning
from epiboost.decisions.acquisition import acquire
from epiboost.decisions.domain import DomainDetector
from epiboost.decisions.drift import ColumnDrift, DriftTest
from epiboost.decisions.drift_monitor import ColumnEvidence, DriftAlarm, DriftMonitor

__all__ = [
    "Abstainer",
    "ColumnDrift",
    "ColumnEvidence",
    "DomainDetector",
    "DriftAlarm",
    "DriftMonitor",
    "DriftTest",
    "TargetNotMetWarning",
    "acquire",
]
