// Gamma: scores are the logarithm of the mean and that of the coefficient of variation, -1/2 log shape. The target is the
// logarithm of y in units of its mean: a ratio of y to a mean near it keeps its digits.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"
#include "families/special.hpp"

namespace epiboost {

struct Gamma : Family<2> {
    static constexpr const char* name = "gamma";
    static constexpr int constants = 0;
    static constexpr StepBound step_bound[outputs] = {StepBound::log_mean, StepBound::log_dispersion};

    static constexpr float max_log_variation = 4.0f;  // a shape of 3e-4: values over 300 powers of ten
    static constexpr float max_log_ratio = 80.0f;
    static constexpr float max_deviance = 1e18f;

    // Natural gradient: the Fisher information is diag(shape, 4 shape^2 (trigamma(shape) - 1 / shape)).
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float*,
                                                float* gradient, float* noise_scale) {
        const float log_variation = clamp(score[1], min_log_dispersion, max_log_variation);
        const float shape = exponential(-2.0f * log_variation);
        const float log_ratio = clamp(y[0] - score[0], -max_log_ratio, max_log_ratio);
        const float left_out = clamp(y[0] - location, -max_log_ratio, max_log_ratio);
        const float information = 4.0f * (shape * (shape * trigamma_minus_inverse(shape)));
        const float deviance = clamp(shape * exponential_excess(left_out), 0.0f, max_deviance);
        gradient[0] = -(exponential_excess(log_ratio) + log_ratio);
        gradient[1] = 2.0f * (shape * log_minus_digamma(shape) - deviance) / information;
        noise_scale[0] = exponential(log_variation);
        noise_scale[1] = 1.0f / square_root(information);
    }

    static double negative_log_likelihood(const double* score, const float* y, const float*) {
        const double shape = exponential(-2.0 * clamp(static_cast<float>(score[1]), min_log_dispersion, max_log_variation));
        const double log_ratio = clamp(static_cast<float>(y[0] - score[0]), -max_log_ratio, max_log_ratio);
        return log_gamma(shape) - shape * logarithm(shape) + shape * (exponential(log_ratio) - log_ratio) + y[0];
    }
};

}  // namespace epiboost
