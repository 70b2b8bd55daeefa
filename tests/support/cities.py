"""A frame with categorical columns: the city matters much, the colour and the size a little."""

import numpy as np
import pandas as pd

from tests.support.models import small_estimator

N = 1200
CITIES = [f"city {number}" for number in range(40)]


def draw(seed=0, n=N, known=30):
    """Draw rows of the first `known` cities; a missing colour is None."""
    random = np.random.default_rng(seed)
    effect = np.random.default_rng(99).normal(size=len(CITIES))
    city, colour = random.integers(known, size=n), random.integers(4, size=n)
    size = random.normal(size=n)
    y = effect[city] + 0.3 * (colour == 2) + 0.3 * size + random.normal(scale=0.2, size=n)
    columns = {
        "city": np.array(CITIES, dtype=object)[city],
        "size": size,
        "colour": np.array(["r", "g", "b", None], dtype=object)[colour],
    }
    return pd.DataFrame(columns), y


FRAME, Y = draw()


def city_target(task, y=Y):
    """Return the target of a task: the numbers, or labels cut at fixed borders."""
    return {"regression": y, "binary": y > 0.0, "multiclass": np.digitize(y, [-0.5, 0.5])}[task]


def city_model(task="regression", ensemble="sglb", **changes):
    """Return a model that is large enough to learn from 30 cities and is not fitted."""
    size = {"n_members": 4, "n_estimators": 60, "learning_rate": 0.3, "max_depth": 4}
    return small_estimator(task, ensemble=ensemble, **{**size, **changes})
