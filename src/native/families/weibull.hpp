// Weibull: the logarithm of the target is a Gumbel of minima with location m and scale s = 1 / shape. Scores are m + c s with
// c = 1 - Euler's constant, and log s: in these coordinates the Fisher information is diagonal.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"

namespace epiboost {

struct Weibull : Family<2> {
    static constexpr const char* name = "weibull";
    static constexpr int constants = 0;
    static constexpr StepBound step_bound[outputs] = {StepBound::none, StepBound::log_dispersion};

    static constexpr float max_log_inverse_shape = 4.0f;
    static constexpr float shift = 0.42278434f;         // 1 - Euler's constant
    static constexpr float inverse_trigamma = 0.60792710f;  // 6 / pi^2
    static constexpr float lowest = -1e9f;
    // Deviations above this one count as this one; one of 200,000 values is. Its gradient grows exponentially, and a step would go
    // far past the best value.
    static constexpr float highest = 2.5f;

    // Natural gradient: the Fisher information is diag(1 / s^2, pi^2 / 6).
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float*,
                                                float* gradient, float* noise_scale) {
        const float log_scale = clamp(score[1], min_log_dispersion, max_log_inverse_shape);
        const float scale = exponential(log_scale);
        const float inverse_scale = exponential(-log_scale);
        const float z = clamp((y[0] - score[0]) * inverse_scale + shift, lowest, highest);
        const float left_out = clamp((y[0] - location) * inverse_scale + shift, lowest, highest);
        const float excess = exponential(left_out) - 1.0f;
        gradient[0] = scale * (1.0f - exponential(z));
        gradient[1] = inverse_trigamma * (1.0f - (left_out - shift) * excess);
        noise_scale[0] = scale;
        noise_scale[1] = 0.77969680f;  // root of 6 / pi^2
    }

    // Of the target, of which y is the logarithm.
    static double negative_log_likelihood(const double* score, const float* y, const float*) {
        const double log_scale = clamp(static_cast<float>(score[1]), min_log_dispersion, max_log_inverse_shape);
        const double z = (y[0] - score[0]) * exponential(-log_scale) + shift;
        return log_scale - z + exponential(z < 700.0 ? z : 700.0) + y[0];
    }
};

}  // namespace epiboost
