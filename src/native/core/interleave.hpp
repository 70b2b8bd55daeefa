// Turns arrays of numbers, one per quantity, into an array of rows. Compilers turn such loops into scalar code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/constants.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace epiboost {

// Rows of three numbers and a zero. The arrays are consecutive, each of a block.
template <class Integer>
inline void interleave_three(const Integer* __restrict arrays, Integer* __restrict rows) {
    for (std::size_t i = 0; i < block; ++i) {
        for (std::size_t k = 0; k < 3; ++k) rows[4 * i + k] = arrays[k * block + i];
        rows[4 * i + 3] = 0;
    }
}

#if defined(__SSE2__) || defined(_M_X64)
inline void interleave_three(const std::int32_t* __restrict arrays, std::int32_t* __restrict rows) {
    const auto at = [&](std::size_t i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(arrays + i)); };
    const auto store = [&](std::size_t row, __m128i numbers) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(rows + 4 * row), numbers);
    };
    for (std::size_t i = 0; i < block; i += 4) {
        const __m128i a = at(i);
        const __m128i b = at(block + i);
        const __m128i c = at(2 * block + i);
        const __m128i first_two = _mm_unpacklo_epi32(a, b);
        const __m128i last_two = _mm_unpackhi_epi32(a, b);
        const __m128i first_rest = _mm_unpacklo_epi32(c, _mm_setzero_si128());
        const __m128i last_rest = _mm_unpackhi_epi32(c, _mm_setzero_si128());
        store(i, _mm_unpacklo_epi64(first_two, first_rest));
        store(i + 1, _mm_unpackhi_epi64(first_two, first_rest));
        store(i + 2, _mm_unpacklo_epi64(last_two, last_rest));
        store(i + 3, _mm_unpackhi_epi64(last_two, last_rest));
    }
}
#endif

}  // namespace epiboost
