// Feature bundling: columns with few bins share a byte, so that one addition to a histogram serves all of them.
//
// A shared byte is a mixed-radix number whose digits are the bins of its columns. The histogram of one column is the
// histogram of the byte summed over all other digits: the same integers as without bundling.
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
    // `max_cells` is the number of values that a shared byte may have. Columns that do not fit are not bundled.
    Bundles(const Table& table, std::size_t max_cells) : table_(table), position_(table.columns), stride_(max_cells) {
        pack(max_cells);
        order_columns();
        if (!shared_.empty()) write_rows();
    }

    std::size_t shared() const { return shared_.size(); }    // number of shared bytes
    std::size_t unbundled() const { return unbundled_; }     // number of columns that share no byte
    std::size_t stride() const { return stride_; }           // cells in the histogram of a shared byte

    // Position of a column's histogram among those of a leaf. Columns that share no byte come first.
    std::size_t position(std::size_t column) const { return position_[column]; }

    // Bytes by row: the shared bytes, then the bins of all columns in the order of their positions.
    const std::uint8_t* by_row() const { return shared_.empty() ? table_.by_row.data() : bytes_.data(); }
    std::size_t row_bytes() const { return shared_.size() + table_.columns; }

    // Whether summing this many rows by shared bytes saves more additions than splitting the joint histograms costs.
    bool is_faster(std::size_t rows) const { return rows * (table_.columns - unbundled_ - shared_.size()) > cells_; }

    // Largest number of bins of a column that shares a byte; 0 without such columns.
    std::size_t most_bins() const {
        std::size_t most = 0;
        for (const Bundle& bundle : shared_) {
            for (const Digit& digit : bundle.digits) most = std::max(most, digit.first + digit.radix);
        }
        return most;
    }

    // Splits the joint histograms of the shared bytes, of shape (shared, stride, width), into those of their columns, to which
    // `histogram_of(column)` points. The joint histograms are overwritten.
    template <class Word, class Histograms>
    void unbundle(Word* joint, std::size_t width, const Histograms& histogram_of) const {
        for (const Bundle& bundle : shared_) {
            std::size_t cells = bundle.cells;
            for (const Digit& digit : bundle.digits) {  // after each digit, `joint` is the histogram of the remaining ones
                cells /= digit.radix;
                Word* column = histogram_of(digit.column) + digit.first * width;
                for (std::size_t value = 0; value < digit.radix; ++value) {
                    add_cells(joint + value * cells * width, cells, width, column + value * width);
                    if (value > 0) add_words(joint + value * cells * width, cells * width, joint);
                }
            }
            joint += stride_ * width;
        }
    }

  private:
    static constexpr std::size_t max_shared = 128;       // more joint histograms would not stay in the cache
    static constexpr std::size_t min_columns_saved = 6;  // below, reading the rows twice costs more than it saves

    struct Digit {
        std::size_t column;
        std::size_t first;  // lowest bin that occurs
        std::size_t radix;
    };
    struct Bundle {
        std::size_t cells;
        std::vector<Digit> digits;  // highest first
    };

    // Greedy packing: the column with the most bins is bundled with those with the fewest, as long as they fit.
    void pack(std::size_t max_cells) {
        std::vector<Digit> digits;
        for (std::size_t c = 0; c < table_.columns; ++c) {
            const int radix = table_.highest[c] - table_.lowest[c] + 1;
            digits.push_back({c, static_cast<std::size_t>(table_.lowest[c]), static_cast<std::size_t>(radix)});
        }
        std::stable_sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.radix > b.radix; });
        std::size_t end = digits.size();
        for (std::size_t next = 0; next < end; ++next) {
            Bundle bundle{digits[next].radix, {digits[next]}};
            while (end > next + 1 && bundle.cells * digits[end - 1].radix <= max_cells) {
                bundle.digits.push_back(digits[--end]);
                bundle.cells *= digits[end].radix;
            }
            if (bundle.digits.size() > 1) shared_.push_back(std::move(bundle));
        }
        keep_best();
        for (const Bundle& bundle : shared_) cells_ += bundle.cells;
    }

    // Keeps the bundles that save most columns, or none if all of them together save too few.
    void keep_best() {
        std::stable_sort(shared_.begin(), shared_.end(),
                         [](const Bundle& a, const Bundle& b) { return a.digits.size() > b.digits.size(); });
        if (shared_.size() > max_shared) shared_.resize(max_shared);
        std::size_t saved = 0;
        for (const Bundle& bundle : shared_) saved += bundle.digits.size() - 1;
        if (saved < std::max(min_columns_saved, table_.columns / 16)) shared_.clear();
    }

    void order_columns() {
        std::vector<bool> is_bundled(table_.columns, false);
        for (const Bundle& bundle : shared_) {
            for (const Digit& digit : bundle.digits) is_bundled[digit.column] = true;
        }
        for (const bool bundled : {false, true}) {
            for (std::size_t c = 0; c < table_.columns; ++c) {
                if (is_bundled[c] == bundled) in_order_.push_back(c);
            }
            if (!bundled) unbundled_ = in_order_.size();
        }
        for (std::size_t i = 0; i < in_order_.size(); ++i) position_[in_order_[i]] = i;
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
    std::vector<std::size_t> in_order_;  // columns by position
    std::vector<std::size_t> position_;
    std::vector<std::uint8_t> bytes_;
    std::size_t unbundled_ = 0;
    std::size_t stride_;
    std::size_t cells_ = 0;  // used cells of all shared bytes
};

}  // namespace epiboost
