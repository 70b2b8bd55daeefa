// Looks up some numbers per leaf for the rows of a block.
//
// The numbers of a leaf are in groups of four, which are loaded as one and transposed for four rows at a time. With AVX-512,
// each number of the 64 leaves of a tree of depth six is in four registers, and looked up by permutes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problem.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace epiboost {

// Writes four numbers per row to one array per number. `table` has shape (leaves, 4).
inline void look_up_four(const float* table, const std::uint8_t* leaf, float* __restrict found) {
#if defined(__SSE2__) || defined(_M_X64)
    for (std::size_t i = 0; i < block; i += 4) {
        __m128 a = _mm_loadu_ps(table + 4 * leaf[i]);
        __m128 b = _mm_loadu_ps(table + 4 * leaf[i + 1]);
        __m128 c = _mm_loadu_ps(table + 4 * leaf[i + 2]);
        __m128 d = _mm_loadu_ps(table + 4 * leaf[i + 3]);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(found + i, a);
        _mm_storeu_ps(found + block + i, b);
        _mm_storeu_ps(found + 2 * block + i, c);
        _mm_storeu_ps(found + 3 * block + i, d);
    }
#else
    for (std::size_t i = 0; i < block; ++i) {
        for (std::size_t k = 0; k < 4; ++k) found[k * block + i] = table[4 * leaf[i] + k];
    }
#endif
}

#if defined(__AVX512BW__)
// The same for one number of 64 leaves.
inline void look_up_by_permutes(const float* table, const std::uint8_t* leaf, float* __restrict found) {
    const __m512 a = _mm512_loadu_ps(table);
    const __m512 b = _mm512_loadu_ps(table + 16);
    const __m512 c = _mm512_loadu_ps(table + 32);
    const __m512 d = _mm512_loadu_ps(table + 48);
    for (std::size_t i = 0; i < block; i += 16) {
        const __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(leaf + i)));
        const __mmask16 upper = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
        const __m512 low = _mm512_permutex2var_ps(a, at, b);
        _mm512_storeu_ps(found + i, _mm512_mask_mov_ps(low, upper, _mm512_permutex2var_ps(c, at, d)));
    }
}
#endif

class LeafNumbers {
  public:
    LeafNumbers(std::size_t leaves, std::size_t numbers)
        : leaves_(leaves), numbers_(numbers), of_leaf_((numbers + 3) / 4 * 4 * leaves), found_((numbers + 3) / 4 * 4 * block) {
#if defined(__AVX512BW__)
        by_permutes_ = leaves == 64;
#endif
    }

    void set(std::size_t number, std::size_t leaf, float value) {
        of_leaf_[by_permutes_ ? number * leaves_ + leaf : (number / 4 * leaves_ + leaf) * 4 + number % 4] = value;
    }

    // Looks up the numbers of the rows of a block.
    void look_up(const std::uint8_t* leaf) {
#if defined(__AVX512BW__)
        if (by_permutes_) {
            for (std::size_t k = 0; k < numbers_; ++k) {
                look_up_by_permutes(of_leaf_.data() + k * leaves_, leaf, found_.data() + k * block);
            }
            return;
        }
#endif
        for (std::size_t k = 0; k < numbers_; k += 4) {
            const float* table = of_leaf_.data() + k * leaves_;
            if (numbers_ - k > 1) {
                look_up_four(table, leaf, found_.data() + k * block);
            } else {
                for (std::size_t i = 0; i < block; ++i) found_[k * block + i] = table[4 * leaf[i]];
            }
        }
    }

    // A number of each row of that block.
    const float* of_rows(std::size_t number) const { return found_.data() + number * block; }

  private:
    std::size_t leaves_;
    std::size_t numbers_;
    std::vector<float> of_leaf_;
    std::vector<float> found_;
    bool by_permutes_ = false;
};

}  // namespace epiboost
