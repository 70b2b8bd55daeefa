// Splits of a leaf-wise tree that a strip needs.
//
// All rows of a strip are on the same side of many conditions. Splits of these, and of leaves without rows, are left out; rows begin
// where those splits have sent them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"
#include "prediction/strip.hpp"

namespace epiboost {

constexpr std::size_t min_needed_rows = 1024;  // of a strip; fewer rows follow all splits in the time that finding these takes

class NeededSplits {
  public:
    struct Split {
        std::uint16_t feature;
        std::int8_t threshold;
        std::uint8_t from;  // rows of this leaf whose bin is above the threshold
        std::uint8_t to;    // go to this one
    };

    NeededSplits(const CompiledTrees& trees, std::size_t tree, const Strip& strip) {
        const std::size_t first = tree * static_cast<std::size_t>(trees.splits);
        const std::uint8_t* parent = trees.parent.data() + first;
        std::array<Sides, max_splits> sides;
        std::array<bool, max_leaves> has_rows{true};
        int made = 0;
        for (; made < trees.splits && parent[made] != no_leaf; ++made) {
            bool& in_parent = has_rows[parent[made]];
            sides[made] = in_parent ? strip.sides[trees.split[first + made]] : Sides::below;
            has_rows[made + 1] = sides[made] != Sides::below;
            in_parent = in_parent && sides[made] != Sides::above;
        }
        // Going backwards, `final` is the leaf in which the rows of each leaf end.
        std::array<std::uint8_t, max_leaves> final;
        for (int leaf = 0; leaf <= made; ++leaf) final[leaf] = static_cast<std::uint8_t>(leaf);
        first_ = max_splits;
        for (int s = made - 1; s >= 0; --s) {
            if (sides[s] == Sides::above) final[parent[s]] = final[s + 1];
            if (sides[s] == Sides::both) {
                split_[--first_] = {trees.feature[first + s], trees.threshold[first + s], final[parent[s]], final[s + 1]};
            }
        }
        start_ = final[0];
    }

    std::uint8_t start() const { return start_; }  // leaf of all rows before the first split
    const Split* begin() const { return split_.data() + first_; }
    const Split* end() const { return split_.data() + max_splits; }

  private:
    std::array<Split, max_splits> split_;
    int first_;
    std::uint8_t start_;
};

// Leaf indices of a strip. Each split waits for the one before, so its blocks are followed side by side.
inline void follow_splits(const NeededSplits& splits, const Strip& strip, std::uint8_t* __restrict leaf) {
    for (std::size_t i = 0; i < strip.blocks * block; ++i) leaf[i] = splits.start();
    for (const NeededSplits::Split split : splits) {
        for (std::size_t b = 0; b < strip.blocks; ++b) {
            const std::int8_t* __restrict bins = strip.column(b, split.feature);
            std::uint8_t* __restrict of_block = leaf + b * block;
            for (std::size_t i = 0; i < block; ++i) {
                of_block[i] = ((of_block[i] == split.from) & (bins[i] > split.threshold)) ? split.to : of_block[i];
            }
        }
    }
}

}  // namespace epiboost
