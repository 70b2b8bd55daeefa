// Leaf values of a block of rows: looked up for one tree, or added up over a stretch of trees.
//
// With AVX-512, a tree of six levels takes a few instructions: 64 bins are compared at once, the 64 values of an output lie
// in four registers and are looked up by permutes, and the sums stay in registers from tree to tree. The plain loop below
// adds the same numbers in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "leaves.hpp"
#include "problem.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace epiboost {

inline void look_up_plainly(const float* table, const std::uint8_t* index, float* __restrict found) {
    for (std::size_t i = 0; i < block; ++i) found[i] = table[index[i]];
}

// found[i] = table[index[i]] for a block of rows and a table of one value a leaf.
inline void look_up(const float* table, int leaves, const std::uint8_t* index, float* __restrict found) {
#if defined(__AVX512BW__)
    if (leaves == 64) {
        const __m512 a = _mm512_loadu_ps(table);
        const __m512 b = _mm512_loadu_ps(table + 16);
        const __m512 c = _mm512_loadu_ps(table + 32);
        const __m512 d = _mm512_loadu_ps(table + 48);
        for (std::size_t i = 0; i < block; i += 16) {
            const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(index + i)));
            const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
            const __m512 low = _mm512_permutex2var_ps(a, at, b);
            _mm512_storeu_ps(found + i, _mm512_mask_mov_ps(low, upper, _mm512_permutex2var_ps(c, at, d)));
        }
        return;
    }
#endif
    static_cast<void>(leaves);
    look_up_plainly(table, index, found);
}

// Trees as the predictor reads them: (trees, depth) splits and (trees, outputs, leaves) values.
struct Stretch {
    const std::uint16_t* feature;
    const std::uint8_t* threshold;
    const float* leaf;
    std::size_t trees;
    int depth;
    int outputs;
};

// `bins` is the block's, one column after the other; output k has its sums at sums + k * stride.
inline void add_trees_plainly(const Stretch& stretch, const std::uint8_t* bins, float* sums, std::size_t stride) {
    const std::size_t leaves = std::size_t{1} << stretch.depth;
    std::uint8_t index[block];
    for (std::size_t tree = 0; tree < stretch.trees; ++tree) {
        const std::uint16_t* feature = stretch.feature + tree * stretch.depth;
        find_leaves([&](int level) { return bins + feature[level] * block; }, stretch.threshold + tree * stretch.depth,
                    stretch.depth, index);
        for (int k = 0; k < stretch.outputs; ++k) {
            const float* leaf = stretch.leaf + (tree * stretch.outputs + k) * leaves;
            float* __restrict own = sums + k * stride;
            for (std::size_t i = 0; i < block; ++i) own[i] += leaf[index[i]];
        }
    }
}

#if defined(__AVX512BW__)

template <int Outputs>
void add_trees_of_six_levels(const Stretch& stretch, const std::uint8_t* bins, float* sums, std::size_t stride) {
    __m512 own[Outputs][4];
    for (int k = 0; k < Outputs; ++k) {
        for (int j = 0; j < 4; ++j) own[k][j] = _mm512_loadu_ps(sums + k * stride + j * 16);
    }
    const std::uint16_t* feature = stretch.feature;
    const std::uint8_t* threshold = stretch.threshold;
    const float* leaf = stretch.leaf;
    for (std::size_t tree = 0; tree < stretch.trees; ++tree, feature += 6, threshold += 6) {
        __m512i index = _mm512_setzero_si512();
        __mmask64 above = 0;
        for (int level = 0; level < 6; ++level) {
            const __m512i column = _mm512_loadu_si512(bins + feature[level] * block);
            above = _mm512_cmpgt_epu8_mask(column, _mm512_set1_epi8(static_cast<char>(threshold[level])));
            if (level < 5) index = _mm512_mask_add_epi8(index, above, index, _mm512_set1_epi8(static_cast<char>(1 << level)));
        }
        const __m512i at[4] = {_mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(index, 0)),
                               _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(index, 1)),
                               _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(index, 2)),
                               _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(index, 3))};
        for (int k = 0; k < Outputs; ++k, leaf += 64) {
            const __m512 a = _mm512_loadu_ps(leaf);
            const __m512 b = _mm512_loadu_ps(leaf + 16);
            const __m512 c = _mm512_loadu_ps(leaf + 32);
            const __m512 d = _mm512_loadu_ps(leaf + 48);
            for (int j = 0; j < 4; ++j) {  // the last level's answer says which half of the values is meant
                const __mmask16 upper = static_cast<__mmask16>(above >> (16 * j));
                const __m512 low = _mm512_permutex2var_ps(a, at[j], b);
                const __m512 high = _mm512_permutex2var_ps(c, at[j], d);
                own[k][j] = _mm512_add_ps(own[k][j], _mm512_mask_mov_ps(low, upper, high));
            }
        }
    }
    for (int k = 0; k < Outputs; ++k) {
        for (int j = 0; j < 4; ++j) _mm512_storeu_ps(sums + k * stride + j * 16, own[k][j]);
    }
}

inline void add_trees(const Stretch& stretch, const std::uint8_t* bins, float* sums, std::size_t stride) {
    if (stretch.depth == 6 && stretch.outputs == 2) return add_trees_of_six_levels<2>(stretch, bins, sums, stride);
    if (stretch.depth == 6 && stretch.outputs == 1) return add_trees_of_six_levels<1>(stretch, bins, sums, stride);
    add_trees_plainly(stretch, bins, sums, stride);
}

#else

inline void add_trees(const Stretch& stretch, const std::uint8_t* bins, float* sums, std::size_t stride) {
    add_trees_plainly(stretch, bins, sums, stride);
}

#endif

// The same for one row, whose bins are `bins`; sums are (outputs).
inline void add_trees_to_one(const Stretch& stretch, const std::uint8_t* bins, float* __restrict sums) {
    const std::size_t leaves = std::size_t{1} << stretch.depth;
    const std::uint16_t* feature = stretch.feature;
    const std::uint8_t* threshold = stretch.threshold;
    const float* leaf = stretch.leaf;
    for (std::size_t tree = 0; tree < stretch.trees; ++tree) {
        std::size_t index = 0;
        for (int level = 0; level < stretch.depth; ++level) {
            index |= static_cast<std::size_t>(bins[feature[level]] > threshold[level]) << level;
        }
        for (int k = 0; k < stretch.outputs; ++k) sums[k] += leaf[k * leaves + index];
        feature += stretch.depth;
        threshold += stretch.depth;
        leaf += leaves * stretch.outputs;
    }
}

}  // namespace epiboost
