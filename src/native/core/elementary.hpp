// Elementary functions in single precision, built from additions, multiplications and divisions only.
//
// IEEE 754 defines the rounding of each operation, contraction is off, and no library function is called. So every
// instruction set, and NumPy code with the same order of operations, computes the same bits. Loops over them vectorise.
#pragma once

#include <bit>
#include <cstdint>

namespace epiboost {

inline float clamp(float x, float low, float high) {
    const float raised = x < low ? low : x;
    return raised > high ? high : raised;
}

inline float exponential(float x) {
    constexpr float log2_of_e = 1.44269504f;
    constexpr float ln2_high = 0.693359375f;  // has few bits, so that k * ln2_high is exact
    constexpr float ln2_low = -2.12194440e-4f;
    constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
    const float bounded = clamp(x, -80.0f, 80.0f);
    const float k = (bounded * log2_of_e + rounder) - rounder;
    const float r = (bounded - k * ln2_high) - k * ln2_low;
    float series = 1.0f / 5040.0f;
    series = series * r + 1.0f / 720.0f;
    series = series * r + 1.0f / 120.0f;
    series = series * r + 1.0f / 24.0f;
    series = series * r + 1.0f / 6.0f;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    return series * std::bit_cast<float>((static_cast<std::int32_t>(k) + 127) << 23);
}

// Natural logarithm of a positive, normal number: log m + e log 2 with m in [sqrt(1/2), sqrt(2)), log m = 2 artanh s.
inline float logarithm(float x) {
    constexpr std::int32_t sqrt_half_bits = 0x3f3504f3;
    const std::int32_t bits = std::bit_cast<std::int32_t>(x);
    const std::int32_t exponent = (bits - sqrt_half_bits) >> 23;
    const float m = std::bit_cast<float>(bits - (exponent << 23));
    const float s = (m - 1.0f) / (m + 1.0f);
    const float s2 = s * s;
    float series = 2.0f / 9.0f;
    series = series * s2 + 2.0f / 7.0f;
    series = series * s2 + 2.0f / 5.0f;
    series = series * s2 + 2.0f / 3.0f;
    series = series * s2 + 2.0f;
    return static_cast<float>(exponent) * 0.693147181f + series * s;
}

// Sine and cosine for |angle| <= pi / 4.
inline void sine_cosine(float angle, float& sine, float& cosine) {
    const float a2 = angle * angle;
    float s = 1.0f / 362880.0f;
    s = s * a2 - 1.0f / 5040.0f;
    s = s * a2 + 1.0f / 120.0f;
    s = s * a2 - 1.0f / 6.0f;
    s = s * a2 + 1.0f;
    sine = s * angle;
    float c = 1.0f / 40320.0f;
    c = c * a2 - 1.0f / 720.0f;
    c = c * a2 + 1.0f / 24.0f;
    c = c * a2 - 0.5f;
    cosine = c * a2 + 1.0f;
}

}  // namespace epiboost
