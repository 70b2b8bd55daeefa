"""Monotone leaf values of the reference trainer: which leaves are in order, and the nearest values that are."""

import numpy as np


def leaf_boxes(recipe, features, thresholds, parents):
    """Return the boxes of the leaves, {feature: (lowest bin, highest bin)}; bin 0 is that of missing values."""
    boxes = {0: dict.fromkeys(features, (0, 255))}
    for split, (f, t) in enumerate(zip(features, thresholds, strict=True)):
        if recipe.leaves and parents[split] == 255:
            continue
        for number in [parents[split]] if recipe.leaves else list(boxes):
            low, high = boxes[number][f]
            right = split + 1 if recipe.leaves else number + (1 << split)
            boxes[right] = {**boxes[number], f: (max(low, t + 1), high)}
            boxes[number] = {**boxes[number], f: (low, min(high, t))}
    return boxes


def pairs_in_order(recipe, boxes):
    """Return pairs of leaves that touch along a constrained column; the value of the first must not be the larger."""
    pairs = []
    for f in boxes[0]:
        for lower, one in sorted(boxes.items()):
            for upper, other in sorted(boxes.items()):
                touch = 0 < one[f][1] == other[f][0] - 1 and one[f][0] <= one[f][1] and other[f][0] <= other[f][1]
                overlap = all(max(one[g][0], other[g][0]) <= min(one[g][1], other[g][1]) for g in boxes[0] if g != f)
                if touch and overlap and recipe.monotone[f]:
                    pairs.append((lower, upper) if recipe.monotone[f] > 0 else (upper, lower))
    return pairs


def in_order(pairs, weight, value):
    """Return the nearest values in the order of the pairs, by Dykstra's algorithm, and the pairs that are pushed."""
    value, push, largest = value.copy(), np.zeros(len(pairs)), np.abs(value).max()
    for _ in range(100):
        movement = 0.0
        for i, pair in enumerate(map(list, pairs)):
            value[pair] += push[i] / weight[pair] * [1, -1]  # takes the last projection back
            before = push[i]
            push[i] = max(value[pair[0]] - value[pair[1]], 0.0) / (1 / weight[pair]).sum()
            value[pair] -= push[i] / weight[pair] * [1, -1]
            movement = max(movement, abs(push[i] - before) / weight[pair].min())
        if movement <= 1e-6 * largest:
            break
    largest_below, smallest_above = value.copy(), value.copy()
    for _ in value:
        for lower, upper in pairs:
            largest_below[upper] = max(largest_below[lower], largest_below[upper])
            smallest_above[lower] = min(smallest_above[lower], smallest_above[upper])
    return (largest_below + smallest_above) / 2, [pair for pair, pushed in zip(pairs, push, strict=True) if pushed > 0]


def sums_of_sets(pairs, numbers):
    """Return for each leaf the sum of the numbers over all leaves that pairs connect it with."""
    sets = np.arange(len(numbers))
    for _ in numbers:
        for pair in map(list, pairs):
            sets[pair] = sets[pair].min()
    return np.bincount(sets, numbers, len(numbers))[sets]
