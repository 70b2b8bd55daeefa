// Decomposition of the variance of an ensemble of Normals: data uncertainty is the mean of the members' variances, knowledge
// uncertainty the variance of their means.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/threads.hpp"

namespace epiboost {

// Parameters of an ensemble: mean and variance of each member for each row. The arrays of two members are `stride` rows apart.
template <class Number>
struct NormalParameters {
    Number* values;
    std::size_t members;
    std::size_t stride;

    Number* of(std::size_t member) const { return values + member * stride * 2; }
    NormalParameters from(std::size_t row) const { return {values + row * 2, members, stride}; }
};

constexpr std::size_t decomposed_rows = 256;  // at once: the parameters of ten members stay in the L1 or L2 cache

// Decomposes at most `decomposed_rows` rows. Means are computed from differences to the first member, so that equal members have a
// variance of exactly zero.
inline void split_variance(const NormalParameters<const double>& given, std::size_t rows, double* __restrict data,
                           double* __restrict knowledge) {
    const auto count = static_cast<double>(given.members);
    const double* first = given.of(0);
    double center[decomposed_rows] = {};
    for (std::size_t i = 0; i < rows; ++i) data[i] = knowledge[i] = 0.0;
    for (std::size_t m = 1; m < given.members; ++m) {
        const double* of_member = given.of(m);
        for (std::size_t i = 0; i < rows; ++i) {
            center[i] += of_member[i * 2] - first[i * 2];
            data[i] += of_member[i * 2 + 1] - first[i * 2 + 1];
        }
    }
    for (std::size_t i = 0; i < rows; ++i) {
        center[i] = first[i * 2] + center[i] / count;
        data[i] = first[i * 2 + 1] + data[i] / count;
    }
    for (std::size_t m = 0; m < given.members; ++m) {
        const double* of_member = given.of(m);
        for (std::size_t i = 0; i < rows; ++i) {
            const double deviation = of_member[i * 2] - center[i];
            knowledge[i] += deviation * deviation;
        }
    }
    for (std::size_t i = 0; i < rows; ++i) knowledge[i] /= count;
}

// Decomposes all rows.
inline void split_variances(const NormalParameters<const double>& given, int threads, double* data, double* knowledge,
                            const Poll& poll) {
    parallel_for(given.stride, decomposed_rows, threads, poll, [&](std::size_t first, std::size_t last) {
        split_variance(given.from(first), last - first, data + first, knowledge + first);
    });
}

}  // namespace epiboost
