// Monotone constraints: orders the leaf values of a tree, so that along a constrained column the first output never decreases, or
// never increases. Then the sum of the trees does not either.
//
// A leaf is a box: an interval of bins for each column. Two leaves are neighbours along a column if one's interval ends where
// the other's begins and they overlap in all other columns; if all neighbours are in order, all rows are. The values are
// projected onto those that are in order. What rounding leaves is closed by the mean of the largest value below and the smallest
// value above each leaf, which are both in order. Bin 0, of missing values, has no order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/problem.hpp"
#include "training/leaf_values.hpp"
#include "training/monotone_pair.hpp"
#include "training/splits.hpp"

namespace epiboost {

// The intervals of bins of a tree's leaves, for the columns that it splits.
class LeafBoxes {
  public:
    LeafBoxes(const ChainRecipe& recipe, const Splits& splits)
        : is_symmetric_(recipe.is_symmetric()), threshold_(splits.threshold) {
        for (int s = 0; s < recipe.splits() && is_made(recipe, splits, s); ++s) slot_.push_back(slot_of(splits.feature[s]));
        leaves_ = recipe.is_symmetric() ? 1 << slot_.size() : static_cast<int>(slot_.size()) + 1;
        bounds_.assign(static_cast<std::size_t>(leaves_) * columns_.size(), {0, last_bin});
        for (std::size_t s = 0; s < slot_.size(); ++s) {
            if (recipe.is_symmetric()) {
                for (int leaf = 0; leaf < leaves_; ++leaf) cut(leaf, s, splits.threshold[s], (leaf >> s & 1) != 0);
            } else {
                const int added = static_cast<int>(s) + 1;
                std::copy_n(&bounds(splits.parent[s], 0), columns_.size(), &bounds(added, 0));
                cut(splits.parent[s], s, splits.threshold[s], false);
                cut(added, s, splits.threshold[s], true);
            }
        }
    }

    // Pairs of neighbours along the constrained columns; the value of the first must not be above that of the second.
    std::vector<std::pair<int, int>> pairs_in_order(const std::vector<int>& monotone) const {
        std::vector<std::pair<int, int>> pairs;
        for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
            const int direction = monotone[columns_[slot]];
            if (direction == 0) continue;
            for (int lower = 0; lower < leaves_; ++lower) {
                const int first = is_symmetric_ ? next_leaf(lower, slot) : 0;
                const int end = is_symmetric_ ? first + 1 : leaves_;
                for (int upper = first; upper < end; ++upper) {
                    if (!are_neighbours(lower, upper, slot)) continue;
                    pairs.push_back(direction > 0 ? std::pair{lower, upper} : std::pair{upper, lower});
                }
            }
        }
        return pairs;
    }

  private:
    static constexpr int last_bin = 255;
    struct Bounds {
        int low;
        int high;  // below `low` if no row can be there
    };

    static bool is_made(const ChainRecipe& recipe, const Splits& splits, int split) {
        return recipe.is_symmetric() || splits.parent[split] != no_leaf;
    }

    std::size_t slot_of(std::uint16_t column) {
        const auto found = std::find(columns_.begin(), columns_.end(), column);
        if (found != columns_.end()) return static_cast<std::size_t>(found - columns_.begin());
        columns_.push_back(column);
        return columns_.size() - 1;
    }

    Bounds& bounds(int leaf, std::size_t slot) { return bounds_[static_cast<std::size_t>(leaf) * columns_.size() + slot]; }
    const Bounds& bounds(int leaf, std::size_t slot) const {
        return bounds_[static_cast<std::size_t>(leaf) * columns_.size() + slot];
    }

    void cut(int leaf, std::size_t split, int threshold, bool above) {
        Bounds& of_leaf = bounds(leaf, slot_[split]);
        if (above) {
            of_leaf.low = std::max(of_leaf.low, threshold + 1);
        } else {
            of_leaf.high = std::min(of_leaf.high, threshold);
        }
    }

    // The only leaf of a symmetric tree that can follow another one along a column: the splits at its end are passed.
    int next_leaf(int leaf, std::size_t along) const {
        int next = leaf;
        for (std::size_t s = 0; s < slot_.size(); ++s) {
            if (slot_[s] == along && threshold_[s] == bounds(leaf, along).high) next |= 1 << s;
        }
        return next;
    }

    bool are_neighbours(int lower, int upper, std::size_t along) const {
        const Bounds& below = bounds(lower, along);
        const Bounds& above = bounds(upper, along);
        if (below.high == 0 || below.high + 1 != above.low || below.low > below.high || above.low > above.high) return false;
        for (std::size_t slot = 0; slot < columns_.size(); ++slot) {
            if (slot == along) continue;
            const Bounds& one = bounds(lower, slot);
            const Bounds& other = bounds(upper, slot);
            if (std::max(one.low, other.low) > std::min(one.high, other.high)) return false;
        }
        return true;
    }

    bool is_symmetric_;
    const std::uint8_t* threshold_;       // of each split
    std::vector<std::uint16_t> columns_;  // that the tree splits
    std::vector<std::size_t> slot_;       // of each split's column among them
    int leaves_ = 0;
    std::vector<Bounds> bounds_;  // (leaves, columns)
};

// Leaves that belong together: each has the number of the first of its set.
class LeafSets {
  public:
    explicit LeafSets(std::size_t leaves) : first_(leaves) { std::iota(first_.begin(), first_.end(), 0); }

    int of(int leaf) const {
        while (first_[leaf] != leaf) leaf = first_[leaf];
        return leaf;
    }
    void join(int one, int other) {
        const int first = of(one);
        const int second = of(other);
        first_[std::max(first, second)] = std::min(first, second);
    }

  private:
    std::vector<int> first_;
};

// Sums of the leaves' numbers over the set of each leaf.
inline std::vector<double> sums_of_sets(const LeafSets& sets, const std::vector<double>& numbers) {
    std::vector<double> sums(numbers.size(), 0.0);
    for (std::size_t leaf = 0; leaf < numbers.size(); ++leaf) sums[sets.of(static_cast<int>(leaf))] += numbers[leaf];
    for (std::size_t leaf = 0; leaf < numbers.size(); ++leaf) sums[leaf] = sums[sets.of(static_cast<int>(leaf))];
    return sums;
}

// Replaces values by the nearest ones, in weighted squares, that are in the order of the pairs. With any others a step of
// boosting could raise the loss. Dykstra's algorithm projects onto one pair after the other, and takes each projection back
// before its next. Returns the sets of leaves that have one value because they would be in the wrong order otherwise.
inline LeafSets order_values(const std::vector<std::pair<int, int>>& pairs, const std::vector<double>& weight,
                             std::vector<double>& value) {
    std::vector<double> push(pairs.size(), 0.0);  // how far each pair has been pushed, times weight
    std::vector<double> inverse(weight.size());
    double largest = 0.0;
    for (std::size_t leaf = 0; leaf < value.size(); ++leaf) {
        inverse[leaf] = 1.0 / weight[leaf];
        largest = std::max(largest, std::abs(value[leaf]));
    }
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        double movement = 0.0;
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto [lower, upper] = pairs[i];
            movement = std::max(movement, project_pair(value[lower], value[upper], inverse[lower], inverse[upper], push[i]));
        }
        if (movement <= min_movement * largest) break;
    }
    LeafSets sets(value.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (push[i] > 0.0) sets.join(pairs[i].first, pairs[i].second);
    }
    std::vector<double> largest_below = value;
    std::vector<double> smallest_above = value;
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& [lower, upper] : pairs) {
            if (largest_below[upper] < largest_below[lower]) {
                largest_below[upper] = largest_below[lower];
                changed = true;
            }
            if (smallest_above[lower] > smallest_above[upper]) {
                smallest_above[lower] = smallest_above[upper];
                changed = true;
            }
        }
    }
    for (std::size_t leaf = 0; leaf < value.size(); ++leaf) value[leaf] = 0.5 * (largest_below[leaf] + smallest_above[leaf]);
    return sets;
}

// What `make_monotone` has done to the leaves of a tree; empty if nothing.
struct MonotoneLeaves {
    std::vector<float> before;  // values
    std::vector<float> shift;   // what was added to them
    std::vector<float> share;   // how much of a change of the value before is a change of the value now
};

// Orders the leaf values of the first output; a leaf without rows counts as one row.
//
// Noise is averaged over leaves that an order connects. Otherwise it would only ever raise the differences between them, because
// no later tree may lower these, and the chain would drift.
inline MonotoneLeaves make_monotone(const ChainRecipe& recipe, const Splits& splits, LeafValues::Result& leaves) {
    if (recipe.monotone.empty()) return {};
    const std::vector<std::pair<int, int>> pairs = LeafBoxes(recipe, splits).pairs_in_order(recipe.monotone);
    if (pairs.empty()) return {};
    const std::size_t count = leaves.weight.size();
    std::vector<double> weight(count);
    std::vector<double> value(count);
    std::vector<double> noise(count, 0.0);  // times weight
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
        const double total = leaves.weight[leaf] + recipe.l2;
        weight[leaf] = std::max(total, 1.0);
        value[leaf] = leaves.value[leaf * recipe.outputs];
        if (leaves.noise.empty() || !(total > 1e-20)) continue;
        const double part = -recipe.learning_rate * leaves.noise[leaf] / total;
        value[leaf] -= part;
        noise[leaf] = weight[leaf] * part;
    }
    LeafSets connected(count);
    for (const auto& [lower, upper] : pairs) connected.join(lower, upper);
    const std::vector<double> set_noise = sums_of_sets(connected, noise);
    const std::vector<double> set_weight = sums_of_sets(connected, weight);
    const std::vector<double> block_weight = sums_of_sets(order_values(pairs, weight, value), weight);
    MonotoneLeaves changed{std::vector<float>(count), std::vector<float>(count), std::vector<float>(count)};
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
        float& stored = leaves.value[leaf * recipe.outputs];
        const auto ordered = static_cast<float>(value[leaf] + set_noise[leaf] / set_weight[leaf]);
        changed.before[leaf] = stored;
        changed.shift[leaf] = ordered - stored;
        changed.share[leaf] = static_cast<float>(weight[leaf] / block_weight[leaf]);
        stored = ordered;
    }
    return changed;
}

}  // namespace epiboost
