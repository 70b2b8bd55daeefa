// Finds the leaf of a tree that each row falls into.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace epiboost {

// Leaf indices of a block of rows: bit d is set where the row's bin is above the threshold of level d. `column(d)` returns
// the block's bins of the feature that level d splits on.
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

// Leaf indices in a leaf-wise tree: split s divides leaf `parent[s]`, and rows whose bin is above its threshold go to leaf s + 1.
// Splits that were not made have no parent.
template <class Columns>
inline void follow_splits(const Columns& column, const std::uint8_t* threshold, const std::uint8_t* parent, int splits,
                          std::uint8_t* __restrict leaf) {
    for (std::size_t i = 0; i < block; ++i) leaf[i] = 0;
    for (int s = 0; s < splits && parent[s] != no_leaf; ++s) {
        const std::uint8_t* __restrict bins = column(s);
        const std::uint8_t limit = threshold[s];
        const std::uint8_t from = parent[s];
        const auto added = static_cast<std::uint8_t>(s + 1);
        for (std::size_t i = 0; i < block; ++i) leaf[i] = (leaf[i] == from) & (bins[i] > limit) ? added : leaf[i];
    }
}

}  // namespace epiboost
