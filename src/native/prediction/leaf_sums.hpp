// Sums the values of the leaves that rows fall into, over a batch of trees, without vector instructions of its own.
//
// One or two outputs are one 64-bit word per leaf. More outputs are lanes of 32 bits, which the compiler adds as vectors. Eight
// rows are summed side by side, in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/compiler.hpp"
#include "core/integer_vector.hpp"
#include "core/problem.hpp"
#include "prediction/compiled_trees.hpp"
#include "prediction/leaf_tables.hpp"
#include "prediction/strip.hpp"

namespace epiboost {

constexpr std::size_t rows_at_once = 8;

// Adds the integers of the rows of a block, in units of the batch, to their sums.
template <class Integers>
inline void add_in_units(const Integers& of, float unit, float* __restrict sums) {
    for (std::size_t i = 0; i < block; ++i) sums[i] += static_cast<float>(of(i)) * unit;
}

// Sums the words of eight rows over some trees of so many leaves; 0 if they are known at run time only. The sums are named, because
// a compiler would vectorise an array of them, which is slower. Half of the indices are read as one number: with loads of single
// bytes alone the units that load would be the bottleneck, with none those that calculate.
template <std::size_t Trees, std::size_t Leaves>
inline void sum_eight_rows(const std::int64_t* word, std::size_t any_leaves, const std::uint8_t* leaf, std::size_t any_trees,
                           std::int64_t* sums) {
    const std::size_t count = Trees > 0 ? Trees : any_trees;
    const std::size_t leaves = Leaves > 0 ? Leaves : any_leaves;
    std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    EPIBOOST_UNROLL_16
    for (std::size_t tree = 0; tree < count; ++tree, word += leaves, leaf += strip_rows) {
        std::uint32_t four;
        std::memcpy(&four, leaf + 4, sizeof four);  // lowest byte first, see histogram.hpp
        a += word[leaf[0]];
        b += word[leaf[1]];
        c += word[leaf[2]];
        d += word[leaf[3]];
        e += word[four & 255];
        f += word[four >> 8 & 255];
        g += word[four >> 16 & 255];
        h += word[four >> 24];
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
    sums[4] = e;
    sums[5] = f;
    sums[6] = g;
    sums[7] = h;
}

inline void add_words(const CompiledTrees& trees, std::size_t number, Strip& strip) {
    const auto [first, count] = trees.batches[number];
    const std::size_t leaves = trees.leaves();
    const bool is_usual = count == trees_per_batch && leaves == 64;  // known sizes are addressed faster
    const auto sum = is_usual ? sum_eight_rows<trees_per_batch, 64> : sum_eight_rows<0, 0>;
    const float* unit = trees.unit.data() + number * static_cast<std::size_t>(trees.outputs);
    for (std::size_t b = 0; b < strip.blocks; ++b) {
        std::int64_t words[block];
        for (std::size_t i = 0; i < block; i += rows_at_once) {
            const std::uint8_t* leaf = strip.leaves[0].of_row + b * block + i;
            sum(trees.word.data() + first * leaves, leaves, leaf, count, words + i);
        }
        float* sums = strip.sums.data() + b * block;
        add_in_units([&](std::size_t i) { return UnpackedWord(words[i]).first; }, unit[0], sums);
        if (trees.outputs < 2) continue;
        add_in_units([&](std::size_t i) { return UnpackedWord(words[i]).second; }, unit[1], sums + strip_rows);
    }
}

// Sums a group of outputs of eight rows over some trees of so many leaves; 0 if they are known at run time only.
template <std::size_t Leaves>
inline void sum_group(const std::int32_t* __restrict value, std::size_t any_leaves, const std::uint8_t* leaf, std::size_t trees,
                      std::int32_t (*__restrict sums)[lanes_at_once]) {
    const std::size_t leaves = Leaves > 0 ? Leaves : any_leaves;
    IntegerVector<static_cast<int>(lanes_at_once)> a, b, c, d, e, f, g, h;
    for (std::size_t tree = 0; tree < trees; ++tree, value += leaves * lanes_at_once, leaf += strip_rows) {
        a.add(value + leaf[0] * lanes_at_once);
        b.add(value + leaf[1] * lanes_at_once);
        c.add(value + leaf[2] * lanes_at_once);
        d.add(value + leaf[3] * lanes_at_once);
        e.add(value + leaf[4] * lanes_at_once);
        f.add(value + leaf[5] * lanes_at_once);
        g.add(value + leaf[6] * lanes_at_once);
        h.add(value + leaf[7] * lanes_at_once);
    }
    a.store(sums[0]);
    b.store(sums[1]);
    c.store(sums[2]);
    d.store(sums[3]);
    e.store(sums[4]);
    f.store(sums[5]);
    g.store(sums[6]);
    h.store(sums[7]);
}

inline void add_lanes(const CompiledTrees& trees, std::size_t number, Strip& strip) {
    const CompiledTrees::TreeBatch& batch = trees.batches[number];
    const auto outputs = static_cast<std::size_t>(trees.outputs);
    const auto sum = trees.leaves() == 64 ? sum_group<64> : sum_group<0>;
    for (std::size_t lane = 0; lane < outputs; lane += lanes_at_once) {  // one after the other: each fills the L1 cache
        const std::int32_t* value = trees.group(batch, lane / lanes_at_once);
        for (std::size_t b = 0; b < strip.blocks; ++b) {
            std::int32_t integers[block][lanes_at_once];
            for (std::size_t i = 0; i < block; i += rows_at_once) {
                sum(value, trees.leaves(), strip.leaves[0].of_row + b * block + i, batch.trees, integers + i);
            }
            for (std::size_t k = 0; k < lanes_at_once && lane + k < outputs; ++k) {
                add_in_units([&](std::size_t i) { return integers[i][k]; }, trees.unit[number * outputs + lane + k],
                             strip.sums.data() + (lane + k) * strip_rows + b * block);
            }
        }
    }
}

inline void add_leaf_values(const CompiledTrees& trees, std::size_t number, Strip& strip) {
    if (trees.outputs <= 2) {
        add_words(trees, number, strip);
    } else {
        add_lanes(trees, number, strip);
    }
}

}  // namespace epiboost
