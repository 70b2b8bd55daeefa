// The data that all chains of a fit share, computed once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/problem.hpp"
#include "training/bundles.hpp"
#include "training/histogram.hpp"
#include "training/panels.hpp"

namespace epiboost {

// Gradients are rounded to integers up to this size. Rounding up gives at most 127, and the sum of 65,535 such numbers fits
// the 24 bits of PackedTwo.
constexpr float max_level = 126.0f;

constexpr std::size_t max_bundled_bins = std::size_t{1} << 27;  // larger tables are not bundled: a copy costs 128 MB or more

struct TrainingContext {
    const Table& table;
    const Target& target;
    const ChainRecipe& recipe;
    const Table* evaluation_table = nullptr;
    const Target* evaluation_target = nullptr;
    std::vector<std::int32_t> integer_weight;  // weights as integer multiples of `weight_unit`
    std::int64_t total_integer_weight = 0;
    float weight_unit = 1.0f;
    float largest_weight = 1.0f;
    std::vector<float> root_weight;   // square roots of the weights; empty without noise
    std::vector<std::int32_t> draws;  // draws per row in subsampling; empty without subsampling
    std::int32_t max_draws = 1;
    std::int64_t min_integer_weight = 0;  // least weight of a leaf, of the rows that choose the splits
    std::vector<float> neighbour_weight;  // per row: weight of the others with the same bins; empty if not needed, or all zero
    double structure_share;           // share of the rows that choose the splits
    float largest_level = max_level;  // lower for large tables, whose sums must fit 31 bits
    int stride = max_bins;            // cells per feature in a histogram
    Bundles bundles;
    PanelLayout panels;
    std::vector<std::uint8_t> panel_bytes;  // of all rows; empty if they are not divided, or if samples are copied

    TrainingContext(const Table& table, const Target& target, const ChainRecipe& recipe, const Table* evaluation_table,
                    const Target* evaluation_target)
        : table(table), target(target), recipe(recipe), evaluation_table(evaluation_table),
          evaluation_target(evaluation_target), structure_share(share_of_structure(table, recipe)),
          bundles(table, cells_per_byte(table, recipe.outputs)), panels(bundles, max_rows(), recipe.outputs) {
        round_weights();
        if (recipe.noise > 0.0) {
            for (const float weight : target.weight) root_weight.push_back(std::sqrt(weight));
        }
        if (recipe.guards_variance()) weigh_neighbours();
        if (panels.divides() && !samples_structure()) {
            panel_bytes.resize(panels.bytes(table.rows));
            for (std::size_t row = 0; row < table.rows; ++row) {
                panels.copy_row(bundles.by_row() + row * bundles.row_bytes(), panel_bytes.data(), table.rows, row);
            }
        }
        if (recipe.min_leaf_weight > 0.0) {
            min_integer_weight = std::llround(recipe.min_leaf_weight * structure_share / static_cast<double>(weight_unit));
        }
        largest_level = std::min(max_level, std::floor(0x1p30f / static_cast<float>(max_rows())));
        const int most_bins = *std::max_element(table.bins.begin(), table.bins.end());
        stride = cells_for(most_bins, recipe.outputs);
    }

    // Whether scores or their noise need the sums of squared gradients.
    bool needs_squares() const { return !is_of_classes(recipe.objective) || recipe.random_strength > 0.0; }

    // Whether a sample of the rows chooses the splits.
    bool samples_structure() const { return structure_share < 1.0; }

    // Upper bound of the integer weights in a histogram.
    std::int64_t max_integer_weight() const {
        if (!samples_structure()) return total_integer_weight;
        return static_cast<std::int64_t>(max_rows()) * *std::max_element(integer_weight.begin(), integer_weight.end());
    }

    // Upper bound of the number of rows that choose a tree's splits.
    std::size_t max_rows() const { return samples_structure() ? max_drawn(table.rows) : table.rows; }

    // Upper bound of the number of rows drawn out of `rows`. The number is Binomial; it never comes twelve standard
    // deviations above its mean.
    std::size_t max_drawn(std::size_t rows) const {
        const double drawn = structure_share * static_cast<double>(rows);
        return static_cast<std::size_t>(drawn + 12.0 * std::sqrt(drawn) + 64.0);
    }

  private:
    static double share_of_structure(const Table& table, const ChainRecipe& recipe) {
        return recipe.structure_rows > 0 ? std::min(1.0, recipe.structure_rows / static_cast<double>(table.rows)) : 1.0;
    }

    // Cells that the histogram of a shared byte may have. With more outputs there are fewer cells, so that they stay in the
    // cache. Huge tables are not bundled, because bundling copies the table.
    static std::size_t cells_per_byte(const Table& table, int outputs) {
        if (table.rows * table.columns > max_bundled_bins) return 0;
        return outputs <= 2 ? max_bins : 2 * max_bins / static_cast<std::size_t>(outputs + 1);
    }

    // Rounds weights to integers whose sum fits 31 bits. Weights that are small integers stay as they are.
    void round_weights() {
        const std::span<const float> weights(target.weight.data(), table.rows);
        largest_weight = *std::max_element(weights.begin(), weights.end());
        const bool are_integers = std::all_of(weights.begin(), weights.end(), [](float w) { return w == std::floor(w); });
        double unit = 1.0;
        if (!are_integers || target.total_weight >= 0x1p30) {
            unit = std::max(largest_weight * 0x1p-20, target.total_weight * 0x1p-30);
        }
        weight_unit = static_cast<float>(unit);
        integer_weight.assign(target.weight.size(), 0);
        if (recipe.subsample < 1.0) count_draws(weights);
        for (std::size_t i = 0; i < table.rows; ++i) {
            integer_weight[i] = std::max(1, static_cast<std::int32_t>(std::lround(weights[i] / unit)));
            total_integer_weight += integer_weight[i];
        }
    }

    // Rows are in canonical order, in which rows with the same bins follow each other, unless they have offsets or encoded
    // categories: then some neighbours are not found. All but one copy of a row are among its neighbours.
    void weigh_neighbours() {
        std::vector<float> others(target.weight.size(), 0.0f);
        bool has_some = false;
        for (std::size_t first = 0, last = 0; first < table.rows; first = last) {
            double sum = 0.0;
            const std::uint8_t* bins = table.by_row.data() + first * table.columns;
            for (last = first; last < table.rows; ++last) {
                if (last > first && std::memcmp(bins, bins + (last - first) * table.columns, table.columns) != 0) break;
                sum += target.weight[last];
            }
            for (std::size_t row = first; row < last; ++row) {
                others[row] = static_cast<float>(sum - std::min(target.weight[row], 1.0f));
                has_some |= others[row] > 0.0f;
            }
        }
        if (has_some) neighbour_weight = std::move(others);
    }

    // A row of weight w counts as w rows in subsampling: it is drawn w times, up to a limit that bounds the cost.
    void count_draws(std::span<const float> weights) {
        draws.assign(target.weight.size(), 1);
        for (std::size_t i = 0; i < table.rows; ++i) {
            draws[i] = static_cast<std::int32_t>(std::clamp(std::ceil(weights[i]), 1.0f, 64.0f));
            max_draws = std::max(max_draws, draws[i]);
        }
    }
};

}  // namespace epiboost
