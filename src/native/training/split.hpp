// Scores of splits: the (feature, threshold) with the largest score is chosen,
//
//     sum over leaves, sides and outputs of (sum of gradients)^2 / (sum of weights + l2).
//
// A split of a symmetric tree is common to all leaves of a level, that of a leaf-wise tree belongs to one leaf.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "training/histogram.hpp"
#include "training/split_score.hpp"

namespace epiboost {

struct Split {
    float score = -std::numeric_limits<float>::infinity();  // any candidate is better
    std::uint16_t feature = 0;
    std::uint8_t threshold = 255;  // no bin is above 255: all rows go to the left

    // Order of preference: score, then the lower feature, then the lower threshold.
    bool better_than(const Split& other) const {
        if (score != other.score) return score > other.score;
        if (feature != other.feature) return feature < other.feature;
        return threshold < other.threshold;
    }
};

// Adds the contribution of one leaf to the scores of a feature's thresholds, from prefix sums. `running` has room for the
// layout's words of all bins.
template <class Layout>
    requires(Layout::single_word)
void add_scores(const typename Layout::Word* histogram, int stride, int outputs, const Units& units, std::int32_t* running,
                float* __restrict scores) {
    Layout::scan(histogram, stride, reinterpret_cast<std::int32_t(*)[max_bins]>(running));
    const std::int32_t* sums = running;
    const std::int32_t* weights = running + outputs * max_bins;
    const std::int32_t all = sums[stride - 1];
    const std::int32_t all_weight = weights[stride - 1];
    const Units local_units = units;  // a copy, which the stores to `scores` cannot alias
    for (int b = 0; b < stride; ++b) {
        const Inverses inverses(weights[b], all_weight, local_units);
        scores[b] += inverses.score(sums[b], all, local_units.gradient_squared[0]);
    }
}

// For many outputs the lanes of a cell are one vector; the units of the weight and of padding are zero. Contributions are summed
// by halves, down to four per threshold, and these for all thresholds at once.
template <class Layout>
    requires(!Layout::single_word)
void add_scores(const std::int32_t* histogram, int stride, int outputs, const Units& units, std::int32_t* __restrict running,
                float* __restrict scores) {
    constexpr int count = Layout::vector_lanes;
    const int lanes = Layout::words(outputs);
    for (int first = 0; first < lanes; first += count) {
        typename Layout::Vector sum;
        for (int b = 0; b < stride; ++b) {
            sum.add(histogram + b * lanes + first);
            sum.store(running + b * lanes + first);
        }
    }
    const std::int32_t* all = running + (stride - 1) * lanes;
    float left_inverse[max_bins];
    float right_inverse[max_bins];
    std::int32_t weight[max_bins];
    for (int b = 0; b < stride; ++b) weight[b] = running[b * lanes + outputs];
    for (int b = 0; b < stride; ++b) {
        const Inverses inverses(weight[b], all[outputs], units);
        left_inverse[b] = inverses.left;
        right_inverse[b] = inverses.right;
    }
    float four[4 * max_bins];
    for (int b = 0; b < stride; ++b) {
        float parts[count] = {};
        for (int first = 0; first < lanes; first += count) {
            for (int k = 0; k < count; ++k) {
                const std::int32_t sum = running[b * lanes + first + k];
                const float left = static_cast<float>(sum);
                const float right = static_cast<float>(all[first + k] - sum);
                const float part = left * left * left_inverse[b] + right * right * right_inverse[b];
                parts[k] += units.gradient_squared[first + k] * part;
            }
        }
        for (int half = count / 2; half >= 4; half /= 2) {
            for (int k = 0; k < half; ++k) parts[k] += parts[k + half];
        }
        for (int k = 0; k < 4; ++k) four[4 * b + k] = parts[k];
    }
    for (int b = 0; b < stride; ++b) scores[b] += (four[4 * b] + four[4 * b + 2]) + (four[4 * b + 1] + four[4 * b + 3]);
}

// Scores of a quarter of the thresholds of a feature, for the Normal. Sums are below 2^24, so single precision holds them and their
// differences exactly. `Clamps` as in `Inverses`.
template <bool Clamps>
inline void add_quarter(const std::int64_t* sums, std::int64_t before, const PackedTwo::Parts& all, int count, const Units& units,
                        float* __restrict scores) {
    const float first_unit = units.gradient_squared[0];
    const float second_unit = units.gradient_squared[1];
    const Units local_units = units;  // a copy, which the stores to `scores` cannot alias
    const auto first_all = static_cast<float>(all.first);
    const auto second_all = static_cast<float>(all.second);
    const auto weight_all = static_cast<float>(all.weight);
    for (int b = 0; b < count; ++b) {
        const PackedTwo::Parts left = PackedTwo::parts(before + sums[b]);
        const auto weight = static_cast<float>(left.weight);
        const auto inverses = Inverses::of<Clamps>(weight, weight_all - weight, local_units);
        const auto first = static_cast<float>(left.first);
        const auto second = static_cast<float>(left.second);
        scores[b] += inverses.score(first, first_all - first, first_unit);
        scores[b] += inverses.score(second, second_all - second, second_unit);
    }
}

// For the Normal: scan and scores in one loop.
template <>
inline void add_scores<PackedTwo>(const std::int64_t* histogram, int stride, int, const Units& units, std::int32_t*,
                                  float* __restrict scores) {
    const PrefixSums prefix(histogram, stride);
    const PackedTwo::Parts all = PackedTwo::parts(prefix.before[4]);
    const int quarter = stride / 4;
    const bool clamps = Inverses::needs_clamps(static_cast<float>(all.weight), units);
    for (int part = 0; part < 4; ++part) {
        const auto add = clamps ? add_quarter<true> : add_quarter<false>;
        add(prefix.sums.data() + part * quarter, prefix.before[part], all, quarter, units, scores + part * quarter);
    }
}

// The same for a feature along which the first output must increase (direction 1) or decrease (-1). Where the values of the two
// sides are in the wrong order, the best that a tree can do is one value for both. The threshold of the missing values, 0, has no
// order, and a side without rows no value.
template <class Layout>
void add_monotone_scores(const typename Layout::Word* histogram, int stride, int outputs, const Units& units, int direction,
                         std::int32_t (*running)[max_bins], float* __restrict scores) {
    scan_outputs<Layout>(histogram, stride, outputs, running);
    const std::int32_t* weights = running[outputs];
    const std::int32_t* first = running[0];
    const std::int32_t all_weight = weights[stride - 1];
    const std::int32_t all = first[stride - 1];
    const float together = static_cast<float>(all_weight) * units.weight + 2.0f * units.l2;
    const float pooled = units.gradient_squared[0] * (static_cast<float>(all) * static_cast<float>(all) / together);
    for (int b = 0; b < stride; ++b) {
        const Inverses inverses(weights[b], all_weight, units);
        const float left = static_cast<float>(first[b]) * inverses.left;  // leaf values have the opposite sign
        const float right = static_cast<float>(all - first[b]) * inverses.right;
        const bool has_order = b > 0 && weights[b] > 0 && weights[b] < all_weight;
        const bool is_ordered = !has_order || (direction > 0 ? left >= right : left <= right);
        scores[b] += is_ordered ? inverses.score(first[b], all, units.gradient_squared[0]) : pooled;
        for (int k = 1; k < outputs; ++k) {
            scores[b] += inverses.score(running[k][b], running[k][stride - 1], units.gradient_squared[k]);
        }
    }
}

// Refuses thresholds that divide a leaf so that a side has less than the least weight: no later addition makes a score of minus
// infinity finite, and with noise it is not a number, which is not better than any other.
template <class Layout>
void refuse_small_leaves(const typename Layout::Word* histogram, int stride, int outputs, std::int64_t least,
                         std::int32_t (*running)[max_bins], float* __restrict scores) {
    scan_outputs<Layout>(histogram, stride, outputs, running);
    const std::int32_t* weights = running[outputs];
    const std::int32_t all = weights[stride - 1];
    for (int b = 0; b < stride; ++b) {
        const bool divides = weights[b] > 0 && weights[b] < all;
        if (divides && std::min(weights[b], all - weights[b]) < least) scores[b] = -std::numeric_limits<float>::infinity();
    }
}

// An integer in the order of the scores; the lowest one for minus infinity and what is not a number. Unlike maxima of floats,
// those of integers are vectorised by compilers.
inline std::int32_t rank_of_score(float score) {
    const auto bits = std::bit_cast<std::int32_t>(score + 0.0f);  // one zero, not two
    const std::int32_t rank = bits ^ (bits >> 31 & 0x7fffffff);
    return score > -std::numeric_limits<float>::infinity() ? rank : std::numeric_limits<std::int32_t>::min();
}

// Best of the thresholds of one feature, from `first` to before `end`: the lowest of equals.
inline Split best_threshold(const float* scores, std::size_t feature, int first, int end) {
    std::int32_t rank[max_bins];
    std::int32_t most = std::numeric_limits<std::int32_t>::min();
    for (int b = first; b < end; ++b) rank[b] = rank_of_score(scores[b]);
    for (int b = first; b < end; ++b) most = most < rank[b] ? rank[b] : most;
    if (most == std::numeric_limits<std::int32_t>::min()) return {};
    int best = first;
    while (rank[best] != most) ++best;
    return {scores[best], static_cast<std::uint16_t>(feature), static_cast<std::uint8_t>(best)};
}

}  // namespace epiboost
