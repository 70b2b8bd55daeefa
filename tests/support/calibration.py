"""Rows for tests of calibration: the noise is five times as large where the first column is positive."""

import numpy as np

from tests.support.tables import three_grades

RANDOM = np.random.default_rng(0)
N = 2400
X = RANDOM.uniform(-1.0, 1.0, size=(N, 2))
NOISE = np.where(X[:, 0] > 0.0, 1.0, 0.2)
Y = X[:, 0] + NOISE * RANDOM.normal(size=N)
LABELS = three_grades(Y)
TARGETS = {"regressor": Y, "classifier": LABELS}
TRAIN, HELD_OUT, TEST = slice(0, 600), slice(600, 1000), slice(1000, None)
