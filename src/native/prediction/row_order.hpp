// The order in which strips take the rows of a chunk: rows of a strip lie on the same side of many conditions.
//
// As in a k-d tree, a cell of rows is cut in the middle of the column whose conditions separate the most of its rows, until cells
// are strips. Predictions do not depend on the order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/threads.hpp"
#include "prediction/binned_rows.hpp"
#include "prediction/compiled_trees.hpp"

namespace epiboost {

// How many splits of a forest compare a column with thresholds below each bin.
struct ColumnSplits {
    std::size_t column;
    std::array<std::uint32_t, 256> below;

    std::uint32_t between(std::uint8_t lowest, std::uint8_t highest) const { return below[highest] - below[lowest]; }
};

// Those of the columns that most splits compare.
std::vector<ColumnSplits> count_splits(const CompiledTrees& trees);

// Row numbers in an order in which each `strip` consecutive rows are a strip.
std::vector<std::uint32_t> order_rows(const BinnedRows& binned, const std::vector<ColumnSplits>& splits, std::size_t strip,
                                      int threads, const Poll& poll);

}  // namespace epiboost
