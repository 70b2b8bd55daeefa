// Exact Shapley values of a sum of trees, for a background of rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/threads.hpp"
#include "explanation/leafwise_terms.hpp"
#include "explanation/symmetric_terms.hpp"
#include "explanation/tree_game.hpp"

namespace epiboost {

// Adds the values to an array of shape (rows, players) and returns the mean of the sum over the background rows. Trees are
// processed in batches, side by side, and added in their order, so that the number of threads does not change the sums.
inline double add_shapley_values(const ExplainedTrees& forest, const BinColumns& rows, const BinColumns& background, int threads,
                                 double* values, const Poll& poll) {
    constexpr std::size_t rows_per_block = 1024;  // a block's terms of a batch stay in the cache
    constexpr std::size_t trees_per_batch = 64;
    const OrderShares share;
    double base = 0.0;
    std::size_t begin = 0;
    do {  // at least once, for the base
        const BinColumns block = rows.block(begin, std::min(rows_per_block, rows.rows - begin));
        base = 0.0;
        for (std::size_t first = 0; first < forest.trees; first += trees_per_batch) {
            const std::size_t count = std::min(trees_per_batch, forest.trees - first);
            std::vector<TreeTerms> batch(count);
            parallel_for(count, 4, threads, poll, [&](std::size_t from, std::size_t to) {
                LeafwiseTerms leafwise(forest, share);
                for (std::size_t i = from; i < to; ++i) {
                    batch[i] = forest.is_symmetric() ? symmetric_terms(forest, first + i, block, background, share)
                                                     : leafwise(first + i, block, background);
                }
            });
            for (const TreeTerms& terms : batch) {
                base += terms.base;
                const std::size_t players = terms.players.size();
                for (std::size_t row = 0; row < block.rows; ++row) {
                    const double* added = terms.table.data() + terms.entry[row] * players;
                    double* of_row = values + (begin + row) * forest.players;
                    for (std::size_t p = 0; p < players; ++p) of_row[terms.players[p]] += added[p];
                }
            }
        }
        begin += rows_per_block;
    } while (begin < rows.rows);
    return base;
}

}  // namespace epiboost
