// The step of a leaf. Kernels for GPUs are compiled from this file too.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"

namespace epiboost {

// A step down the mean gradient of a leaf, at most to the best value where the gradient has no bound. That of a log standard deviation
// is 1/2 - 1/2 m with m the mean of squared residuals in standard deviations: the best value is 1/2 log m. That of the log of a mean is
// 1 - m with m the mean of ratios of the targets to their means: the best value is log m.
inline double leaf_step(double gradient, double learning_rate, StepBound bound) {
    const double step = -learning_rate * gradient;
    if (bound == StepBound::none || !(step > 0.0)) return step;
    return smaller(step, bound == StepBound::log_dispersion ? 0.5 * logarithm(1.0 - 2.0 * gradient) : logarithm(1.0 - gradient));
}

}  // namespace epiboost
