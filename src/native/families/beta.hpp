// Shares strictly between 0 and 1: scores are the logit of the mean, and -1/2 log precision. The target is the logit of the share,
// so that shares near 0 and 1 keep their digits.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"
#include "families/log_one_plus.hpp"
#include "families/special.hpp"

namespace epiboost {

struct Beta : Family<2> {
    static constexpr const char* name = "beta";
    static constexpr int constants = 0;
    static constexpr StepBound step_bound[outputs] = {StepBound::none, StepBound::log_dispersion};

    static constexpr float max_logit = 80.0f;
    static constexpr float max_spread = 3.0f;        // a precision of 0.0025: nearly all shares are next to 0 or 1
    static constexpr float least_parameter = 1e-18f;  // its inverse square is finite
    static constexpr float max_divergence = 1e18f;

    // Relative entropy of a Bernoulli with this logit to one whose logit is `change` larger.
    EPIBOOST_DEVICE_INLINE static float divergence(float logit, float change) {
        const float sign = logit > 0.0f ? -1.0f : 1.0f;
        const float rarer = 1.0f / (1.0f + exponential(-sign * logit));  // at most 1/2, so that the difference keeps its digits
        const float moved = clamp(sign * change, -max_logit, max_logit);
        const float excess = exponential_excess(moved);
        const float growth = rarer * (excess + moved);
        const float logarithm_of_growth = log_one_plus(growth);
        const float near = rarer * excess - exponential_excess(logarithm_of_growth);  // both parts are squares of the change
        const float found = growth < 0.5f ? near : logarithm_of_growth - rarer * moved;
        return found > 0.0f ? found : 0.0f;
    }

    EPIBOOST_DEVICE_INLINE static float possible(float parameter) { return parameter > least_parameter ? parameter : least_parameter; }

    // x (log x - digamma(x)), which falls from 1 to 1/2.
    EPIBOOST_DEVICE_INLINE static float scaled_gap(float x) { return possible(x) * log_minus_digamma(possible(x)); }

    // Each gradient is divided by its own Fisher information; that of the spread is from 2 (large precisions) to 4, and 2 is used.
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float*,
                                                float* gradient, float* noise_scale) {
        const float logit = clamp(score[0], -max_logit, max_logit);
        const float precision = exponential(-2.0f * clamp(score[1], min_log_dispersion, max_spread));
        const float mean = 1.0f / (1.0f + exponential(-logit));
        const float rest = 1.0f / (1.0f + exponential(logit));
        const float a = possible(precision * mean);
        const float b = possible(precision * rest);
        const float gap = log_minus_digamma(a) - log_minus_digamma(b);
        const float stretch = rest * (1.0f + a * trigamma_minus_inverse(a)) + mean * (1.0f + b * trigamma_minus_inverse(b));
        const float left_out = clamp(location, -max_logit, max_logit);
        const float left_out_mean = precision / (1.0f + exponential(-left_out));
        const float left_out_rest = precision / (1.0f + exponential(left_out));
        const float apart = clamp(precision * divergence(left_out, y[0] - left_out), 0.0f, max_divergence);
        gradient[0] = -((y[0] - logit) + gap) / stretch;
        gradient[1] = (scaled_gap(left_out_mean) + scaled_gap(left_out_rest)) - scaled_gap(precision) - apart;
        noise_scale[0] = 1.0f / square_root(precision * possible(mean * rest) * stretch);
        noise_scale[1] = 0.70710678f;
    }

    static double negative_log_likelihood(const double* score, const float* y, const float*) {
        const double logit = clamp(static_cast<float>(score[0]), -max_logit, max_logit);
        const double precision = exponential(-2.0 * clamp(static_cast<float>(score[1]), min_log_dispersion, max_spread));
        const double a = larger(precision / (1.0 + exponential(-logit)), least_parameter);
        const double b = larger(precision / (1.0 + exponential(logit)), least_parameter);
        const double share = -log_one_plus_exponential(-y[0]);
        const double rest = -log_one_plus_exponential(y[0]);
        return log_gamma(a) + log_gamma(b) - log_gamma(a + b) - (a - 1.0) * share - (b - 1.0) * rest;
    }

    static double log_one_plus_exponential(double x) { return x > 0.0 ? x + log_one_plus(exponential(-x)) : log_one_plus(exponential(x)); }
};

}  // namespace epiboost
