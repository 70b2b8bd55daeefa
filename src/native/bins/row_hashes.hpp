// Hashes of rows: equal rows have equal hashes. A word changes the hash by the step of the splitmix64 generator, which waits for the
// step before, so some rows are hashed side by side.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "bins/bins.hpp"
#include "core/noise.hpp"
#include "core/threads.hpp"

namespace epiboost {

// Writes one hash per row; `word(row, i)` is the word number i of a row that has so many bytes.
template <class WordOf>
void hash_words(std::size_t rows, std::size_t bytes, int threads, const Poll& poll, const WordOf& word, std::uint64_t* hashes) {
    constexpr std::size_t at_once = 8;
    const std::size_t words = (bytes + 7) / 8;
    parallel_for(rows, chunk_rows(words), threads, poll, [&](std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end; first += at_once) {
            std::size_t row[at_once];  // the last is repeated
            for (std::size_t r = 0; r < at_once; ++r) row[r] = std::min(first + r, end - 1);
            std::uint64_t hash[at_once];
            std::fill_n(hash, at_once, static_cast<std::uint64_t>(bytes));
            for (std::size_t i = 0; i < words; ++i) {
                std::uint64_t of_row[at_once];
                for (std::size_t r = 0; r < at_once; ++r) of_row[r] = word(row[r], i);
                for (std::size_t r = 0; r < at_once; ++r) hash[r] = splitmix64(hash[r] ^ of_row[r]);
            }
            std::copy_n(hash, std::min(at_once, end - first), hashes + first);
        }
    });
}

// Hashes of rows of bytes, in C order.
inline void hash_bytes(const std::uint8_t* bytes, std::size_t rows, std::size_t columns, int threads, const Poll& poll,
                       std::uint64_t* hashes) {
    const auto word_of = [&](std::size_t row, std::size_t i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + row * columns + 8 * i, std::min<std::size_t>(8, columns - 8 * i));
        return word;
    };
    hash_words(rows, columns, threads, poll, word_of, hashes);
}

// The bits of a number in double precision, the same for both zeros and for all missing values.
inline std::uint64_t content_of(double number) {
    if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<std::uint64_t>(number + 0.0);
}

// Hashes of the rows of a table, followed by those of `more`, of shape (rows, more_columns): of their bytes in double precision.
template <class Number>
void hash_numbers(const StridedTable<Number>& table, const double* more, std::size_t more_columns, int threads, const Poll& poll,
                  std::uint64_t* hashes) {
    const auto word_of = [&](std::size_t row, std::size_t i) {
        return content_of(i < table.columns ? table.at(row, i) : more[row * more_columns + (i - table.columns)]);
    };
    hash_words(table.rows, 8 * (table.columns + more_columns), threads, poll, word_of, hashes);
}

}  // namespace epiboost
