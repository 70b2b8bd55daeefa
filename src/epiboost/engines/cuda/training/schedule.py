"""Factors of each tree that all rows share: how scores are stored, and the noise on the scores of splits."""

import math

import numpy as np

from epiboost._typing import AnyArray
from epiboost.engines.cuda.training.layout import structure
from epiboost.engines.native.chain_recipe import ChainRecipe

_MIN_DECAY = 2.0**-20  # as in training/chain.hpp
_LEAST_SCORE_NOISE = 2.0**-10  # as in training/random_strength.hpp


def steps_of(recipe: ChainRecipe, total_weight: float) -> AnyArray:
    """Return the ``Step`` of every tree of a chain.

    Scores are stored as F / c^t. Before c^t is so small that its inverse could overflow, they are multiplied by it.
    """
    steps = np.zeros(recipe.trees, structure("Step"))
    base, rescaled_at = 1.0 - recipe.shrink * recipe.learning_rate, 0
    for tree in range(recipe.trees):
        decay, factor = math.pow(base, tree - rescaled_at), 1.0
        if decay <= _MIN_DECAY:
            decay, factor, rescaled_at = 1.0, decay, tree
        after = math.pow(base, tree + 1 - rescaled_at)
        steps[tree] = (decay, 1.0 / after, after, factor, score_noise(recipe, total_weight, tree))
    return steps


def score_noise(recipe: ChainRecipe, total_weight: float, tree: int) -> float:
    """Return the standard deviation of the noise at a tree, in root mean square gradients; 0 once it has no effect."""
    try:
        left = math.exp(math.log(total_weight) - recipe.random_decay * tree)
    except OverflowError:
        left = math.inf
    decay = 1.0 if math.isinf(left) else left / (1.0 + left)
    return 0.0 if decay < _LEAST_SCORE_NOISE else recipe.random_strength * decay
