// Inputs and outputs of training: a binned table, a target, the recipe of a chain, and the arrays of the trees. Plain values
// without computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/constants.hpp"

namespace epiboost {

inline std::size_t divide_up(std::size_t number, std::size_t by) { return (number + by - 1) / by; }
inline std::size_t padded(std::size_t rows) { return divide_up(rows, block) * block; }

// Bins of a table in two layouts: by row for histograms, by column (padded with zeros) for finding leaves.
struct Table {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::span<const std::uint8_t> by_row;
    std::vector<std::uint8_t> by_column;
    std::vector<int> bins;             // number of bins per column, including bin 0 for missing values
    std::vector<int> lowest;           // lowest and highest bin that occurs in each column: thresholds between them split the
    std::vector<int> highest;          // table, others put all rows on one side

    const std::uint8_t* column(std::size_t index) const { return by_column.data() + index * padded(rows); }
};

// Targets and weights, padded with rows of weight zero.
struct Target {
    std::vector<float> y;            // standardised value, or 0 / 1, or class index; (columns, rows) if a family needs several
    std::vector<float> weight;       // sample weight
    std::vector<std::uint32_t> key;  // identifies the row in the noise function
    std::vector<float> offset;       // (outputs, rows): a known part of the scores of classes; empty for none
    double total_weight = 0.0;
};

// How to grow one chain. The Python class of the same name has the same fields (engines/native/chains.py).
struct ChainRecipe {
    Objective objective = Objective::normal;
    int outputs = 2;
    std::vector<float> start;     // score before the first tree, one per output; it is not shrunk
    std::vector<float> constants;  // of the family, the same for all rows
    int trees = 0;
    int depth = 6;
    int leaves = 0;               // of a leaf-wise tree; 0 for symmetric trees
    double learning_rate = 0.1;
    double l2 = 3.0;
    double shrink = 0.0;          // gamma: each step multiplies the model by 1 - gamma * learning_rate
    double noise = 0.0;           // standard deviation of the Langevin noise on each gradient
    double subsample = 1.0;       // share of the rows that each tree is trained on
    double variance_guard = 0.0;  // how often a row's own influence is removed from its residual for the variance
    double structure_rows = 0.0;  // number of rows that choose the splits of each tree; 0 for all rows
    double random_strength = 0.0;  // noise on the scores of candidate splits, see training/random_strength.hpp
    double random_decay = 0.0;    // how fast that noise vanishes, per tree
    std::vector<int> monotone;    // per column: the first output increases (1), decreases (-1) or is free (0); empty: all free
    std::vector<std::vector<int>> interactions;  // columns that may split the same path, in groups; empty for no restriction
    double min_leaf_weight = 0.0;  // least weight of the rows of a leaf; leaves without rows are allowed
    double column_share = 1.0;    // share of the columns that each tree may split on

    bool separates_noise() const { return !monotone.empty() && noise > 0.0; }  // see training/monotone.hpp
    bool guards_variance() const { return !is_of_classes(objective) && outputs >= 2 && variance_guard > 0.0; }
    bool is_symmetric() const { return leaves == 0; }
    int splits() const { return is_symmetric() ? depth : leaves - 1; }  // per tree
    int leaf_count() const { return is_symmetric() ? 1 << depth : leaves; }
};

// Trees with which chains begin, see `TreeArrays`; they are not grown again.
struct GivenTrees {
    int trees = 0;                            // per chain
    std::span<const std::uint16_t> feature;   // (members, trees, splits), and so on
    std::span<const std::uint8_t> threshold;
    std::span<const std::uint8_t> parent;
    std::span<const float> leaf;
};

// Trees of all chains. A symmetric tree has one split per level, a leaf-wise tree one per leaf but the first (core/leaves.hpp).
struct TreeArrays {
    std::span<std::uint16_t> feature;   // (members, trees, splits)
    std::span<std::uint8_t> threshold;  // (members, trees, splits)
    std::span<std::uint8_t> parent;     // (members, trees, splits): the leaf that is split; empty for symmetric trees
    std::span<float> leaf;              // (members, trees, leaves, outputs)
    std::span<std::int32_t> count;      // (members): number of trees grown
    std::span<double> evaluation;       // (members, trees): losses on the evaluation table; empty without one
    GivenTrees given;
};

}  // namespace epiboost
