// Histograms of gradients as whole numbers, so that sums do not depend on the order of rows or threads.
//
// A row's gradients are rounded to small integers (see chain.hpp) and laid out in one of two ways, which hold the same
// numbers: all in one 64-bit word, or one 32-bit lane each. A layout says how a row is packed and how a feature's histogram
// is scanned into running sums, one array an output and the last one for the weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace epiboost {

constexpr int max_bins = 256;

// One output: gradient in the upper half of a word, weight in the lower.
struct PackedOne {
    using Word = std::int64_t;
    static constexpr int words(int) { return 1; }

    static void pack(const std::int32_t* gradient, int, std::int32_t weight, Word* word) {
        *word = static_cast<Word>(gradient[0]) * (Word{1} << 32) + weight;
    }

    static void scan(const Word* histogram, int stride, int, std::int32_t (*running)[max_bins]) {
        Word sum = 0;
        for (int b = 0; b < stride; ++b) {
            sum += histogram[b];
            running[1][b] = static_cast<std::int32_t>(sum);  // a weight is never negative and fits 31 bits
            running[0][b] = static_cast<std::int32_t>((sum - static_cast<std::int32_t>(sum)) >> 32);
        }
    }
};

// Two outputs of 24 bits and a weight of 16: for tables whose weights sum to less than 2^16.
struct PackedTwo {
    using Word = std::int64_t;
    static constexpr std::int64_t capacity = 65535;
    static constexpr int words(int) { return 1; }

    static void pack(const std::int32_t* gradient, int, std::int32_t weight, Word* word) {
        *word = static_cast<Word>(gradient[0]) * (Word{1} << 40) + static_cast<Word>(gradient[1]) * (Word{1} << 16) + weight;
    }

    static void scan(const Word* histogram, int stride, int, std::int32_t (*running)[max_bins]) {
        std::array<Word, max_bins> sums;
        Word sum = 0;
        for (int b = 0; b < stride; ++b) {
            sum += histogram[b];
            sums[b] = sum;
        }
        for (int b = 0; b < stride; ++b) {
            const std::int64_t gradients = sums[b] >> 16;
            const std::int32_t low = static_cast<std::int32_t>(static_cast<std::uint32_t>(gradients) << 8) >> 8;
            running[0][b] = static_cast<std::int32_t>((gradients - low) >> 24);
            running[1][b] = low;
            running[2][b] = static_cast<std::int32_t>(sums[b] & 0xffff);
        }
    }
};

// One 32-bit lane an output and one for the weight, padded to Count lanes (0: a number known only at run time).
template <int Count>
struct Lanes {
    using Word = std::int32_t;
    static int words(int outputs) { return Count > 0 ? Count : (outputs + 16) / 16 * 16; }

    static void pack(const std::int32_t* gradient, int outputs, std::int32_t weight, Word* word) {
        for (int k = 0; k < words(outputs); ++k) word[k] = 0;
        for (int k = 0; k < outputs; ++k) word[k] = gradient[k];
        word[outputs] = weight;
    }

    static void scan(const Word* histogram, int stride, int outputs, std::int32_t (*running)[max_bins]) {
        const int lanes = words(outputs);
        for (int k = 0; k <= outputs; ++k) {
            std::int32_t sum = 0;
            for (int b = 0; b < stride; ++b) {
                sum += histogram[b * lanes + k];
                running[k][b] = sum;
            }
        }
    }
};

// Adds the words of the given rows to a histogram of shape (columns, stride, words).
template <class Layout>
void add_rows(const std::uint8_t* by_row, std::size_t columns, const typename Layout::Word* words, int outputs, int stride,
              const std::uint32_t* rows, std::size_t count, typename Layout::Word* histogram) {
    const int width = Layout::words(outputs);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = rows[i];
        const std::uint8_t* bins = by_row + row * columns;
        const typename Layout::Word* word = words + row * width;
        typename Layout::Word* feature = histogram;
        for (std::size_t f = 0; f < columns; ++f) {
            typename Layout::Word* cell = feature + bins[f] * width;
            for (int k = 0; k < width; ++k) cell[k] += word[k];
            feature += static_cast<std::size_t>(stride) * width;
        }
    }
}

}  // namespace epiboost
