"""The slow twin of the native core: boosting in NumPy, one line for each line of the mathematics.

It follows the definitions, not the native code: rows are split with masks, histograms are sums, nothing is packed. What
the two must share to grow the same trees is the noise function and the rounding of gradients, and both are spelled out
here.
"""

from dataclasses import dataclass, field

import numpy as np

LANGEVIN, ROUNDING, SUBSAMPLE, STRUCTURE = 1, 2, 3, 4
M64 = (1 << 64) - 1
HONEST_PULLS = 1.6
f32 = np.float32


@dataclass(frozen=True)
class Recipe:
    """As in problem.hpp."""

    objective: str = "normal"
    outputs: int = 2
    trees: int = 10
    depth: int = 3
    learning_rate: float = 0.1
    l2: float = 3.0
    shrink: float = 0.0
    noise: float = 0.0
    subsample: float = 1.0
    variance_guard: float = 0.0
    structure_rows: float = 0.0
    start: tuple[float, ...] = (0.0, 0.0)


@dataclass
class Chain:
    """The trees that were grown."""

    feature: list = field(default_factory=list)
    threshold: list = field(default_factory=list)
    leaf: list = field(default_factory=list)


# ---------------------------------------------------------------------------------------------------------------- noise


def scramble(x):
    """One step of a 64-bit mixing function."""
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def mix(x):
    """Mix 32-bit numbers, elementwise."""
    x = x.astype(np.uint32)
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x85EBCA6B)
    x = x ^ (x >> np.uint32(13))
    x = x * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def stream(seed, tree, purpose, pair):
    """The two keys of one tree's random numbers for one purpose and one pair of outputs."""
    step = scramble((scramble(seed) + tree) & M64)
    key = scramble((scramble((step + purpose) & M64) + pair) & M64)
    return np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)


def bits(keys, rows):
    """32 random bits a row."""
    first, second = keys
    return mix(mix(rows ^ first) + second)


def logarithm(x):
    """The natural logarithm in single precision: twice the artanh series of (m - 1) / (m + 1)."""
    integer = x.view(np.int32)
    exponent = (integer - np.int32(0x3F3504F3)) >> np.int32(23)
    m = (integer - (exponent << np.int32(23))).view(f32)
    s = (m - f32(1)) / (m + f32(1))
    series = np.full_like(s, f32(2.0) / f32(9.0))
    for odd in (7, 5, 3):
        series = series * (s * s) + f32(2.0) / f32(odd)
    series = series * (s * s) + f32(2)
    return exponent.astype(f32) * f32(0.693147181) + series * s


def normal_pair(keys, rows):
    """Two standard Normal numbers a row: a radius and a direction."""
    first, second = keys
    a = bits(keys, rows)
    b = mix(a + first) ^ second
    uniform = ((a >> np.uint32(8)).astype(f32) + f32(0.5)) * f32(2.0**-24)
    radius = np.sqrt(f32(-2) * logarithm(uniform))
    turn = (((b >> np.uint32(8)) & np.uint32(0x3FFFFF)).astype(f32) + f32(0.5)) * f32(2.0**-22) - f32(0.5)
    angle = turn * f32(1.57079633)
    a2 = angle * angle
    sine = np.full_like(a2, f32(1.0) / f32(362880.0))
    for sign, factorial in ((-1, 5040), (1, 120), (-1, 6), (1, 1)):
        sine = sine * a2 + f32(sign) / f32(factorial)
    sine = sine * angle
    cosine = np.full_like(a2, f32(1.0) / f32(40320.0))
    for sign, factorial in ((-1, 720), (1, 24), (-1, 2), (1, 1)):
        cosine = cosine * a2 + f32(sign) / f32(factorial)
    quarter = ((b >> np.uint32(30)) & np.uint32(1)).astype(bool)
    half = (b >> np.uint32(31)).astype(bool)
    x, y = np.where(quarter, -sine, cosine), np.where(quarter, cosine, sine)
    signed = np.where(half, -radius, radius)
    return signed * x, signed * y


# -----------------------------------------------------------------------------------------------------------
# mathematics


def gradients(recipe, score, y, honest_mean):
    """Gradients of the loss in the score, shape (n, outputs)."""
    if recipe.objective == "normal":
        z = (y - honest_mean) / np.exp(np.clip(score[:, 1], -10, 5))
        return np.stack([score[:, 0] - y, 0.5 - 0.5 * z**2], axis=1)
    if recipe.objective == "bernoulli":
        return (1 / (1 + np.exp(-score[:, 0])) - y)[:, None]
    p = np.exp(score - score.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p - (y[:, None] == np.arange(recipe.outputs))


def rounded(gradient, keys, seed, tree):
    """Gradients as whole numbers of a unit, up or down at random; and the unit, one an output."""
    largest = np.abs(gradient).max(axis=0).astype(f32)
    unit = np.where(largest > 0, largest / f32(126), f32(1)).astype(f32)
    whole = np.empty(gradient.shape, dtype=np.int64)
    for k in range(gradient.shape[1]):
        half = bits(stream(seed, tree, ROUNDING, k // 2), keys) >> np.uint32(16 * (k % 2)) & np.uint32(0xFFFF)
        uniform = (half.astype(f32) + f32(0.5)) * f32(2.0**-16)
        levels = f32(1) / unit[k]
        whole[:, k] = (gradient[:, k].astype(f32) * levels + uniform + f32(256)).astype(np.int64) - 256
    return whole, unit


def choose_tree(recipe, bins, counts, whole, unit, weight, seen, l2):
    """The splits of all levels: each level the one with the best score over all leaves together."""
    squares = (whole[seen] ** 2).sum(axis=0)
    importance = 1 / np.maximum(squares, 1) if recipe.objective == "normal" else unit.astype(float) ** 2
    leaf = np.zeros(len(bins), dtype=int)
    features, thresholds = [], []
    for level in range(recipe.depth):
        best = (-1.0, 0, 255)
        for f in range(bins.shape[1]):
            missing = (bins[:, f] == 0).any()
            for t in range(0 if missing else 1, counts[f] - 1):
                side = bins[:, f] > t
                score = 0.0
                for number in range(1 << level):
                    for rows in (seen & (leaf == number) & ~side, seen & (leaf == number) & side):
                        total = max(weight[rows].sum() + l2, 1e-20)
                        score += (importance * whole[rows].sum(axis=0).astype(float) ** 2).sum() / total
                if score > best[0] * (1 + 1e-6):
                    best = (score, f, t)
        features.append(best[1])
        thresholds.append(best[2])
        leaf |= (bins[:, best[1]] > best[2]).astype(int) << level
    return features, thresholds, leaf


def train(bins, counts, y, weight, keys, recipe, seed):
    """Grow one chain: F(t) = (1 - gamma * rate) F(t - 1) + rate * h(t)."""
    n, rate = len(y), recipe.learning_rate
    start = np.array(recipe.start)
    moved = np.zeros((n, recipe.outputs))  # the score beyond its start
    honest = np.zeros(n)  # the mean's, had the row's own pull been left out of every leaf
    chain = Chain()
    for tree in range(recipe.trees):
        score = start + moved
        guarded = recipe.variance_guard > 0 and recipe.objective == "normal"
        pull = moved[:, 0] - honest
        raw = gradients(recipe, score, y, score[:, 0] - (HONEST_PULLS * pull if guarded else 0.0))
        mass = sampled_weight(recipe, weight, keys, seed, tree)
        gradient = mass[:, None] * raw
        if recipe.noise > 0:
            for k in range(recipe.outputs):
                pair = normal_pair(stream(seed, tree, LANGEVIN, k // 2), keys)
                gradient[:, k] += np.sqrt(mass) * recipe.noise * pair[k % 2]
        part = min(1.0, recipe.structure_rows / n) if recipe.structure_rows else 1.0
        seen = (mass > 0) & (bits(stream(seed, tree, STRUCTURE, 0), keys) < part * 2.0**32)
        whole, unit = rounded(gradient, keys, seed, tree)
        features, thresholds, leaf = choose_tree(recipe, bins, counts, whole, unit, mass, seen, recipe.l2 * part)
        l2 = np.full(recipe.outputs, recipe.l2)
        if guarded:
            l2[1] += recipe.variance_guard
        sums = np.array([gradient[leaf == number].sum(axis=0) for number in range(1 << recipe.depth)])
        sizes = np.array([mass[leaf == number].sum() for number in range(1 << recipe.depth)])
        values = -rate * share(sums, sizes[:, None] + l2)
        decay = 1 - recipe.shrink * rate
        moved = decay * moved + values[leaf]
        honest = decay * honest - rate * share(sums[leaf, 0] - mass * raw[:, 0], sizes[leaf] - mass + recipe.l2)
        chain.feature.append(features)
        chain.threshold.append(thresholds)
        chain.leaf.append(values)
    return chain


def share(gradient, total):
    """The mean gradient of a leaf; nothing where there is nothing."""
    return np.where(total > 1e-20, gradient / np.maximum(total, 1e-20), 0.0)


def sampled_weight(recipe, weight, keys, seed, tree):
    """What each row counts for in this tree: a row of weight w is w chances to be drawn."""
    if recipe.subsample == 1:
        return weight
    pieces = np.clip(np.ceil(weight), 1, 64).astype(int)
    kept = np.zeros(len(weight), dtype=int)
    for piece in range(pieces.max()):
        drawn = bits(stream(seed, tree, SUBSAMPLE, 0), keys + np.uint32((piece * 0x9E3779B9) & 0xFFFFFFFF))
        kept += (piece < pieces) & (drawn < min(recipe.subsample * 2.0**32, 2.0**32 - 1))
    return weight * kept / pieces
