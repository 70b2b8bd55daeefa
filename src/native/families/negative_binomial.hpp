// Counts that vary more than a Poisson: scores are the logarithm of the mean in units of the mean of the target, and the logarithm of
// the dispersion alpha. The variance is mean + alpha mean^2. The target is in units of its mean.
#pragma once

#include "core/elementary.hpp"
#include "families/family.hpp"
#include "families/log_one_plus.hpp"
#include "families/special.hpp"

namespace epiboost {

struct NegativeBinomial : Family<2> {
    static constexpr const char* name = "negative_binomial";
    static constexpr int constants = 1;  // mean of the target
    static constexpr StepBound step_bound[outputs] = {StepBound::log_mean, StepBound::log_mean};

    static constexpr float max_excess = 1e18f;
    static constexpr float least_information = 0.05f;

    // Each gradient is divided by a bounded stand-in for its Fisher information. For the log mean it is the information,
    // mean / (1 + alpha mean), plus that of an average row, as for a Poisson. That of log alpha has no closed form; half the squared
    // share of the variance that is not a Poisson's is exact for small alpha and for large means, and otherwise at most a quarter too
    // small, or too large. A constant bounds the steps of rows that say nothing of alpha.
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float* constant,
                                                float* gradient, float* noise_scale) {
        const float average = constant[0];
        const float log_alpha = clamp(score[1], min_log_dispersion, max_log_dispersion);
        const float alpha = exponential(log_alpha);
        const float size = exponential(-log_alpha);
        const float ratio = exponential(clamp(score[0], min_log_mean, max_log_mean));
        const float left_out = average * exponential(clamp(location, min_log_mean, max_log_mean));
        const float average_excess = 1.0f + alpha * average;
        const float excess = 1.0f + alpha * (average * ratio);
        const float count = average * y[0];
        const float change = (count - left_out) / (size + left_out);
        const float log_ratio = change * change < 0.05f ? log_one_plus(change) : logarithm((size + count) / (size + left_out));
        const float slope = size * (log_minus_digamma(size) - log_minus_digamma(size + count)) -
                            clamp(size * exponential_excess(log_ratio), 0.0f, max_excess);
        gradient[0] = (ratio - y[0]) / (ratio + excess / average_excess);
        gradient[1] = slope / alpha_information(1.0f + alpha * left_out);
        noise_scale[0] = 1.0f / square_root(average * (ratio / excess + 1.0f / average_excess));
        noise_scale[1] = 1.0f / square_root(alpha_information(excess));
    }

    EPIBOOST_DEVICE_INLINE static float alpha_information(float excess) {
        const float share = 1.0f - 1.0f / excess;
        return 0.5f * (share * share) + least_information;
    }

    static double negative_log_likelihood(const double* score, const float* y, const float* constant) {
        const double mean = constant[0] * exponential(static_cast<double>(clamp(static_cast<float>(score[0]), min_log_mean, max_log_mean)));
        const double size = exponential(-static_cast<double>(clamp(static_cast<float>(score[1]), min_log_dispersion, max_log_dispersion)));
        const double count = larger(0.0, nearest_integer(static_cast<double>(y[0]) * constant[0]));
        return log_gamma(size) + log_gamma(count + 1.0) - log_gamma(count + size) + size * log_one_plus(mean / size) +
               count * log_one_plus(size / mean);
    }
};

}  // namespace epiboost
