// Random structures: noise on the scores of the candidate splits, as CatBoost's random_strength.
//
// The score of a split is put on the scale of its square root, which grows with the gradients themselves, and gets Normal noise
// of standard deviation
//
//     random_strength * a / (1 + a) * (root mean square gradient),    a = exp(log N - rate * t)
//
// at tree t. The noise is large while the model is short, and vanishes after log(N) / rate trees.
#pragma once

#include <algorithm>
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
    constexpr int pairs_per_feature = 128;
    constexpr int at_once = 16;
    for (int first = 0; 2 * first < end; first += at_once) {
        std::uint32_t pair[at_once];
        float even[at_once];
        float odd[at_once];
        for (int i = 0; i < at_once; ++i) pair[i] = static_cast<std::uint32_t>(static_cast<int>(feature) * pairs_per_feature + first + i);
        normal_pairs<at_once>(key, pair, even, odd);
        const int count = std::min(at_once, (end + 1) / 2 - first);
        for (int i = 0; i < count; ++i) {
            float* const both = scores + 2 * (first + i);
            both[0] = noisy_score(both[0], deviation, even[i]);
            both[1] = noisy_score(both[1], deviation, odd[i]);
        }
    }
}

}  // namespace epiboost
