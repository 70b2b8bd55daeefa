// Bins of some rows of a table, column by column: only the columns that trees compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epiboost {

struct BinnedRows {
    std::size_t rows;
    std::vector<std::uint8_t> bins;  // (columns, rows)

    const std::uint8_t* column(std::size_t index) const { return bins.data() + index * rows; }
};

}  // namespace epiboost
