// Scores of the thresholds of one column, from prefix sums of histograms. The twin of training/split.hpp: the contributions are
// added in the same order, which depends on the layout of the CPU's histograms.
#pragma once

#include "core/noise.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/splits.cuh"
#include "training/noisy_score.hpp"
#include "training/rounding.hpp"
#include "training/split_score.hpp"

namespace epiboost::cuda {

// Adds the contribution of one leaf to the score of one threshold. `sums` are the leaf's prefix sums, of which the cell `last`
// has the totals.
inline float add_leaf(const std::int32_t* sums, int cells, int last, int threshold, const Units& units, float score) {
    const std::int32_t* weights = sums + outputs * cells;
    const Inverses inverses(weights[threshold], weights[last], units);
    if constexpr (score_lanes == 1) {
        for (int k = 0; k < outputs; ++k) {
            score += inverses.score(sums[k * cells + threshold], sums[k * cells + last], units.gradient_squared[k]);
        }
        return score;
    } else {
        float parts[score_lanes] = {};
        for (int first = 0; first < outputs; first += score_lanes) {
            for (int i = 0; i < score_lanes; ++i) {
                const int k = first + i;
                if (k >= outputs) break;
                parts[i] += inverses.score(sums[k * cells + threshold], sums[k * cells + last], units.gradient_squared[k]);
            }
        }
        for (int half = score_lanes / 2; half >= 4; half /= 2) {
            for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
        }
        return score + ((parts[0] + parts[2]) + (parts[1] + parts[3]));
    }
}

// Adds the leaves of one part of a level to the scores of all thresholds. Leaves without rows add nothing.
inline void add_leaves(const Member& member, const std::int32_t* histogram, int leaf_count, int cells, int last, const Units& units,
                       float* scores) {
    for (int threshold = static_cast<int>(threadIdx.x); threshold <= last; threshold += static_cast<int>(blockDim.x)) {
        float score = scores[threshold];
        for (int leaf = 0; leaf < leaf_count; ++leaf) {
            const std::int32_t* sums = histogram + static_cast<std::size_t>(leaf) * lanes * cells;
            const std::int32_t all = sums[outputs * cells + last];
            if (all == 0) continue;
            score = add_leaf(sums, cells, last, threshold, units, score);
            if (member.least_weight == 0) continue;
            const std::int32_t left = sums[outputs * cells + threshold];
            const std::int32_t lighter = left < all - left ? left : all - left;
            if (left > 0 && left < all && lighter < member.least_weight) score = -std::bit_cast<float>(0x7f800000u);  // never chosen
        }
        scores[threshold] = score;
    }
}

// Squared units of the gradients. The outputs of a Normal are different quantities, so each is divided by its own sum of squares.
inline float squared_unit(const Member& member, int tree, int output) {
    if constexpr (objective == Objective::normal) {
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

// The best of the column's thresholds from `lowest` to before `highest`, packed, in thread 0; 0 if there is none.
inline std::uint64_t best_threshold(const Member& member, int tree, int level, int column, int lowest, int highest, float deviation,
                                    const float* scores) {
    constexpr std::uint32_t pairs_per_feature = 128;
    const NoiseKey key(member.seed, static_cast<std::uint64_t>(tree), Purpose::split_scores, static_cast<std::uint64_t>(level));
    unsigned long long best = 0;
    for (int threshold = lowest + static_cast<int>(threadIdx.x); threshold < highest; threshold += static_cast<int>(blockDim.x)) {
        float score = scores[threshold];
        if (deviation > 0.0f) {
            float even;
            float odd;
            normal_pair(key, static_cast<std::uint32_t>(column) * pairs_per_feature + static_cast<std::uint32_t>(threshold / 2), even, odd);
            score = noisy_score(score, deviation, threshold % 2 ? odd : even);
        }
        if (!(score > -std::bit_cast<float>(0x7f800000u))) continue;  // refused
        const unsigned long long packed = pack_split(score, column, threshold);
        best = packed > best ? packed : best;
    }
    return block_max(best);
}

}  // namespace epiboost::cuda
