"""What to do with an uncertainty: hand a case to a person, notice that a row is foreign, choose rows to label."""

from epiboost.decisions.abstainer import Abstainer, TargetNotMetWarning
from epiboost.decisions.acquisition import acquire
from epiboost.decisions.domain import DomainDetector, DriftTest

__all__ = ["Abstainer", "DomainDetector", "DriftTest", "TargetNotMetWarning", "acquire"]
