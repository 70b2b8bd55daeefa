"""Any shape: a histogram, whose probabilities of bins are learned as those of classes.

The edges of the bins come from all targets and are the same for all rows and members. The density is constant inside a
bin. The outer bins have no end; their density falls exponentially, at the scale of the targets beyond the last edge.

On one split of protein with 20,000 training rows, 24 bins had a loss per row of 1.87 (48 bins: 1.90), where a Normal
has 2.4 to 2.6. On tables whose noise has one peak a Normal is better; the histogram had 3.2 on concrete and −0.54 (16
bins; 32: −0.44) on kin8nm.

========================  ====================================================
file                      holds
========================  ====================================================
`edges`                   the edges between the bins of a target
`distribution`            what can be computed of the probabilities of the bins
`objective`               the family: scores, gradient and start values
========================  ====================================================

>>> import numpy as np
>>> Histogram((1.0, 1.0, 0.0, 2.0), (0.0, 0.0, 0.0)).encode(np.array([-3.0, 1.0, 2.5]))
array([0., 1., 2.])
"""

from epiboost._boosting.objectives.histogram.objective import Histogram

__all__ = ["Histogram"]
