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

// Ranges of some numbers side by side: of columns, or of parts of one column. Without any number a range is infinite, from above to
// below. All arrays have one type, so that compilers vectorise.
template <class Number>
struct Ranges {
    std::vector<Number> low;
    std::vector<Number> high;
    std::vector<Number> missing;  // 1 where a value is missing, else 0

    explicit Ranges(std::size_t count)
        : low(count, std::numeric_limits<Number>::infinity()), high(count, -std::numeric_limits<Number>::infinity()),
          missing(count, Number{0}) {}

    // Extends the first ranges by one value each.
    void extend(const Number* values, std::size_t count) {
        Number* __restrict lowest = low.data();
        Number* __restrict highest = high.data();
        Number* __restrict lacks = missing.data();
        for (std::size_t i = 0; i < count; ++i) {
            const Number value = values[i];  // of comparisons with a missing value none is true
            lowest[i] = value < lowest[i] ? value : lowest[i];
            highest[i] = value > highest[i] ? value : highest[i];
            lacks[i] = value == value ? lacks[i] : Number{1};
        }
    }

    void add(std::size_t at, const Ranges& other, std::size_t from) {
        low[at] = std::min(low[at], other.low[from]) + Number{0};  // of two zeros the positive one, in any order
        high[at] = std::max(high[at], other.high[from]) + Number{0};
        missing[at] = std::max(missing[at], other.missing[from]);
    }
};

// Ranges of the columns over some rows. Values that are beside each other in memory are read one after the other.
template <class Number>
Ranges<Number> ranges_of_rows(const StridedTable<Number>& table, std::size_t begin, std::size_t end) {
    constexpr std::size_t lanes = 64;
    Ranges<Number> all(table.columns);
    if (table.column_stride == 1 && table.columns > 1) {
        for (std::size_t row = begin; row < end; ++row) {
            all.extend(table.data + static_cast<std::ptrdiff_t>(row) * table.row_stride, table.columns);
        }
        return all;
    }
    for (std::size_t column = 0; column < table.columns; ++column) {
        Ranges<Number> parts(lanes);
        const Number* values = table.data + static_cast<std::ptrdiff_t>(column) * table.column_stride;
        for (std::size_t row = begin; row < end; row += lanes) {
            const std::size_t count = std::min(lanes, end - row);
            if (table.row_stride == 1) {
                parts.extend(values + row, count);
                continue;
            }
            Number copied[lanes];
            for (std::size_t i = 0; i < count; ++i) copied[i] = table.raw(row + i, column);
            parts.extend(copied, count);
        }
        for (std::size_t lane = 0; lane < lanes; ++lane) all.add(column, parts, lane);
    }
    return all;
}

template <class Number>
Ranges<Number> column_ranges(const StridedTable<Number>& table, int threads, const Poll& poll) {
    Ranges<Number> all(table.columns);
    std::mutex mutex;
    parallel_for(table.rows, chunk_rows(table.columns), threads, poll, [&](std::size_t begin, std::size_t end) {
        const Ranges<Number> part = ranges_of_rows(table, begin, end);
        const std::lock_guard lock(mutex);
        for (std::size_t column = 0; column < table.columns; ++column) all.add(column, part, column);
    });
    return all;
}

}  // namespace epiboost
