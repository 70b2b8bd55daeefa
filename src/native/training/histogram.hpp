// Histograms of integer gradients. Integer sums do not depend on the order of rows or threads.
//
// A row's gradients are rounded to small integers (split_sample.hpp) and stored in one of two layouts: packed into one 64-bit
// word, or one 32-bit lane each. A layout defines how a row is packed and how a feature's histogram is scanned into prefix
// sums, one array per output and a last one for the weights. Rows are added in histogram_sums.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/integer_vector.hpp"
#include "core/problem.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace epiboost {

constexpr int max_bins = 256;  // a bin is one byte

// Cells of the histogram of a feature with so many bins. The loops over one or two outputs go by sixteen cells; with more outputs
// a cell is a vector of its own.
inline int cells_for(int bins, int outputs) { return outputs <= 2 ? std::min(max_bins, (bins + 15) / 16 * 16) : bins; }

// Lowest and highest cell of a histogram that hold rows. `is_empty(b)` says whether cell b holds none.
struct Occupied {
    int lowest;
    int highest;

    template <class IsEmpty>
    Occupied(int cells, const IsEmpty& is_empty) : lowest(0), highest(cells - 1) {
        while (lowest < highest && is_empty(lowest)) ++lowest;
        while (highest > lowest && is_empty(highest)) --highest;
    }
};

// Layout for one output: gradient in the upper half of a word, weight in the lower half.
struct PackedOne {
    using Word = std::int64_t;
    static constexpr bool single_word = true;
    static constexpr int words(int) { return 1; }

    // Packs the gradients of a block, one array of rows per output, and the weights.
    static void pack_block(const std::int32_t* gradient, int, const std::int32_t* weight, Word* __restrict words) {
        for (std::size_t i = 0; i < block; ++i) words[i] = static_cast<Word>(gradient[i]) * (Word{1} << 32) + weight[i];
    }

    // Weight of the rows in the first `bins` bins.
    static std::int64_t weight(const Word* histogram, int bins, int) {
        Word sum = 0;
        for (int b = 0; b < bins; ++b) sum += histogram[b];
        return static_cast<std::int32_t>(sum);
    }

    static Occupied occupied(const Word* histogram, int cells, int) {
        return {cells, [&](int b) { return histogram[b] == 0; }};
    }

    static void scan(const Word* histogram, int stride, std::int32_t (*running)[max_bins]) {
        Word sum = 0;
        for (int b = 0; b < stride; ++b) {
            sum += histogram[b];
            running[1][b] = static_cast<std::int32_t>(sum);  // a weight is never negative and fits 31 bits
            running[0][b] = static_cast<std::int32_t>((sum - static_cast<std::int32_t>(sum)) >> 32);
        }
    }
};

// Prefix sums of a histogram whose length is a multiple of sixteen. A single running sum would be one long chain of dependent
// additions, so four quarters (with AVX-512: two halves) are summed side by side; `before` holds the offsets of the quarters.
struct PrefixSums {
    std::array<std::int64_t, max_bins> sums;
    std::array<std::int64_t, 5> before = {};  // sums before each quarter, and the total

#if defined(__AVX512F__)
    PrefixSums(const std::int64_t* histogram, int stride) {
        const int half = stride / 2;
        const __m512i last = _mm512_set1_epi64(7);
        __m512i sum[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};  // the last one, in all lanes
        for (int b = 0; b < half; b += 8) {
            for (int part = 0; part < 2; ++part) {
                const __m512i eight = running_sums(_mm512_loadu_si512(histogram + part * half + b));
                const __m512i all = _mm512_add_epi64(eight, sum[part]);
                _mm512_storeu_si512(sums.data() + part * half + b, all);
                sum[part] = _mm512_permutexvar_epi64(last, all);
            }
        }
        before[2] = before[3] = _mm_cvtsi128_si64(_mm512_castsi512_si128(sum[0]));
        before[4] = before[2] + _mm_cvtsi128_si64(_mm512_castsi512_si128(sum[1]));
    }

  private:
    static __m512i running_sums(__m512i eight) {
        const __m512i zero = _mm512_setzero_si512();
        eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 7));
        eight = _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 6));
        return _mm512_add_epi64(eight, _mm512_alignr_epi64(eight, zero, 4));
    }
#else
    PrefixSums(const std::int64_t* histogram, int stride) {
        const int quarter = stride / 4;
        std::int64_t sum[4] = {};
        for (int b = 0; b < quarter; ++b) {
            for (int part = 0; part < 4; ++part) {
                sum[part] += histogram[part * quarter + b];
                sums[part * quarter + b] = sum[part];
            }
        }
        for (int part = 0; part < 4; ++part) before[part + 1] = before[part] + sum[part];
    }
#endif
};

// Layout for two outputs of 24 bits and a weight of 16 bits, for tables whose weights sum to less than 2^16.
struct PackedTwo {
    using Word = std::int64_t;
    static constexpr bool single_word = true;
    static constexpr std::int64_t capacity = 65535;
    static constexpr int words(int) { return 1; }

    static void pack_block(const std::int32_t* gradient, int, const std::int32_t* weight, Word* __restrict words) {
        for (std::size_t i = 0; i < block; ++i) {
            words[i] = static_cast<Word>(gradient[i]) * (Word{1} << 40) +
                       static_cast<Word>(gradient[block + i]) * (Word{1} << 16) + weight[i];
        }
    }

    static std::int64_t weight(const Word* histogram, int bins, int) {
        Word sum = 0;
        for (int b = 0; b < bins; ++b) sum += histogram[b];
        return sum & 0xffff;
    }

    static Occupied occupied(const Word* histogram, int cells, int) {
        return {cells, [&](int b) { return histogram[b] == 0; }};
    }

    struct Parts {
        std::int32_t first;
        std::int32_t second;
        std::int32_t weight;
    };
    // In 32-bit arithmetic, which has more lanes in a vector. The upper half of a word is 2^8 first + floor(second / 2^16).
    static Parts parts(Word word) {
        const auto lower = static_cast<std::uint32_t>(word);
        const auto upper = static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) >> 32);
        const std::int32_t second = static_cast<std::int32_t>(upper << 24 | (lower >> 16) << 8) >> 8;
        return {(static_cast<std::int32_t>(upper) - (second >> 16)) >> 8, second, static_cast<std::int32_t>(lower & 0xffff)};
    }

    static void scan(const Word* histogram, int stride, std::int32_t (*running)[max_bins]) {
        Word sum = 0;
        for (int b = 0; b < stride; ++b) {
            sum += histogram[b];
            const Parts left = parts(sum);
            running[0][b] = left.first;
            running[1][b] = left.second;
            running[2][b] = left.weight;
        }
    }
};

// Layout with one 32-bit lane per output and one for the weight, padded to Count lanes (0: known at run time only).
template <int Count>
struct Lanes {
    using Word = std::int32_t;
    static constexpr bool single_word = false;
    static constexpr int vector_lanes = Count > 0 ? Count : 16;
    using Vector = IntegerVector<std::int32_t, vector_lanes>;
    static int words(int outputs) { return Count > 0 ? Count : (outputs + 16) / 16 * 16; }

    static void pack_block(const std::int32_t* gradient, int outputs, const std::int32_t* weight, Word* __restrict words) {
        const int lanes = Lanes::words(outputs);
        for (std::size_t i = 0; i < block; ++i) {
            for (int k = 0; k < lanes; ++k) words[i * lanes + k] = 0;
            for (int k = 0; k < outputs; ++k) words[i * lanes + k] = gradient[k * block + i];
            words[i * lanes + outputs] = weight[i];
        }
    }

    static std::int64_t weight(const Word* histogram, int bins, int outputs) {
        std::int64_t sum = 0;
        for (int b = 0; b < bins; ++b) sum += histogram[b * words(outputs) + outputs];
        return sum;
    }

    static Occupied occupied(const Word* histogram, int cells, int outputs) {
        return {cells, [&](int b) { return histogram[b * words(outputs) + outputs] == 0; }};
    }
};

// Prefix sums of a histogram in any layout: one array per output and a last one for the weights.
template <class Layout>
void scan_outputs(const typename Layout::Word* histogram, int stride, int outputs, std::int32_t (*running)[max_bins]) {
    if constexpr (Layout::single_word) {
        Layout::scan(histogram, stride, running);
    } else {
        for (int k = 0; k <= outputs; ++k) {
            std::int32_t sum = 0;
            for (int b = 0; b < stride; ++b) running[k][b] = sum += histogram[b * Layout::words(outputs) + k];
        }
    }
}

}  // namespace epiboost
