"""Objectives, one file or room per family: start value, gradient, distribution parameters and loss.

===============  ===========================================  ==============================================
objective        scores                                       gradient
===============  ===========================================  ==============================================
`Normal`         (mean, log std) of the standardised target   natural: (mean − y, ½ − ½ ((y − mean) / std)²)
`Bernoulli`      log-odds                                     p − y
`Categorical`    one per class                                p − onehot(y)
other families   (location, log dispersion), or the location  in the Fisher metric; see their files
===============  ===========================================  ==============================================

Every other file is a family of distributions of numbers, a `NumberObjective` with its `Distribution`.
"""

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.bernoulli import Bernoulli
from epiboost._boosting.objectives.categorical import Categorical
from epiboost._boosting.objectives.censored import CensoredObjective
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.families import (
    BINARY,
    CENSORED,
    DISTRIBUTIONS,
    OBJECTIVES,
    distribution_named,
    distribution_of,
    is_censored,
    is_of_numbers,
    log_likelihood,
    number_families,
    objective_from_header,
    register_family,
    unregister_family,
)
from epiboost._boosting.objectives.normal import Normal
from epiboost._boosting.objectives.number_objective import NumberObjective

__all__ = [
    "BINARY",
    "CENSORED",
    "DISTRIBUTIONS",
    "OBJECTIVES",
    "Bernoulli",
    "Categorical",
    "CensoredObjective",
    "Distribution",
    "Normal",
    "NumberObjective",
    "Objective",
    "distribution_named",
    "distribution_of",
    "is_censored",
    "is_of_numbers",
    "log_likelihood",
    "number_families",
    "objective_from_header",
    "register_family",
    "unregister_family",
]
