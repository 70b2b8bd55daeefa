// The losses of the Normal and of classes, and those of all families: gradients with respect to the score, and the negative
// log-likelihood, of one row or of a block of rows. Kernels for GPUs are compiled from this file too.
//
// Scores are stored as G = F / c^t with c = 1 - gamma * learning_rate. One factor, `decay` = c^t, then shrinks all trees.
#pragma once

#include "core/constants.hpp"
#include "core/elementary.hpp"
#include "core/standard.hpp"
#include "families/families.hpp"

namespace epiboost {

// Limits of the log standard deviation, of a target with standard deviation one. Its exponential and square stay finite.
constexpr float min_log_std = -10.0f;
constexpr float max_log_std = 8.0f;

constexpr float max_deviations = 1e9f;  // of a residual: its square times any weight is finite

constexpr float sqrt_half = 0.70710678f;

// Scores, one array of `stride` rows per output.
struct Scores {
    const float* raw;
    std::size_t stride;
    const float* start;
    float decay;

    float at(int output, std::size_t row) const { return start[output] + decay * raw[output * stride + row]; }
};

// The scores of some rows with their offsets, as `Scores` that begin with the first of these rows. `buffer` has `count` numbers per
// output.
inline Scores with_offset(const Scores& scores, const float* offset, int outputs, std::size_t row, std::size_t count,
                          float* buffer) {
    for (int k = 0; k < outputs; ++k) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = k * scores.stride + row + i;
            buffer[k * count + i] = scores.decay * scores.raw[at] + offset[at];
        }
    }
    return {buffer, count, scores.start, 1.0f};
}

// Gradients of a row, and the scales of their Langevin noise, the square root of the inverse Fisher information.
struct NormalGradient {
    float mean;
    float scale;
    float mean_noise;
    float scale_noise;
};

inline float normal_inverse_std(float score_of_log_std) { return exponential(-clamp(score_of_log_std, min_log_std, max_log_std)); }

// Natural gradient of the Normal in (mean, log std): (mu - y, 1/2 - 1/2 ((y - mu) / std)^2); the inverse Fisher information is
// diag(1 / std^2, 2). `leave_one_out_mean` gives the residual for the variance.
inline NormalGradient normal_gradient(float mean, float inverse_std, float leave_one_out_mean, float y) {
    const float z = clamp((y - leave_one_out_mean) * inverse_std, -max_deviations, max_deviations);
    return {mean - y, 0.5f - 0.5f * (z * z), 1.0f / inverse_std, sqrt_half};
}

// The mean score without `guard` times the row's own influence on it. `leave_one_out` is the leave-one-out score, or the score.
inline float guarded_mean(float mean, float decay, float raw, float leave_one_out, float guard) {
    const float own_influence = decay * (raw - leave_one_out);
    return mean - guard * own_influence;
}

inline float bernoulli_gradient(float score, float y) { return 1.0f / (1.0f + exponential(-score)) - y; }

// Gradient of class k of a softmax: `part` is exponential(score - top), and `sum` that of all classes.
inline float categorical_gradient(float part, float sum, int k, float y) {
    return part / sum - (y == static_cast<float>(k) ? 1.0f : 0.0f);
}

// A bound of the Langevin noise in the gradient of the first output.
inline float largest_noise(Objective objective, float largest_weight, float noise) {
    constexpr float most_deviations = 6.0f;  // of normal_pair
    const float largest_scale = is_of_classes(objective) ? 1.0f : exponential(max_log_std);
    return most_deviations * largest_scale * std::sqrt(largest_weight) * noise;
}

inline void normal_gradient(const Scores& scores, const float* leave_one_out, float guard, const float* y, std::size_t row,
                            float* __restrict mean_gradient, float* __restrict scale_gradient, float* __restrict mean_noise,
                            float* __restrict scale_noise) {
    float inverse_std[block];  // in a loop of its own, as in normal_pairs
    for (std::size_t i = 0; i < block; ++i) inverse_std[i] = normal_inverse_std(scores.at(1, row + i));
    for (std::size_t i = 0; i < block; ++i) {
        const float mean = scores.at(0, row + i);
        const float guarded = guarded_mean(mean, scores.decay, scores.raw[row + i], leave_one_out[row + i], guard);
        const NormalGradient gradient = normal_gradient(mean, inverse_std[i], guarded, y[row + i]);
        mean_gradient[i] = gradient.mean;
        scale_gradient[i] = gradient.scale;
        mean_noise[i] = gradient.mean_noise;
        scale_noise[i] = gradient.scale_noise;
    }
}

inline void bernoulli_gradient(const Scores& scores, const float* y, std::size_t row, float* __restrict gradient) {
    for (std::size_t i = 0; i < block; ++i) gradient[i] = bernoulli_gradient(scores.at(0, row + i), y[row + i]);
}

// Softmax; `gradient` has one block per output.
inline void categorical_gradient(const Scores& scores, int outputs, const float* y, std::size_t row,
                                 float* __restrict gradient) {
    float top[block];
    float sum[block];
    for (std::size_t i = 0; i < block; ++i) top[i] = scores.at(0, row + i);
    for (int k = 1; k < outputs; ++k) {
        for (std::size_t i = 0; i < block; ++i) {
            const float score = scores.at(k, row + i);
            top[i] = score > top[i] ? score : top[i];
        }
    }
    for (std::size_t i = 0; i < block; ++i) sum[i] = 0.0f;
    for (int k = 0; k < outputs; ++k) {
        float* __restrict g = gradient + k * block;
        for (std::size_t i = 0; i < block; ++i) {
            g[i] = exponential(scores.at(k, row + i) - top[i]);
            sum[i] += g[i];
        }
    }
    for (int k = 0; k < outputs; ++k) {
        float* __restrict g = gradient + k * block;
        for (std::size_t i = 0; i < block; ++i) g[i] = categorical_gradient(g[i], sum[i], k, y[row + i]);
    }
}

inline double negative_log_likelihood(Objective objective, const Scores& scores, int outputs, float y, std::size_t row) {
    if (objective == Objective::normal) {
        const double log_std = clamp(scores.at(1, row), min_log_std, max_log_std);
        const double z = (y - scores.at(0, row)) * exponential(-log_std);
        return half_log_two_pi + log_std + 0.5 * z * z;
    }
    if (objective == Objective::bernoulli) {
        const double score = scores.at(0, row);
        const double margin = y > 0.5f ? score : -score;
        return margin > 0 ? logarithm(1.0 + exponential(-margin)) : logarithm(1.0 + exponential(margin)) - margin;
    }
    double top = scores.at(0, row);
    for (int k = 1; k < outputs; ++k) {
        const double score = scores.at(k, row);
        top = score > top ? score : top;
    }
    double sum = 0.0;
    for (int k = 0; k < outputs; ++k) sum += exponential(scores.at(k, row) - top);
    return top + logarithm(sum) - scores.at(static_cast<int>(y), row);
}

// Gradients of a family of `families/`, in its metric, and the scales of their noise: one block per output. `leave_one_out`
// and `guard` are as for the Normal. The targets of a row are `stride` apart.
template <class F>
inline void family_gradient(F, const Scores& scores, const float* leave_one_out, float guard, const float* y,
                            std::size_t stride, const float* constants, std::size_t row, float* __restrict gradient,
                            float* __restrict noise_scale) {
    for (std::size_t i = 0; i < block; ++i) {
        float score[F::outputs];
        float target[F::targets];
        float gradients[F::outputs];
        float noise[F::outputs];
        for (int k = 0; k < F::outputs; ++k) score[k] = scores.at(k, row + i);
        for (int k = 0; k < F::targets; ++k) target[k] = y[k * stride + row + i];
        const float own_influence = scores.decay * (scores.raw[row + i] - leave_one_out[row + i]);
        F::gradient(score, score[0] - guard * own_influence, target, constants, gradients, noise);
        for (int k = 0; k < F::outputs; ++k) {
            gradient[k * block + i] = gradients[k];
            noise_scale[k * block + i] = noise[k];
        }
    }
}

// The loss of a row of a family. Its targets are `stride` apart, and `y` is the first of them.
template <class F>
inline double family_loss(F, const Scores& scores, const float* constants, const float* y, std::size_t stride, std::size_t row) {
    double score[F::outputs];
    float target[F::targets];
    for (int k = 0; k < F::outputs; ++k) score[k] = scores.at(k, row);
    for (int k = 0; k < F::targets; ++k) target[k] = y[k * stride];
    return F::negative_log_likelihood(score, target, constants);
}

// The same of any objective.
inline double negative_log_likelihood(Objective objective, const Scores& scores, int outputs, const float* constants, const float* y,
                                      std::size_t stride, std::size_t row) {
    if (is_family(objective)) {
        double loss = 0.0;
        with_family(objective, [&](auto family) { loss = family_loss(family, scores, constants, y, stride, row); });
        return loss;
    }
    return negative_log_likelihood(objective, scores, outputs, y[0], row);
}

}  // namespace epiboost
