"""Decisions based on uncertainty: reject uncertain predictions, detect out-of-domain rows, choose rows to label."""

from epiboost.decisions.abstainer import Abstainer, TargetNotMetWarning
from epiboost.decisions.acquisition import acquire
from epiboost.decisions.domain.batches import DomainMonitor
from epiboost.decisions.domain.detector import DomainDetector
from epiboost.decisions.domain.explanation import DomainExplanation
from epiboost.decisions.drift.batch import ColumnDrift, DriftTest
from epiboost.decisions.drift.monitor import ColumnEvidence, DriftAlarm, DriftMonitor

__all__ = [
    "Abstainer",
    "ColumnDrift",
    "ColumnEvidence",
    "DomainDetector",
    "DomainExplanation",
    "DomainMonitor",
    "DriftAlarm",
    "DriftMonitor",
    "DriftTest",
    "TargetNotMetWarning",
    "acquire",
]
