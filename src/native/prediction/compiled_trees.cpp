#include "prediction/compiled_trees.hpp"

#include <algorithm>
#include <cmath>

namespace epiboost {
namespace {

std::vector<CompiledTrees::Condition> conditions_of(const ForestArrays& forest) {
    std::vector<CompiledTrees::Condition> conditions(forest.feature.size());
    for (std::size_t i = 0; i < conditions.size(); ++i) conditions[i] = {forest.feature[i], forest.threshold[i]};
    std::sort(conditions.begin(), conditions.end());
    conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
    return conditions;
}

std::vector<std::uint16_t> columns_of(const std::vector<CompiledTrees::Condition>& conditions) {
    std::vector<std::uint16_t> columns;
    for (const auto& condition : conditions) {
        if (columns.empty() || columns.back() != condition.feature) columns.push_back(condition.feature);
    }
    return columns;
}

// A power of two such that the largest value is less than 2^23 units.
float unit_for(float largest) {
    if (!(largest > 0.0f)) return 1.0f;
    return std::ldexp(1.0f, std::max(std::ilogb(largest) + 2 - value_bits, -126));
}

std::int32_t to_integer(float value, float unit) {
    constexpr double most = (1 << (value_bits - 1)) - 1;
    return static_cast<std::int32_t>(std::clamp(std::round(static_cast<double>(value) / unit), -most, most));
}

}  // namespace

CompiledTrees::CompiledTrees(const ForestArrays& forest)
    : members(forest.members), segments_per_chain(forest.segments), splits(forest.splits),
      outputs(forest.outputs), conditions(conditions_of(forest)), columns(columns_of(conditions)) {
    parent.reserve(forest.parent.size());
    for (std::size_t member = 0; member < forest.members; ++member) {
        std::size_t tree = 0;
        for (std::size_t segment = 0; segment < forest.segments; ++segment) {
            const auto end = static_cast<std::size_t>(forest.end[member * forest.segments + segment]);
            const std::size_t first_batch = batches.size();
            while (tree < end) {  // batches of about equal size
                const std::size_t batches_left = (end - tree + trees_per_batch - 1) / trees_per_batch;
                const std::size_t count = (end - tree + batches_left - 1) / batches_left;
                add_batch(forest, member * forest.trees + tree, count);
                tree += count;
            }
            segments.push_back({first_batch, batches.size(), forest.decay[member * forest.segments + segment]});
        }
    }
}

void CompiledTrees::add_batch(const ForestArrays& forest, std::size_t first, std::size_t trees) {
    const auto per_tree = static_cast<std::size_t>(splits);
    batches.push_back({split.size() / per_tree, trees});
    if (!forest.parent.empty()) {
        for (std::size_t tree = first; tree < first + trees; ++tree) add_children(forest.parent.data() + tree * per_tree);
    }
    for (std::size_t i = first * per_tree; i < (first + trees) * per_tree; ++i) {
        const Condition condition{forest.feature[i], forest.threshold[i]};
        const auto found = std::lower_bound(conditions.begin(), conditions.end(), condition);
        split.push_back(static_cast<std::uint32_t>(found - conditions.begin()));
        const auto column = std::lower_bound(columns.begin(), columns.end(), condition.feature);
        feature.push_back(static_cast<std::uint16_t>(column - columns.begin()));
        threshold.push_back(static_cast<std::int8_t>(condition.threshold ^ 0x80));
    }
    const auto width = static_cast<std::size_t>(outputs);
    const float* leaf = forest.leaf.data() + first * leaves() * width;
    std::vector<float> largest(width, 0.0f);
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) {
        largest[i % width] = std::max(largest[i % width], std::abs(leaf[i]));
    }
    for (const float most : largest) unit.push_back(unit_for(most));
    const float* units = unit.data() + unit.size() - width;
    const TreeBatch& batch = batches.back();
    if (outputs > 2) lane.resize(lane.size() + trees * leaves() * lanes(), 0);
    for (std::size_t tree = 0; tree < trees; ++tree) add_leaf_values(batch, tree, leaf + tree * leaves() * width, units);
}

// Adds the values of a tree of a batch, of shape (leaves, outputs), in all layouts that are used.
void CompiledTrees::add_leaf_values(const TreeBatch& batch, std::size_t tree, const float* leaf, const float* units) {
    const auto width = static_cast<std::size_t>(outputs);
    if (uses_tables()) table.resize(table.size() + width);
    LeafTable* tables = table.data() + table.size() - (uses_tables() ? width : 0);
    std::int32_t* const lanes_of_batch = outputs > 2 ? lane.data() + batch.first * leaves() * lanes() : nullptr;
    std::int32_t both[2] = {};
    for (std::size_t number = 0; number < leaves(); ++number) {
        for (std::size_t k = 0; k < width; ++k) {
            const std::int32_t value = to_integer(leaf[number * width + k], units[k]);
            if (uses_tables()) tables[k].set(number, value);
            if (outputs > 2) {
                const std::size_t in_group = (tree * leaves() + number) * lanes_at_once + k % lanes_at_once;
                lanes_of_batch[k / lanes_at_once * group_size(batch) + in_group] = value;
            } else {
                both[k] = value;
            }
        }
        if (outputs <= 2) word.push_back(packed_word(both[0], both[1]));
    }
}

// Adds the children of a leaf-wise tree's splits. Going backwards, `next` holds where a row in each leaf goes.
void CompiledTrees::add_children(const std::uint8_t* of_tree) {
    parent.insert(parent.end(), of_tree, of_tree + splits);
    std::vector<std::int16_t> next(leaves());
    for (std::size_t leaf = 0; leaf < next.size(); ++leaf) next[leaf] = static_cast<std::int16_t>(~static_cast<int>(leaf));
    const std::size_t start = child.size();
    child.resize(start + static_cast<std::size_t>(splits), Child{-1, -1});
    for (int s = splits - 1; s >= 0; --s) {
        if (of_tree[s] == no_leaf) continue;
        child[start + static_cast<std::size_t>(s)] = {next[of_tree[s]], next[static_cast<std::size_t>(s) + 1]};
        next[of_tree[s]] = static_cast<std::int16_t>(s);
    }
}

}  // namespace epiboost
