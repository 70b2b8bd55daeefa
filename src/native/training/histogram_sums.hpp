// Sums of rows in histograms.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/compiler.hpp"
#include "training/histogram.hpp"

namespace epiboost {

// Input of a histogram: bins and words by row.
template <class Layout>
struct HistogramInput {
    const std::uint8_t* by_row;
    std::size_t row_bytes;  // distance between rows
    std::size_t columns;
    const typename Layout::Word* words;
    int outputs;
    int stride;
    bool is_panel;  // whether the rows begin at `by_row`: those of a bundled table begin before it
};

// Wide tables are summed in tiles: a few features, whose cells stay in the L1 cache, by a number of rows, whose words stay in
// the L2 cache.
constexpr std::size_t l1_bytes = 24 * 1024;
constexpr std::size_t tile_rows = 2048;

// Adds the words of the given rows to a histogram of shape (columns, stride, words).
template <class Layout, class Rows>
    requires(!Layout::single_word)
void add_rows(const HistogramInput<Layout>& cells, const Rows& rows, std::size_t count, typename Layout::Word* histogram) {
    const int width = Layout::words(cells.outputs);
    const std::size_t feature_size = static_cast<std::size_t>(cells.stride) * width;
    const std::size_t most = std::max<std::size_t>(1, l1_bytes / (feature_size * sizeof(typename Layout::Word)));
    const std::size_t tiles = divide_up(cells.columns, most);
    const std::size_t tile_columns = tiles > 0 ? divide_up(cells.columns, tiles) : 1;  // a tile of few columns would be slow
    for (std::size_t begin = 0; begin < count; begin += tile_rows) {
        const std::size_t end = std::min(begin + tile_rows, count);
        for (std::size_t first = 0; first < cells.columns; first += tile_columns) {
            const std::size_t last = std::min(first + tile_columns, cells.columns);
            for (std::size_t i = begin; i < end; ++i) {
                const std::size_t row = rows[i];
                const std::uint8_t* bins = cells.by_row + row * cells.row_bytes;
                const typename Layout::Word* word = cells.words + row * width;
                for (int lane = 0; lane < width; lane += Layout::vector_lanes) {
                    typename Layout::Vector added;
                    added.load(word + lane);
                    for (std::size_t f = first; f < last; ++f) {
                        typename Layout::Word* cell = histogram + f * feature_size + bins[f] * static_cast<std::size_t>(width) + lane;
                        typename Layout::Vector sum = added;
                        sum.add(cell);
                        sum.store(cell);
                    }
                }
            }
        }
    }
}

static_assert(std::endian::native == std::endian::little, "eight bins are read as one number, lowest byte first");

// Adds a row's word to the cells of its bins. Bins are read eight at a time. Common strides are template arguments, so that
// the compiler knows them.
template <std::size_t Stride>
EPIBOOST_ALWAYS_INLINE void add_word(const std::uint8_t* __restrict bins, std::int64_t word, std::size_t columns,
                                     std::size_t any_stride, std::int64_t* __restrict cells) {
    const std::size_t stride = Stride > 0 ? Stride : any_stride;
    for (; columns >= 8; columns -= 8) {
        std::uint64_t eight;
        std::memcpy(&eight, bins, 8);
        for (std::size_t f = 0; f < 8; ++f) cells[f * stride + (eight >> 8 * f & 255)] += word;
        bins += 8;
        cells += 8 * stride;
    }
    for (std::size_t f = 0; f < columns; ++f) cells[f * stride + bins[f]] += word;
}

// The rows of a leaf are scattered in memory. Rows longer than half a cache line are prefetched some rows ahead.
constexpr std::size_t prefetch_distance = 8;
constexpr std::size_t min_prefetch_bytes = 32;

// Adds rows in layouts with one word per row.
template <std::size_t Stride, class Layout, class Rows>
void add_single_words(const HistogramInput<Layout>& cells, const Rows& rows, std::size_t count, std::int64_t* histogram) {
    const bool prefetches = cells.row_bytes > min_prefetch_bytes && count > prefetch_distance;
    const std::size_t prefetch_end = prefetches ? count - prefetch_distance : 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i < prefetch_end) {
            const std::uint8_t* later = cells.by_row + rows[i + prefetch_distance] * cells.row_bytes;
            for (std::size_t f = 0; f < cells.columns; f += 64) prefetch(later + f);
        }
        const std::size_t row = rows[i];
        add_word<Stride>(cells.by_row + row * cells.row_bytes, cells.words[row], cells.columns,
                         static_cast<std::size_t>(cells.stride), histogram);
    }
}

// The same for a panel of so many columns, whose rows are one number each.
template <std::size_t Stride, std::size_t Columns, class Layout, class Rows>
void add_panel(const HistogramInput<Layout>& cells, const Rows& rows, std::size_t count, std::int64_t* __restrict histogram) {
    const std::size_t stride = Stride > 0 ? Stride : static_cast<std::size_t>(cells.stride);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = rows[i];
        const std::int64_t word = cells.words[row];
        std::uint64_t eight;
        std::memcpy(&eight, cells.by_row + row * 8, 8);
        for (std::size_t f = 0; f < Columns; ++f) histogram[f * stride + (eight >> 8 * f & 255)] += word;
    }
}

template <std::size_t Stride, class Layout, class Rows>
void add_columns(const HistogramInput<Layout>& cells, const Rows& rows, std::size_t count, std::int64_t* histogram) {
    const bool is_one_number = cells.is_panel && cells.row_bytes == 8;
    if (is_one_number && cells.columns == 8) return add_panel<Stride, 8>(cells, rows, count, histogram);
    if (is_one_number && cells.columns == 7) return add_panel<Stride, 7>(cells, rows, count, histogram);
    add_single_words<Stride>(cells, rows, count, histogram);
}

template <class Layout, class Rows>
    requires(Layout::single_word)
void add_rows(const HistogramInput<Layout>& cells, const Rows& rows, std::size_t count, std::int64_t* histogram) {
    if (cells.stride == max_bins) {
        add_columns<max_bins>(cells, rows, count, histogram);
    } else if (cells.stride == 64) {
        add_columns<64>(cells, rows, count, histogram);
    } else {
        add_columns<0>(cells, rows, count, histogram);
    }
}

}  // namespace epiboost
