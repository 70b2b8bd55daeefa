// A vector of 32-bit sums, one per output. Compilers keep an array of such sums in memory, which makes every addition wait for the
// one before; these stay in registers.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX2__) || defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace epiboost {

#if defined(__AVX2__)

constexpr std::size_t lanes_at_once = 8;

struct LaneVector {
    __m256i sums = _mm256_setzero_si256();

    void add(const std::int32_t* values) {
        sums = _mm256_add_epi32(sums, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)));
    }
    void store(std::int32_t* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums); }
};

#elif defined(__SSE2__) || defined(_M_X64)

constexpr std::size_t lanes_at_once = 4;

struct LaneVector {
    __m128i sums = _mm_setzero_si128();

    void add(const std::int32_t* values) {
        sums = _mm_add_epi32(sums, _mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
    }
    void store(std::int32_t* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), sums); }
};

#elif defined(__ARM_NEON) && defined(__aarch64__)

constexpr std::size_t lanes_at_once = 4;

struct LaneVector {
    int32x4_t sums = vdupq_n_s32(0);

    void add(const std::int32_t* values) { sums = vaddq_s32(sums, vld1q_s32(values)); }
    void store(std::int32_t* to) const { vst1q_s32(to, sums); }
};

#else

constexpr std::size_t lanes_at_once = 4;

struct LaneVector {
    std::int32_t sums[lanes_at_once] = {};

    void add(const std::int32_t* values) {
        for (std::size_t k = 0; k < lanes_at_once; ++k) sums[k] += values[k];
    }
    void store(std::int32_t* to) const {
        for (std::size_t k = 0; k < lanes_at_once; ++k) to[k] = sums[k];
    }
};

#endif

}  // namespace epiboost
