// Sums leaf values in registers of AVX-512. The 64 values of an output of a tree, split into halves of twelve bits, take two
// registers per half, in which one permute looks up 32 rows. Sums of halves fit 16 bits for a batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/compiler.hpp"
#include "prediction/compiled_trees.hpp"
#include "prediction/strip.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>

namespace epiboost {

// Adds sixteen sums, given as halves, to the sums of their rows.
inline void add_sixteen(__m512i upper, __m512i lower, __m512 unit, float* sums) {
    const __m512i integers = _mm512_add_epi32(_mm512_slli_epi32(upper, half_bits), lower);
    _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_mul_ps(_mm512_cvtepi32_ps(integers), unit)));
}

// Sums some blocks for one output. Rows at even positions of a block come first, then those at odd ones.
// `step` is the distance between the tables of two trees.
template <int Blocks>
void add_blocks(const HalfTable* table, std::size_t step, std::size_t trees, float unit_of_batch, std::size_t output, Strip& strip,
                std::size_t first) {
    const std::uint8_t* leaf = strip.leaves[0].of_row + first * block;
    __m512i upper[Blocks][2];
    __m512i lower[Blocks][2];
    for (int i = 0; i < Blocks * 2; ++i) upper[i / 2][i % 2] = lower[i / 2][i % 2] = _mm512_setzero_si512();
    EPIBOOST_UNROLL_2  // else the sums are copied between registers
    for (std::size_t tree = 0; tree < trees; ++tree, leaf += leaf_stride, table += step) {
        const __m512i upper_low = _mm512_load_si512(table->upper);
        const __m512i upper_high = _mm512_load_si512(table->upper + 32);
        const __m512i lower_low = _mm512_load_si512(table->lower);
        const __m512i lower_high = _mm512_load_si512(table->lower + 32);
        for (int b = 0; b < Blocks; ++b) {
            const __m512i bytes = _mm512_load_si512(leaf + b * block);
            for (int odd = 0; odd < 2; ++odd) {
                const __m512i at = odd ? _mm512_srli_epi16(bytes, 8) : bytes;  // permutes use only the lower six bits
                upper[b][odd] = _mm512_add_epi16(upper[b][odd], _mm512_permutex2var_epi16(upper_low, at, upper_high));
                lower[b][odd] = _mm512_add_epi16(lower[b][odd], _mm512_permutex2var_epi16(lower_low, at, lower_high));
            }
        }
    }
    const __m512i low_word = _mm512_set1_epi32(0xffff);
    const __m512 unit = _mm512_set1_ps(unit_of_batch);
    float* sums = strip.sums.data() + output * strip.stride() + first * block;
    for (int b = 0; b < Blocks; ++b) {
        for (int odd = 0; odd < 2; ++odd, sums += 32) {
            const __m512i even_upper = _mm512_srai_epi32(_mm512_slli_epi32(upper[b][odd], 16), 16);
            add_sixteen(even_upper, _mm512_and_si512(lower[b][odd], low_word), unit, sums);
            const __m512i odd_upper = _mm512_srai_epi32(upper[b][odd], 16);
            add_sixteen(odd_upper, _mm512_srli_epi32(lower[b][odd], 16), unit, sums + 16);
        }
    }
}

// Adds the values of one output of some trees to its sums.
inline void add_table_values(const HalfTable* table, std::size_t step, std::size_t trees, float unit, std::size_t output,
                             Strip& strip) {
    std::size_t first = 0;
    for (; first + 4 <= strip.blocks; first += 4) add_blocks<4>(table, step, trees, unit, output, strip, first);
    for (; first < strip.blocks; ++first) add_blocks<1>(table, step, trees, unit, output, strip, first);
}

// All bits of the leaves of a table that are above on a level, in the order of add_table(): the lower byte of each word is a leaf of
// the first half of the table, the upper one of the second half.
inline __m512i leaves_above(std::size_t level) {
    struct alignas(64) Bytes {
        std::uint8_t of[max_table_leaves];
    };
    static constexpr auto above = [] {
        std::array<Bytes, 6> levels{};
        for (std::size_t byte = 0; byte < max_table_leaves; ++byte) {
            const std::size_t leaf = byte / 2 + byte % 2 * (max_table_leaves / 2);
            for (std::size_t d = 0; d < levels.size(); ++d) levels[d].of[byte] = leaf >> d & 1 ? 0xff : 0;
        }
        return levels;
    }();
    return _mm512_load_si512(above[level].of);
}

// Adds the values of some leaves of a table to all values of another one.
inline void add_table(const HalfTable& table, __m512i leaves, HalfTable& sums) {
    const auto add = [&](const std::int16_t* from, std::int16_t* to) {
        const __m512i low = _mm512_load_si512(from);
        const __m512i high = _mm512_load_si512(from + 32);
        const __m512i first = _mm512_permutex2var_epi16(low, leaves, high);
        const __m512i second = _mm512_permutex2var_epi16(low, _mm512_srli_epi16(leaves, 8), high);
        _mm512_store_si512(to, _mm512_add_epi16(_mm512_load_si512(to), first));
        _mm512_store_si512(to + 32, _mm512_add_epi16(_mm512_load_si512(to + 32), second));
    };
    add(table.upper, sums.upper);
    add(table.lower, sums.lower);
}

}  // namespace epiboost

#endif
