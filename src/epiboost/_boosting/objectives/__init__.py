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
from epiboost._boosting.objectives.families import BINARY, OBJECTIVES, objective_from_header
from epiboost._boosting.objectives.normal import Normal

__all__ = ["BINARY", "OBJECTIVES", "Bernoulli", "Categorical", "Normal", "Objective", "objective_from_header"]
