// Recalibration of an ensemble of Normals: changes the size of the members' disagreement and the variances that they predict. The
// formulas are explained in `_estimators/out_of_fold/normal.py`; their twin in NumPy is in the tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/elementary.hpp"
#include "core/threads.hpp"
#include "prediction/decomposition.hpp"

namespace epiboost {

struct NormalRecalibration {
    double factor;
    double reference;
    double power;
    double knowledge;
    double limit;
};

constexpr std::size_t recalibrated_rows = decomposed_rows;  // at once

// Multiplies the deviations of the members' means from their average.
inline void spread_means(const NormalRecalibration& settings, const NormalParameters<const double>& given, std::size_t rows,
                         const NormalParameters<double>& changed) {
    double center[recalibrated_rows] = {};
    double variance[recalibrated_rows] = {};
    const auto members = static_cast<double>(given.members);
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* mean = given.of(m);
        for (std::size_t i = 0; i < rows; ++i) center[i] += mean[i * 2];
    }
    for (std::size_t i = 0; i < rows; ++i) center[i] /= members;
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* mean = given.of(m);
        for (std::size_t i = 0; i < rows; ++i) variance[i] += (mean[i * 2] - center[i]) * (mean[i * 2] - center[i]);
    }
    double scale[recalibrated_rows];
    const double share = settings.knowledge / settings.limit;
    for (std::size_t i = 0; i < rows; ++i) {
        scale[i] = std::sqrt(settings.knowledge / (1.0 + share * (variance[i] / members)));
    }
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* mean = given.of(m);
        double* __restrict of_member = changed.of(m);
        for (std::size_t i = 0; i < rows; ++i) of_member[i * 2] = scale[i] * (mean[i * 2] - center[i]) + center[i];
    }
}

inline void power_variances(const NormalRecalibration& settings, const double* given, std::size_t rows,
                            double* __restrict changed) {
    if (settings.power == 1.0) {
        for (std::size_t i = 0; i < rows; ++i) changed[i * 2 + 1] = settings.factor * given[i * 2 + 1];
        return;
    }
    const double scale = settings.factor * settings.reference;
    const double log_reference = logarithm(settings.reference);
    // Step by step, in loops that vectorise: in one loop, each row would be a long chain of operations that wait for each other.
    double variance[recalibrated_rows];
    double powered[recalibrated_rows];
    for (std::size_t i = 0; i < rows; ++i) variance[i] = std::max(given[i * 2 + 1], std::numeric_limits<double>::min());
    for (std::size_t i = 0; i < rows; ++i) powered[i] = logarithm(variance[i]) - log_reference;  // the ratio may overflow
    for (std::size_t i = 0; i < rows; ++i) powered[i] = exponential(settings.power * powered[i]);
    for (std::size_t i = 0; i < rows; ++i) {
        const bool is_finite = variance[i] <= std::numeric_limits<double>::max();
        changed[i * 2 + 1] = scale * (is_finite ? powered[i] : variance[i]);
    }
}

// Writes the recalibrated parameters of at most `recalibrated_rows` rows.
inline void recalibrate(const NormalRecalibration& settings, const NormalParameters<const double>& given, std::size_t rows,
                        const NormalParameters<double>& changed) {
    spread_means(settings, given, rows, changed);
    for (std::size_t m = 0; m < given.members; ++m) power_variances(settings, given.of(m), rows, changed.of(m));
}

// Writes the recalibrated parameters of all rows.
inline void recalibrate_all(const NormalRecalibration& settings, const NormalParameters<const double>& given, int threads,
                            double* changed, const Poll& poll) {
    const NormalParameters<double> all{changed, given.members, given.stride};
    parallel_for(given.stride, recalibrated_rows, threads, poll, [&](std::size_t first, std::size_t last) {
        recalibrate(settings, given.from(first), last - first, all.from(first));
    });
}

// Writes the data and the knowledge uncertainty of the recalibrated parameters, which are never written as a whole.
inline void recalibrated_uncertainty(const NormalRecalibration& settings, const NormalParameters<const double>& given, int threads,
                                     double* data, double* knowledge, const Poll& poll) {
    parallel_for(given.stride, recalibrated_rows, threads, poll, [&](std::size_t first, std::size_t last) {
        const std::size_t rows = last - first;
        std::vector<double> changed(given.members * rows * 2);
        recalibrate(settings, given.from(first), rows, {changed.data(), given.members, rows});
        split_variance({changed.data(), given.members, rows}, rows, data + first, knowledge + first);
    });
}

}  // namespace epiboost
