// Sums leaf values of one output in registers of AVX2. The 64 bytes of a plane of leaf values are four registers of sixteen, each in
// both halves, in which a shuffle looks up 32 rows. It gives zero for the rows whose leaf is in another quarter. Two outputs would
// take twice as many shuffles, and are faster as words (leaf_sums.hpp).
#pragma once

#include "prediction/compiled_trees.hpp"
#include "prediction/strip.hpp"

#if defined(__AVX2__) && !defined(__AVX512BW__)
#include <immintrin.h>

namespace epiboost {

// Sums of one byte of 32 rows, modulo 2^16: of pairs of bytes as they are, and of the second byte of each pair.
struct BytePairSums {
    __m256i pair = _mm256_setzero_si256();
    __m256i second = _mm256_setzero_si256();

    void add(__m256i bytes) {
        pair = _mm256_add_epi16(pair, bytes);
        second = _mm256_add_epi16(second, _mm256_srli_epi16(bytes, 8));
    }
    __m256i first() const { return _mm256_sub_epi16(pair, _mm256_slli_epi16(second, 8)); }
};

// Adds the sums of eight rows to theirs: those in the lower or in the upper halves of 32 bits.
template <bool Upper>
inline void add_eight(__m256i low, __m256i middle, __m256i high, __m256i bias, __m256 unit, float* sums) {
    const auto half = [](__m256i x) { return Upper ? _mm256_srli_epi32(x, 16) : _mm256_and_si256(x, _mm256_set1_epi32(0xffff)); };
    const __m256i lower = _mm256_add_epi32(half(low), _mm256_slli_epi32(half(middle), 8));
    const __m256i all = _mm256_add_epi32(lower, _mm256_slli_epi32(half(high), 16));
    const __m256 integers = _mm256_cvtepi32_ps(_mm256_sub_epi32(all, bias));
    _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), _mm256_mul_ps(integers, unit)));
}

inline void add_32_rows(const ByteTable* table, const std::uint8_t* leaf, std::size_t trees, float unit_of_batch, float* sums) {
    const __m256i below_sign = _mm256_set1_epi8(0x70);  // leaves of 16 and more get the sign, which makes a shuffle give zero
    BytePairSums plane[3];
    for (std::size_t tree = 0; tree < trees; ++tree, leaf += leaf_stride, ++table) {
        const __m256i at = _mm256_load_si256(reinterpret_cast<const __m256i*>(leaf));
        __m256i in_quarter[4];
        for (int q = 0; q < 4; ++q) {
            const __m256i number = _mm256_set1_epi8(static_cast<char>(16 * q));
            in_quarter[q] = _mm256_adds_epu8(_mm256_xor_si256(at, number), below_sign);
        }
        for (int p = 0; p < 3; ++p) {
            __m256i found = _mm256_setzero_si256();
            for (int q = 0; q < 4; ++q) {
                const auto* sixteen = reinterpret_cast<const __m128i*>(table->plane[p] + 16 * q);
                const __m256i values = _mm256_broadcastsi128_si256(_mm_load_si128(sixteen));
                found = _mm256_or_si256(found, _mm256_shuffle_epi8(values, in_quarter[q]));
            }
            plane[p].add(found);
        }
    }
    const __m256 unit = _mm256_set1_ps(unit_of_batch);
    const __m256i bias = _mm256_set1_epi32(static_cast<int>(trees) * ByteTable::bias);
    const __m256i first[3] = {plane[0].first(), plane[1].first(), plane[2].first()};
    const __m256i second[3] = {plane[0].second, plane[1].second, plane[2].second};
    add_eight<false>(first[0], first[1], first[2], bias, unit, sums);  // in the order of positions_in_block
    add_eight<true>(first[0], first[1], first[2], bias, unit, sums + 8);
    add_eight<false>(second[0], second[1], second[2], bias, unit, sums + 16);
    add_eight<true>(second[0], second[1], second[2], bias, unit, sums + 24);
}

// Adds the values of some trees, of which `step` is 1, to the sums of their only output.
inline void add_table_values(const ByteTable* table, std::size_t, std::size_t trees, float unit, std::size_t, Strip& strip) {
    for (std::size_t row = 0; row < strip.blocks * block; row += 32) {
        add_32_rows(table, strip.leaves[0].of_row + row, trees, unit, strip.sums.data() + row);
    }
}

}  // namespace epiboost

#endif
