// Comparison of a number with a column's ascending values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace epiboost {

// Infinity for a column without values; NaN for a missing number.
inline float distance_to_nearest(std::span<const float> ascending, float value) {
    if (ascending.empty()) return std::numeric_limits<float>::infinity();
    const auto above = std::lower_bound(ascending.begin(), ascending.end(), value);
    const float next = above == ascending.end() ? ascending.back() : *above;
    const float previous = above == ascending.begin() ? ascending.front() : *(above - 1);
    return std::min(std::abs(next - value), std::abs(previous - value));
}

// Number of a column's ascending values that are at least as large.
inline std::int32_t count_at_least(std::span<const float> ascending, float value) {
    return static_cast<std::int32_t>(ascending.end() - std::lower_bound(ascending.begin(), ascending.end(), value));
}

}  // namespace epiboost
