// Quantile binning: finds the borders of each column, then stores one byte per value. Bin 0 is for missing values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/threads.hpp"

namespace epiboost {

// A table of float, double or bins, with any strides (in elements).
template <class Number>
struct StridedTable {
    const Number* data;
    std::size_t rows;
    std::size_t columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    Number raw(std::size_t row, std::size_t column) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride];
    }
    double at(std::size_t row, std::size_t column) const { return static_cast<double>(raw(row, column)); }
};

// Borders of all columns in one array: column c has those from offset[c] to offset[c + 1].
struct Borders {
    std::span<const double> value;
    std::span<const std::int64_t> offset;

    std::span<const double> of(std::size_t column) const {
        const auto first = static_cast<std::size_t>(offset[column]);
        return value.subspan(first, static_cast<std::size_t>(offset[column + 1]) - first);
    }
};

// Borders of one column, at most max_bins - 1, that split its weight about evenly: heavy values have bins of
// their own, and bins at the ends are finer. Empty weights mean that all are one.
template <class Number>
std::vector<double> quantile_borders(const StridedTable<Number>& table, std::size_t column, std::span<const double> weights,
                                     int max_bins);

// Bin of a value: 0 if it is missing, else one plus the number of borders below it.
std::uint8_t bin_of(double value, std::span<const double> borders);

// Index of one column's borders for many lookups, in sixteen groups of sixteen. A lookup compares the value with the last
// border of each group and then with all borders of one group; both loops vectorise.
class BorderIndex {
  public:
    explicit BorderIndex(std::span<const double> borders);

    std::uint8_t bin_of(double value) const {
        const int group = count_below(last_.data(), value);  // at most 15: with 254 borders the last group is never full
        const int below = group * 16 + count_below(border_.data() + group * 16, value);
        return static_cast<std::uint8_t>(std::isnan(value) ? 0 : below + 1);
    }

  private:
    static int count_below(const double* sixteen, double value) {
        int below = 0;
#pragma omp simd reduction(+ : below)
        for (int i = 0; i < 16; ++i) below += sixteen[i] < value ? 1 : 0;
        return below;
    }

    std::array<double, 256> border_;
    std::array<double, 16> last_;
};

// Indices of all columns.
std::vector<BorderIndex> index_borders(const Borders& borders);

// Bins of a table in row order.
template <class Number>
void bin_rows(const StridedTable<Number>& table, const Borders& borders, int threads, std::uint8_t* bins, const Poll& poll);

}  // namespace epiboost
