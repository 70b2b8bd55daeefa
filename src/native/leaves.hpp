// Which leaf a row falls into, and rows kept sorted by leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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
        for (std::size_t i = 0; i < block; ++i) leaf[i] |= bins[i] > limit ? bit : std::uint8_t{0};
    }
}

// Splits rows in place, keeping their order on both sides; returns how many stay on the left. Row r has its bin at
// column[r * stride]; `spare` holds as many rows.
inline std::size_t split_rows(const std::uint8_t* column, std::size_t stride, std::uint8_t threshold, std::uint32_t* rows,
                              std::size_t count, std::uint32_t* spare) {
    std::size_t left = 0;
    std::size_t right = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t row = rows[i];
        const bool above = column[row * stride] > threshold;
        rows[left] = row;
        spare[right] = row;
        left += !above;
        right += above;
    }
    if (right > 0) std::memcpy(rows + left, spare, right * sizeof(std::uint32_t));
    return left;
}

}  // namespace epiboost
