#include "prediction/compiled_trees.hpp"

#include <algorithm>
#include <cmath>

#include "prediction/tree_evaluation.hpp"

namespace epiboost {
namespace {

std::vector<CompiledTrees::Condition> conditions_of(const ForestArrays& forest) {
    std::vector<CompiledTrees::Condition> conditions(forest.feature.size());
    for (std::size_t i = 0; i < conditions.size(); ++i) conditions[i] = {forest.feature[i], forest.threshold[i]};
    std::sort(conditions.begin(), conditions.end());
    conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
    return conditions;
}

// A power of two such that the largest value is less than 2^23 units.
float unit_for(float largest) {
    if (!(largest > 0.0f)) return 1.0f;
    return std::ldexp(1.0f, std::max(std::ilogb(largest) + 2 - value_bits, -126));
}

std::int32_t to_integer(float value, float unit) {
    constexpr long most = (1l << (value_bits - 1)) - 1;
    return static_cast<std::int32_t>(std::clamp(std::lround(static_cast<double>(value) / unit), -most, most));
}

}  // namespace

CompiledTrees::CompiledTrees(const ForestArrays& forest)
    : members(forest.members), segments_per_chain(forest.segments), splits(forest.splits),
      outputs(forest.outputs), conditions(conditions_of(forest)) {
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
    }
    const auto width = static_cast<std::size_t>(outputs);
    const float* leaf = forest.leaf.data() + first * leaves() * width;
    std::vector<float> largest(width, 0.0f);
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) {
        largest[i % width] = std::max(largest[i % width], std::abs(leaf[i]));
    }
    for (const float most : largest) unit.push_back(unit_for(most));
    const float* units = unit.data() + unit.size() - width;
    const std::size_t start = value.size();
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) value.push_back(to_integer(leaf[i], units[i % width]));
    if (!uses_register_lookup(*this)) return;
    halves.resize(halves.size() + trees * width);
    Halves* added = halves.data() + halves.size() - trees * width;
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) {
        Halves& table = added[i / (leaves() * width) * width + i % width];
        const std::size_t leaf_number = i / width % leaves();
        table.upper[leaf_number] = static_cast<std::int16_t>(value[start + i] >> half_bits);
        table.lower[leaf_number] = static_cast<std::int16_t>(value[start + i] & ((1 << half_bits) - 1));
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
