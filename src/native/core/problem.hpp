// What a trainer is given: a binned table, a target, and how to grow the chains. Plain values; nothing here computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace epiboost {

constexpr std::size_t block = 64;  // rows are handled in blocks; arrays a chain owns are padded to whole blocks
constexpr int max_depth = 8;       // a leaf's number fits one byte
constexpr int max_outputs = 1024;

enum class Objective : int { normal = 0, bernoulli = 1, categorical = 2 };

inline std::size_t padded(std::size_t rows) { return (rows + block - 1) / block * block; }

// Bins of a table, twice: by row for histograms, by column (padded with zeros) for finding leaves.
struct Table {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::span<const std::uint8_t> by_row;
    std::vector<std::uint8_t> by_column;
    std::vector<int> bins;             // how many bins each column has, the missing bin included
    std::vector<int> first_threshold;  // 0 where a column has missing values, else 1

    const std::uint8_t* column(std::size_t index) const { return by_column.data() + index * padded(rows); }
};

// Targets and weights, padded: rows past the end weigh nothing.
struct Target {
    std::vector<float> y;             // standardised value, or 0 / 1, or the class number
    std::vector<float> weight;        // what a row counts for
    std::vector<std::uint32_t> key;   // the row's name in the noise function
    double total_weight = 0.0;
};

struct Recipe {
    Objective objective = Objective::normal;
    int outputs = 2;
    int trees = 0;
    int depth = 6;
    double learning_rate = 0.1;
    double l2 = 3.0;
    double shrink = 0.0;       // gamma: each step multiplies the model by 1 - gamma * learning_rate
    double noise = 0.0;        // standard deviation of the noise on each gradient
    double subsample = 1.0;    // share of rows that each tree sees
    double variance_guard = 0.0;  // more l2 for the log standard deviation, which then sees leave-one-out residuals
    double structure_rows = 0.0;  // rows on which each tree chooses its splits; 0 = all
    int patience = 0;          // trees without a better evaluation loss before a chain stops; 0 = never
    std::vector<float> start;  // the score before the first tree, one an output; it is not shrunk

    bool guards_variance() const { return objective == Objective::normal && variance_guard > 0.0; }
};

// Trees of all chains as arrays: (members, trees, depth) and (members, trees, leaves, outputs).
struct Trees {
    std::span<std::uint16_t> feature;
    std::span<std::uint8_t> threshold;
    std::span<float> leaf;
    std::span<std::int32_t> count;           // trees kept, one a member
    std::span<double> evaluation;            // (members, trees) losses on the evaluation table, if there is one
};

}  // namespace epiboost
