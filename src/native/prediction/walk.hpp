// Takes rows through a stretch of trees and adds up the values of the leaves they fall into.
//
// With AVX-512 this goes by registers. A block's answers to a point are the 64 bits of a mask, six masked additions make the
// leaf's number, and the 64 values of a tree, by halves of twelve bits, lie in two registers each, where one permute looks up
// 32 of them. Sums of halves fit sixteen bits for a whole stretch. The plain loops add the same whole numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/leaves.hpp"
#include "core/problem.hpp"
#include "prediction/ready_trees.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace epiboost {

constexpr std::size_t strip_blocks = 16;  // blocks of rows that go through a stretch one after the other
constexpr std::size_t strip = strip_blocks * block;

inline bool walks_by_halves(int depth) {
#if defined(__AVX512BW__)
    return depth <= 6;
#else
    static_cast<void>(depth);
    return false;
#endif
}

// Rows of a block lie in its bins in an order of their own: the one in which registers of halves come apart.
inline std::size_t place_in_block(std::size_t row) {
#if defined(__AVX512BW__)
    constexpr std::size_t remainder[] = {0, 2, 1, 3};
    return row % 16 * 4 + remainder[row / 16];
#else
    return row;
#endif
}

// What a thread needs for a strip of rows. Bins are by block, then by column; sums one array of rows an output.
struct Strip {
    struct alignas(64) Bins {
        std::uint8_t of_row[block];
    };
    struct alignas(64) Answers {  // whose bins are above a point's threshold: a bit a row
        std::uint64_t of_block[strip_blocks];
    };
    std::vector<Bins> bins;
    std::vector<Answers> above;  // by point
    std::vector<float> sums;
    std::size_t columns;
    std::size_t blocks = 0;  // in use

    Strip(const ReadyTrees& trees, std::size_t columns)
        : bins(columns * strip_blocks), above(walks_by_halves(trees.depth) ? trees.points.size() : 0),
          sums(static_cast<std::size_t>(trees.outputs) * strip), columns(columns) {}

    std::uint8_t& bin(std::size_t row, std::size_t column) {
        return bins[row / block * columns + column].of_row[place_in_block(row % block)];
    }
    const std::uint8_t* block_bins(std::size_t which, std::size_t column) const { return bins[which * columns + column].of_row; }
};

inline void add_stretch_plainly(const ReadyTrees& trees, std::size_t number, Strip& own) {
    const auto [first, count] = trees.stretches[number];
    const auto width = static_cast<std::size_t>(trees.outputs);
    std::vector<std::int32_t> whole(width * block);
    for (std::size_t b = 0; b < own.blocks; ++b) {
        std::fill(whole.begin(), whole.end(), 0);
        for (std::size_t tree = first; tree < first + count; ++tree) {
            ReadyTrees::Point point[max_depth];
            std::uint8_t threshold[max_depth];
            for (int level = 0; level < trees.depth; ++level) {
                point[level] = trees.points[trees.split[tree * trees.depth + level]];
                threshold[level] = point[level].threshold;
            }
            std::uint8_t index[block];
            find_leaves([&](int level) { return own.block_bins(b, point[level].feature); }, threshold, trees.depth, index);
            const std::int32_t* value = trees.value.data() + tree * trees.leaves() * width;
            for (std::size_t k = 0; k < width; ++k) {
                std::int32_t* __restrict sum = whole.data() + k * block;
                for (std::size_t i = 0; i < block; ++i) sum[i] += value[index[i] * width + k];
            }
        }
        for (std::size_t k = 0; k < width; ++k) {
            const float unit = trees.unit[number * width + k];
            float* __restrict sums = own.sums.data() + k * strip + b * block;
            for (std::size_t i = 0; i < block; ++i) {
                sums[i] += static_cast<float>(whole[k * block + place_in_block(i)]) * unit;
            }
        }
    }
}

#if defined(__AVX512BW__)

inline void answer_points(const ReadyTrees& trees, Strip& own) {
    for (std::size_t p = 0; p < trees.points.size(); ++p) {
        const __m512i threshold = _mm512_set1_epi8(static_cast<char>(trees.points[p].threshold));
        for (std::size_t b = 0; b < own.blocks; ++b) {
            const __m512i bins = _mm512_loadu_si512(own.block_bins(b, trees.points[p].feature));
            own.above[p].of_block[b] = _mm512_cmpgt_epu8_mask(bins, threshold);
        }
    }
}

// Leaves of two blocks of rows, in places of sixteen bits: rows in even places of a block first, then those in odd ones.
// Permutes read the lower six bits alone.
template <int Depth>
void find_leaf_numbers(const std::uint32_t* split, const Strip::Answers* above, std::size_t first, __m512i (&number)[2][2]) {
    for (int b = 0; b < 2; ++b) {
        number[b][0] = _mm512_setzero_si512();
        for (int level = 0; level < Depth; ++level) {
            const __mmask64 answers = above[split[level]].of_block[first + b];
            const __m512i bit = _mm512_set1_epi8(static_cast<char>(1 << level));
            number[b][0] = _mm512_mask_add_epi8(number[b][0], answers, number[b][0], bit);
        }
        number[b][1] = _mm512_srli_epi16(number[b][0], 8);
    }
}

// Adds sixteen sums, given by halves, to those of their rows.
inline void add_sixteen(__m512i upper, __m512i lower, __m512 unit, float* sums) {
    const __m512i whole = _mm512_add_epi32(_mm512_slli_epi32(upper, half_bits), lower);
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_mul_ps(_mm512_cvtepi32_ps(whole), unit)));
}

// Takes two blocks through a stretch, for one or two outputs.
template <int Depth, int Outputs>
void add_two_blocks(const ReadyTrees& trees, std::size_t number, int output, Strip& own, std::size_t first) {
    const ReadyTrees::Stretch stretch = trees.stretches[number];
    const std::uint32_t* split = trees.split.data() + stretch.first * Depth;
    const Halves* halves = trees.halves.data() + stretch.first * trees.outputs + output;
    __m512i upper[Outputs][2][2];
    __m512i lower[Outputs][2][2];
    for (int i = 0; i < Outputs * 4; ++i) {  // an initialiser would go through memory
        upper[i / 4][i / 2 % 2][i % 2] = _mm512_setzero_si512();
        lower[i / 4][i / 2 % 2][i % 2] = _mm512_setzero_si512();
    }
    for (std::size_t tree = 0; tree < stretch.trees; ++tree, split += Depth, halves += trees.outputs) {
        __m512i at[2][2];
        find_leaf_numbers<Depth>(split, own.above.data(), first, at);
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
        float* sums = own.sums.data() + (output + k) * strip + first * block;
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

// Asks for an eighth of the next stretch's values: they are then there when the last pair of blocks is through with this one.
inline void fetch_next(const ReadyTrees& trees, std::size_t number, std::size_t eighth) {
    const ReadyTrees::Stretch& stretch = trees.stretches[number];
    const std::size_t share = (stretch.trees * trees.outputs + 7) / 8;
    const Halves* next = trees.halves.data() + (stretch.first + stretch.trees) * trees.outputs + eighth * share;
    for (std::size_t i = 0; i < share; ++i) {
        for (std::size_t line = 0; line < sizeof(Halves) / 64; ++line) {
            __builtin_prefetch(reinterpret_cast<const char*>(next + i) + line * 64);
        }
    }
}

template <int Depth>
void add_stretch_by_halves(const ReadyTrees& trees, std::size_t number, Strip& own) {
    for (int output = 0; output < trees.outputs; output += 2) {
        const auto add = output + 1 < trees.outputs ? add_two_blocks<Depth, 2> : add_two_blocks<Depth, 1>;
        for (std::size_t first = 0; first < own.blocks; first += 2) {
            fetch_next(trees, number, first / 2);
            add(trees, number, output, own, first);
        }
    }
}

#endif

// What is worked out once for a strip whose bins are known.
inline void prepare(const ReadyTrees& trees, Strip& own) {
#if defined(__AVX512BW__)
    if (walks_by_halves(trees.depth)) answer_points(trees, own);
#else
    static_cast<void>(trees);
    static_cast<void>(own);
#endif
}

// Adds a stretch's values to the sums of the strip's rows.
inline void add_stretch(const ReadyTrees& trees, std::size_t number, Strip& own) {
#if defined(__AVX512BW__)
    switch (trees.depth) {
        case 1: return add_stretch_by_halves<1>(trees, number, own);
        case 2: return add_stretch_by_halves<2>(trees, number, own);
        case 3: return add_stretch_by_halves<3>(trees, number, own);
        case 4: return add_stretch_by_halves<4>(trees, number, own);
        case 5: return add_stretch_by_halves<5>(trees, number, own);
        case 6: return add_stretch_by_halves<6>(trees, number, own);
        default: break;
    }
#endif
    add_stretch_plainly(trees, number, own);
}

// The same for a single row: `above` holds its answers to the points, `sums` is (outputs).
inline void add_stretch_to_one(const ReadyTrees& trees, std::size_t number, const std::uint8_t* above, std::int32_t* whole,
                               float* sums) {
    const auto [first, count] = trees.stretches[number];
    const auto width = static_cast<std::size_t>(trees.outputs);
    const auto levels = static_cast<std::size_t>(trees.depth);
    const std::int32_t* leaf[trees_at_once];  // found first, so that memory is asked for all of them at once
    const std::uint32_t* split = trees.split.data() + first * levels;
    for (std::size_t tree = 0; tree < count; ++tree, split += levels) {
        std::size_t index = 0;
        for (std::size_t level = 0; level < levels; ++level) index |= static_cast<std::size_t>(above[split[level]]) << level;
        leaf[tree] = trees.value.data() + ((first + tree) * trees.leaves() + index) * width;
        __builtin_prefetch(leaf[tree]);
    }
    for (std::size_t k = 0; k < width; ++k) whole[k] = 0;
    for (std::size_t tree = 0; tree < count; ++tree) {
        for (std::size_t k = 0; k < width; ++k) whole[k] += leaf[tree][k];
    }
    for (std::size_t k = 0; k < width; ++k) sums[k] += static_cast<float>(whole[k]) * trees.unit[number * width + k];
}

}  // namespace epiboost
