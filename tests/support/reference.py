"""The reference trainer: slow boosting in NumPy, one line of code per line of the mathematics.

It follows the definitions, not the native code: rows are split with masks, histograms are sums, nothing is packed. To
grow the same trees, the two must share the noise function and the rounding of gradients, which are written out in
reference_noise.py and here. reference_leaves.py has the leaf values, reference_monotone.py their order under
constraints.
"""

from dataclasses import dataclass, field

import joblib
import numpy as np

from tests.support.reference_leaves import leaves_of, mean_gradient, neighbour_weight, sampled_weight, steps
from tests.support.reference_monotone import in_order, leaf_boxes, pairs_in_order, sums_of_sets
from tests.support.reference_noise import (
    COLUMNS,
    LANGEVIN,
    ROUNDING,
    SPLIT_SCORES,
    STRUCTURE,
    bits,
    f32,
    noise_key,
    normal_pair,
)


@dataclass(frozen=True)
class Recipe:
    """The fields of ``ChainRecipe`` in ``core/problem.hpp``."""

    objective: str = "normal"
    outputs: int = 2
    trees: int = 10
    depth: int = 3
    leaves: int = 0
    learning_rate: float = 0.1
    l2: float = 3.0
    shrink: float = 0.0
    noise: float = 0.0
    subsample: float = 1.0
    variance_guard: float = 0.0
    structure_rows: float = 0.0
    random_strength: float = 0.0
    random_decay: float = 0.1
    start: tuple[float, ...] = (0.0, 0.0)
    constants: tuple[float, ...] = ()
    family: object = None  # an objective of numbers, whose formulas are used; the objective is its name then
    monotone: tuple[int, ...] = ()
    interactions: tuple[tuple[int, ...], ...] = ()
    min_leaf_weight: float = 0.0
    column_share: float = 1.0


@dataclass
class Chain:
    """Trees of one chain."""

    feature: list = field(default_factory=list)
    threshold: list = field(default_factory=list)
    parent: list = field(default_factory=list)
    leaf: list = field(default_factory=list)


_TRAINED = {}


def trained_once(sample, recipe, **options):
    """Return the chain of the seed 99 on (bins, targets, weights, keys): one training serves all instruction sets."""
    key = joblib.hash((sample, recipe, options))
    if key not in _TRAINED:
        bins, y, weight, keys = sample
        _TRAINED[key] = train(bins, y.astype(float), weight.astype(float), keys, recipe, 99, **options)
    return _TRAINED[key]


# ---------------------------------------------------------------------------------------------------------- mathematics


def gradients(recipe, score, y, leave_one_out_mean):
    """Return gradients of the loss with respect to the score, shape (n, outputs)."""
    if recipe.family is not None:
        return recipe.family.gradient(score, y, score[:, 0] - leave_one_out_mean)
    if recipe.objective == "normal":
        z = (y - leave_one_out_mean) / np.exp(np.clip(score[:, 1], -10, 8))
        return np.stack([score[:, 0] - y, 0.5 - 0.5 * z**2], axis=1)
    if recipe.objective == "bernoulli":
        return (1 / (1 + np.exp(-score[:, 0])) - y)[:, None]
    p = np.exp(score - score.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p - (y[:, None] == np.arange(recipe.outputs))


def noise_scale(recipe, score, output):
    """Return the scale of the Langevin noise of each row: the Fisher information to the power of -1/2."""
    if recipe.family is not None:
        return recipe.family.noise_scale(score)[:, output]
    if recipe.objective != "normal":
        return 1.0
    return np.exp(np.clip(score[:, 1], -10, 8)) if output == 0 else np.sqrt(0.5)


def score_noise(recipe, rows, tree):
    """Return the deviation of the noise on the square root of a split's score, in root mean square gradients."""
    left = rows * np.exp(-recipe.random_decay * tree)
    decay = left / (1 + left)
    return recipe.random_strength * decay if decay >= 2.0**-10 else 0.0


def rounded(gradient, keys, seed, tree):
    """Return stochastically rounded gradients as multiples of a unit, and the unit of each output."""
    largest = np.abs(gradient).max(axis=0).astype(f32)
    unit = np.where(largest > 0, largest / f32(126), f32(1)).astype(f32)
    integers = np.empty(gradient.shape, dtype=np.int64)
    for k in range(gradient.shape[1]):
        half = bits(noise_key(seed, tree, ROUNDING, k // 2), keys) >> np.uint32(16 * (k % 2)) & np.uint32(0xFFFF)
        uniform = (half.astype(f32) + f32(0.5)) * f32(2.0**-16)
        levels = f32(1) / unit[k]
        integers[:, k] = (gradient[:, k].astype(f32) * levels + uniform + f32(256)).astype(np.int64) - 256
    return integers, unit


@dataclass
class Scores:
    """Scores of the candidate splits of one tree."""

    recipe: Recipe
    bins: np.ndarray
    integers: np.ndarray
    weight: np.ndarray
    in_sample: np.ndarray
    importance: np.ndarray
    l2: float
    deviation: float
    share: float
    seed: int
    tree: int

    def of_rows(self, rows):
        """Return the score of the rows of a leaf."""
        total = max(self.weight[rows].sum() + self.l2, 1e-20)
        return (self.importance * self.integers[rows].sum(axis=0).astype(float) ** 2).sum() / total

    def of_sides(self, left, right, f, t):
        """Return the score of a leaf that is split; both sides have one mean if theirs are in the wrong order."""
        score = self.of_rows(left) + self.of_rows(right)
        direction = self.recipe.monotone[f] if self.recipe.monotone else 0
        sizes = self.weight[left].sum(), self.weight[right].sum()
        if direction == 0 or t == 0 or min(sizes) == 0:
            return score
        sums = self.integers[left, 0].sum(), self.integers[right, 0].sum()
        values = [-total / (size + self.l2) for total, size in zip(sums, sizes, strict=True)]
        if direction * (values[1] - values[0]) >= 0:
            return score
        apart = sum(total**2 / (size + self.l2) for total, size in zip(sums, sizes, strict=True))
        return score + self.importance[0] * (sum(sums) ** 2 / (sum(sizes) + 2 * self.l2) - apart)

    def is_allowed(self, leaves, side):
        """Return whether no leaf is divided into parts of which one is below the least weight."""
        least = round(self.recipe.min_leaf_weight * self.share)
        if least == 0:
            return True
        sizes = [sorted([self.weight[rows & ~side].sum(), self.weight[rows & side].sum()]) for rows in leaves]
        return all(smaller == 0 or smaller >= least for smaller, _ in sizes)

    def best_split(self, leaves, node, path):
        """Return score, feature and threshold of the best split, common to all leaves; the score is its noisy root."""
        best = (-1e30, 0, 255)
        keys = noise_key(self.seed, self.tree, SPLIT_SCORES, node)
        for f in sorted(allowed_columns(self.recipe, path, self.bins.shape[1], self.seed, self.tree)):
            places = np.arange(f * 128, f * 128 + 128, dtype=np.uint32)
            noise = normal_pair(keys, places) if self.deviation > 0 else None
            inside = self.bins[:, f] if len(leaves) > 1 or self.recipe.leaves == 0 else self.bins[leaves[0], f]
            for t in range(inside.min(), inside.max()):
                side = self.bins[:, f] > t
                if not self.is_allowed(leaves, side):
                    continue
                score = sum(self.of_sides(rows & ~side, rows & side, f, t) for rows in leaves)
                if noise is not None:
                    score = np.sqrt(score) + self.deviation * noise[t % 2][t // 2]
                if score > best[0] + 1e-6 * abs(best[0]):
                    best = (score, f, t)
        return best


def allowed_columns(recipe, path, columns, seed, tree):
    """Return the columns that were drawn for a tree and may interact with those of a path."""
    groups = [set(group) for group in recipe.interactions] or [set(range(columns))]
    drawn = sorted(set.union(*groups))
    if recipe.column_share < 1:
        random = bits(noise_key(seed, tree, COLUMNS, 0), np.array(drawn, dtype=np.uint32))
        count = max(1, int(recipe.column_share * len(drawn) + 0.5))
        drawn = [drawn[i] for i in np.argsort(random, kind="stable")[:count]]
    return set(drawn) & set.union(set(), *(group for group in groups if group >= set(path)))


def choose_symmetric_tree(scores):
    """Return the splits of all levels, each with the best total score over all leaves, and the leaf of each row."""
    leaf = np.zeros(len(scores.bins), dtype=int)
    features, thresholds = [], []
    for level in range(scores.recipe.depth):
        leaves = [scores.in_sample & (leaf == number) for number in range(1 << level)]
        _, f, t = scores.best_split(leaves, level, features)
        features.append(f)
        thresholds.append(t)
        leaf |= (scores.bins[:, f] > t).astype(int) << level
    return features, thresholds, [], leaf


def choose_leafwise_tree(scores):
    """Return the splits, each of the leaf that gains most, the leaves that they divide, and the leaf of each row."""
    splits = scores.recipe.leaves - 1
    leaf = np.zeros(len(scores.bins), dtype=int)
    features, thresholds, parents = [0] * splits, [255] * splits, [255] * splits
    candidates, depth, path = {}, {0: 0}, {0: []}
    opened = [(0, 0)]
    for split in range(splits):
        for number, node in opened:
            rows = scores.in_sample & (leaf == number)
            candidates[number] = (0.0, 0, 255)
            if depth[number] < scores.recipe.depth and rows.any():
                score, f, t = scores.best_split([rows], node, path[number])
                score = score * abs(score) if scores.deviation > 0 else score
                candidates[number] = (score - scores.of_rows(rows), f, t)
        number = max(candidates, key=lambda one: candidates[one][0])
        gain, f, t = candidates[number]
        if gain <= 0:
            break
        features[split], thresholds[split], parents[split] = f, t, number
        leaf[(leaf == number) & (scores.bins[:, f] > t)] = split + 1
        depth[number] = depth[split + 1] = depth[number] + 1
        path[number] = path[split + 1] = [*path[number], f]
        opened = [(number, 2 * split + 1), (split + 1, 2 * split + 2)]
    return features, thresholds, parents, leaf


def train(bins, y, weight, keys, recipe, seed, given=None, offset=0.0):  # noqa: PLR0915 (one step after the other)
    """Train one chain: F(t) = (1 - gamma * rate) F(t - 1) + rate * h(t); it begins with the trees of a given one.

    An offset, shape (n, outputs), is a known part of the score.
    """
    n, rate, is_of_numbers = len(y), recipe.learning_rate, recipe.objective not in {"bernoulli", "categorical"}
    start = np.array(recipe.start)
    moved = np.zeros((n, recipe.outputs))  # the score without its start value
    leave_one_out = np.zeros(n)  # the score of the mean without the row's own influence on its leaves
    neighbours = neighbour_weight(bins, weight)
    chain = Chain()
    for tree in range(recipe.trees):
        score = start + moved + offset
        guarded = recipe.variance_guard > 0 and recipe.outputs > 1 and is_of_numbers
        own_influence = moved[:, 0] - leave_one_out
        raw = gradients(recipe, score, y, score[:, 0] - (recipe.variance_guard * own_influence if guarded else 0.0))
        drawn_weight = sampled_weight(recipe, weight, keys, seed, tree)
        gradient = drawn_weight[:, None] * raw
        noise = np.zeros(n)  # of the first output
        if recipe.noise > 0:
            for k in range(recipe.outputs):
                pair = normal_pair(noise_key(seed, tree, LANGEVIN, k // 2), keys)
                added = np.sqrt(drawn_weight) * recipe.noise * noise_scale(recipe, score, k) * pair[k % 2]
                gradient[:, k] += added
                noise = added if k == 0 else noise
        part = min(1.0, recipe.structure_rows / n) if recipe.structure_rows else 1.0
        in_sample = (drawn_weight > 0) & (bits(noise_key(seed, tree, STRUCTURE, 0), keys) < part * 2.0**32)
        integers, unit = rounded(gradient, keys, seed, tree)
        squares = (integers[in_sample] ** 2).sum(axis=0)
        importance = 1 / np.maximum(squares, 1) if is_of_numbers else unit.astype(float) ** 2
        deviation = score_noise(recipe, weight.sum(), tree) * np.sqrt(
            (importance * squares).sum() / (weight.sum() * part * recipe.subsample)
        )
        scores = Scores(
            recipe, bins, integers, drawn_weight, in_sample, importance, recipe.l2 * part, deviation, part, seed, tree
        )
        is_given = given is not None and tree < len(given.leaf)
        if is_given:
            features, thresholds, parents = given.feature[tree], given.threshold[tree], given.parent[tree]
            leaf = leaves_of(bins, features, thresholds, parents)
        else:
            choose = choose_leafwise_tree if recipe.leaves else choose_symmetric_tree
            features, thresholds, parents, leaf = choose(scores)
        n_leaves = recipe.leaves or 1 << recipe.depth
        sums = np.array([gradient[leaf == number].sum(axis=0) for number in range(n_leaves)])
        sizes = np.array([drawn_weight[leaf == number].sum() for number in range(n_leaves)])
        values = steps(recipe, mean_gradient(sums, sizes[:, None] + recipe.l2))
        unordered, share = values[:, 0].copy(), np.ones(n_leaves)
        if recipe.monotone:
            pairs = pairs_in_order(recipe, leaf_boxes(recipe, features, thresholds, parents))
            noise_sums = np.array([noise[leaf == number].sum() for number in range(n_leaves)])
            noise_values = -rate * mean_gradient(noise_sums, sizes + recipe.l2)
            totals = np.maximum(sizes + recipe.l2, 1.0)
            ordered, pushed = in_order(pairs, totals, values[:, 0] - noise_values)
            values[:, 0] = ordered + sums_of_sets(pairs, totals * noise_values) / sums_of_sets(pairs, totals)
            share = totals / sums_of_sets(pushed, totals)
        is_of_other_rows = is_given and not np.allclose(values, given.leaf[tree], rtol=1e-3, atol=1e-5)
        values = given.leaf[tree] if is_given else values
        decay = 1 - recipe.shrink * rate
        moved_before, moved = moved, decay * moved + values[leaf]
        one_copy = np.minimum(drawn_weight, 1.0)  # a weight above one counts merged copies, of which the others stay
        due_to_row = one_copy * raw[:, 0] + recipe.subsample * neighbours * (moved_before[:, 0] - leave_one_out)
        without_row = -rate * mean_gradient(sums[leaf, 0] - due_to_row, sizes[leaf] - one_copy + recipe.l2)
        own_influence = 0.0 if is_of_other_rows else share[leaf] * (unordered[leaf] - without_row)
        leave_one_out = decay * leave_one_out + values[leaf, 0] - own_influence
        chain.feature.append(features)
        chain.threshold.append(thresholds)
        chain.parent.append(parents)
        chain.leaf.append(values)
    return chain
