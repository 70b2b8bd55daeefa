// Laplace: scores are the location, which is the median, and the log scale of the standardised target.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"

namespace epiboost {

struct Laplace : Family<2> {
    static constexpr const char* name = "laplace";
    static constexpr int constants = 0;
    static constexpr StepBound step_bound[outputs] = {StepBound::none, StepBound::log_mean};

    static constexpr double log_two = 0.69314718055994531;

    // Natural gradient: the Fisher information is diag(1 / scale^2, 1).
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float*,
                                                float* gradient, float* noise_scale) {
        const float log_scale = clamp(score[1], min_log_dispersion, max_log_dispersion);
        const float scale = exponential(log_scale);
        const float residual = y[0] - score[0];
        const float left_out = y[0] - location;
        const float distance = left_out < 0.0f ? -left_out : left_out;
        gradient[0] = residual > 0.0f ? -scale : (residual < 0.0f ? scale : 0.0f);
        gradient[1] = 1.0f - clamp(distance * exponential(-log_scale), 0.0f, max_ratio);
        noise_scale[0] = scale;
        noise_scale[1] = 1.0f;
    }

    static double negative_log_likelihood(const double* score, const float* y, const float*) {
        const double log_scale = clamp(static_cast<float>(score[1]), min_log_dispersion, max_log_dispersion);
        return log_two + log_scale + magnitude(y[0] - score[0]) * exponential(-log_scale);
    }
};

}  // namespace epiboost
