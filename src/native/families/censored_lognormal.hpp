// Durations whose logarithm is a Normal, censored: scores are the mean and the log standard deviation of the standardised
// logarithm. Without censoring the gradient is that of the Normal.
#pragma once

#include "core/elementary.hpp"
#include "families/censored.hpp"
#include "families/family.hpp"
#include "families/normal_hazard.hpp"

namespace epiboost {

struct CensoredLogNormal : Family<2, 2> {
    static constexpr const char* name = "censored_lognormal";
    static constexpr int constants = 2;  // location and scale of the logarithm
    static constexpr StepBound step_bound[outputs] = {StepBound::none, StepBound::log_dispersion};

    // Derivatives of the log-likelihood by the mean, in units of the deviation, and by the log deviation.
    struct Slopes {
        float mean;
        float log_scale;
    };

    EPIBOOST_DEVICE_INLINE static Slopes slopes(const float* y, float location, float inverse_scale) {
        const Deviations z = deviations_of(y, location, inverse_scale, 0.0f, -max_ratio, max_ratio);
        if (z.censoring == Censoring::none) return {z.lower, z.lower * z.lower - 1.0f};
        if (z.censoring == Censoring::right) {
            const float hazard = normal_hazard(z.lower);
            return {hazard, hazard * z.lower};
        }
        if (z.censoring == Censoring::left) {
            const float hazard = normal_hazard(-z.upper);
            return {-hazard, -hazard * z.upper};
        }
        const EndWeights weight = normal_end_weights(z.lower, z.upper);
        return {weight.lower - weight.upper, weight.lower * z.lower - weight.upper * z.upper};
    }

    // A row that is not observed pulls the location past its bound, not towards it: its own influence hides no dispersion.
    // Divided by the Fisher information of an observed value, diag(1 / std^2, 2).
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float*,
                                                float* gradient, float* noise_scale) {
        const float inverse_scale = exponential(-clamp(score[1], min_log_dispersion, max_log_dispersion));
        const Slopes slope = slopes(y, score[0], inverse_scale);
        gradient[0] = -slope.mean / inverse_scale;
        gradient[1] = -0.5f * (y[0] == y[1] ? slopes(y, location, inverse_scale).log_scale : slope.log_scale);
        noise_scale[0] = 1.0f / inverse_scale;
        noise_scale[1] = 0.70710678f;
    }

    // Of the target, of which y is the standardised logarithm: a density if it is observed, otherwise a probability.
    static double negative_log_likelihood(const double* score, const float* y, const float* constant) {
        const double log_scale = clamp(static_cast<float>(score[1]), min_log_dispersion, max_log_dispersion);
        const double lower = (y[0] - score[0]) * exponential(-log_scale);
        const double upper = (y[1] - score[0]) * exponential(-log_scale);
        const Censoring censoring = censoring_of(y[0], y[1]);
        if (censoring == Censoring::right) return -log_normal_tail(lower);
        if (censoring == Censoring::left) return -log_normal_tail(-upper);
        const double log_y = constant[0] + constant[1] * y[0];
        const double density = half_log_two_pi + log_scale + logarithm(static_cast<double>(constant[1])) + log_y;
        if (censoring == Censoring::none) return density + 0.5 * lower * lower;
        const double near = lower + upper > 0.0 ? lower : -upper;  // the nearer end, mirrored to the upper tail
        const double far = lower + upper > 0.0 ? upper : -lower;
        const double log_near = log_normal_tail(near);
        return -(log_near + logarithm(-exponential_less_one(smaller(log_normal_tail(far) - log_near, -1e-300))));
    }
};

}  // namespace epiboost
