// Shapley values of one symmetric tree.
//
// A row enters only by its leaf, so the values are computed once for each leaf that holds a row. Background rows enter by the
// number of them in each leaf. With D levels and P players, a coalition S that holds the levels M has the value
//     v(S) = sum over n of weight(n) * leaf(x on M, n elsewhere),
// where n are the outcomes on the other levels and weight(n) is the share of the background rows with these outcomes. There
// are 2^P coalitions of 2^D terms for all leaves together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "explanation/tree_game.hpp"

namespace epiboost {

// Leaf of each row: bit d is set where the bin is above the threshold of level d.
inline void symmetric_leaves(const ExplainedTrees& forest, std::size_t tree, const BinColumns& bins,
                             std::vector<std::uint16_t>& leaf) {
    leaf.assign(bins.rows, 0);
    for (std::size_t level = 0; level < forest.splits; ++level) {
        const std::uint8_t* column = bins.column(forest.feature[tree * forest.splits + level]);
        const std::uint8_t limit = forest.threshold[tree * forest.splits + level];
        for (std::size_t row = 0; row < bins.rows; ++row) {
            leaf[row] = static_cast<std::uint16_t>(leaf[row] | ((column[row] > limit ? 1u : 0u) << level));
        }
    }
}

inline TreeTerms symmetric_terms(const ExplainedTrees& forest, std::size_t tree, const BinColumns& rows,
                                 const BinColumns& background, const OrderShares& share) {
    TreeTerms terms;
    std::vector<std::uint32_t> levels;  // of each player
    for (std::size_t level = 0; level < forest.splits; ++level) {
        const std::size_t at = position_in(terms.players, forest.player[forest.feature[tree * forest.splits + level]]);
        if (at == levels.size()) levels.push_back(0);
        levels[at] |= 1u << level;
    }
    const std::size_t players = levels.size();
    const auto leaves = static_cast<std::uint32_t>(forest.leaves());
    const std::uint32_t coalitions = 1u << players;
    const double* value = forest.leaf.data() + tree * leaves;

    std::vector<double> weight(leaves, 0.0);
    symmetric_leaves(forest, tree, background, terms.entry);
    for (const std::uint16_t leaf : terms.entry) weight[leaf] += 1.0;
    for (double& of_leaf : weight) of_leaf /= static_cast<double>(background.rows);

    std::vector<std::uint32_t> known(coalitions, 0);         // levels of each coalition
    std::vector<double> worth(std::size_t{coalitions} * leaves, 0.0);  // (coalitions, outcomes on its levels)
    std::vector<double> marginal(leaves);
    for (std::uint32_t coalition = 0; coalition < coalitions; ++coalition) {
        for (std::size_t p = 0; p < players; ++p) {
            if (coalition >> p & 1u) known[coalition] |= levels[p];
        }
        const std::uint32_t inside = known[coalition];
        const std::uint32_t outside = (leaves - 1) & ~inside;
        std::fill(marginal.begin(), marginal.end(), 0.0);
        for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) marginal[leaf & outside] += weight[leaf];
        double* of_coalition = worth.data() + std::size_t{coalition} * leaves;
        for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) of_coalition[leaf & inside] += marginal[leaf & outside] * value[leaf];
    }
    terms.base = worth[0];

    symmetric_leaves(forest, tree, rows, terms.entry);
    std::vector<std::uint8_t> holds_row(leaves, 0);
    for (const std::uint16_t leaf : terms.entry) holds_row[leaf] = 1;
    terms.table.assign(std::size_t{leaves} * players, 0.0);
    std::vector<double> with(coalitions);
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
        if (!holds_row[leaf]) continue;
        // The value of player p is the sum of joins(S) v(S) over the coalitions S with p less that of stays(S) v(S) over those
        // without, so the sum of (joins + stays) v over those with p less the sum of stays v over all.
        double all = 0.0;
        for (std::uint32_t coalition = 0; coalition < coalitions; ++coalition) {
            const auto size = static_cast<std::size_t>(std::popcount(coalition));
            const double of_leaf = worth[std::size_t{coalition} * leaves + (leaf & known[coalition])];
            const double joins = size > 0 ? share(size - 1, players - size) : 0.0;
            const double stays = size < players ? share(size, players - size - 1) : 0.0;
            all += stays * of_leaf;
            with[coalition] = (joins + stays) * of_leaf;
        }
        // The coalitions with the last player are the upper half. Folding it onto the lower half forgets that player.
        for (std::size_t p = players; p-- > 0;) {
            const std::uint32_t half = 1u << p;
            double upper = 0.0;
            for (std::uint32_t coalition = 0; coalition < half; ++coalition) {
                upper += with[half + coalition];
                with[coalition] += with[half + coalition];
            }
            terms.table[std::size_t{leaf} * players + p] = upper - all;
        }
    }
    return terms;
}

}  // namespace epiboost
