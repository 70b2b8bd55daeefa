// Bindings of explanations: exact Shapley values of a sum of trees.
#include <algorithm>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "explanation/shapley_values.hpp"

namespace epiboost {
namespace {

// Bins have the shape (columns, rows), values (rows, players). Returns the mean of the sum over the background rows.
double tree_shapley_values(Array<std::uint16_t, 2> feature, Array<std::uint8_t, 2> threshold, Array<std::uint8_t, 2> parent,
                           Array<double, 2> leaf, Array<std::int32_t, 1> player, Array<std::uint8_t, 2> rows,
                           Array<std::uint8_t, 2> background, int threads, OutputArray<double, 2> values) {
    const ExplainedTrees forest{.trees = feature.shape(0),
                                .splits = feature.shape(1),
                                .feature = span_of(feature),
                                .threshold = span_of(threshold),
                                .parent = span_of(parent),
                                .leaf = span_of(leaf),
                                .player = span_of(player),
                                .players = values.shape(1)};
    const std::size_t columns = player.shape(0);
    const auto is_player = [&](std::int32_t index) { return index >= 0 && static_cast<std::size_t>(index) < forest.players; };
    const bool fits = threshold.shape(0) == forest.trees && threshold.shape(1) == forest.splits &&
                      leaf.shape(0) == forest.trees && leaf.shape(1) == forest.leaves() && rows.shape(0) == columns &&
                      background.shape(0) == columns && background.shape(1) > 0 && values.shape(0) == rows.shape(1);
    if (!fits || !std::ranges::all_of(forest.player, is_player) ||
        std::ranges::any_of(forest.feature, [&](std::uint16_t index) { return index >= columns; })) {
        throw std::invalid_argument("trees, players, bins and values must have the same trees, columns and rows");
    }
    std::fill(values.data(), values.data() + values.size(), 0.0);
    ReleasedGil gil;
    return add_shapley_values(forest, {rows.shape(1), rows.shape(1), rows.data()},
                              {background.shape(1), background.shape(1), background.data()}, threads, values.data(),
                              SignalCheck(gil));
}

}  // namespace

void bind_explanation(nb::module_& module) {
    using namespace nb::literals;
    module.def("tree_shapley_values", &tree_shapley_values, "feature"_a, "threshold"_a, "parent"_a, "leaf"_a, "player"_a,
               "rows"_a, "background"_a, "threads"_a, "values"_a);
}

}  // namespace epiboost
