// What every chain of a fit shares, worked out once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.hpp"
#include "training/bundles.hpp"
#include "training/histogram.hpp"

namespace epiboost {

constexpr std::size_t bins_of_huge_tables = std::size_t{1} << 27;

struct Task {
    const Table& table;
    const Target& target;
    const Recipe& recipe;
    const Table* evaluation_table = nullptr;
    const Target* evaluation_target = nullptr;
    std::vector<std::int32_t> whole_weight;  // weights as whole numbers of `weight_unit`
    std::int64_t total_whole_weight = 0;
    float weight_unit = 1.0f;
    float largest_weight = 1.0f;
    std::vector<std::int32_t> pieces;  // in how many pieces a row is drawn; empty where trees see all rows
    std::int32_t most_pieces = 1;
    double structure_share = 1.0;  // share of the rows on which splits are chosen
    float largest_level = 126.0f;  // gradients are rounded to whole numbers up to this size
    int stride = max_bins;         // cells a feature's histogram takes
    Bundles bundles;

    Task(const Table& table, const Target& target, const Recipe& recipe, const Table* evaluation_table,
         const Target* evaluation_target)
        : table(table), target(target), recipe(recipe), evaluation_table(evaluation_table),
          evaluation_target(evaluation_target), bundles(table, cells_of_a_byte(table, recipe.outputs)) {
        round_weights();
        const auto rows = static_cast<double>(table.rows);
        if (recipe.structure_rows > 0) structure_share = std::min(1.0, recipe.structure_rows / rows);
        largest_level = std::min(126.0f, std::floor(0x1p30f / static_cast<float>(most_rows())));
        const int most_bins = *std::max_element(table.bins.begin(), table.bins.end());
        stride = std::min(max_bins, (most_bins + 15) / 16 * 16);
    }

    // Whether a tree's structure comes from fewer rows than there are.
    bool samples_structure() const { return structure_share < 1.0; }

    // A bound on the whole weights that histograms sum up.
    std::int64_t most_whole_weight() const {
        if (!samples_structure()) return total_whole_weight;
        return static_cast<std::int64_t>(most_rows()) * *std::max_element(whole_weight.begin(), whole_weight.end());
    }

    // A bound on the rows that choose a tree's splits.
    std::size_t most_rows() const { return samples_structure() ? most_drawn(table.rows) : table.rows; }

    // A bound on how many of so many rows are drawn. Their number is Binomial: this far above its mean it does not go.
    std::size_t most_drawn(std::size_t rows) const {
        const double drawn = structure_share * static_cast<double>(rows);
        return static_cast<std::size_t>(drawn + 12.0 * std::sqrt(drawn) + 64.0);
    }

  private:
    // Cells that the histogram of a shared byte may have: of many outputs few, which then still stay near. Of a huge table no
    // columns share a byte: they would take up its memory once more.
    static std::size_t cells_of_a_byte(const Table& table, int outputs) {
        if (table.rows * table.columns > bins_of_huge_tables) return 0;
        return outputs <= 2 ? max_bins : 2 * max_bins / static_cast<std::size_t>(outputs + 1);
    }

    // Weights as whole numbers whose sum fits 31 bits. Weights that are small whole numbers already stay as they are.
    void round_weights() {
        const std::span<const float> weights(target.weight.data(), table.rows);
        largest_weight = *std::max_element(weights.begin(), weights.end());
        const bool whole = std::all_of(weights.begin(), weights.end(), [](float w) { return w == std::floor(w); });
        double unit = 1.0;
        if (!whole || target.total_weight >= 0x1p30) unit = std::max(largest_weight * 0x1p-20, target.total_weight * 0x1p-30);
        weight_unit = static_cast<float>(unit);
        whole_weight.assign(target.weight.size(), 0);
        if (recipe.subsample < 1.0) cut_rows(weights);
        for (std::size_t i = 0; i < table.rows; ++i) {
            whole_weight[i] = std::max(1, static_cast<std::int32_t>(std::lround(weights[i] / unit)));
            total_whole_weight += whole_weight[i];
        }
    }

    void cut_rows(std::span<const float> weights) {
        pieces.assign(target.weight.size(), 1);
        for (std::size_t i = 0; i < table.rows; ++i) {
            pieces[i] = static_cast<std::int32_t>(std::clamp(std::ceil(weights[i]), 1.0f, 64.0f));
            most_pieces = std::max(most_pieces, pieces[i]);
        }
    }
};

}  // namespace epiboost
