// Scores of the thresholds of one column, from prefix sums of histograms. The twin of training/split.hpp: the contributions are
// added in the same order, which depends on the layout of the CPU's histograms.
#pragma once

#include "core/noise.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/histogram.cuh"
#include "cuda/splits.cuh"
#include "training/noisy_score.hpp"
#include "training/rounding.hpp"
#include "training/split_score.hpp"

namespace epiboost::cuda {

// Adds the contribution of one leaf to the score of one threshold, from the sums on its left and all sums.
inline float add_leaf(const SumsAt& left, const SumsAt& all, const Units& units, float score) {
    const Inverses inverses(left.weight(), all.weight(), units);
    if constexpr (score_lanes == 1) {
        for (int k = 0; k < outputs; ++k) score += inverses.score(left.gradient(k), all.gradient(k), units.gradient_squared[k]);
        return score;
    } else {
        float parts[score_lanes] = {};
        for (int first = 0; first < outputs; first += score_lanes) {
            for (int i = 0; i < score_lanes; ++i) {
                const int k = first + i;
                if (k >= outputs) break;
                parts[i] += inverses.score(left.gradient(k), all.gradient(k), units.gradient_squared[k]);
            }
        }
        for (int half = score_lanes / 2; half >= 4; half /= 2) {
            for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
        }
        return score + ((parts[0] + parts[2]) + (parts[1] + parts[3]));
    }
}

// The direction of a column: 1 or -1 if the first output must increase or decrease along it, else 0.
inline int direction_of(const Member& member, int column) { return is_monotone && member.monotone ? member.monotone[column] : 0; }

// The same for a column with a direction. Where the values of the two sides are in the wrong order, the best that a tree can do is one
// value for both. The threshold of the missing values, 0, has no order, and a side without rows no value.
inline float add_ordered_leaf(const SumsAt& left, const SumsAt& all, const Units& units, int direction, int threshold, float score) {
    const Inverses inverses(left.weight(), all.weight(), units);
    const float left_value = static_cast<float>(left.gradient(0)) * inverses.left;  // leaf values have the opposite sign
    const float right_value = static_cast<float>(all.gradient(0) - left.gradient(0)) * inverses.right;
    const bool has_order = threshold > 0 && left.weight() > 0 && left.weight() < all.weight();
    const bool is_ordered = !has_order || (direction > 0 ? left_value >= right_value : left_value <= right_value);
    const float together = static_cast<float>(all.weight()) * units.weight + 2.0f * units.l2;
    const float gradient = static_cast<float>(all.gradient(0));
    const float pooled = units.gradient_squared[0] * (gradient * gradient / together);
    score += is_ordered ? inverses.score(left.gradient(0), all.gradient(0), units.gradient_squared[0]) : pooled;
    for (int k = 1; k < outputs; ++k) score += inverses.score(left.gradient(k), all.gradient(k), units.gradient_squared[k]);
    return score;
}

constexpr float infinity = std::bit_cast<float>(0x7f800000u);

// The same for any column; minus infinity, which is never chosen, where a side has some weight, but too little.
inline float add_any_leaf(const Member& member, const SumsAt& left, const SumsAt& all, const Units& units, int direction, int threshold,
                          float score) {
    if (is_monotone && direction != 0) {
        score = add_ordered_leaf(left, all, units, direction, threshold, score);
    } else {
        score = add_leaf(left, all, units, score);
    }
    const std::int32_t right_weight = all.weight() - left.weight();
    const std::int32_t lighter = left.weight() < right_weight ? left.weight() : right_weight;
    if (lighter > 0 && lighter < member.least_weight) score = -infinity;
    return score;
}

// Adds leaves to the score of a threshold, in their order. A leaf without rows adds zero. `sums_of(leaf)` are the prefix sums of a
// leaf, which are stored at `children` if that is not null.
template <class SumsOf>
float add_leaves(const Member& member, const SumsOf& sums_of, const LeafTotalsOfLevel& totals, int leaf_count, int cells, int last,
                 const Units& units, int direction, int threshold, std::uint32_t* children, float score) {
#pragma unroll 4
    for (int leaf = 0; leaf < leaf_count; ++leaf) {
        const LeafSums sums = sums_of(leaf);
        const SumsAt left(sums, cells, threshold);
        const SumsAt all = totals.of(sums, leaf, cells, last);
        if (children) left.store(children + leaf * planes * cells);
        score = add_any_leaf(member, left, all, units, direction, threshold, score);
    }
    return score;
}

// For each leaf, whether the right side of a threshold is the lighter one.
template <class SumsOf>
void compare_sides(const SumsOf& sums_of, int leaf_count, int cells, int last, int threshold, std::uint8_t* right_is_lighter) {
    for (int leaf = static_cast<int>(threadIdx.x); leaf < leaf_count; leaf += static_cast<int>(blockDim.x)) {
        const LeafSums sums = sums_of(leaf);
        const std::int32_t left = SumsAt(sums, cells, threshold).weight();
        right_is_lighter[leaf] = SumsAt(sums, cells, last).weight() - left < left ? 1 : 0;
    }
}

// Squared units of the gradients. The outputs of a distribution of numbers are different quantities, so each is divided by its own sum of
// squares.
inline float squared_unit(const Member& member, int tree, int output) {
    if constexpr (!is_of_classes(objective)) {
        const std::int64_t squares = member.squares[output];
        return 1.0f / static_cast<float>(squares > 1 ? squares : 1);
    } else {
        const float unit = gradient_unit(std::bit_cast<float>(member.largest[tree % 2 * outputs + output]), member.largest_level);
        return unit * unit;
    }
}

// Standard deviation of the noise on the square roots of scores.
inline float score_deviation(const Member& member, int tree, const float* squared_units) {
    const float noise = member.steps[tree].score_noise;
    if (!(noise > 0.0f)) return 0.0f;
    double sum = 0.0;
    for (int k = 0; k < outputs; ++k) sum += squared_units[k] * static_cast<double>(member.squares[k]);
    return noise * static_cast<float>(std::sqrt(sum / member.rows_for_noise));
}

// The split at a threshold, packed, with the noise on its score; 0 if it is refused.
inline std::uint64_t candidate(const NoiseKey& key, int column, int threshold, float deviation, float score) {
    constexpr std::uint32_t pairs_per_feature = 128;
    if (deviation > 0.0f) {
        float even;
        float odd;
        normal_pair(key, static_cast<std::uint32_t>(column) * pairs_per_feature + static_cast<std::uint32_t>(threshold / 2), even, odd);
        score = noisy_score(score, deviation, threshold % 2 ? odd : even);
    }
    return score > -infinity ? pack_split(score, column, threshold) : 0;
}

}  // namespace epiboost::cuda
