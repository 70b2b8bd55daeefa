// Decomposition of the variance of an ensemble of Normals: data uncertainty is the mean of the members' variances, knowledge
// uncertainty the variance of their means.
#pragma once

#include <algorithm>
#include <cstddef>

namespace epiboost {

// `parameters` has shape (members, rows, 2). Means are computed from differences to the first member, so that equal members
// have a variance of exactly zero. Rows are processed in chunks that stay in the cache for both passes.
inline void split_variance(const double* parameters, std::size_t members, std::size_t rows, double* data, double* knowledge) {
    constexpr std::size_t chunk = 512;
    const auto count = static_cast<double>(members);
    double center[chunk];
    for (std::size_t first = 0; first < rows; first += chunk) {
        const std::size_t size = std::min(chunk, rows - first);
        const double* base = parameters + first * 2;
        double* __restrict mean_variance = data + first;
        double* __restrict variance = knowledge + first;
        for (std::size_t i = 0; i < size; ++i) center[i] = mean_variance[i] = variance[i] = 0.0;
        for (std::size_t member = 1; member < members; ++member) {
            const double* of_member = base + member * rows * 2;
            for (std::size_t i = 0; i < size; ++i) {
                center[i] += of_member[i * 2] - base[i * 2];
                mean_variance[i] += of_member[i * 2 + 1] - base[i * 2 + 1];
            }
        }
        for (std::size_t i = 0; i < size; ++i) {
            center[i] = base[i * 2] + center[i] / count;
            mean_variance[i] = base[i * 2 + 1] + mean_variance[i] / count;
        }
        for (std::size_t member = 0; member < members; ++member) {
            const double* of_member = base + member * rows * 2;
            for (std::size_t i = 0; i < size; ++i) {
                const double deviation = of_member[i * 2] - center[i];
                variance[i] += deviation * deviation;
            }
        }
        for (std::size_t i = 0; i < size; ++i) variance[i] /= count;
    }
}

}  // namespace epiboost
