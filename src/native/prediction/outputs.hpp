// What becomes of the parameters that strips predict.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prediction/normal_summary.hpp"
#include "prediction/strip.hpp"

namespace epiboost {

// Rows that a thread evaluates together, in the order in which it does.
struct Rows {
    std::size_t first;  // of the chunk in the table
    std::span<const std::uint32_t> number;  // in the chunk
};

// Copies the parameters of each strip to where its rows are in an array of shape (members, rows, parameters).
class ParameterOutput {
  public:
    ParameterOutput(double* parameters, std::size_t table_rows, std::size_t width, const Rows& rows)
        : parameters_(parameters), table_rows_(table_rows), width_(width), rows_(rows),
          of_strip_(std::min(strip_rows, rows.number.size()) * width) {}

    // Where the parameters of a strip go. Its rows are those from `first` on.
    double* space(std::size_t, std::size_t) { return of_strip_.data(); }

    void written(std::size_t member, std::size_t first, std::size_t count) {
        double* to = parameters_ + (member * table_rows_ + rows_.first) * width_;
        const std::uint32_t* row = rows_.number.data() + first;
        if (width_ == 2) {  // two numbers are one move
            for (std::size_t i = 0; i < count; ++i) std::copy_n(of_strip_.data() + i * 2, 2, to + row[i] * std::size_t{2});
        } else {
            for (std::size_t i = 0; i < count; ++i) std::copy_n(of_strip_.data() + i * width_, width_, to + row[i] * width_);
        }
    }

    void finish() {}

  private:
    double* parameters_;
    std::size_t table_rows_;
    std::size_t width_;
    Rows rows_;
    std::vector<double> of_strip_;
};

// Keeps the parameters of all members for the rows of a thread, and writes their summaries.
class SummaryOutput {
  public:
    SummaryOutput(const NormalRecalibration* recalibration, const NormalSummaries& summaries, std::size_t members, const Rows& rows)
        : recalibration_(recalibration), summaries_(summaries), members_(members), rows_(rows),
          parameters_(std::make_unique_for_overwrite<double[]>(members * rows.number.size() * 2)) {}

    double* space(std::size_t member, std::size_t first) { return parameters_.get() + (member * rows_.number.size() + first) * 2; }
    void written(std::size_t, std::size_t, std::size_t) {}

    void finish() {
        const auto number = [&](std::size_t i) { return rows_.first + rows_.number[i]; };
        const std::size_t rows = rows_.number.size();
        summarize_normals(recalibration_, {parameters_.get(), members_, rows}, rows, number, summaries_);
    }

  private:
    const NormalRecalibration* recalibration_;
    NormalSummaries summaries_;
    std::size_t members_;
    Rows rows_;
    std::unique_ptr<double[]> parameters_;  // (members, rows, 2)
};

}  // namespace epiboost
