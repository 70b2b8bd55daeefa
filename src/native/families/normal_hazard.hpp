// The Normal's density relative to its tails, in single precision and without library calls: see core/elementary.hpp. Relative
// errors are about 1e-6 in both tails.
#pragma once

#include "core/compiler.hpp"
#include "core/elementary.hpp"

namespace epiboost {

// (1 - Phi(x)) / phi(x) for x of at least 0: a polynomial in (x - 3) / (x + 3), over x + 3.
EPIBOOST_DEVICE_INLINE float mills_ratio(float x) {
    const float t = (x - 3.0f) / (x + 3.0f);
    float series = 7.487322e-05f;
    series = series * t + 0.000283646426f;
    series = series * t - 0.000502485782f;
    series = series * t - 0.00252025668f;
    series = series * t + 0.00249488093f;
    series = series * t + 0.0174354892f;
    series = series * t - 0.0262046028f;
    series = series * t - 0.11846377f;
    series = series * t + 0.576566696f;
    series = series * t - 1.27670622f;
    series = series * t + 1.82754183f;
    return series / (x + 3.0f);
}

// phi(x); the square of the part of x with few bits is exact, so that the exponent keeps its digits.
EPIBOOST_DEVICE_INLINE float normal_density(float x) {
    constexpr float rounder = 786432.0f;  // 1.5 * 2^19: adding and subtracting it rounds to sixteenths
    const float bounded = clamp(x, -13.0f, 13.0f);
    const float coarse = (bounded + rounder) - rounder;
    const float rest = (bounded - coarse) * (bounded + coarse);
    return 0.398942280f * (exponential(-0.5f * coarse * coarse) * exponential(-0.5f * rest));
}

// phi(x) / (1 - Phi(x)), the hazard rate: about x for large x, phi(x) for small ones.
EPIBOOST_DEVICE_INLINE float normal_hazard(float x) {
    const float size = x < 0.0f ? -x : x;
    const float ratio = mills_ratio(size);
    if (x >= 0.0f) return 1.0f / ratio;
    const float density = normal_density(size);
    return density / (1.0f - density * ratio);
}

// phi(lower) / P and phi(upper) / P, P the probability between lower and upper, which must be above lower by 0.01 or more.
struct EndWeights {
    float lower;
    float upper;
};

EPIBOOST_DEVICE_INLINE EndWeights normal_end_weights(float lower, float upper) {
    const bool mirrored = lower + upper < 0.0f;  // to the upper tail
    const float low = mirrored ? -upper : lower;
    const float high = mirrored ? -lower : upper;
    float at_low;
    float at_high;
    if (low >= 0.0f) {
        const float fall = exponential(-0.5f * (high - low) * (high + low));
        at_low = 1.0f / (mills_ratio(low) - mills_ratio(high) * fall);
        at_high = at_low * fall;
    } else {
        const float low_density = normal_density(low);
        const float high_density = normal_density(high);
        const float inside = 1.0f - low_density * mills_ratio(-low) - high_density * mills_ratio(high);
        at_low = low_density / inside;
        at_high = high_density / inside;
    }
    return mirrored ? EndWeights{at_high, at_low} : EndWeights{at_low, at_high};
}

}  // namespace epiboost
