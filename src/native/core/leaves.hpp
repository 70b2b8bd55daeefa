// Finds the leaf of a tree that each row falls into.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace epiboost {

// Leaf indices of a block of rows: bit d is set where the row's bin is above the threshold of level d. `column(d)` returns
// the block's bins of the feature that level d splits on. Bins and thresholds are bytes of either sign. The average with all bits
// or none, one instruction, puts a bit in front of those of the lower levels. It rounds up, but what is shifted out is zero.
template <class Columns, class Byte>
inline void find_leaves(const Columns& column, const Byte* threshold, int depth, std::uint8_t* __restrict leaf) {
    for (std::size_t i = 0; i < block; ++i) leaf[i] = 0;
    for (int d = 0; d < depth; ++d) {
        const Byte* bins = column(d);
        const Byte limit = threshold[d];
        for (std::size_t i = 0; i < block; ++i) {
            const std::uint8_t above = static_cast<std::uint8_t>(-static_cast<int>(bins[i] > limit));  // all bits or none
            leaf[i] = static_cast<std::uint8_t>((leaf[i] + above + 1) >> 1);
        }
    }
    for (std::size_t i = 0; i < block; ++i) leaf[i] = static_cast<std::uint8_t>(leaf[i] >> (max_depth - depth));
}

// Leaf indices of some blocks of rows in a leaf-wise tree: split s divides leaf `parent[s]`, and rows whose bin is above its
// threshold go to leaf s + 1. Splits that were not made have no parent. `column(s, b)` returns the bins of block b. Each split
// waits for the one before, so several blocks are followed side by side.
template <class Columns, class Byte>
inline void follow_splits(const Columns& column, const Byte* threshold, const std::uint8_t* parent, int splits,
                          std::size_t blocks, std::uint8_t* __restrict leaf) {
    for (std::size_t i = 0; i < blocks * block; ++i) leaf[i] = 0;
    for (int s = 0; s < splits && parent[s] != no_leaf; ++s) {
        const Byte limit = threshold[s];
        const std::uint8_t from = parent[s];
        const auto added = static_cast<std::uint8_t>(s + 1);
        for (std::size_t b = 0; b < blocks; ++b) {
            const Byte* __restrict bins = column(s, b);
            std::uint8_t* __restrict of_block = leaf + b * block;
            for (std::size_t i = 0; i < block; ++i) {
                of_block[i] = ((of_block[i] == from) & (bins[i] > limit)) ? added : of_block[i];
            }
        }
    }
}

}  // namespace epiboost
