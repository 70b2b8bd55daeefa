// log(1 + x) for x above -1 in single precision, without loss of digits near 0 and without library calls.
#pragma once

#include "core/compiler.hpp"
#include "core/elementary.hpp"

namespace epiboost {

// Near 0 it is 2 artanh s with s = x / (2 + x), as in `logarithm`.
EPIBOOST_DEVICE_INLINE float log_one_plus(float x) {
    const float small = clamp(x, -0.25f, 0.5f);
    const float s = small / (2.0f + small);
    const float s2 = s * s;
    float series = 2.0f / 9.0f;
    series = series * s2 + 2.0f / 7.0f;
    series = series * s2 + 2.0f / 5.0f;
    series = series * s2 + 2.0f / 3.0f;
    series = series * s2 + 2.0f;
    const float above = 1.0f + x;
    return small == x ? series * s : logarithm(above > 1e-37f ? above : 1e-37f);
}

}  // namespace epiboost
