"""Engines, which train the trees, and everything that the author of another engine needs.

An engine declares its `Capabilities` and has one method, `Engine.fit`. It is registered by name with `register_engine`.
A family of distributions is a `NumberObjective` with its `Distribution`, registered with `register_family`.

>>> engine_names()[0]
'native'
"""

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.objectives import (
    Distribution,
    NumberObjective,
    Objective,
    objective_from_header,
    register_family,
    unregister_family,
)
from epiboost._boosting.recipe import MemberSpec
from epiboost._boosting.rows import LearningRows, learning_rows
from epiboost._boosting.step_sizes import StepSizes, step_sizes
from epiboost._boosting.truncation import check_prefixes
from epiboost._boosting.variance_guard import with_variance_guard
from epiboost._inputs.dataset import Dataset
from epiboost.engines.base import BinnedEngine, Capabilities, Engine, Forest
from epiboost.engines.registry import engine_names, register_engine, unregister_engine

__all__ = [
    "BinnedEngine",
    "Capabilities",
    "Dataset",
    "Distribution",
    "Engine",
    "Forest",
    "LangevinObjective",
    "LearningRows",
    "MemberSpec",
    "NumberObjective",
    "Objective",
    "StepSizes",
    "check_prefixes",
    "engine_names",
    "learning_rows",
    "objective_from_header",
    "register_engine",
    "register_family",
    "step_sizes",
    "unregister_engine",
    "unregister_family",
    "with_variance_guard",
]
