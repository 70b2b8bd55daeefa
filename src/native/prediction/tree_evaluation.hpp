// Evaluates a batch of trees and adds the values of the leaves that rows fall into: first the leaves of all rows, then the sums of
// their values. Every instruction set adds the same integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/compiler.hpp"
#include "core/problem.hpp"
#include "prediction/compiled_trees.hpp"
#include "prediction/leaf_indices.hpp"
#include "prediction/leaf_sums.hpp"
#include "prediction/leaf_sums_avx2.hpp"
#include "prediction/leaf_sums_avx512.hpp"
#include "prediction/leaf_sums_neon.hpp"
#include "prediction/merged_trees.hpp"
#include "prediction/strip.hpp"

namespace epiboost {

// Adds the leaf values of a batch to the sums of a strip's rows.
inline void add_batch(const CompiledTrees& trees, std::size_t number, Strip& strip) {
    const CompiledTrees::TreeBatch& batch = trees.batches[number];
    const auto outputs = static_cast<std::size_t>(trees.outputs);
    const float* unit = trees.unit.data() + number * outputs;
    find_leaf_indices(trees, batch, strip);
#if defined(__AVX2__) || defined(__aarch64__)  // those that have leaf tables
    if (trees.uses_tables()) {
        const LeafTable* table = trees.table.data() + batch.first * outputs;
        for (std::size_t k = 0; k < outputs; ++k) add_table_values(table + k, outputs, batch.trees, unit[k], k, strip);
        return;
    }
#endif
    if (outputs <= 2) {
        return add_words(trees.word.data() + batch.first * trees.leaves(), trees.leaves(), batch.trees, unit, trees.outputs, strip);
    }
    for (std::size_t first = 0; first < outputs; first += lanes_at_once) {  // one after the other: each fills the L1 cache
        add_group(trees.group(batch, first / lanes_at_once), trees.leaves(), batch.trees, unit, first, outputs, strip);
    }
}

// The same for trees of the batch that are merged for the strip.
inline void add_merged(const CompiledTrees& trees, std::size_t number, MergedTrees& merged, Strip& strip) {
    const auto outputs = static_cast<std::size_t>(trees.outputs);
    const float* unit = trees.unit.data() + number * outputs;
    find_leaf_indices(merged, strip);
#if defined(__AVX512BW__)
    if (trees.uses_tables()) {
        for (std::size_t k = 0; k < outputs; ++k) add_table_values(merged.tables(k), 1, merged.count(), unit[k], k, strip);
        return;
    }
#endif
    if (outputs <= 2) return add_words(merged.words(), merged.leaves(), merged.count(), unit, trees.outputs, strip);
    for (std::size_t first = 0; first < outputs; first += lanes_at_once) {
        add_group(merged.group(first / lanes_at_once), merged.leaves(), merged.count(), unit, first, outputs, strip);
    }
}

// Leaf of a single row in a tree. `above` holds one byte per condition.
inline std::size_t leaf_of_row(const CompiledTrees& trees, std::size_t tree, const std::uint8_t* above) {
    const auto splits = static_cast<std::size_t>(trees.splits);
    const std::uint32_t* split = trees.split.data() + tree * splits;
    if (trees.is_symmetric()) {
        std::size_t index = 0;
        for (std::size_t level = 0; level < splits; ++level) index |= static_cast<std::size_t>(above[split[level]]) << level;
        return index;
    }
    const CompiledTrees::Child* child = trees.child.data() + tree * splits;
    int at = 0;
    while (at >= 0) at = above[split[at]] ? child[at].above : child[at].below;
    return static_cast<std::size_t>(~at);
}

// Adds the leaf values of a batch for a single row; `sums` has shape (outputs), `integers` too.
inline void add_batch_to_row(const CompiledTrees& trees, std::size_t number, const std::uint8_t* above, std::int32_t* integers,
                             float* sums) {
    const auto [first, count] = trees.batches[number];
    const auto width = static_cast<std::size_t>(trees.outputs);
    const float* unit = trees.unit.data() + number * width;
    std::size_t leaf[trees_per_batch];  // all are found first, so that their cache misses overlap
    for (std::size_t tree = 0; tree < count; ++tree) {
        leaf[tree] = (first + tree) * trees.leaves() + leaf_of_row(trees, first + tree, above);
        if (trees.outputs <= 2) prefetch(trees.word.data() + leaf[tree]);
    }
    if (trees.outputs <= 2) {
        std::int64_t sum = 0;
        for (std::size_t tree = 0; tree < count; ++tree) sum += trees.word[leaf[tree]];
        const WordHalves halves = WordHalves::of(sum);
        sums[0] += static_cast<float>(halves.first()) * unit[0];
        if (width == 2) sums[1] += static_cast<float>(halves.second()) * unit[1];
        return;
    }
    for (std::size_t k = 0; k < width; ++k) integers[k] = 0;
    for (std::size_t begin = 0; begin < width; begin += lanes_at_once) {
        const std::int32_t* group = trees.group(trees.batches[number], begin / lanes_at_once);
        const std::size_t end = std::min(begin + lanes_at_once, width);
        for (std::size_t tree = 0; tree < count; ++tree) {
            const std::int32_t* value = group + (leaf[tree] - first * trees.leaves()) * lanes_at_once;
            for (std::size_t k = begin; k < end; ++k) integers[k] += value[k - begin];
        }
    }
    for (std::size_t k = 0; k < width; ++k) sums[k] += static_cast<float>(integers[k]) * unit[k];
}

}  // namespace epiboost
