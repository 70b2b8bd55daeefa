// Choosing a level's split: the same (feature, threshold) for every leaf, the one with the best score
//
//     sum over leaves, sides and outputs of (sum of gradients)^2 / (sum of weights + l2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "elementary.hpp"
#include "histogram.hpp"

namespace epiboost {

struct Split {
    float score = -1.0f;  // scores are sums of squares: any real candidate is better
    std::uint16_t feature = 0;
    std::uint8_t threshold = 255;  // no bin is above 255: a split that sends every row to the left

    // Order of preference: score, then the lower feature, then the lower threshold.
    bool better_than(const Split& other) const {
        if (score != other.score) return score > other.score;
        if (feature != other.feature) return feature < other.feature;
        return threshold < other.threshold;
    }
};

// What turns whole numbers back into gradients and weights.
struct Units {
    const float* gradient_squared;  // one an output
    float weight;
    float l2;
};

// Adds one leaf's part to the scores of a feature's thresholds.
inline void add_scores(const std::int32_t (*running)[max_bins], int stride, int outputs, const Units& units,
                       float* __restrict scores) {
    constexpr float tiny = 1e-15f;  // an empty side has no gradient either: 0 / tiny = 0
    constexpr float huge = 1e18f;   // the product of two must be a number
    float left_inverse[max_bins];
    float right_inverse[max_bins];
    const std::int32_t* weights = running[outputs];
    const std::int32_t all_weight = weights[stride - 1];
    for (int b = 0; b < stride; ++b) {
        const float left = static_cast<float>(weights[b]) * units.weight + units.l2;
        const float right = static_cast<float>(all_weight - weights[b]) * units.weight + units.l2;
        const float left_weight = clamp(left, tiny, huge);
        const float right_weight = clamp(right, tiny, huge);
        const float inverse = 1.0f / (left_weight * right_weight);  // one division for both
        left_inverse[b] = inverse * right_weight;
        right_inverse[b] = inverse * left_weight;
    }
    for (int k = 0; k < outputs; ++k) {
        const std::int32_t* sums = running[k];
        const std::int32_t all = sums[stride - 1];
        const float unit = units.gradient_squared[k];
        for (int b = 0; b < stride; ++b) {
            const float left = static_cast<float>(sums[b]);
            const float right = static_cast<float>(all - sums[b]);
            scores[b] += unit * (left * left * left_inverse[b] + right * right * right_inverse[b]);
        }
    }
}

// The best threshold of one feature.
inline Split best_threshold(const float* scores, std::size_t feature, int first, int bins) {
    Split best;
    for (int threshold = first; threshold + 1 < bins; ++threshold) {
        if (scores[threshold] > best.score) {
            best = {scores[threshold], static_cast<std::uint16_t>(feature), static_cast<std::uint8_t>(threshold)};
        }
    }
    return best;
}

}  // namespace epiboost
