// Quantile binning: finds the borders of each column, then stores one byte per value. Bin 0 is for missing values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/constants.hpp"
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

    const Number* address(std::size_t row, std::size_t column) const {
        return data + static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride;
    }
    Number raw(std::size_t row, std::size_t column) const { return *address(row, column); }
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

// Borders of each column, at most max_bins - 1, that split its weight about evenly: heavy values have bins of their own, and
// bins at the ends are finer. Empty weights mean that all are one.
template <class Number>
std::vector<std::vector<double>> quantile_borders(const StridedTable<Number>& table, std::span<const double> weights, int max_bins,
                                                  int threads, const Poll& poll);

// Bin of a value: 0 if it is missing, else one plus the number of borders below it.
std::uint8_t bin_of(double value, std::span<const double> borders);

// Index of one column's borders for many lookups, in sixteen groups of sixteen. All values of a block are compared with the last
// border of each group, and then go through one group by halves, side by side: each step waits for the one before.
class BorderIndex {
  public:
    explicit BorderIndex(std::span<const double> borders);

    void find_bins(const std::array<double, block>& value, std::array<std::uint8_t, block>& bin) const {
        std::int64_t below[block];
        for (std::size_t i = 0; i < block; ++i) {
            std::int64_t full = 0;  // groups; with 254 borders the last one never is
            for (std::size_t group = 0; group < last_.size(); ++group) full += last_[group] < value[i] ? 1 : 0;
            below[i] = 16 * full;
        }
        for (std::int64_t step = 8; step > 0; step /= 2) {
            for (std::size_t i = 0; i < block; ++i) below[i] += border_[below[i] + step - 1] < value[i] ? step : 0;
        }
        for (std::size_t i = 0; i < block; ++i) bin[i] = static_cast<std::uint8_t>(std::isnan(value[i]) ? 0 : below[i] + 1);
    }

  private:
    std::array<double, 256> border_;
    std::array<double, 15> last_;
};

// Finds the bins of some rows in one column, at most a block.
template <class Number>
void find_bins(const StridedTable<Number>& table, const BorderIndex& borders, std::size_t first, std::size_t count,
               std::size_t column, std::array<std::uint8_t, block>& bin) {
    std::array<double, block> value{};
    for (std::size_t i = 0; i < count; ++i) value[i] = table.at(first + i, column);
    borders.find_bins(value, bin);
}

// Indices of all columns.
std::vector<BorderIndex> index_borders(const Borders& borders);

// Bins of a table in row order.
template <class Number>
void bin_rows(const StridedTable<Number>& table, const Borders& borders, int threads, std::uint8_t* bins, const Poll& poll);

}  // namespace epiboost
