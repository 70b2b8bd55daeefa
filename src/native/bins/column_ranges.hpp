// The smallest and the largest number of each column, and whether values are missing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "bins/bins.hpp"
#include "core/threads.hpp"

namespace epiboost {

// Columns without any number have an infinite range from above to below.
template <class Number>
struct ColumnRanges {
    std::vector<Number> low;
    std::vector<Number> high;
    std::vector<std::uint8_t> missing;

    explicit ColumnRanges(std::size_t columns)
        : low(columns, std::numeric_limits<Number>::infinity()), high(columns, -std::numeric_limits<Number>::infinity()),
          missing(columns, 0) {}

    void add_rows(const StridedTable<Number>& table, std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            for (std::size_t column = 0; column < table.columns; ++column) {
                const Number value = table.raw(row, column);  // of comparisons with a missing value none is true
                low[column] = value < low[column] ? value : low[column];
                high[column] = value > high[column] ? value : high[column];
                missing[column] |= value != value ? 1 : 0;
            }
        }
    }

    void add(const ColumnRanges& other) {
        for (std::size_t column = 0; column < low.size(); ++column) {
            low[column] = std::min(low[column], other.low[column]) + Number{0};  // of two zeros the positive one, in any order
            high[column] = std::max(high[column], other.high[column]) + Number{0};
            missing[column] |= other.missing[column];
        }
    }
};

template <class Number>
ColumnRanges<Number> column_ranges(const StridedTable<Number>& table, int threads, const Poll& poll) {
    constexpr std::size_t rows_per_chunk = 8192;
    ColumnRanges<Number> all(table.columns);
    std::mutex mutex;
    parallel_for(table.rows, rows_per_chunk, threads, poll, [&](std::size_t begin, std::size_t end) {
        ColumnRanges<Number> part(table.columns);
        part.add_rows(table, begin, end);
        const std::lock_guard lock(mutex);
        all.add(part);
    });
    return all;
}

}  // namespace epiboost
