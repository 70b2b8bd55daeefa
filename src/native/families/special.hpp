// Special functions of positive numbers in single precision, to about 1e-6 relative, without library calls: see
// core/elementary.hpp. Differences that would cancel have functions of their own.
//
// Asymptotic series hold from `series_from`; smaller arguments are moved there by recurrence. Both ways are computed and one is
// chosen, so that loops vectorise.
#pragma once

#include "core/compiler.hpp"
#include "core/elementary.hpp"

namespace epiboost {

constexpr float series_from = 4.0f;

// log x - digamma(x) by its asymptotic series, 1 / (2 x) + 1 / (12 x^2) - 1 / (120 x^4) + ...
EPIBOOST_DEVICE_INLINE float log_minus_digamma_series(float x) {
    const float i = 1.0f / x;
    const float i2 = i * i;
    return i * 0.5f + i2 * (1.0f / 12.0f - i2 * (1.0f / 120.0f - i2 * (1.0f / 252.0f - i2 * (1.0f / 240.0f - i2 / 132.0f))));
}

// trigamma(x) - 1 / x by its asymptotic series, 1 / (2 x^2) + 1 / (6 x^3) - 1 / (30 x^5) + ...
EPIBOOST_DEVICE_INLINE float trigamma_minus_inverse_series(float x) {
    const float i = 1.0f / x;
    const float i2 = i * i;
    return i2 * (0.5f + i * (1.0f / 6.0f - i2 * (1.0f / 30.0f - i2 * (1.0f / 42.0f - i2 * (1.0f / 30.0f - i2 * (5.0f / 66.0f))))));
}

// log x - digamma(x), which is positive.
EPIBOOST_DEVICE_INLINE float log_minus_digamma(float x) {
    const float small = x < series_from ? x : series_from;
    const float moved = small + 4.0f;
    const float inverses = (1.0f / small + 1.0f / (small + 1.0f)) + (1.0f / (small + 2.0f) + 1.0f / (small + 3.0f));
    const float by_recurrence = inverses - logarithm(moved / small) + log_minus_digamma_series(moved);
    return x < series_from ? by_recurrence : log_minus_digamma_series(x);
}

// trigamma(x) - 1 / x, which is positive.
EPIBOOST_DEVICE_INLINE float trigamma_minus_inverse(float x) {
    const float small = x < series_from ? x : series_from;
    const float moved = small + 4.0f;
    float squares = 0.0f;
    for (int k = 3; k > 0; --k) {
        const float inverse = 1.0f / (small + static_cast<float>(k));
        squares += inverse * inverse;
    }
    const float inverse = 1.0f / small;
    const float rest = squares + trigamma_minus_inverse_series(moved) + 1.0f / moved;
    const float by_recurrence = inverse * (inverse - 1.0f) + rest;
    return x < series_from ? by_recurrence : trigamma_minus_inverse_series(x);
}

// Derivative of the logarithm of the gamma function. Near its zero at 1.4616 the error is absolute.
EPIBOOST_DEVICE_INLINE float digamma(float x) { return logarithm(x) - log_minus_digamma(x); }

// Derivative of digamma.
EPIBOOST_DEVICE_INLINE float trigamma(float x) { return trigamma_minus_inverse(x) + 1.0f / x; }

// exp(x) - 1 - x, which is not negative, without loss of digits near 0.
EPIBOOST_DEVICE_INLINE float exponential_excess(float x) {
    const float small = clamp(x, -0.5f, 0.5f);
    float series = 1.0f / 40320.0f;
    series = series * small + 1.0f / 5040.0f;
    series = series * small + 1.0f / 720.0f;
    series = series * small + 1.0f / 120.0f;
    series = series * small + 1.0f / 24.0f;
    series = series * small + 1.0f / 6.0f;
    series = series * small + 0.5f;
    return small == x ? series * small * small : exponential(x) - 1.0f - x;
}

}  // namespace epiboost
