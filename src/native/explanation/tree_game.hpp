// Inputs and outputs of explanations: the trees of a forest as a cooperative game, and what one tree adds to its values.
//
// The players are columns or groups of columns. In a coalition, the splits on its players see the bins of the explained row,
// and all other splits those of a background row. The value of a coalition is the mean of the reached leaves' values over the
// background rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.hpp"

namespace epiboost {

// One number per leaf: the factors on outputs and trees are part of it.
struct ExplainedTrees {
    std::size_t trees = 0;
    std::size_t splits = 0;                   // per tree: the levels of a symmetric tree, or the leaves but one of a leaf-wise tree
    std::span<const std::uint16_t> feature;   // (trees, splits)
    std::span<const std::uint8_t> threshold;  // (trees, splits)
    std::span<const std::uint8_t> parent;     // (trees, splits): see core/leaves.hpp; empty for symmetric trees
    std::span<const double> leaf;             // (trees, leaves)
    std::span<const std::int32_t> player;     // (columns): the player that a column belongs to
    std::size_t players = 0;

    bool is_symmetric() const { return parent.empty(); }
    std::size_t leaves() const { return is_symmetric() ? std::size_t{1} << splits : splits + 1; }
};

// Bins of some rows, one array per column.
struct BinColumns {
    std::size_t rows = 0;
    std::size_t stride = 0;
    const std::uint8_t* first = nullptr;

    const std::uint8_t* column(std::size_t index) const { return first + index * stride; }
    BinColumns block(std::size_t begin, std::size_t count) const { return {count, stride, first + begin}; }
};

// What one tree adds to the values of some rows: entry `entry[row]` of `table`, one number per player of the tree.
struct TreeTerms {
    std::vector<std::int32_t> players;   // of the tree
    std::vector<std::uint16_t> entry;    // (rows)
    std::vector<double> table;           // (entries, players of the tree)
    double base = 0.0;                   // mean over the background rows
};

// n! k! / (n + k + 1)!: the share of the orders in which given n players come before a player and given k after it.
class OrderShares {
  public:
    static constexpr std::size_t most = 65;

    OrderShares() {
        for (std::size_t n = 0; n < most; ++n) {
            for (std::size_t k = 0; k < most; ++k) {  // n! k! / (n + k + 1)! by recursion over k
                share_[n][k] = k == 0 ? 1.0 / static_cast<double>(n + 1)
                                      : share_[n][k - 1] * static_cast<double>(k) / static_cast<double>(n + k + 1);
            }
        }
    }

    double operator()(std::size_t before, std::size_t after) const { return share_[before][after]; }

  private:
    std::array<std::array<double, most>, most> share_{};
};

// Position of a value among the distinct ones; it is added if it is new.
inline std::size_t position_in(std::vector<std::int32_t>& distinct, std::int32_t value) {
    std::size_t position = 0;
    while (position < distinct.size() && distinct[position] != value) ++position;
    if (position == distinct.size()) distinct.push_back(value);
    return position;
}

}  // namespace epiboost
