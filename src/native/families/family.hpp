// What every family of distributions has: sizes, bounds, and per-row formulas of the gradient and the likelihood.
//
// A family is a struct in a file of its own. `gradient` is computed in single precision from additions, multiplications,
// divisions, square roots and the functions of core/elementary.hpp alone, so that all instruction sets and the GPU compute the
// same bits. It is in the Fisher metric: the natural gradient, or the gradient divided by the diagonal of the Fisher information.
// `location` is the first score without the row's own influence (the first score itself, if there is no variance guard): what is
// learned of the dispersion must come from it. `noise_scale` is the root of the inverse of the metric.
#pragma once

#include "core/compiler.hpp"
#include "core/elementary.hpp"
#include "families/loss_functions.hpp"

namespace epiboost {

// How far a step of a leaf may go, see training/leaf_values.hpp.
enum class StepBound { none, log_dispersion, log_mean };

constexpr float min_log_dispersion = -10.0f;
constexpr float max_log_dispersion = 8.0f;
constexpr float min_log_mean = -30.0f;
constexpr float max_log_mean = 30.0f;
constexpr float max_ratio = 1e9f;  // of a residual to a scale: its square is finite

template <int count, int columns = 1>
struct Family {
    static constexpr int outputs = count;
    static constexpr int targets = columns;  // numbers per row in the target
};

EPIBOOST_DEVICE_INLINE float square_root(float x) { return std::sqrt(x); }

}  // namespace epiboost
