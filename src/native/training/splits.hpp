// The splits of one tree, in the order in which they are made.
#pragma once

#include <cstdint>

#include "core/leaves.hpp"
#include "core/problem.hpp"

namespace epiboost {

constexpr std::size_t blocks_at_once = 8;  // whose leaves are found side by side

struct Splits {  // one per level of a symmetric tree, one per leaf but the first of a leaf-wise tree
    std::uint16_t feature[max_splits] = {};
    std::uint8_t threshold[max_splits] = {};
    std::uint8_t parent[max_splits] = {};  // of leaf-wise trees: the leaf that is split

    // Leaf indices of some blocks of rows of a table.
    void find_leaves_of(const Table& table, std::size_t row, std::size_t blocks, const ChainRecipe& recipe,
                        std::uint8_t* leaf) const {
        const auto column = [&](int split, std::size_t b) { return table.column(feature[split]) + row + b * block; };
        if (!recipe.is_symmetric()) {
            follow_splits(column, threshold, parent, recipe.splits(), blocks, leaf);
            return;
        }
        for (std::size_t b = 0; b < blocks; ++b) {
            find_leaves([&](int level) { return column(level, b); }, threshold, recipe.depth, leaf + b * block);
        }
    }
};

}  // namespace epiboost
