// What one leaf and one output contribute to the score of a split. Kernels for GPUs are compiled from this file too.
#pragma once

#include "core/elementary.hpp"
#include "core/standard.hpp"

namespace epiboost {

// Units of the integer gradients and weights.
struct Units {
    const float* gradient_squared;  // one per output; zero for the other words of a cell
    float weight;
    float l2;
};

// 1 / (weight + l2) for both sides of a threshold, with one division.
struct Inverses {
    static constexpr float tiny = 1e-15f;  // an empty side has no gradient: 0 / tiny = 0
    static constexpr float huge = 1e18f;   // the product of two stays finite
    float left;
    float right;

    Inverses(std::int32_t left_weight, std::int32_t all_weight, const Units& units)
        : Inverses(of<true>(static_cast<float>(left_weight), static_cast<float>(all_weight - left_weight), units)) {}

    // Whether the weight of a side, with l2, can leave the range from tiny to huge.
    static bool needs_clamps(float all_weight, const Units& units) {
        return !(units.l2 >= tiny && all_weight * units.weight + units.l2 <= huge);
    }

    template <bool Clamps>
    static Inverses of(float left_weight, float right_weight, const Units& units) {
        float left_total = left_weight * units.weight + units.l2;
        float right_total = right_weight * units.weight + units.l2;
        if constexpr (Clamps) {
            left_total = clamp(left_total, tiny, huge);
            right_total = clamp(right_total, tiny, huge);
        }
        const float inverse = 1.0f / (left_total * right_total);
        return {inverse * right_total, inverse * left_total};
    }

    // Contribution of one output to the score.
    float score(float left_sum, float right_sum, float unit) const {
        return unit * (left_sum * left_sum * left + right_sum * right_sum * right);
    }
    float score(std::int32_t left_sum, std::int32_t all, float unit) const {
        return score(static_cast<float>(left_sum), static_cast<float>(all - left_sum), unit);
    }

  private:
    Inverses(float of_left, float of_right) : left(of_left), right(of_right) {}
};

}  // namespace epiboost
