// Random structures: noise on the scores of the candidate splits, as CatBoost's random_strength.
//
// The score of a split is put on the scale of its square root, which grows with the gradients themselves, and gets Normal noise
// of standard deviation
//
//     random_strength * a / (1 + a) * (root mean square gradient),    a = exp(log N - rate * t)
//
// at tree t. The noise is large while the model is short, and vanishes after log(N) / rate trees.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/noise.hpp"
#include "core/problem.hpp"
#include "training/noisy_score.hpp"

namespace epiboost {

// Below this share of its size at the first tree the noise decides between splits of practically equal scores only.
constexpr double least_decay = 0x1p-10;

// Standard deviation of the noise at a tree, in root mean square gradients; 0 once it has no effect.
inline double score_noise(const ChainRecipe& recipe, double total_weight, int tree) {
    const double left = std::exp(std::log(total_weight) - recipe.random_decay * tree);
    const double decay = std::isinf(left) ? 1.0 : left / (1.0 + left);
    return decay < least_decay ? 0.0 : recipe.random_strength * decay;
}

// Replaces the scores of a feature's thresholds before `end` by their noisy square roots. One pair of random numbers serves two
// thresholds.
inline void add_score_noise(const NoiseKey& key, float deviation, std::size_t feature, int end, float* __restrict scores) {
    constexpr std::uint32_t pairs_per_feature = 128;
    const std::uint32_t first = static_cast<std::uint32_t>(feature) * pairs_per_feature;
    for (int pair = 0; pair < (end + 1) / 2; ++pair) {
        float even;
        float odd;
        normal_pair(key, first + static_cast<std::uint32_t>(pair), even, odd);
        scores[2 * pair] = noisy_score(scores[2 * pair], deviation, even);
        scores[2 * pair + 1] = noisy_score(scores[2 * pair + 1], deviation, odd);
    }
}

}  // namespace epiboost
