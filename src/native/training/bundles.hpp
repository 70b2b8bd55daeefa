// Columns of few bins that share a byte, so that one addition does for all of them.
//
// A shared byte is a number whose digits are the bins of its columns. Its histogram summed over all other digits is that of
// one column: the same whole numbers as those of the column alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/problem.hpp"

namespace epiboost {

class Bundles {
  public:
    // Columns stay alone where `most_cells` do not hold two of them.
    Bundles(const Table& table, std::size_t most_cells) : table_(table), place_(table.columns), stride_(most_cells) {
        pack(most_cells);
        order_places();
        if (!shared_.empty()) write_rows();
    }

    std::size_t shared() const { return shared_.size(); }  // bytes that columns share
    std::size_t alone() const { return alone_; }           // columns that share none
    std::size_t stride() const { return stride_; }         // cells that the histogram of a shared byte takes

    // Where a column's histogram stands among all those of a leaf: those that share no byte come first.
    std::size_t place(std::size_t column) const { return place_[column]; }

    // Rows of bytes: those that are shared, then the bins of all columns in the order of their places.
    const std::uint8_t* by_row() const { return shared_.empty() ? table_.by_row.data() : bytes_.data(); }
    std::size_t row_bytes() const { return shared_.size() + table_.columns; }

    // Whether so many rows are faster summed by shared bytes, whose histograms have to be taken apart.
    bool pay(std::size_t rows) const { return rows * (table_.columns - alone_ - shared_.size()) > cells_; }

    // Takes histograms of shared bytes, of shape (shared, stride, width), apart into those of their columns, of which each
    // has `size` words and the first place is at `histogram`. Those of the shared bytes are used up.
    template <class Word>
    void take_apart(Word* joint, std::size_t width, std::size_t size, Word* histogram) const {
        for (const Bundle& bundle : shared_) {
            std::size_t cells = bundle.cells;
            for (const Digit& digit : bundle.digits) {  // what is left has the others
                cells /= digit.radix;
                Word* own = histogram + place_[digit.column] * size + digit.first * width;
                for (std::size_t value = 0; value < digit.radix; ++value) {
                    add_cells(joint + value * cells * width, cells, width, own + value * width);
                    if (value > 0) add_words(joint + value * cells * width, cells * width, joint);
                }
            }
            joint += stride_ * width;
        }
    }

  private:
    static constexpr std::size_t most_shared = 128;
    static constexpr std::size_t least_saved = 6;  // columns

    struct Digit {
        std::size_t column;
        std::size_t first;  // the lowest bin that occurs
        std::size_t radix;
    };
    struct Bundle {
        std::size_t cells;
        std::vector<Digit> digits;  // highest first
    };

    // Columns of most bins come first; each takes those of fewest bins with it, as long as there is room.
    void pack(std::size_t most_cells) {
        std::vector<Digit> digits;
        for (std::size_t c = 0; c < table_.columns; ++c) {
            const auto first = static_cast<std::size_t>(table_.first_threshold[c]);
            digits.push_back({c, first, std::max<std::size_t>(1, static_cast<std::size_t>(table_.bins[c]) - first)});
        }
        std::stable_sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.radix > b.radix; });
        std::size_t end = digits.size();
        for (std::size_t next = 0; next < end; ++next) {
            Bundle bundle{digits[next].radix, {digits[next]}};
            while (end > next + 1 && bundle.cells * digits[end - 1].radix <= most_cells) {
                bundle.digits.push_back(digits[--end]);
                bundle.cells *= digits[end].radix;
            }
            if (bundle.digits.size() > 1) shared_.push_back(std::move(bundle));
        }
        keep_best();
        for (const Bundle& bundle : shared_) cells_ += bundle.cells;
    }

    // Those that save most, as many as stay near; none where all together save little, since rows are then read twice.
    void keep_best() {
        std::stable_sort(shared_.begin(), shared_.end(),
                         [](const Bundle& a, const Bundle& b) { return a.digits.size() > b.digits.size(); });
        if (shared_.size() > most_shared) shared_.resize(most_shared);
        std::size_t saved = 0;
        for (const Bundle& bundle : shared_) saved += bundle.digits.size() - 1;
        if (saved < std::max(least_saved, table_.columns / 16)) shared_.clear();
    }

    void order_places() {
        std::vector<bool> shares(table_.columns, false);
        for (const Bundle& bundle : shared_) {
            for (const Digit& digit : bundle.digits) shares[digit.column] = true;
        }
        for (const bool sharing : {false, true}) {
            for (std::size_t c = 0; c < table_.columns; ++c) {
                if (shares[c] == sharing) in_order_.push_back(c);
            }
            if (!sharing) alone_ = in_order_.size();
        }
        for (std::size_t i = 0; i < in_order_.size(); ++i) place_[in_order_[i]] = i;
    }

    void write_rows() {
        bytes_.resize(table_.rows * row_bytes());
        for (std::size_t row = 0; row < table_.rows; ++row) {
            const std::uint8_t* bins = table_.by_row.data() + row * table_.columns;
            std::uint8_t* next = bytes_.data() + row * row_bytes();
            for (const Bundle& bundle : shared_) {
                std::size_t code = 0;
                for (const Digit& digit : bundle.digits) code = code * digit.radix + (bins[digit.column] - digit.first);
                *next++ = static_cast<std::uint8_t>(code);
            }
            for (const std::size_t column : in_order_) *next++ = bins[column];
        }
    }

    template <class Word>
    static void add_words(const Word* __restrict words, std::size_t count, Word* __restrict sums) {
        for (std::size_t i = 0; i < count; ++i) sums[i] += words[i];
    }

    template <class Word>
    static void add_cells(const Word* __restrict cells, std::size_t count, std::size_t width, Word* __restrict sum) {
        if (width == 1) {
            *sum += std::accumulate(cells, cells + count, Word{0});
        } else {
            for (std::size_t i = 0; i < count; ++i) add_words(cells + i * width, width, sum);
        }
    }

    const Table& table_;
    std::vector<Bundle> shared_;
    std::vector<std::size_t> in_order_;  // columns by place
    std::vector<std::size_t> place_;
    std::vector<std::uint8_t> bytes_;
    std::size_t alone_ = 0;
    std::size_t stride_;
    std::size_t cells_ = 0;  // in use, of all shared bytes
};

}  // namespace epiboost
