// Histograms of the roots of several chains at once.
//
// A root holds all rows, so chains of one table have the same bins there. The words of up to eight chains are the lanes of one
// vector, and one addition serves all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/aligned_words.hpp"
#include "core/compiler.hpp"
#include "core/integer_vector.hpp"
#include "core/problem.hpp"

namespace epiboost {

// The root of one chain's next tree: one word per row, and the histograms of all features, each of `stride` cells.
struct Root {
    const std::int64_t* words = nullptr;
    std::int64_t* histograms = nullptr;
};

class RootHistograms {
  public:
    RootHistograms(const Table& table, int stride) : table_(table), stride_(static_cast<std::size_t>(stride)) {}

    // Sums the histograms of these roots. Returns the number of those that it has summed, the first ones: a single one is faster
    // alone.
    std::size_t sum(std::span<const Root> roots) {
        std::size_t done = 0;
        while (done + 1 < roots.size()) {
            const auto some = roots.subspan(done, std::min(lanes_at_once, roots.size() - done));
            if (some.size() > 4) {
                sum_lanes<std::min<std::size_t>(8, lanes_at_once)>(some);
            } else if (some.size() > 2) {
                sum_lanes<std::min<std::size_t>(4, lanes_at_once)>(some);
            } else {
                sum_lanes<2>(some);
            }
            done += some.size();
        }
        return done;
    }

  private:
#if defined(__AVX512F__)
    static constexpr std::size_t lanes_at_once = 8;
#elif defined(__AVX2__)
    static constexpr std::size_t lanes_at_once = 4;
#else
    static constexpr std::size_t lanes_at_once = 2;
#endif
    static constexpr std::size_t few = 16;             // rows or cells between which lanes are exchanged
    static constexpr std::size_t tile_rows = 1024;     // whose words stay in the L2 cache
    static constexpr std::size_t columns_at_once = 3;  // whose cells stay in the L1 cache

    template <std::size_t Lanes>
    void sum_lanes(std::span<const Root> roots) {
        cells_.fill_zeros(table_.columns * stride_ * Lanes);
        words_.fill_zeros(tile_rows * Lanes);
        const std::size_t rows = padded(table_.rows);
        for (std::size_t row = 0; row < rows; row += tile_rows) {
            const std::size_t count = std::min(tile_rows, rows - row);
            for (std::size_t i = 0; i < count; i += few) {
                for (std::size_t lane = 0; lane < roots.size(); ++lane) {
                    const std::int64_t* __restrict from = roots[lane].words + row + i;
                    std::int64_t* __restrict to = words_.data() + i * Lanes + lane;
                    for (std::size_t k = 0; k < few; ++k) to[k * Lanes] = from[k];
                }
            }
            std::size_t column = 0;
            for (; column + columns_at_once <= table_.columns; column += columns_at_once) {
                add_columns<Lanes, columns_at_once>(column, row, count);
            }
            for (; column < table_.columns; ++column) add_columns<Lanes, 1>(column, row, count);
        }
        const std::size_t size = table_.columns * stride_;
        for (std::size_t i = 0; i < size; i += few) {
            for (std::size_t lane = 0; lane < roots.size(); ++lane) {
                const std::int64_t* __restrict from = cells_.data() + i * Lanes + lane;
                std::int64_t* __restrict to = roots[lane].histograms + i;
                for (std::size_t k = 0; k < few; ++k) to[k] = from[k * Lanes];
            }
        }
    }

    // Adds the words of some rows, a multiple of eight, to the cells of some columns. Bins are read eight at a time.
    template <std::size_t Lanes, std::size_t Columns>
    EPIBOOST_NOINLINE void add_columns(std::size_t column, std::size_t row, std::size_t count) {
        std::array<const std::uint8_t*, Columns> bins;
        for (std::size_t c = 0; c < Columns; ++c) bins[c] = table_.column(column + c) + row;
        const std::size_t width = stride_ * Lanes;
        std::int64_t* const cells = cells_.data() + column * width;
        const std::int64_t* word = words_.data();
        for (std::size_t i = 0; i < count; i += 8) {
            std::array<std::uint64_t, Columns> eight;
            for (std::size_t c = 0; c < Columns; ++c) std::memcpy(&eight[c], bins[c] + i, 8);
            for (std::size_t k = 0; k < 8; ++k, word += Lanes) {
                IntegerVector<std::int64_t, Lanes> added;
                added.load(word);
                for (std::size_t c = 0; c < Columns; ++c) {
                    std::int64_t* const cell = cells + c * width + (eight[c] >> 8 * k & 255) * Lanes;
                    auto sum = added;
                    sum.add(cell);
                    sum.store(cell);
                }
            }
        }
    }

    const Table& table_;
    std::size_t stride_;
    AlignedWords cells_;  // (columns, stride, lanes)
    AlignedWords words_;  // (rows of a tile, lanes)
};

}  // namespace epiboost
