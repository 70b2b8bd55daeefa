// Evaluates a batch of trees and sums the values of the leaves that rows fall into.
//
// AVX-512 works in registers. A condition for a block of rows is a mask of 64 bits, and six masked additions give the leaf
// index. The 64 leaf values of a tree, split into halves of twelve bits, take two registers per half, in which one permute
// looks up 32 values. Sums of halves fit 16 bits for a batch. The portable loops add the same integers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/leaves.hpp"
#include "core/problem.hpp"
#include "prediction/compiled_trees.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace epiboost {

// A strip is a number of blocks that are evaluated with one batch before the next batch: the leaf values of a batch stay in
// the L1 cache, the bins and sums of a strip in the L2 cache.
constexpr std::size_t strip_blocks = 16;
constexpr std::size_t strip_rows = strip_blocks * block;

inline bool uses_register_lookup(const CompiledTrees& trees) {
#if defined(__AVX512BW__)
    return trees.is_symmetric() && trees.splits <= 6;
#else
    static_cast<void>(trees);
    return false;
#endif
}

// Position of a row within the bins of its block. With AVX-512 the rows are permuted, so that the sums of halves unpack into
// consecutive rows.
inline std::size_t position_in_block(std::size_t row) {
#if defined(__AVX512BW__)
    constexpr std::size_t remainder[] = {0, 2, 1, 3};
    return row % 16 * 4 + remainder[row / 16];
#else
    return row;
#endif
}

// State of one thread for a strip of rows. Bins are ordered by block, then by column; sums have one array of rows per output.
struct Strip {
    struct alignas(64) Bins {
        std::uint8_t of_row[block];
    };
    struct alignas(64) ConditionBits {  // one bit per row: whether its bin is above the condition's threshold
        std::uint64_t of_block[strip_blocks];
    };
    std::vector<Bins> bins;
    std::vector<ConditionBits> above;  // per condition
    std::vector<float> sums;
    std::size_t columns;
    std::size_t blocks = 0;  // number of blocks in use

    Strip(const CompiledTrees& trees, std::size_t columns)
        : bins(columns * strip_blocks), above(uses_register_lookup(trees) ? trees.conditions.size() : 0),
          sums(static_cast<std::size_t>(trees.outputs) * strip_rows), columns(columns) {}

    std::uint8_t& bin(std::size_t row, std::size_t column) {
        return bins[row / block * columns + column].of_row[position_in_block(row % block)];
    }
    const std::uint8_t* block_bins(std::size_t which, std::size_t column) const { return bins[which * columns + column].of_row; }
};

inline void add_batch_portable(const CompiledTrees& trees, std::size_t number, Strip& strip) {
    const auto [first, count] = trees.batches[number];
    const auto width = static_cast<std::size_t>(trees.outputs);
    const auto splits = static_cast<std::size_t>(trees.splits);
    const std::size_t rows = strip.blocks * block;
    std::vector<std::int32_t> integers(width * rows, 0);
    std::vector<std::uint8_t> leaf(rows);
    CompiledTrees::Condition condition[max_splits];
    std::uint8_t threshold[max_splits];
    for (std::size_t tree = first; tree < first + count; ++tree) {
        for (std::size_t s = 0; s < splits; ++s) {
            condition[s] = trees.conditions[trees.split[tree * splits + s]];
            threshold[s] = condition[s].threshold;
        }
        const auto column = [&](int s, std::size_t b) { return strip.block_bins(b, condition[s].feature); };
        if (trees.is_symmetric()) {
            for (std::size_t b = 0; b < strip.blocks; ++b) {
                find_leaves([&](int level) { return column(level, b); }, threshold, trees.splits, leaf.data() + b * block);
            }
        } else {
            follow_splits(column, threshold, trees.parent.data() + tree * splits, trees.splits, strip.blocks, leaf.data());
        }
        const std::int32_t* value = trees.value.data() + tree * trees.leaves() * width;
        for (std::size_t k = 0; k < width; ++k) {
            std::int32_t* __restrict sum = integers.data() + k * rows;
            for (std::size_t i = 0; i < rows; ++i) sum[i] += value[leaf[i] * width + k];
        }
    }
    for (std::size_t k = 0; k < width; ++k) {
        const float unit = trees.unit[number * width + k];
        for (std::size_t b = 0; b < strip.blocks; ++b) {
            const std::int32_t* of_block = integers.data() + k * rows + b * block;
            float* __restrict sums = strip.sums.data() + k * strip_rows + b * block;
            for (std::size_t i = 0; i < block; ++i) sums[i] += static_cast<float>(of_block[position_in_block(i)]) * unit;
        }
    }
}

#if defined(__AVX512BW__)

inline void evaluate_conditions(const CompiledTrees& trees, Strip& strip) {
    for (std::size_t p = 0; p < trees.conditions.size(); ++p) {
        const __m512i threshold = _mm512_set1_epi8(static_cast<char>(trees.conditions[p].threshold));
        for (std::size_t b = 0; b < strip.blocks; ++b) {
            const __m512i bins = _mm512_loadu_si512(strip.block_bins(b, trees.conditions[p].feature));
            strip.above[p].of_block[b] = _mm512_cmpgt_epu8_mask(bins, threshold);
        }
    }
}

// Leaf indices of two blocks of rows in lanes of 16 bits: rows at even positions of a block first, then those at odd ones.
// Permutes use only the lower six bits.
template <int Depth>
void find_leaf_indices(const std::uint32_t* split, const Strip::ConditionBits* above, std::size_t first, __m512i (&index)[2][2]) {
    for (int b = 0; b < 2; ++b) {
        index[b][0] = _mm512_setzero_si512();
        for (int level = 0; level < Depth; ++level) {
            const __mmask64 is_above = above[split[level]].of_block[first + b];
            const __m512i bit = _mm512_set1_epi8(static_cast<char>(1 << level));
            index[b][0] = _mm512_mask_add_epi8(index[b][0], is_above, index[b][0], bit);
        }
        index[b][1] = _mm512_srli_epi16(index[b][0], 8);
    }
}

// Adds sixteen sums, given as halves, to the sums of their rows.
inline void add_sixteen(__m512i upper, __m512i lower, __m512 unit, float* sums) {
    const __m512i integers = _mm512_add_epi32(_mm512_slli_epi32(upper, half_bits), lower);
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_mul_ps(_mm512_cvtepi32_ps(integers), unit)));
}

// Evaluates a batch for two blocks and one or two outputs.
template <int Depth, int Outputs>
void add_two_blocks(const CompiledTrees& trees, std::size_t number, int output, Strip& strip, std::size_t first) {
    const CompiledTrees::TreeBatch batch = trees.batches[number];
    const std::uint32_t* split = trees.split.data() + batch.first * Depth;
    const Halves* halves = trees.halves.data() + batch.first * trees.outputs + output;
    __m512i upper[Outputs][2][2];
    __m512i lower[Outputs][2][2];
    for (int i = 0; i < Outputs * 4; ++i) {  // an initialiser would go through memory
        upper[i / 4][i / 2 % 2][i % 2] = _mm512_setzero_si512();
        lower[i / 4][i / 2 % 2][i % 2] = _mm512_setzero_si512();
    }
    for (std::size_t tree = 0; tree < batch.trees; ++tree, split += Depth, halves += trees.outputs) {
        __m512i at[2][2];
        find_leaf_indices<Depth>(split, strip.above.data(), first, at);
        for (int k = 0; k < Outputs; ++k) {
            const __m512i upper_low = _mm512_load_si512(halves[k].upper);
            const __m512i upper_high = _mm512_load_si512(halves[k].upper + 32);
            const __m512i lower_low = _mm512_load_si512(halves[k].lower);
            const __m512i lower_high = _mm512_load_si512(halves[k].lower + 32);
            for (int b = 0; b < 2; ++b) {
                for (int odd = 0; odd < 2; ++odd) {
                    const __m512i high = _mm512_permutex2var_epi16(upper_low, at[b][odd], upper_high);
                    const __m512i low = _mm512_permutex2var_epi16(lower_low, at[b][odd], lower_high);
                    upper[k][b][odd] = _mm512_add_epi16(upper[k][b][odd], high);
                    lower[k][b][odd] = _mm512_add_epi16(lower[k][b][odd], low);
                }
            }
        }
    }
    const __m512i low_word = _mm512_set1_epi32(0xffff);
    for (int k = 0; k < Outputs; ++k) {
        const __m512 unit = _mm512_set1_ps(trees.unit[number * trees.outputs + output + k]);
        float* sums = strip.sums.data() + (output + k) * strip_rows + first * block;
        for (int b = 0; b < 2; ++b) {
            for (int odd = 0; odd < 2; ++odd, sums += 32) {
                const __m512i even_upper = _mm512_srai_epi32(_mm512_slli_epi32(upper[k][b][odd], 16), 16);
                add_sixteen(even_upper, _mm512_and_si512(lower[k][b][odd], low_word), unit, sums);
                const __m512i odd_upper = _mm512_srai_epi32(upper[k][b][odd], 16);
                add_sixteen(odd_upper, _mm512_srli_epi32(lower[k][b][odd], 16), unit, sums + 16);
            }
        }
    }
}

// Prefetches an eighth of the next batch's leaf values. After the eight pairs of blocks of a strip, all of them are there.
inline void prefetch_next(const CompiledTrees& trees, std::size_t number, std::size_t eighth) {
    const CompiledTrees::TreeBatch& batch = trees.batches[number];
    const std::size_t share = (batch.trees * trees.outputs + 7) / 8;
    const Halves* next = trees.halves.data() + (batch.first + batch.trees) * trees.outputs + eighth * share;
    for (std::size_t i = 0; i < share; ++i) {
        for (std::size_t line = 0; line < sizeof(Halves) / 64; ++line) {
            __builtin_prefetch(reinterpret_cast<const char*>(next + i) + line * 64);
        }
    }
}

template <int Depth>
void add_batch_avx512(const CompiledTrees& trees, std::size_t number, Strip& strip) {
    for (int output = 0; output < trees.outputs; output += 2) {
        const auto add = output + 1 < trees.outputs ? add_two_blocks<Depth, 2> : add_two_blocks<Depth, 1>;
        for (std::size_t first = 0; first < strip.blocks; first += 2) {
            prefetch_next(trees, number, first / 2);
            add(trees, number, output, strip, first);
        }
    }
}

#endif

// Computes what all batches need from the bins of a strip.
inline void prepare(const CompiledTrees& trees, Strip& strip) {
#if defined(__AVX512BW__)
    if (uses_register_lookup(trees)) evaluate_conditions(trees, strip);
#else
    static_cast<void>(trees);
    static_cast<void>(strip);
#endif
}

// Adds the leaf values of a batch to the sums of a strip's rows.
inline void add_batch(const CompiledTrees& trees, std::size_t number, Strip& strip) {
#if defined(__AVX512BW__)
    switch (trees.is_symmetric() ? trees.splits : 0) {
        case 1: return add_batch_avx512<1>(trees, number, strip);
        case 2: return add_batch_avx512<2>(trees, number, strip);
        case 3: return add_batch_avx512<3>(trees, number, strip);
        case 4: return add_batch_avx512<4>(trees, number, strip);
        case 5: return add_batch_avx512<5>(trees, number, strip);
        case 6: return add_batch_avx512<6>(trees, number, strip);
        default: break;
    }
#endif
    add_batch_portable(trees, number, strip);
}

// Adds the leaf values of a batch for a single row. `above` holds one byte per condition, `sums` has shape (outputs).
inline void add_batch_to_row(const CompiledTrees& trees, std::size_t number, const std::uint8_t* above, std::int32_t* integers,
                             float* sums) {
    const auto [first, count] = trees.batches[number];
    const auto width = static_cast<std::size_t>(trees.outputs);
    const auto splits = static_cast<std::size_t>(trees.splits);
    const std::int32_t* leaf[trees_per_batch];  // all are found first, so that their cache misses overlap
    const std::uint32_t* split = trees.split.data() + first * splits;
    for (std::size_t tree = 0; tree < count; ++tree, split += splits) {
        std::size_t index = 0;
        if (trees.is_symmetric()) {
            for (std::size_t level = 0; level < splits; ++level) index |= static_cast<std::size_t>(above[split[level]]) << level;
        } else {
            const CompiledTrees::Child* child = trees.child.data() + (first + tree) * splits;
            int at = 0;
            while (at >= 0) at = above[split[at]] ? child[at].above : child[at].below;
            index = static_cast<std::size_t>(~at);
        }
        leaf[tree] = trees.value.data() + ((first + tree) * trees.leaves() + index) * width;
        __builtin_prefetch(leaf[tree]);
    }
    for (std::size_t k = 0; k < width; ++k) integers[k] = 0;
    for (std::size_t tree = 0; tree < count; ++tree) {
        for (std::size_t k = 0; k < width; ++k) integers[k] += leaf[tree][k];
    }
    for (std::size_t k = 0; k < width; ++k) sums[k] += static_cast<float>(integers[k]) * trees.unit[number * width + k];
}

}  // namespace epiboost
