// Student's t with given degrees of freedom: scores are the location and the log scale of the standardised target.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"

namespace epiboost {

struct Student : Family<2> {
    static constexpr const char* name = "student";
    static constexpr int constants = 1;  // degrees of freedom
    static constexpr StepBound step_bound[outputs] = {StepBound::none, StepBound::none};

    // Natural gradient: the Fisher information is diag((n + 1) / ((n + 3) scale^2), 2 n / (n + 3)).
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float* constant,
                                                float* gradient, float* noise_scale) {
        const float freedom = constant[0];
        const float inverse_scale = exponential(-clamp(score[1], min_log_dispersion, max_log_dispersion));
        const float residual = y[0] - score[0];
        const float z = clamp(residual * inverse_scale, -max_ratio, max_ratio);
        const float left_out_z = clamp((y[0] - location) * inverse_scale, -max_ratio, max_ratio);
        const float square = left_out_z * left_out_z;
        gradient[0] = -(freedom + 3.0f) * residual / (freedom + z * z);
        gradient[1] = (freedom + 3.0f) / (2.0f * freedom) * (1.0f - (freedom + 1.0f) * square / (freedom + square));
        noise_scale[0] = square_root((freedom + 3.0f) / (freedom + 1.0f)) / inverse_scale;
        noise_scale[1] = square_root((freedom + 3.0f) / (2.0f * freedom));
    }

    static double negative_log_likelihood(const double* score, const float* y, const float* constant) {
        const double freedom = constant[0];
        const double log_scale = clamp(static_cast<float>(score[1]), min_log_dispersion, max_log_dispersion);
        const double z = (y[0] - score[0]) * exponential(-log_scale);
        return log_gamma(0.5 * freedom) - log_gamma(0.5 * (freedom + 1.0)) + 0.5 * logarithm(freedom * pi) + log_scale +
               0.5 * (freedom + 1.0) * log_one_plus(z * z / freedom);
    }
};

}  // namespace epiboost
