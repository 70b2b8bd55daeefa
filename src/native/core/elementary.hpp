// Elementary functions, built from additions, multiplications and divisions only.
//
// IEEE 754 defines the rounding of each operation, contraction is off, and no library function is called. So every
// instruction set, and NumPy code with the same order of operations, computes the same bits. Loops over them vectorise.
#pragma once

#include "core/standard.hpp"

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

// The same in double precision, to about 1e-15. Too large numbers give infinity, too small ones zero.
inline double exponential(double x) {
    constexpr double log2_of_e = 1.4426950408889634;
    constexpr double ln2_high = 0x1.62e42fefa38p-1;
    constexpr double ln2_low = 0x1.ef35793c7673p-45;
    constexpr double rounder = 0x1.8p52;
    const double bounded = x < -1500.0 ? -1500.0 : x > 1500.0 ? 1500.0 : x;
    const double k = (bounded * log2_of_e + rounder) - rounder;
    const double r = (bounded - k * ln2_high) - k * ln2_low;
    double series = 1.0 / 6227020800.0;
    constexpr double terms[] = {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0,
                                1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0};
    for (const double term : terms) {
        series = series * r + term;
    }
    const double part = (k * (1.0 / 3.0) + rounder) - rounder;  // 2^k as a product of three powers, each far from overflow
    const auto power = [](double exponent) {
        return std::bit_cast<double>((std::bit_cast<std::uint64_t>(exponent + rounder) + 1023) << 52);
    };
    return series * power(part) * power(part) * power(k - 2.0 * part);
}

inline double logarithm(double x) {
    constexpr std::uint64_t one_bits = 0x3ff0000000000000;
    constexpr std::uint64_t sqrt_half_bits = 0x3fe6a09e667f3bcd;
    constexpr double shifter = 0x1p52;  // the lowest bits of a double near it are an integer
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = (bits + (one_bits - sqrt_half_bits)) >> 52;  // plus 1023
    const double e = (std::bit_cast<double>(exponent | std::bit_cast<std::uint64_t>(shifter)) - shifter) - 1023.0;
    const double m = std::bit_cast<double>(bits - ((exponent - 1023) << 52));
    const double s = (m - 1.0) / (m + 1.0);
    const double s2 = s * s;
    double series = 2.0 / 23.0;
    constexpr double terms[] = {2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0,
                                2.0 / 5.0, 2.0 / 3.0, 2.0};
    for (const double term : terms) {
        series = series * s2 + term;
    }
    return e * 0.69314718055994531 + series * s;
}

}  // namespace epiboost
