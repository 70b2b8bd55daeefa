// Recalibration of an ensemble of Normals: changes the size of the members' disagreement and the variances that they predict. The
// formulas are those of `NormalRecalibration` in Python, which is its twin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/elementary.hpp"
#include "core/threads.hpp"

namespace epiboost {

struct NormalRecalibration {
    double factor;
    double reference;
    double power;
    double knowledge;
    double limit;
};

// Parameters of an ensemble, of shape (members, rows, 2): mean and variance.
struct NormalParameters {
    const double* values;
    std::size_t members;
    std::size_t rows;

    const double* of(std::size_t member, std::size_t row) const { return values + (member * rows + row) * 2; }
};

constexpr std::size_t recalibrated_rows = 256;  // at once: the parameters of ten members stay in the L1 or L2 cache

// Multiplies the deviations of the members' means from their average.
inline void spread_means(const NormalRecalibration& settings, const NormalParameters& given, std::size_t first, std::size_t count,
                         double* changed) {
    double center[recalibrated_rows] = {};
    double variance[recalibrated_rows] = {};
    const auto members = static_cast<double>(given.members);
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* mean = given.of(m, first);
        for (std::size_t i = 0; i < count; ++i) center[i] += mean[i * 2];
    }
    for (std::size_t i = 0; i < count; ++i) center[i] /= members;
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* mean = given.of(m, first);
        for (std::size_t i = 0; i < count; ++i) variance[i] += (mean[i * 2] - center[i]) * (mean[i * 2] - center[i]);
    }
    double scale[recalibrated_rows];
    const double share = settings.knowledge / settings.limit;
    for (std::size_t i = 0; i < count; ++i) {
        scale[i] = std::sqrt(settings.knowledge / (1.0 + share * (variance[i] / members)));
    }
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* mean = given.of(m, first);
        double* __restrict of_member = changed + (m * given.rows + first) * 2;
        for (std::size_t i = 0; i < count; ++i) of_member[i * 2] = scale[i] * (mean[i * 2] - center[i]) + center[i];
    }
}

inline void power_variances(const NormalRecalibration& settings, const double* given, std::size_t count,
                            double* __restrict changed) {
    if (settings.power == 1.0) {
        for (std::size_t i = 0; i < count; ++i) changed[i * 2 + 1] = settings.factor * given[i * 2 + 1];
        return;
    }
    const double scale = settings.factor * settings.reference;
    const double log_reference = logarithm(settings.reference);
    double powered[recalibrated_rows];  // computed in a separate loop, which vectorises
    for (std::size_t i = 0; i < count; ++i) {
        const double variance = std::max(given[i * 2 + 1], std::numeric_limits<double>::min());
        powered[i] = exponential(settings.power * (logarithm(variance) - log_reference));  // the ratio itself may overflow
    }
    for (std::size_t i = 0; i < count; ++i) changed[i * 2 + 1] = scale * powered[i];
}

// Writes the recalibrated parameters, in the shape of the given ones.
inline void recalibrate(const NormalRecalibration& settings, const NormalParameters& given, int threads, double* changed,
                        const Poll& poll) {
    parallel_for(given.rows, recalibrated_rows, threads, poll, [&](std::size_t first, std::size_t last) {
        spread_means(settings, given, first, last - first, changed);
        for (std::size_t m = 0; m < given.members; ++m) {
            power_variances(settings, given.of(m, first), last - first, changed + (m * given.rows + first) * 2);
        }
    });
}

}  // namespace epiboost
