// The rows of each leaf of a growing leaf-wise tree, as consecutive parts of one list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problem.hpp"
#include "training/row_list.hpp"

namespace epiboost {

// Leaves of one thread's rows.
class LeafPartition {
  public:
    // Puts all rows into leaf 0, except rows of weight zero, which are in no leaf. A null `weight` means that all have weight.
    void start(std::size_t first, std::size_t count, const float* weight) {
        rows_.clear();
        for (std::size_t row = first; row < first + count; ++row) {
            if (weight == nullptr || weight[row] > 0.0f) rows_.push_back(static_cast<std::uint32_t>(row));
        }
        moved_.resize(rows_.size());
        leaf_[0] = {0, rows_.size()};
    }

    ListedRows rows_of(int leaf) const { return {rows_.data() + leaf_[leaf].first, leaf_[leaf].count}; }

    // Moves rows of a leaf whose bin is above the threshold to the leaf `added`. The bin of row r is column[r * stride]. The
    // order of rows stays, so that they are read in the order of memory.
    void split(int leaf, int added, const std::uint8_t* column, std::size_t stride, std::uint8_t threshold) {
        Part& part = leaf_[leaf];
        std::uint32_t* rows = rows_.data() + part.first;
        std::size_t left = 0;
        std::size_t right = 0;
        for (std::size_t i = 0; i < part.count; ++i) {
            const std::uint32_t row = rows[i];
            const bool above = column[row * stride] > threshold;
            rows[left] = row;
            moved_[right] = row;
            left += !above;
            right += above;
        }
        std::copy_n(moved_.begin(), right, rows + left);
        leaf_[added] = {part.first + left, right};
        part.count = left;
    }

  private:
    struct Part {
        std::size_t first = 0;
        std::size_t count = 0;
    };

    std::vector<std::uint32_t> rows_;
    std::vector<std::uint32_t> moved_;
    Part leaf_[max_leaves];
};

}  // namespace epiboost
