"""Objectives, one file per family: start value, gradient, distribution parameters and loss.

=============  =========================================  =====================================================
objective      score                                      gradient
=============  =========================================  =====================================================
`Normal`       (mean, log std) of the standardised target (mean − y, ½ − ½ ((y − mean) / std)²): natural gradient
`Bernoulli`    log-odds                                   p − y
`Categorical`  one per class                              p − onehot(y)
=============  =========================================  =====================================================
"""

from epiboost._boosting.objectives.base import Objective
from epiboost._boosting.objectives.bernoulli import Bernoulli
from epiboost._boosting.objectives.categorical import Categorical
from epiboost._boosting.objectives.distribution import Distribution
from epiboost._boosting.objectives.families import (
    BINARY,
    DISTRIBUTIONS,
    OBJECTIVES,
    distribution_named,
    objective_from_header,
)
from epiboost._boosting.objectives.normal import Normal
from epiboost._boosting.objectives.number_objective import NumberObjective

__all__ = [
    "BINARY",
    "DISTRIBUTIONS",
    "OBJECTIVES",
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Normal",
    "NumberObjective",
    "Objective",
    "distribution_named",
    "objective_from_header",
]
