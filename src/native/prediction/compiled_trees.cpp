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
    : members(forest.members), segments_per_chain(forest.segments), depth(forest.depth),
      outputs(forest.outputs), conditions(conditions_of(forest)) {
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
    const auto levels = static_cast<std::size_t>(depth);
    batches.push_back({split.size() / levels, trees});
    for (std::size_t i = first * levels; i < (first + trees) * levels; ++i) {
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
    if (!uses_register_lookup(depth)) return;
    halves.resize(halves.size() + trees * width);
    Halves* added = halves.data() + halves.size() - trees * width;
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) {
        Halves& table = added[i / (leaves() * width) * width + i % width];
        const std::size_t leaf_number = i / width % leaves();
        table.upper[leaf_number] = static_cast<std::int16_t>(value[start + i] >> half_bits);
        table.lower[leaf_number] = static_cast<std::int16_t>(value[start + i] & ((1 << half_bits) - 1));
    }
}

}  // namespace epiboost
