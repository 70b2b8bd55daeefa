// Durations with a Weibull distribution, censored. Scores are those of `Weibull`, of the standardised logarithm: m + c s with
// c = 1 - Euler's constant, and log s. Without censoring the gradient is that of `Weibull`.
#pragma once

#include "core/elementary.hpp"
#include "families/censored.hpp"
#include "families/family.hpp"
#include "families/weibull.hpp"

namespace epiboost {

struct CensoredWeibull : Family<2, 2> {
    static constexpr const char* name = "censored_weibull";
    static constexpr int constants = 2;  // location and scale of the logarithm
    static constexpr StepBound step_bound[outputs] = {StepBound::none, StepBound::log_dispersion};

    struct Slopes {
        float location;   // in units of s
        float log_scale;  // at the same first score
    };

    // x / (exp(x) - 1) for x of at least 0
    EPIBOOST_DEVICE_INLINE static float over_expm1(float x) {
        if (x < 0.02f) return 1.0f / (1.0f + x * (0.5f + x * (1.0f / 6.0f)));
        return x / (exponential(x) - 1.0f);
    }

    EPIBOOST_DEVICE_INLINE static Slopes slopes(const float* y, float location, float inverse_scale) {
        constexpr float shift = Weibull::shift;
        const Deviations z = deviations_of(y, location, inverse_scale, shift, Weibull::lowest, Weibull::highest);
        if (z.censoring == Censoring::none) {
            const float excess = exponential(z.lower) - 1.0f;
            return {excess, (z.lower - shift) * excess - 1.0f};
        }
        if (z.censoring == Censoring::right) {
            const float hazard = exponential(z.lower);
            return {hazard, (z.lower - shift) * hazard};
        }
        const float upper_hazard = exponential(z.upper);
        if (z.censoring == Censoring::left) {
            const float weight = over_expm1(upper_hazard);
            return {-weight, -(z.upper - shift) * weight};
        }
        const float lower_hazard = exponential(z.lower);
        const float fall = exponential(z.lower - z.upper);  // of the hazard; both may be too small for their difference
        const float at_upper = over_expm1(upper_hazard - lower_hazard) / (1.0f - fall);
        const float at_lower = lower_hazard + at_upper * fall;
        return {at_lower - at_upper, (z.lower - shift) * at_lower - (z.upper - shift) * at_upper};
    }

    // A row that is not observed pulls the location past its bound, not towards it: its own influence hides no dispersion.
    // Divided by the Fisher information of an observed value, diag(1 / s^2, pi^2 / 6).
    EPIBOOST_DEVICE_INLINE static void gradient(const float* score, float location, const float* y, const float*,
                                                float* gradient, float* noise_scale) {
        const float log_scale = clamp(score[1], min_log_dispersion, Weibull::max_log_inverse_shape);
        const float scale = exponential(log_scale);
        const float inverse_scale = exponential(-log_scale);
        const Slopes slope = slopes(y, score[0], inverse_scale);
        const float of_scale = y[0] == y[1] ? slopes(y, location, inverse_scale).log_scale : slope.log_scale;
        gradient[0] = -scale * slope.location;
        gradient[1] = -Weibull::inverse_trigamma * of_scale;
        noise_scale[0] = scale;
        noise_scale[1] = 0.77969680f;  // root of 6 / pi^2
    }

    // Of the target, of which y is the standardised logarithm: a density if it is observed, otherwise a probability.
    static double negative_log_likelihood(const double* score, const float* y, const float* constant) {
        const double log_scale = clamp(static_cast<float>(score[1]), min_log_dispersion, Weibull::max_log_inverse_shape);
        const double lower = smaller((y[0] - score[0]) * exponential(-log_scale) + Weibull::shift, 700.0);
        const double upper = smaller((y[1] - score[0]) * exponential(-log_scale) + Weibull::shift, 700.0);
        const double lower_hazard = exponential(lower);
        const Censoring censoring = censoring_of(y[0], y[1]);
        if (censoring == Censoring::right) return lower_hazard;
        const double log_y = constant[0] + constant[1] * y[0];
        if (censoring == Censoring::none) return log_scale + logarithm(static_cast<double>(constant[1])) + log_y - lower + lower_hazard;
        if (censoring == Censoring::left) return -logarithm(-exponential_less_one(-larger(exponential(upper), 1e-300)));
        return lower_hazard - logarithm(-exponential_less_one(smaller(lower_hazard - exponential(upper), -1e-300)));
    }
};

}  // namespace epiboost
