"""Small tables of chains, and the comparison of two trainers on them."""

from dataclasses import replace

import numpy as np

from epiboost._boosting.objectives import Bernoulli, Categorical, Normal
from epiboost._progress import no_progress
from epiboost.engines.native.chain_recipe import ChainRecipe
from epiboost.engines.native.chains import ChainTable
from epiboost.engines.native.training import train_here
from tests.support.family_targets import TARGETS, encoded_target, family_objective
from tests.support.native_core import OBJECTIVES as STARTS
from tests.support.native_core import small_table

FAMILIES = {"normal": Normal, "bernoulli": Bernoulli, "categorical": Categorical}
RECIPE = ChainRecipe(
    objective=0,
    start=(0.0, 0.0),
    constants=(),
    trees=6,
    depth=4,
    leaves=0,
    learning_rate=0.3,
    l2=1.0,
    shrink=0.0,
    noise=0.0,
    subsample=1.0,
    variance_guard=0.0,
    structure_rows=0.0,
    random_strength=0.0,
    random_decay=0.1,
    monotone=(),
    interactions=(),
    min_leaf_weight=0.0,
    column_share=1.0,
)
SGLB = {"noise": 0.02, "shrink": 0.001, "random_strength": 1.0, "variance_guard": 1.0}

CASES = {
    "plain": {},
    "sglb": SGLB,
    "one_level": {"depth": 1, **SGLB},
    "eight_levels": {"depth": 8, "trees": 2, **SGLB},
    "integer_weights": {"weights": "integer", **SGLB},
    "real_weights": {"weights": "real", **SGLB},
    "subsample": {"subsample": 0.6, **SGLB},
    "subsample_weights": {"subsample": 0.6, "weights": "integer", **SGLB},
    "drawn": {"n": 2000, "structure_rows": 600.0, **SGLB},
    "drawn_weights": {"n": 2000, "structure_rows": 600.0, "weights": "integer", "subsample": 0.7, **SGLB},
    "many_weights": {"n": 3000, "weights": "real", **SGLB},
    "bootstrap": {"bootstrap": True, **SGLB},
    "evaluation": {"evaluation": True, "weights": "real", **SGLB},
    "rescaled": {"trees": 40, "noise": 0.02, "shrink": 2.0, "variance_guard": 1.0, "evaluation": True},
    "two_classes": {"objective": "bernoulli", "noise": 0.02, "random_strength": 1.0},
    "two_classes_offset": {"objective": "bernoulli", "noise": 0.02, "offset": True, "evaluation": True},
    "classes": {"objective": "categorical", "noise": 0.02, "random_strength": 1.0, "evaluation": True},
    "classes_offset": {"objective": "categorical", "weights": "real", "offset": True, "evaluation": True},
    "six_classes": {"objective": "categorical", "start": (0.1,) * 6, "noise": 0.02},
    "many_classes": {"objective": "categorical", "start": (0.1,) * 21, "noise": 0.02, "random_strength": 1.0},
    "least_weight": {"min_leaf_weight": 10.0, **SGLB},
    "columns": {"column_share": 0.5, **SGLB},
    "interactions": {"interactions": ((0, 1), (1, 2)), **SGLB},
    "columns_of_interactions": {"interactions": ((0, 1), (1, 2)), "column_share": 0.7, **SGLB},
    "monotone": {"monotone": (1, -1, 0, 0), "evaluation": True, **SGLB},
    "monotone_everywhere": {"monotone": (-1, 1, 1, -1), "depth": 6, "trees": 12, **SGLB},
    "monotone_without_noise": {"monotone": (0, 1, 0, -1), "weights": "integer", "variance_guard": 1.0},
    "monotone_eight_levels": {"monotone": (1, -1, 1, 1), "depth": 8, "n": 400, **SGLB},
    "monotone_drawn": {"monotone": (1, 1, 1, 1), "n": 2000, "structure_rows": 600.0, "subsample": 0.7, **SGLB},
    "monotone_weights": {"monotone": (1, -1, 0, 0), "n": 3000, "weights": "real", "min_leaf_weight": 10.0, **SGLB},
    "monotone_classes": {"objective": "bernoulli", "monotone": (1, 1, 0, 0), "noise": 0.02, "random_strength": 1.0},
    "monotone_interactions": {"monotone": (1, 1, -1, 0), "interactions": ((0, 1), (1, 2)), "noise": 0.05, "l2": 0.0},
    "monotone_family": {"objective": "gamma", "monotone": (1, -1, 0, 0), "evaluation": True, **SGLB},
    "monotone_counts": {"objective": "poisson", "monotone": (1, -1, 0, 0), "weights": "real", **SGLB},
    **{name: {"objective": name, "evaluation": True, "weights": "real", **SGLB} for name in TARGETS},
    "poisson_drawn": {"objective": "poisson", "n": 2000, "structure_rows": 600.0, "subsample": 0.7, **SGLB},
    "laplace_rescaled": {"objective": "laplace", "trees": 40, "shrink": 2.0, "variance_guard": 1.0, "evaluation": True},
    "gamma_drawn": {"objective": "gamma", "n": 2000, "structure_rows": 600.0, "weights": "integer", **SGLB},
    "beta_without_guard": {"objective": "beta", **SGLB, "variance_guard": 0.0},
    "censored_bootstrap": {"objective": "censored_weibull", "bootstrap": True, "subsample": 0.7, **SGLB},
}
# Leaf-wise trees: all that the kernels of a tree's growth, of leaf sums and of the evaluation depend on.
LEAF_WISE = {"depth": 255, "leaves": 31, "trees": 3}
LEAF_WISE_CASES = {
    **{
        name: {**CASES[name], **LEAF_WISE}
        for name in (
            "plain",
            "sglb",
            "subsample_weights",
            "drawn",
            "drawn_weights",
            "many_weights",
            "bootstrap",
            "evaluation",
            "two_classes_offset",
            "classes",
            "least_weight",
            "columns",
            "interactions",
            "columns_of_interactions",
            "gamma",
            "poisson_drawn",
            "censored_bootstrap",
        )
    },
    **{
        name: {**CASES[name], **LEAF_WISE, "leaves": 15}
        for name in (
            "monotone",
            "monotone_without_noise",
            "monotone_drawn",
            "monotone_weights",
            "monotone_classes",
            "monotone_interactions",
            "monotone_family",
        )
    },
    "monotone_everywhere": {**CASES["monotone_everywhere"], **LEAF_WISE, "n": 400, "leaves": 64, "trees": 2},
    "rescaled": {**CASES["rescaled"], "depth": 255, "leaves": 7},
    "six_classes": {**CASES["six_classes"], **LEAF_WISE, "trees": 2},
    "many_classes": {**CASES["many_classes"], **LEAF_WISE, "trees": 2},
    "one_split": {**SGLB, **LEAF_WISE, "leaves": 2},
    "bounded_depth": {**SGLB, **LEAF_WISE, "depth": 4},
    "ten_rows": {"n": 10, "evaluation": True, **SGLB, **LEAF_WISE},
    "64_leaves": {"n": 333, "weights": "real", **SGLB, **LEAF_WISE, "leaves": 64},
    "255_leaves": {"n": 5_000, "evaluation": True, **SGLB, **LEAF_WISE, "leaves": 255, "trees": 1},
    "255_leaves_of_classes": {"objective": "categorical", "n": 900, **LEAF_WISE, "leaves": 255, "trees": 1},
}


def chain_table(
    objective="normal",
    weights="one",
    *,
    n=150,
    seed=0,
    chains=2,
    evaluation=False,
    offset=False,
    bootstrap=False,
    **options,
):
    """Return chains on a small table with a signal; other options are fields of the recipe."""
    table = "normal" if objective in TARGETS else objective
    (bins, y, weight, _), counts = small_table(table, weights, missing=True, n=n, seed=seed)
    if objective in TARGETS:
        loss = family_objective(objective, y, seed)
        y = encoded_target(objective, loss, y, seed)
        fields = {"objective": loss.code, "start": tuple(map(float, loss.start)), "constants": tuple(loss.constants)}
    else:
        code, start = STARTS[objective]
        loss = FAMILIES[objective].of(y.astype(np.float64), np.ones(n), len(start))
        fields = {"objective": code, "start": start}
    recipe = replace(RECIPE, **{**fields, **options})
    rng = np.random.default_rng(seed + 1)
    known = rng.normal(size=(n, len(recipe.start))).astype(np.float32) if offset else None
    held_out = None
    if evaluation:
        (other, target, mass, _), _ = small_table(table, weights, missing=True, n=n + 7, seed=seed + 100)
        if objective in TARGETS:
            target = encoded_target(objective, loss, target, seed + 100)
        own = None if known is None else rng.normal(size=(n + 7, len(recipe.start))).astype(np.float32)
        held_out = (np.minimum(other, counts - 1).astype(np.uint8), target, mass, own)
    return ChainTable(
        tables=(bins,),
        y=y,
        weight=weight,
        counts=counts,
        evaluation=held_out,
        recipe=recipe,
        seeds=np.arange(7, 7 + chains, dtype=np.uint64),
        bootstrap=bootstrap,
        objective=loss,
        offset=known,
    )


def assert_same_bits(tables, train, rounds=None):
    """Check that a trainer returns the arrays of the native core, bit by bit."""
    expected = train_here(list(tables), 1, no_progress, rounds)
    found = train(list(tables), 1, no_progress, rounds)
    assert len(found) == len(expected)
    for own, other in zip(found, expected, strict=True):
        for name, array, right in zip(own._fields, own, other, strict=True):
            assert array.dtype == right.dtype, name
            np.testing.assert_array_equal(array, right, err_msg=name)
    return expected
