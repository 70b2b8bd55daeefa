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

// Sums the words of a block over some trees of so many leaves; 0 if they are known at run time only. The sums of eight rows are
// named: of an array, compilers make longer vectors than pairs, which is slower. Half of the indices are read as one number: with loads
// of single bytes alone the units that load would be the bottleneck, with none those that calculate.
template <std::size_t Leaves>
void sum_words(const std::int64_t* first_word, std::size_t any_leaves, const std::uint8_t* first_leaf, std::size_t trees,
               WordHalves* sums) {
    const std::size_t leaves = Leaves > 0 ? Leaves : any_leaves;
    for (std::size_t i = 0; i < block; i += rows_at_once, sums += rows_at_once) {
        const std::int64_t* word = first_word;
        const std::uint8_t* leaf = first_leaf + i;
        std::int64_t a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
        EPIBOOST_UNROLL_2
        for (std::size_t tree = 0; tree < trees; ++tree, word += leaves, leaf += leaf_stride) {
            std::uint32_t four;
            std::memcpy(&four, leaf + 4, sizeof four);  // lowest byte first, see histogram_sums.hpp
            a += word[leaf[0]];
            b += word[leaf[1]];
            c += word[leaf[2]];
            d += word[leaf[3]];
            e += word[four & 255];
            f += word[four >> 8 & 255];
            g += word[four >> 16 & 255];
            h += word[four >> 24];
        }
        const std::int64_t eight[] = {a, b, c, d, e, f, g, h};
        std::memcpy(sums, eight, sizeof eight);
    }
}

// Adds words of some trees, in units of the batch, to the sums of one or two outputs.
inline void add_words(const std::int64_t* word, std::size_t leaves, std::size_t trees, const float* unit, int outputs,
                      Strip& strip) {
    // Known sizes are addressed faster: those of trees of depth 6, and of merged trees.
    constexpr std::size_t merged_leaves = std::size_t{1} << max_depth;
    const auto sum = leaves == 64 ? sum_words<64> : leaves == merged_leaves ? sum_words<merged_leaves> : sum_words<0>;
    for (std::size_t b = 0; b < strip.blocks; ++b) {
        WordHalves halves[block];
        sum(word, leaves, strip.leaves[0].of_row + b * block, trees, halves);
        float* sums = strip.sums.data() + b * block;
        add_in_units([&](std::size_t i) { return halves[i].first(); }, unit[0], sums);
        if (outputs < 2) continue;
        add_in_units([&](std::size_t i) { return halves[i].second(); }, unit[1], sums + strip.stride());
    }
}

// Sums a group of outputs of eight rows over some trees of so many leaves; 0 if they are known at run time only.
template <std::size_t Leaves>
inline void sum_group(const std::int32_t* __restrict value, std::size_t any_leaves, const std::uint8_t* leaf, std::size_t trees,
                      std::int32_t (*__restrict sums)[lanes_at_once]) {
    const std::size_t leaves = Leaves > 0 ? Leaves : any_leaves;
    IntegerVector<std::int32_t, static_cast<int>(lanes_at_once)> a, b, c, d, e, f, g, h;
    for (std::size_t tree = 0; tree < trees; ++tree, value += leaves * lanes_at_once, leaf += leaf_stride) {
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

// Adds a group of outputs of some trees, in units of the batch, to the sums of at most so many outputs.
inline void add_group(const std::int32_t* value, std::size_t leaves, std::size_t trees, const float* unit, std::size_t first_output,
                      std::size_t outputs, Strip& strip) {
    const auto sum = leaves == 64 ? sum_group<64> : sum_group<0>;
    for (std::size_t b = 0; b < strip.blocks; ++b) {
        std::int32_t integers[block][lanes_at_once];
        for (std::size_t i = 0; i < block; i += rows_at_once) {
            sum(value, leaves, strip.leaves[0].of_row + b * block + i, trees, integers + i);
        }
        for (std::size_t k = 0; k < lanes_at_once && first_output + k < outputs; ++k) {
            add_in_units([&](std::size_t i) { return integers[i][k]; }, unit[first_output + k],
                         strip.sums.data() + (first_output + k) * strip.stride() + b * block);
        }
    }
}

}  // namespace epiboost
