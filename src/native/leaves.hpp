// Which leaf a row falls into, and rows kept sorted by leaf.
#pragma once

#include <cstddef>
#include <cstdint>

#include "problem.hpp"

namespace epiboost {

// Leaves of a block of rows: bit d is set where the row's bin is above the threshold of level d. `column(d)` gives the
// block's bins of the feature that level d splits on.
template <class Columns>
inline void find_leaves(const Columns& column, const std::uint8_t* threshold, int depth, std::uint8_t* __restrict leaf) {
    for (std::size_t i = 0; i < block; ++i) leaf[i] = 0;
    for (int d = 0; d < depth; ++d) {
        const std::uint8_t* bins = column(d);
        const std::uint8_t limit = threshold[d];
        const std::uint8_t bit = static_cast<std::uint8_t>(1u << d);
        for (std::size_t i = 0; i < block; ++i) {
            const std::uint8_t above = static_cast<std::uint8_t>(-static_cast<int>(bins[i] > limit));  // all bits or none
            leaf[i] = static_cast<std::uint8_t>(leaf[i] | (above & bit));
        }
    }
}

// Copies rows that stay on the left to the front of `target`, the others to its back; returns how many stay on the left.
// Row r has its bin at column[r * stride].
inline std::size_t split_rows(const std::uint8_t* column, std::size_t stride, std::uint8_t threshold,
                              const std::uint32_t* __restrict rows, std::size_t count, std::uint32_t* __restrict target) {
    std::size_t left = 0;
    std::size_t right = count - 1;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t row = rows[i];
        const bool above = column[row * stride] > threshold;
        target[left] = row;
        target[right] = row;  // the next one that belongs to either end overwrites what does not
        left += !above;
        right -= above;
    }
    return left;
}

}  // namespace epiboost
