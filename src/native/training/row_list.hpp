// Rows whose words a histogram sums.
#pragma once

#include <cstddef>
#include <cstdint>

namespace epiboost {

// Row numbers: `rows[i]` for i below `count`.
template <class Rows>
struct RowList {
    Rows rows;
    std::size_t count;
};

using ListedRows = RowList<const std::uint32_t*>;

// Consecutive rows, in place of an array of numbers.
struct ConsecutiveRows {
    std::size_t first;
    std::size_t operator[](std::size_t i) const { return first + i; }
};

}  // namespace epiboost
