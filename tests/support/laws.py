"""Random tables and settings for laws that hold for every table and every ensemble."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tests.support.models import small_estimator

law = settings(deadline=None, derandomize=True, max_examples=25, database=None)


@st.composite
def tables(draw, most_rows=120):
    """Draw a table and a target: with or without missing values, with many or few distinct values."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(20, most_rows))
    X = random.normal(size=(n, draw(st.integers(1, 4))))
    if draw(st.booleans()):
        X = X.round(1)
    y = X[:, 0] ** 2 - X[:, -1] + random.normal(scale=0.3, size=n)
    if draw(st.booleans()):
        X[random.uniform(size=X.shape) < 0.1] = np.nan
    return X, y


def law_model(task, ensemble="sglb", **changes):
    """Return a model so small that a law can train hundreds of them; it is not fitted."""
    size = {"n_estimators": 10, "max_depth": 3, "learning_rate": 0.3, "random_state": 5}
    return small_estimator(task, ensemble=ensemble, **{**size, **changes})
