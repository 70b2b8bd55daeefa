// The link of a family: from scores to the parameters of a distribution.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/elementary.hpp"
#include "core/objective.hpp"
#include "core/problem.hpp"
#include "prediction/strip.hpp"

namespace epiboost {

// Maps scores to parameters: (mean, variance) of a Normal in the units of the target, or class probabilities. The scores of other
// families are returned as they are.
struct Link {
    Objective objective;
    std::vector<double> start;  // (outputs): initial score
    double location;            // mean and standard deviation of the Normal's target
    double scale;

    // Number of parameters per row. A Bernoulli has one score but two probabilities.
    std::size_t parameters() const { return objective == Objective::bernoulli ? 2 : start.size(); }
};

// Softmax of at most a block of rows. Exponentials are computed class by class, in loops that vectorise.
inline void write_softmax(const Link& link, const double* scores, std::size_t stride, std::size_t count, double* parameters) {
    const std::size_t outputs = link.start.size();
    double top[block];
    double sum[block] = {};
    double power[block];
    for (std::size_t i = 0; i < count; ++i) top[i] = link.start[0] + scores[i];
    for (std::size_t k = 1; k < outputs; ++k) {
        for (std::size_t i = 0; i < count; ++i) top[i] = std::max(top[i], link.start[k] + scores[k * stride + i]);
    }
    for (std::size_t k = 0; k < outputs; ++k) {
        for (std::size_t i = 0; i < count; ++i) power[i] = exponential(link.start[k] + scores[k * stride + i] - top[i]);
        for (std::size_t i = 0; i < count; ++i) {
            parameters[i * outputs + k] = power[i];
            sum[i] += power[i];
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        const double inverse = 1.0 / sum[i];
        for (std::size_t k = 0; k < outputs; ++k) parameters[i * outputs + k] *= inverse;
    }
}

// Probabilities of both classes of at most a block of rows, computed in loops that vectorise.
inline void write_logistic(double start, const double* scores, std::size_t count, double* parameters) {
    double below[block];
    double above[block];
    for (std::size_t i = 0; i < count; ++i) below[i] = 1.0 / (1.0 + exponential(start + scores[i]));
    for (std::size_t i = 0; i < count; ++i) above[i] = 1.0 / (1.0 + exponential(-(start + scores[i])));
    for (std::size_t i = 0; i < count; ++i) {
        parameters[i * 2] = below[i];
        parameters[i * 2 + 1] = above[i];
    }
}

// Maps the scores of `count` rows, one array of `stride` rows per output, to parameters.
inline void write_parameters(const Link& link, const double* scores, std::size_t stride, std::size_t count, double* parameters) {
    const std::size_t outputs = link.start.size();
    if (link.objective == Objective::normal) {
        float spread[strip_rows];  // computed in a separate loop, which vectorises
        const double start = link.start[1];
        const double* __restrict log_std = scores + stride;
        for (std::size_t i = 0; i < count; ++i) {
            spread[i] = exponential(clamp(static_cast<float>(start + log_std[i]), min_log_std, max_log_std));
        }
        const double location = link.location + link.scale * link.start[0];
        const double scale = link.scale;
        for (std::size_t i = 0; i < count; ++i) {
            const double std = scale * static_cast<double>(spread[i]);
            parameters[i * 2] = location + scale * scores[i];
            parameters[i * 2 + 1] = std * std;
        }
        return;
    }
    if (is_family(link.objective)) {
        for (std::size_t k = 0; k < outputs; ++k) {
            for (std::size_t i = 0; i < count; ++i) parameters[i * outputs + k] = link.start[k] + scores[k * stride + i];
        }
        return;
    }
    if (link.objective == Objective::bernoulli) {
        for (std::size_t first = 0; first < count; first += block) {
            write_logistic(link.start[0], scores + first, std::min(block, count - first), parameters + first * 2);
        }
        return;
    }
    for (std::size_t first = 0; first < count; first += block) {
        write_softmax(link, scores + first, stride, std::min(block, count - first), parameters + first * outputs);
    }
}

}  // namespace epiboost
