// Symmetric trees of a batch, merged for one strip.
//
// All rows of a strip are on the same side of many conditions. Trees lose the levels of those. What is left of several trees becomes
// one tree with all their levels, whose leaf values are the sums of theirs: fewer leaves to find, and fewer values to add.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compiler.hpp"
#include "core/problem.hpp"
#include "prediction/compiled_trees.hpp"
#include "prediction/leaf_sums_avx512.hpp"
#include "prediction/strip.hpp"

namespace epiboost {

class MergedTrees {
  public:
    struct Tree {
        std::array<std::uint16_t, max_depth> feature;
        std::array<std::int8_t, max_depth> threshold;
        int levels;
    };

    explicit MergedTrees(const CompiledTrees& trees)
        : trees_(trees), most_levels_(most_levels(trees)) {
        if (has_tables(trees)) return;
        if (trees.outputs > 2) {
            lanes_.resize(trees_per_batch * leaves());
        } else {
            word_.resize(trees_per_batch * leaves());
        }
    }

    // Trees whose values are tables of bytes are not merged: sums of their values have more bits.
    static bool can_merge(const CompiledTrees& trees) { return trees.is_symmetric() && (!trees.uses_tables() || has_tables(trees)); }

    // Divides the levels that a strip needs among as few trees as possible; returns whether they are fewer than the batch has.
    bool merge(const CompiledTrees::TreeBatch& batch, const Strip& strip) {
        batch_ = batch;
        sort_parts(strip);
        count_ = 0;
        parts_ = 0;  // those without levels are of the first tree
        while (parts_ < batch.trees && part_[parts_].levels != 0) add_levels(part_[parts_++]);
        if (count_ == 0) tree_[count_++].levels = 0;
        return count_ < batch.trees;
    }

    std::size_t count() const { return count_; }
    std::size_t leaves() const { return std::size_t{1} << most_levels_; }  // between the first leaves of two trees
    const Tree& tree(std::size_t number) const { return tree_[number]; }

    // Words of both outputs, shape (trees, leaves); see CompiledTrees.
    const std::int64_t* words() {
        const std::int64_t* word = trees_.word.data() + batch_.first * trees_.leaves();
        sum([&](std::size_t leaf) { return word[leaf]; }, word_.data());
        return word_.data();
    }

    // Values of a group of outputs, shape (trees, leaves, lanes_at_once).
    const std::int32_t* group(std::size_t number) {
        const std::int32_t* value = trees_.group(batch_, number);
        sum([&](std::size_t leaf) { return Lanes::at(value + leaf * lanes_at_once); }, lanes_.data());
        return lanes_.front().value;
    }

#if defined(__AVX512BW__)
    // Tables of an output, one per tree.
    const HalfTable* tables(std::size_t output) {
        for (std::size_t tree = 0; tree < count_; ++tree) table_[tree] = {};
        const auto outputs = static_cast<std::size_t>(trees_.outputs);
        for (std::size_t i = 0; i < batch_.trees; ++i) {
            const Part& part = part_[i];
            add_table(trees_.table[(batch_.first + part.tree) * outputs + output], leaves_of_part(part), table_[part.merged]);
        }
        return table_.data();
    }
#endif

  private:
    static bool has_tables([[maybe_unused]] const CompiledTrees& trees) {
#if defined(__AVX512BW__)
        return trees.uses_tables();
#else
        return false;
#endif
    }

    struct alignas(sizeof(std::int32_t) * lanes_at_once) Lanes {
        std::int32_t value[lanes_at_once] = {};

        static Lanes at(const std::int32_t* from) {
            Lanes lanes;
            for (std::size_t k = 0; k < lanes_at_once; ++k) lanes.value[k] = from[k];
            return lanes;
        }
        friend Lanes operator+(Lanes a, const Lanes& b) {
            for (std::size_t k = 0; k < lanes_at_once; ++k) a.value[k] += b.value[k];
            return a;
        }
    };
    struct Part {  // what a strip needs of a tree
        std::uint8_t levels;  // one bit per level on which its rows differ
        std::uint8_t shared;  // leaf index of all rows on the other levels
        std::uint8_t tree;    // in the batch
        std::uint8_t merged = 0;  // the tree into which it is merged, from this level on
        int first_level = 0;
    };

    // Values of two outputs, as words, stay in the L1 cache even for the largest trees.
    static int most_levels(const CompiledTrees& trees) {
        constexpr int table_levels = 6;
        return trees.uses_tables() || trees.outputs > 2 ? std::max(table_levels, trees.splits) : max_depth;
    }

    // Sorts the parts by falling number of levels: large ones fill trees best first, and branches are predicted.
    void sort_parts(const Strip& strip) {
        std::array<Part, trees_per_batch> needed;
        switch (trees_.splits) {
            case 6: find_needed<6>(strip, needed); break;
            default: find_needed<0>(strip, needed);
        }
        std::array<std::uint8_t, max_depth + 2> next{};  // where the next part goes, by the number of levels that it lacks
        std::array<std::uint8_t, trees_per_batch> lacks;
        for (std::size_t tree = 0; tree < batch_.trees; ++tree) {
            lacks[tree] = static_cast<std::uint8_t>(max_depth - std::popcount(needed[tree].levels));
            ++next[lacks[tree] + std::size_t{1}];
        }
        for (std::size_t i = 1; i < next.size(); ++i) next[i] = static_cast<std::uint8_t>(next[i] + next[i - 1]);
        for (std::size_t tree = 0; tree < batch_.trees; ++tree) part_[next[lacks[tree]]++] = needed[tree];
    }

    // `Splits` is the number of splits of a tree, or 0 if it is known at run time only.
    template <std::size_t Splits>
    void find_needed(const Strip& strip, std::array<Part, trees_per_batch>& needed) const {
        const std::size_t splits = Splits > 0 ? Splits : static_cast<std::size_t>(trees_.splits);
        const std::uint32_t* condition = trees_.split.data() + batch_.first * splits;
        for (std::size_t tree = 0; tree < batch_.trees; ++tree, condition += splits) {
            std::uint32_t sides = 0;  // two groups of bits, see Sides
            for (std::size_t level = 0; level < splits; ++level) {
                sides |= static_cast<std::uint32_t>(strip.sides[condition[level]]) << level;
            }
            needed[tree] = {.levels = static_cast<std::uint8_t>(sides >> 16),
                            .shared = static_cast<std::uint8_t>(sides),
                            .tree = static_cast<std::uint8_t>(tree)};
        }
    }

    // Adds the levels of a part to the first merged tree that has room.
    void add_levels(Part& part) {
        const int levels = std::popcount(part.levels);
        part.merged = 0;
        while (part.merged < count_ && tree_[part.merged].levels + levels > most_levels_) ++part.merged;
        if (part.merged == count_) tree_[count_++].levels = 0;
        Tree& merged = tree_[part.merged];
        part.first_level = merged.levels;
        const std::size_t first = (batch_.first + part.tree) * static_cast<std::size_t>(trees_.splits);
        for (std::uint32_t left = part.levels; left != 0; left &= left - 1) {
            const std::size_t split = first + static_cast<std::size_t>(std::countr_zero(left));
            merged.feature[static_cast<std::size_t>(merged.levels)] = trees_.feature[split];
            merged.threshold[static_cast<std::size_t>(merged.levels)] = trees_.threshold[split];
            ++merged.levels;
        }
    }

    // Sums the leaf values of the parts. `value(leaf)` is that of a leaf of the batch.
    template <class Value, class Entry>
    void sum(const Value& value, Entry* merged) const {
        for (std::size_t tree = 0; tree < count_; ++tree) merged[tree * leaves()] = {};
        for (std::size_t i = parts_; i < batch_.trees; ++i) {
            merged[0] = merged[0] + value(part_[i].tree * trees_.leaves() + part_[i].shared);
        }
        for (std::size_t i = 0; i < parts_; ++i) {
            const Part& part = part_[i];
            const std::size_t first = part.tree * trees_.leaves() + part.shared;
            add_part(part, [&](std::size_t leaf) { return value(first + leaf); }, merged + part.merged * leaves());
        }
    }

    // Vectors of values, where there are some; a compiler would make loops that are long for the few that there are.
    template <class Entry>
    EPIBOOST_ALWAYS_INLINE static void add_to_all(const Entry& added, const Entry* from, std::size_t size, Entry* to) {
        constexpr std::size_t at_once = 8;
        if (size < at_once) {
            to[0] = from[0] + added;
            if (size > 1) to[1] = from[1] + added;
            if (size > 2) {
                to[2] = from[2] + added;
                to[3] = from[3] + added;
            }
            return;
        }
        for (std::size_t i = 0; i < size; i += at_once) {
            Entry sum[at_once];
            for (std::size_t k = 0; k < at_once; ++k) sum[k] = from[i + k] + added;
            for (std::size_t k = 0; k < at_once; ++k) to[i + k] = sum[k];
        }
    }

    // Adds the values for each combination of the part's levels to the values of the levels before.
    template <class Value, class Entry>
    static void add_part(const Part& part, const Value& value, Entry* before) {
        const std::size_t size = std::size_t{1} << part.first_level;
        Entry* after = before + (size << std::popcount(part.levels));
        for (std::uint32_t above = part.levels; above != 0; above = (above - 1) & part.levels) {
            const Entry added = value(above);
            after -= size;
            add_to_all(added, before, size, after);
        }
        add_to_all(value(0), before, size, before);
    }

#if defined(__AVX512BW__)
    // Leaves of a part's tree in the order of the leaves of the merged tree that add_table() takes.
    static __m512i leaves_of_part(const Part& part) {
        __m512i leaf = _mm512_set1_epi8(static_cast<char>(part.shared));
        auto level = static_cast<std::size_t>(part.first_level);
        for (std::uint32_t left = part.levels; left != 0; left &= left - 1, ++level) {
            const __m512i bit = _mm512_set1_epi8(static_cast<char>(left & (~left + 1)));
            leaf = _mm512_or_si512(leaf, _mm512_and_si512(bit, leaves_above(level)));
        }
        return leaf;
    }

    std::array<HalfTable, trees_per_batch> table_;
#endif
    const CompiledTrees& trees_;
    int most_levels_;
    CompiledTrees::TreeBatch batch_{};
    std::size_t count_ = 0;
    std::array<Tree, trees_per_batch> tree_;
    std::array<Part, trees_per_batch> part_;
    std::size_t parts_ = 0;  // that have levels
    std::vector<std::int64_t> word_;
    std::vector<Lanes> lanes_;
};

}  // namespace epiboost
