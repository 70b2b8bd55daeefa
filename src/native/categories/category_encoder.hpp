// Encodes category codes as bins. A table lookup gives the bins of each known value of a column or of a feature cross.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "categories/key_index.hpp"
#include "core/threads.hpp"

namespace epiboost {

// The encoding of one categorical column, or of one feature cross.
struct ValueEncoder {
    const KeyIndex* keys;
    std::vector<std::size_t> columns;       // rows of the array of codes
    std::vector<std::int64_t> code_counts;  // number of codes per column
    std::vector<std::uint8_t> bins;         // (keys + 1, width): the last row is for unseen values
    std::size_t width;
    std::size_t first_output;  // index of the first output column

    // Writes the keys of consecutive rows. A key is negative if one of its codes is, that is, if a value is unseen.
    void join_codes(const std::int64_t* codes, std::size_t rows, std::size_t begin, std::size_t count,
                    std::int64_t* __restrict joint) const {
        std::copy_n(codes + columns[0] * rows + begin, count, joint);
        for (std::size_t i = 1; i < columns.size(); ++i) {
            const std::int64_t* code = codes + columns[i] * rows + begin;
            const std::int64_t code_count = code_counts[i];
            for (std::size_t r = 0; r < count; ++r) {
                const std::int64_t sign = (joint[r] | code[r]) >> 63;  // all bits are set if one of them is negative
                joint[r] = (joint[r] * code_count + code[r]) | sign;
            }
        }
    }

    // Writes the bins of one row.
    void write(std::int64_t position, std::size_t rows, std::size_t row, std::uint8_t* table) const {
        const std::uint8_t* value = bins.data() + static_cast<std::size_t>(position) * width;
        for (std::size_t k = 0; k < width; ++k) table[(first_output + k) * rows + row] = value[k];
    }
};

constexpr std::size_t rows_encoded_at_once = 256;  // their keys and prefetched slots stay in the L1 cache

// Encodes codes of shape (coded columns, rows) into a table of bins of shape (columns, rows). Sets `unseen` for rows with an
// unseen value of a single column.
inline void encode_categories(const std::vector<ValueEncoder>& encoders, const std::int64_t* codes, std::size_t rows, int threads,
                              std::uint8_t* table, std::uint8_t* unseen, const Poll& poll) {
    parallel_for(rows, rows_encoded_at_once, threads, poll, [&](std::size_t begin, std::size_t end) {
        for (const ValueEncoder& encoder : encoders) {
            const bool is_cross = encoder.columns.size() > 1;
            std::int64_t joint[rows_encoded_at_once];
            encoder.join_codes(codes, rows, begin, end - begin, joint);
            for (std::size_t row = begin; row < end; ++row) encoder.keys->prefetch(joint[row - begin]);
            for (std::size_t row = begin; row < end; ++row) {
                const std::int64_t position = encoder.keys->position_of(joint[row - begin]);
                encoder.write(position, rows, row, table);
                if (!is_cross && position == encoder.keys->count()) unseen[row] = 1;
            }
        }
    });
}

}  // namespace epiboost
