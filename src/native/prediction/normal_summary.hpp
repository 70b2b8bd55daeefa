// Summary of an ensemble of Normals: its mean, and both parts of its variance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "prediction/decomposition.hpp"
#include "prediction/recalibration.hpp"

namespace epiboost {

// One number per row of a table.
struct NormalSummaries {
    double* mean;
    double* data;
    double* knowledge;
};

// Summaries of some rows. `number(i)` is the number of row i in the table. Without a recalibration (null) the parameters are taken
// as they are.
template <class NumberOf>
void summarize_normals(const NormalRecalibration* recalibration, const NormalParameters<const double>& given, std::size_t rows,
                       const NumberOf& number, const NormalSummaries& summaries) {
    std::vector<double> recalibrated(recalibration == nullptr ? 0 : given.members * recalibrated_rows * 2);
    for (std::size_t first = 0; first < rows; first += recalibrated_rows) {
        const std::size_t count = std::min(recalibrated_rows, rows - first);
        NormalParameters<const double> members = given.from(first);
        if (recalibration != nullptr) {
            const NormalParameters<double> changed{recalibrated.data(), given.members, recalibrated_rows};
            recalibrate(*recalibration, members, count, changed);
            members = {recalibrated.data(), given.members, recalibrated_rows};
        }
        double data[recalibrated_rows];
        double knowledge[recalibrated_rows];
        double mean[recalibrated_rows] = {};
        split_variance(members, count, data, knowledge);
        for (std::size_t m = 0; m < members.members; ++m) {
            for (std::size_t i = 0; i < count; ++i) mean[i] += members.of(m)[i * 2];
        }
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t row = number(first + i);
            summaries.mean[row] = mean[i] / static_cast<double>(members.members);
            summaries.data[row] = data[i];
            summaries.knowledge[row] = knowledge[i];
        }
    }
}

}  // namespace epiboost
