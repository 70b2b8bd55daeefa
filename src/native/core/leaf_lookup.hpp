// Looks up the leaf values of one tree for a block of rows. With AVX-512, the 64 values of a tree of depth six are held in
// four registers and looked up by permutes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace epiboost {

inline void look_up_portable(const float* table, const std::uint8_t* index, float* __restrict found) {
    for (std::size_t i = 0; i < block; ++i) found[i] = table[index[i]];
}

// found[i] = table[index[i]] for a block of rows and a table with one value per leaf.
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
    look_up_portable(table, index, found);
}

}  // namespace epiboost
