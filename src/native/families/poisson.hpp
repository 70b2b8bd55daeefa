// Counts: the one score is the logarithm of the mean.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"

namespace epiboost {

struct Poisson : Family<1> {
    static constexpr const char* name = "poisson";
    static constexpr int constants = 0;
    static constexpr StepBound step_bound[outputs] = {StepBound::log_mean};

    // Natural gradient: the Fisher information is the mean.
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float, const float* y, const float*, float* gradient,
                                                float* noise_scale) {
        const float log_mean = clamp(score[0], min_log_mean, max_log_mean);
        gradient[0] = 1.0f - y[0] * exponential(-log_mean);
        noise_scale[0] = exponential(-0.5f * log_mean);
    }

    static double negative_log_likelihood(const double* score, const float* y, const float*) {
        return std::exp(score[0]) - y[0] * score[0] + log_gamma(y[0] + 1.0);
    }
};

}  // namespace epiboost
