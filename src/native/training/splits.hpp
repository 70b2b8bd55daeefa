// The splits of one tree, in the order in which they are made.
#pragma once

#include <cstdint>

#include "core/leaves.hpp"
#include "core/problem.hpp"

namespace epiboost {

struct Splits {  // one per level of a symmetric tree, one per leaf but the first of a leaf-wise tree
    std::uint16_t feature[max_splits] = {};
    std::uint8_t threshold[max_splits] = {};
    std::uint8_t parent[max_splits] = {};  // of leaf-wise trees: the leaf that is split

    // Leaf indices of a block of rows of a table.
    void find_leaves_of(const Table& table, std::size_t row, const ChainRecipe& recipe, std::uint8_t* leaf) const {
        const auto column = [&](int split) { return table.column(feature[split]) + row; };
        if (recipe.is_symmetric()) {
            find_leaves(column, threshold, recipe.depth, leaf);
        } else {
            follow_splits(column, threshold, parent, recipe.splits(), leaf);
        }
    }
};

}  // namespace epiboost
