// What every family of distributions has: sizes, bounds, and per-row formulas of the gradient and the likelihood.
//
// A family is a struct in a file of its own. `gradient` is computed in single precision from additions, multiplications,
// divisions, square roots and the functions of core/elementary.hpp alone, so that all instruction sets and the GPU compute the
// same bits. It is in the Fisher metric: the natural gradient, or the gradient divided by the diagonal of the Fisher information.
// `location` is the first score without the row's own influence (the first score itself, if there is no variance guard): what is
// learned of the dispersion must come from it. `noise_scale` is the root of the inverse of the metric.
#pragma once

#include <cmath>

#include "core/compiler.hpp"

namespace epiboost {

// How far a step of a leaf may go, see training/leaf_values.hpp.
enum class StepBound { none, log_dispersion, log_mean };

constexpr float min_log_dispersion = -10.0f;
constexpr float max_log_dispersion = 8.0f;
constexpr float min_log_mean = -30.0f;
constexpr float max_log_mean = 30.0f;
constexpr float max_ratio = 1e9f;  // of a residual to a scale: its square is finite
constexpr double pi = 3.14159265358979323846;

template <int count, int columns = 1>
struct Family {
    static constexpr int outputs = count;
    static constexpr int targets = columns;  // numbers per row in the target
};

EPIBOOST_DEVICE_INLINE float square_root(float x) {
#if defined(__CUDACC__)
    return __fsqrt_rn(x);
#else
    return std::sqrt(x);
#endif
}

// Logarithm of the gamma function of a positive number; std::lgamma writes a global variable, which threads would share.
inline double log_gamma(double x) {
    double shift = 0.0;
    for (; x < 15.0; x += 1.0) shift -= std::log(x);
    const double i = 1.0 / x;
    const double i2 = i * i;
    const double series = i * (1.0 / 12.0 - i2 * (1.0 / 360.0 - i2 * (1.0 / 1260.0 - i2 * (1.0 / 1680.0 - i2 / 1188.0))));
    return shift + (x - 0.5) * std::log(x) - x + 0.91893853320467274 + series;
}

}  // namespace epiboost
