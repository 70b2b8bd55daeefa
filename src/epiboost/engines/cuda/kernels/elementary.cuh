// Elementary functions with the bits of the CPU's: the same operations in the same order as in core/elementary.hpp of the native
// core, without contraction (--fmad=false). No function of a library is called.
#pragma once

__device__ inline float clamp(float x, float low, float high) {
    const float raised = x < low ? low : x;
    return raised > high ? high : raised;
}

__device__ inline float exponential(float x) {
    const float log2_of_e = 1.44269504f;
    const float ln2_high = 0.693359375f;  // has few bits, so that k * ln2_high is exact
    const float ln2_low = -2.12194440e-4f;
    const float rounder = 12582912.0f;  // 1.5 * 2^23: adding and subtracting it rounds to an integer
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
    return series * __int_as_float((static_cast<int>(k) + 127) << 23);
}

__device__ inline double power_of_two(double exponent) {
    const double rounder = 6755399441055744.0;  // 1.5 * 2^52
    return __longlong_as_double((__double_as_longlong(exponent + rounder) + 1023) << 52);
}

__device__ inline double exponential(double x) {
    const double log2_of_e = 1.4426950408889634;
    const double ln2_high = 0x1.62e42fefa38p-1;
    const double ln2_low = 0x1.ef35793c7673p-45;
    const double rounder = 6755399441055744.0;
    const double bounded = x < -1500.0 ? -1500.0 : x > 1500.0 ? 1500.0 : x;
    const double k = (bounded * log2_of_e + rounder) - rounder;
    const double r = (bounded - k * ln2_high) - k * ln2_low;
    double series = 1.0 / 6227020800.0;
    series = series * r + 1.0 / 479001600.0;
    series = series * r + 1.0 / 39916800.0;
    series = series * r + 1.0 / 3628800.0;
    series = series * r + 1.0 / 362880.0;
    series = series * r + 1.0 / 40320.0;
    series = series * r + 1.0 / 5040.0;
    series = series * r + 1.0 / 720.0;
    series = series * r + 1.0 / 120.0;
    series = series * r + 1.0 / 24.0;
    series = series * r + 1.0 / 6.0;
    series = series * r + 0.5;
    series = series * r + 1.0;
    series = series * r + 1.0;
    const double part = (k * (1.0 / 3.0) + rounder) - rounder;  // 2^k as a product of three powers, each far from overflow
    return series * power_of_two(part) * power_of_two(part) * power_of_two(k - 2.0 * part);
}
