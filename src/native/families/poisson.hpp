// Counts: the one score is the logarithm of the mean in units of the mean of the target, and so is the target.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"

namespace epiboost {

struct Poisson : Family<1> {
    static constexpr const char* name = "poisson";
    static constexpr int constants = 1;  // mean of the target
    static constexpr StepBound step_bound[outputs] = {StepBound::log_mean};

    // The gradient is divided by the Fisher information, the mean, plus that of an average row. The natural gradient 1 - y / mean
    // has a variance of 1 / mean, so that rows with small means would drown a leaf in noise.
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float, const float* y, const float* constant, float* gradient,
                                                float* noise_scale) {
        const float ratio = exponential(clamp(score[0], min_log_mean, max_log_mean));
        gradient[0] = (ratio - y[0]) / (ratio + 1.0f);
        noise_scale[0] = 1.0f / square_root(constant[0] * (ratio + 1.0f));
    }

    static double negative_log_likelihood(const double* score, const float* y, const float* constant) {
        const double average = constant[0];
        const double log_mean = clamp(static_cast<float>(score[0]), min_log_mean, max_log_mean) + logarithm(average);
        const double count = larger(0.0, nearest_integer(static_cast<double>(y[0]) * average));
        return exponential(log_mean) - count * log_mean + log_gamma(count + 1.0);
    }
};

}  // namespace epiboost
