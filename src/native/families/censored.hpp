// Targets of which only bounds may be known: two standardised logarithms per row, lower and upper. Equal bounds are an observed
// value. A lower bound of -1e17 or less is no bound, nor is an upper one of 1e17 or more.
#pragma once

#include "families/family.hpp"

namespace epiboost {

constexpr float no_bound = 1e17f;
constexpr float narrow_interval = 0.02f;  // in deviations: the density in the middle says the same to four digits

enum class Censoring { none, right, left, interval };

inline Censoring censoring_of(float lower, float upper) {
    if (lower == upper) return Censoring::none;
    if (upper >= no_bound) return Censoring::right;
    return lower <= -no_bound ? Censoring::left : Censoring::interval;
}

// Both bounds in deviations; those of a narrow interval are its middle.
struct Deviations {
    Censoring censoring;
    float lower;
    float upper;
};

EPIBOOST_DEVICE_INLINE Deviations deviations_of(const float* y, float location, float inverse_scale, float shift, float lowest,
                                                float highest) {
    const float lower = clamp((y[0] - location) * inverse_scale + shift, lowest, highest);
    const float upper = clamp((y[1] - location) * inverse_scale + shift, lowest, highest);
    const Censoring censoring = censoring_of(y[0], y[1]);
    if (censoring != Censoring::interval || upper - lower >= narrow_interval) return {censoring, lower, upper};
    const float middle = lower + 0.5f * (upper - lower);
    return {Censoring::none, middle, middle};
}

}  // namespace epiboost
