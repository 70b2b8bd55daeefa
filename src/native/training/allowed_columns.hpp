// Which columns a split may use: those drawn for the tree, and those that may interact with the columns already on its path.
//
// Columns interact if they split the same path. A path may use a column if a group of the recipe has it and all columns of the
// path. Along a path the columns that are allowed only become fewer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "core/noise.hpp"
#include "core/problem.hpp"

namespace epiboost {

class AllowedColumns {
  public:
    AllowedColumns(const ChainRecipe& recipe, std::size_t columns) : recipe_(recipe), columns_(columns) {
        if (!recipe.interactions.empty()) {
            groups_of_.resize(columns);
            for (std::size_t g = 0; g < recipe.interactions.size(); ++g) {
                for (const int column : recipe.interactions[g]) groups_of_[column].push_back(static_cast<int>(g));
            }
            paths_.resize(static_cast<std::size_t>(recipe.is_symmetric() ? 1 : recipe.leaves));
            root_.groups.resize(recipe.interactions.size());
            std::iota(root_.groups.begin(), root_.groups.end(), 0);
            mark(root_);
        }
        for (std::size_t c = 0; c < columns; ++c) {
            if (root_.allowed.empty() || root_.allowed[c]) usable_.push_back(c);
        }
        if (recipe.column_share < 1.0) drawn_.resize(columns);
    }

    // Starts a tree with path 0. The columns of a tree are those with the smallest random numbers.
    void start(std::uint64_t seed, int tree) {
        if (!paths_.empty()) paths_[0] = root_;
        if (drawn_.empty() || usable_.empty()) return;
        const NoiseKey key(seed, static_cast<std::uint64_t>(tree), Purpose::columns, 0);
        std::vector<std::pair<std::uint32_t, std::size_t>> order;
        for (const std::size_t c : usable_) order.emplace_back(key.bits(static_cast<std::uint32_t>(c)), c);
        std::sort(order.begin(), order.end());
        const double wanted = recipe_.column_share * static_cast<double>(order.size()) + 0.5;
        order.resize(std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, order.size()));
        std::fill(drawn_.begin(), drawn_.end(), std::uint8_t{0});
        for (const auto& [bits, column] : order) drawn_[column] = 1;
    }

    bool allows(int path, std::size_t column) const {
        return (drawn_.empty() || drawn_[column]) && (paths_.empty() || paths_[path].allowed[column]);
    }

    // Adds a column to a path.
    void narrow(int path, std::size_t column) {
        if (paths_.empty()) return;
        Path& of_leaf = paths_[path];
        std::vector<int> groups;
        std::set_intersection(of_leaf.groups.begin(), of_leaf.groups.end(), groups_of_[column].begin(), groups_of_[column].end(),
                              std::back_inserter(groups));
        if (groups.size() == of_leaf.groups.size()) return;
        of_leaf.groups = std::move(groups);
        mark(of_leaf);
    }

    void copy(int from, int to) {
        if (!paths_.empty()) paths_[to] = paths_[from];
    }

  private:
    struct Path {
        std::vector<int> groups;  // that have all columns of the path, ascending
        std::vector<std::uint8_t> allowed;
    };

    void mark(Path& path) const {
        path.allowed.assign(columns_, 0);
        for (const int group : path.groups) {
            for (const int column : recipe_.interactions[group]) path.allowed[column] = 1;
        }
    }

    const ChainRecipe& recipe_;
    std::size_t columns_;
    std::vector<std::vector<int>> groups_of_;  // of each column, ascending
    std::vector<std::size_t> usable_;          // columns that are in a group
    std::vector<std::uint8_t> drawn_;          // whether the tree may use each column; empty for all
    Path root_;
    std::vector<Path> paths_;  // empty if all columns may interact
};

}  // namespace epiboost
