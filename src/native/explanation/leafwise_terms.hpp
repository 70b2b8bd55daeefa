// Shapley values of one leaf-wise tree.
//
// A leaf is reached if every player on its path passes all of its splits there: in a coalition by the row, otherwise by the
// background row. Let the row fail for the players F, and the background row for the players G. If both fail for a player, the
// leaf is never reached. Otherwise it is reached if all of G and none of F are in the coalition, and its value belongs
//     to each player of G with the share of the orders in which it comes after the rest of G and before all of F,
//     to each player of F, with the opposite sign, likewise.
// Rows with the same F, and background rows with the same G, are processed once for each leaf.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "explanation/failure_sums.hpp"
#include "explanation/tree_game.hpp"

namespace epiboost {

// Different sets among those of some rows, in the order in which they first occur.
class DistinctSets {
  public:
    std::vector<PlayerSet> sets;
    std::vector<double> count;
    std::vector<std::uint32_t> of_row;

    void find(const std::vector<PlayerSet>& rows, std::size_t players) {
        sets.clear();
        count.clear();
        of_row.resize(rows.size());
        if (players <= dense_players) {
            place_.assign(std::size_t{1} << players, 0);
            for (std::size_t row = 0; row < rows.size(); ++row) add(row, rows[row], place_[rows[row]]);
        } else {
            large_.clear();
            for (std::size_t row = 0; row < rows.size(); ++row) add(row, rows[row], large_[rows[row]]);
        }
    }

  private:
    void add(std::size_t row, PlayerSet set, std::uint32_t& place) {
        if (place == 0) {
            sets.push_back(set);
            count.push_back(0.0);
            place = static_cast<std::uint32_t>(sets.size());
        }
        count[place - 1] += 1.0;
        of_row[row] = place - 1;
    }

    std::vector<std::uint32_t> place_;  // one past the position of each set
    std::unordered_map<PlayerSet, std::uint32_t> large_;
};

class LeafwiseTerms {
  public:
    LeafwiseTerms(const ExplainedTrees& forest, const OrderShares& share) : forest_(forest), share_(share) {}

    TreeTerms operator()(std::size_t tree, const BinColumns& rows, const BinColumns& background) {
        tree_ = tree;
        TreeTerms terms;
        terms.entry.resize(rows.rows);
        for (std::size_t row = 0; row < rows.rows; ++row) terms.entry[row] = static_cast<std::uint16_t>(row);
        const int root = find_children(terms.players);
        terms.table.assign(rows.rows * terms.players.size(), 0.0);
        on_path_.clear();
        if (failed_.empty()) failed_.emplace_back();
        failed_[0][0].assign(rows.rows, 0);
        failed_[0][1].assign(background.rows, 0);
        visit(root, 0, {rows, background}, terms);
        return terms;
    }

  private:
    // Finds where each split leads, and its player; returns the first split. A leaf is `~leaf`. Going backwards, `next` holds
    // where a row in each leaf goes.
    int find_children(std::vector<std::int32_t>& players) {
        const std::size_t first = tree_ * forest_.splits;
        child_.assign(forest_.splits, {});
        player_of_.assign(forest_.splits, 0);
        std::vector<int> next(forest_.leaves());
        for (std::size_t leaf = 0; leaf < next.size(); ++leaf) next[leaf] = ~static_cast<int>(leaf);
        for (std::size_t split = forest_.splits; split-- > 0;) {
            const std::size_t divided = forest_.parent[first + split];
            if (divided == no_leaf) continue;
            player_of_[split] = position_in(players, forest_.player[forest_.feature[first + split]]);
            child_[split] = {next[divided], next[split + 1]};
            next[divided] = static_cast<int>(split);
        }
        return next[0];
    }

    // Follows the tree depth first. `failed_[depth]` has the players that fail on the path, for each row and background row.
    void visit(int node, std::size_t depth, const std::array<BinColumns, 2>& bins, TreeTerms& terms) {
        if (node < 0) {
            add_leaf(static_cast<std::size_t>(~node), failed_[depth], terms);
            return;
        }
        const auto split = static_cast<std::size_t>(node);
        const std::size_t cell = tree_ * forest_.splits + split;
        const std::size_t players_before = on_path_.size();
        const std::size_t bit = position_in(on_path_, static_cast<std::int32_t>(player_of_[split]));
        if (failed_.size() < depth + 2) failed_.resize(depth + 2);
        for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{1}}) {
            for (std::size_t kind = 0; kind < 2; ++kind) {
                const std::size_t rows = bins[kind].rows;
                const std::uint8_t* __restrict column = bins[kind].column(forest_.feature[cell]);
                const std::uint8_t limit = forest_.threshold[cell];
                failed_[depth + 1][kind].resize(rows);
                const PlayerSet* __restrict before = failed_[depth][kind].data();
                PlayerSet* __restrict after = failed_[depth + 1][kind].data();
                for (std::size_t row = 0; row < rows; ++row) {
                    after[row] = before[row] | static_cast<PlayerSet>((column[row] > limit) != side) << bit;
                }
            }
            visit(child_[split][side], depth + 1, bins, terms);
        }
        on_path_.resize(players_before);
    }

    void add_leaf(std::size_t leaf, const std::array<std::vector<PlayerSet>, 2>& failed, TreeTerms& terms) {
        const std::size_t on_path = on_path_.size();
        const auto n_background = static_cast<double>(failed[1].size());
        const double value = forest_.leaf[tree_ * forest_.leaves() + leaf] / n_background;
        row_sets_.find(failed[0], on_path);
        added_.assign(row_sets_.sets.size() * on_path, 0.0);
        any_.assign(row_sets_.sets.size(), 1);
        if (on_path <= 8) {
            terms.base += value * few_.prepare(failed[1], on_path);
            add_dense(few_, value);
        } else if (on_path <= dense_players) {
            terms.base += value * many_.prepare(failed[1], on_path);
            add_dense(many_, value);
        } else {
            background_sets_.find(failed[1], on_path);
            terms.base += value * add_pairs(value);
        }
        const std::size_t players = terms.players.size();
        for (std::size_t row = 0; row < failed[0].size(); ++row) {
            const std::size_t set = row_sets_.of_row[row];
            if (!any_[set]) continue;
            const double* added = added_.data() + set * on_path;
            double* of_row = terms.table.data() + row * players;
            for (std::size_t p = 0; p < on_path; ++p) of_row[on_path_[p]] += added[p];
        }
    }

    template <class Sums>
    void add_dense(const Sums& sums, double value) {
        const std::size_t on_path = on_path_.size();
        for (std::size_t r = 0; r < row_sets_.sets.size(); ++r) {
            any_[r] = sums.add_values(row_sets_.sets[r], value, added_.data() + r * on_path);
        }
    }

    // Compares all different sets of rows and background rows; returns the number of background rows in the leaf.
    double add_pairs(double value) {
        double in_leaf = 0.0;
        for (std::size_t b = 0; b < background_sets_.sets.size(); ++b) {
            if (background_sets_.sets[b] == 0) in_leaf = background_sets_.count[b];
        }
        for (std::size_t r = 0; r < row_sets_.sets.size(); ++r) {
            const PlayerSet row_fails = row_sets_.sets[r];
            const auto n_row = static_cast<std::size_t>(std::popcount(row_fails));
            double* added = added_.data() + r * on_path_.size();
            for (std::size_t b = 0; b < background_sets_.sets.size(); ++b) {
                const PlayerSet background_fails = background_sets_.sets[b];
                if (row_fails & background_fails) continue;
                const auto n_background = static_cast<std::size_t>(std::popcount(background_fails));
                const double weight = value * background_sets_.count[b];
                if (n_background) {
                    const double gained = weight * share_(n_background - 1, n_row);
                    for (PlayerSet left = background_fails; left; left &= left - 1) added[std::countr_zero(left)] += gained;
                }
                if (n_row) {
                    const double taken = weight * share_(n_background, n_row - 1);
                    for (PlayerSet left = row_fails; left; left &= left - 1) added[std::countr_zero(left)] -= taken;
                }
            }
        }
        return in_leaf;
    }

    const ExplainedTrees& forest_;
    const OrderShares& share_;
    std::size_t tree_ = 0;
    std::vector<std::array<int, 2>> child_;                      // (splits): below, above
    std::vector<std::size_t> player_of_;                         // (splits): positions among the players of the tree
    std::vector<std::array<std::vector<PlayerSet>, 2>> failed_;  // (depth, {rows, background rows})
    std::vector<std::int32_t> on_path_;                          // players of the tree that are on the path
    DistinctSets row_sets_;
    DistinctSets background_sets_;
    FailureSums<4> few_;
    FailureSums<dense_players / 2> many_;
    std::vector<double> added_;      // (distinct sets of rows, players on the path)
    std::vector<std::uint8_t> any_;  // (distinct sets of rows): whether one of them is not zero
};

}  // namespace epiboost
