// A forest in the form that prediction reads.
//
// A forest has few thousand distinct (feature, threshold) pairs, its `conditions`. For a single row they are evaluated once and then
// looked up; strips of rows compare bins with thresholds tree by tree. Leaf values are integer multiples of a unit that a batch of
// trees shares, so that their sums are exact: the instruction set and the number of rows processed at once do not change them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.hpp"
#include "prediction/leaf_tables.hpp"

namespace epiboost {

#if defined(__AVX2__)
constexpr std::size_t lanes_at_once = 8;  // outputs that are one vector, if there are more than two
#else
constexpr std::size_t lanes_at_once = 4;
#endif

// Arrays of a trained forest. Leaf values include the shrinkage by later trees of their segment.
struct ForestArrays {
    std::size_t members;
    std::size_t trees;     // allocated trees per member
    std::size_t segments;  // per member
    int splits;            // per tree: the levels of a symmetric tree, or the leaves but one of a leaf-wise tree
    int outputs;
    std::span<const std::uint16_t> feature;   // (members, trees, splits)
    std::span<const std::uint8_t> threshold;  // (members, trees, splits)
    std::span<const std::uint8_t> parent;     // (members, trees, splits): see core/leaves.hpp; empty for symmetric trees
    std::span<const float> leaf;              // (members, trees, leaves, outputs)
    std::span<const std::int32_t> end;        // (members, segments): one past the last tree of the segment
    std::span<const double> decay;            // (members, segments): factor on the score before the segment
};

// A chain is divided into segments of consecutive trees. The prediction has one output per segment:
//     score(s) = decay(s) * score(s - 1) + sum of the leaf values of the trees in segment s.
// One pass over the trees thus gives every truncation of a chain.
struct CompiledTrees {
    struct Condition {
        std::uint16_t feature;
        std::uint8_t threshold;
        auto operator<=>(const Condition&) const = default;
    };
    // Where a row goes from a split of a leaf-wise tree: to another split, or to a leaf, which is then `~leaf`.
    struct Child {
        std::int16_t below;
        std::int16_t above;
    };
    struct TreeBatch {
        std::size_t first;  // index of the first tree
        std::size_t trees;
    };
    struct Segment {
        std::size_t first;  // index of the first batch
        std::size_t end;
        double decay;
    };

    explicit CompiledTrees(const ForestArrays& forest);

    bool is_symmetric() const { return parent.empty(); }

    // Whether leaf values are looked up in registers.
    bool uses_tables() const { return has_leaf_tables && leaves() <= max_table_leaves && outputs <= max_table_outputs; }
    std::size_t lanes() const { return (static_cast<std::size_t>(outputs) + lanes_at_once - 1) / lanes_at_once * lanes_at_once; }
    std::size_t leaves() const { return is_symmetric() ? std::size_t{1} << splits : static_cast<std::size_t>(splits) + 1; }

    // Values of a group of outputs for the leaves of a batch. A group at once fits the L1 cache.
    std::size_t group_size(const TreeBatch& batch) const { return batch.trees * leaves() * lanes_at_once; }
    const std::int32_t* group(const TreeBatch& batch, std::size_t number) const {
        return lane.data() + batch.first * leaves() * lanes() + number * group_size(batch);
    }

    std::size_t members;
    std::size_t segments_per_chain;
    int splits;
    int outputs;
    std::vector<Condition> conditions;  // sorted
    std::vector<std::uint16_t> columns;  // of the table that conditions compare, sorted
    std::vector<Segment> segments;      // (members, segments)
    std::vector<TreeBatch> batches;
    std::vector<float> unit;             // (batches, outputs)
    std::vector<std::uint32_t> split;    // (trees, splits): indices of conditions
    std::vector<std::uint16_t> feature;  // (trees, splits): indices of columns
    std::vector<std::int8_t> threshold;  // (trees, splits), less 128: see prediction/strip.hpp
    std::vector<std::uint8_t> parent;    // (trees, splits); empty for symmetric trees
    std::vector<Child> child;            // (trees, splits); empty for symmetric trees
    std::vector<std::int64_t> word;      // (trees, leaves): both outputs; empty if there are more than two
    std::vector<std::int32_t> lane;      // per batch (groups, trees, leaves, lanes_at_once): more outputs, padded with zeros
    std::vector<LeafTable> table;        // (trees, outputs); empty if values are not looked up in registers

  private:
    void add_batch(const ForestArrays& forest, std::size_t first, std::size_t trees);
    void add_leaf_values(const TreeBatch& batch, std::size_t tree, const float* leaf, const float* unit);
    void add_children(const std::uint8_t* parent);
};

}  // namespace epiboost
