"""Small binned tables, and the native trainer called as the engine calls it."""

import numpy as np

from epiboost._binning.bins import Bins
from tests.support import reference

OBJECTIVES = {
    "normal": (0, (0.0, 0.0)),
    "bernoulli": (1, (-0.5,)),
    "categorical": (2, (-1.0, -0.9, -1.3)),
}
WEIGHTS = {
    "one": lambda _rng, n: np.ones(n),
    "integer": lambda rng, n: rng.integers(1, 5, n).astype(np.float64),
    "real": lambda rng, n: rng.uniform(0.1, 1.1, n),
}


def recipe_of(objective, **options):
    """Return a recipe of the reference trainer with the start value of the objective."""
    start = OBJECTIVES[objective][1]
    return reference.Recipe(objective=objective, outputs=len(start), start=start, **options)


def small_table(objective, weights, *, missing, n=150, seed=0):
    """Return (bins, targets, weights, keys) of a table with a signal, and the number of bins per column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    signal = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    weight = WEIGHTS[weights](rng, n)
    bins = Bins.fit(X, weight, 16)
    y = {
        "normal": (signal - signal.mean()) / signal.std(),
        "bernoulli": (signal > 1).astype(float),
        "categorical": np.digitize(signal, [0, 1.5]).astype(float),
    }[objective]
    sample = (bins.transform(X), y.astype(np.float32), weight.astype(np.float32), np.arange(n, dtype=np.uint32))
    return sample, bins.counts


def native_recipe(core, recipe):
    """Return a recipe of the reference trainer as an object of the native core."""
    fields = {name: getattr(recipe, name) for name in recipe.__dataclass_fields__ if name not in {"outputs", "family"}}
    code = OBJECTIVES[recipe.objective][0] if recipe.family is None else recipe.family.code
    return core.ChainRecipe(**{**fields, "objective": code})


def train(
    core,
    sample,
    counts,
    recipe,
    *,
    seeds=(99,),
    threads=1,
    evaluation=None,
    round_trees=None,
    round_done=None,
    given=None,
):
    """Train chains in the native core; return feature, threshold, parent, leaf, count and losses."""
    return core.train(
        [[core.Sample(*sample, counts)]],
        [[] if evaluation is None else [core.Sample(*evaluation, counts)]],
        [native_recipe(core, recipe)],
        [np.array(seeds, dtype=np.uint64)],
        threads=threads,
        progress=lambda _done: None,
        losses=evaluation is not None,
        round_trees=round_trees or recipe.trees,
        round_done=round_done,
        given=given,
    )
