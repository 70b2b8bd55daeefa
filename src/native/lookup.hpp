// Adds table[index[i]] to sums[i] for a block of rows: how a tree's leaf values reach the scores.
//
// With AVX-512 a table of up to 64 values fits four registers and is looked up by permutes, sixteen rows at a time; the
// plain loop beside it adds the same numbers in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "problem.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace epiboost {

inline void add_looked_up_plainly(const float* table, const std::uint8_t* index, float* __restrict sums) {
    for (std::size_t i = 0; i < block; ++i) sums[i] += table[index[i]];
}

#if defined(__AVX512F__)

inline __m512i sixteen_indices(const std::uint8_t* index) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(index)));
}

inline void add_sixteen(float* sums, __m512 values) { _mm512_storeu_ps(sums, _mm512_add_ps(_mm512_loadu_ps(sums), values)); }

inline void add_looked_up(const float* table, int leaves, const std::uint8_t* index, float* __restrict sums) {
    if (leaves == 64) {
        const __m512 a = _mm512_loadu_ps(table);
        const __m512 b = _mm512_loadu_ps(table + 16);
        const __m512 c = _mm512_loadu_ps(table + 32);
        const __m512 d = _mm512_loadu_ps(table + 48);
        for (std::size_t i = 0; i < block; i += 16) {
            const __m512i at = sixteen_indices(index + i);
            const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
            const __m512 low = _mm512_permutex2var_ps(a, at, b);
            add_sixteen(sums + i, _mm512_mask_mov_ps(low, upper, _mm512_permutex2var_ps(c, at, d)));
        }
    } else if (leaves == 32) {
        const __m512 a = _mm512_loadu_ps(table);
        const __m512 b = _mm512_loadu_ps(table + 16);
        for (std::size_t i = 0; i < block; i += 16) {
            add_sixteen(sums + i, _mm512_permutex2var_ps(a, sixteen_indices(index + i), b));
        }
    } else if (leaves <= 16) {
        const __m512 a = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << leaves) - 1u), table);
        for (std::size_t i = 0; i < block; i += 16) {
            add_sixteen(sums + i, _mm512_permutexvar_ps(sixteen_indices(index + i), a));
        }
    } else {
        add_looked_up_plainly(table, index, sums);
    }
}

#else

inline void add_looked_up(const float* table, int, const std::uint8_t* index, float* __restrict sums) {
    add_looked_up_plainly(table, index, sums);
}

#endif

}  // namespace epiboost
