// Codes of categories to bins: what the values of columns, alone or together, are written as.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "categories/keys.hpp"
#include "core/threads.hpp"

namespace epiboost {

struct WrittenGroup {
    const Keys* keys;
    std::vector<std::size_t> columns;  // of the codes
    std::vector<std::int64_t> sizes;   // how many codes each of them has
    std::vector<std::uint8_t> values;  // (keys + 1, width): the last ones are for values that were not seen
    std::size_t width;
    std::size_t first;  // the column that the first of them goes to

    // The keys of so many rows; those that have a code of a value that was not seen are negative.
    void find_keys(const std::int64_t* codes, std::size_t rows, std::size_t begin, std::size_t count,
                   std::int64_t* __restrict found) const {
        std::copy_n(codes + columns[0] * rows + begin, count, found);
        for (std::size_t i = 1; i < columns.size(); ++i) {
            const std::int64_t* own = codes + columns[i] * rows + begin;
            const std::int64_t size = sizes[i];
            for (std::size_t r = 0; r < count; ++r) {
                const std::int64_t sign = (found[r] | own[r]) >> 63;  // all bits where one is negative
                found[r] = (found[r] * size + own[r]) | sign;
            }
        }
    }

    // Writes the bins of one row's value.
    void write(std::int64_t place, std::size_t rows, std::size_t row, std::uint8_t* table) const {
        const std::uint8_t* own = values.data() + static_cast<std::size_t>(place) * width;
        for (std::size_t k = 0; k < width; ++k) table[(first + k) * rows + row] = own[k];
    }
};

constexpr std::size_t rows_written_at_once = 256;

// Writes the columns of a table of bins, (columns, rows), from codes, (coded columns, rows); notes which rows hold a value of
// one column that was not seen.
inline void write_groups(const std::vector<WrittenGroup>& groups, const std::int64_t* codes, std::size_t rows, int threads,
                         std::uint8_t* table, std::uint8_t* unseen) {
    share_out(rows, rows_written_at_once, threads, [&](std::size_t begin, std::size_t end) {
        for (const WrittenGroup& group : groups) {
            const bool alone = group.columns.size() == 1;
            std::int64_t found[rows_written_at_once];
            group.find_keys(codes, rows, begin, end - begin, found);
            for (std::size_t row = begin; row < end; ++row) group.keys->prepare(found[row - begin]);
            for (std::size_t row = begin; row < end; ++row) {
                const std::int64_t place = group.keys->place_of(found[row - begin]);
                group.write(place, rows, row, table);
                if (alone && place == group.keys->count()) unseen[row] = 1;
            }
        }
    });
}

}  // namespace epiboost
