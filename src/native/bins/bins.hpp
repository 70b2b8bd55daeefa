// From numbers to bins: borders by quantiles, then one byte a value. Bin 0 is for missing values.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace epiboost {

// A table of float or double, or of bins, with any strides (in elements).
template <class Number>
struct Numbers {
    const Number* data;
    std::size_t rows;
    std::size_t columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;

    Number own(std::size_t row, std::size_t column) const {
        return data[static_cast<std::ptrdiff_t>(row) * row_stride + static_cast<std::ptrdiff_t>(column) * column_stride];
    }
    double at(std::size_t row, std::size_t column) const { return static_cast<double>(own(row, column)); }
};

// Borders of all columns, one after the other: column c has those from offset[c] to offset[c + 1].
struct Borders {
    std::span<const double> value;
    std::span<const std::int64_t> offset;

    std::span<const double> of(std::size_t column) const {
        const auto first = static_cast<std::size_t>(offset[column]);
        return value.subspan(first, static_cast<std::size_t>(offset[column + 1]) - first);
    }
};

// At most max_bins - 1 borders of one column, so that bins hold about the same weight; weights may be empty (all one).
template <class Number>
std::vector<double> quantile_borders(const Numbers<Number>& table, std::size_t column, std::span<const double> weights,
                                     int max_bins);

// The bin of a value: 0 if it is missing, else one more than the number of borders below it.
std::uint8_t bin_of(double value, std::span<const double> borders);

// One column's borders as sixteen groups of sixteen, for many look-ups: a value is compared with the last border of every
// group at once, then with all borders of one group at once.
class BorderGroups {
  public:
    explicit BorderGroups(std::span<const double> borders);

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

// Those of all columns.
std::vector<BorderGroups> group_borders(const Borders& borders);

// Bins of a table, by row.
template <class Number>
void bin_rows(const Numbers<Number>& table, const Borders& borders, int threads,
              std::uint8_t* bins);

}  // namespace epiboost
