// Bins by row in panels of a few columns.
//
// The histograms of a few columns stay in the L1 cache, and their bins of scattered rows in the L2 cache. Wide tables are therefore
// divided: a panel holds the bins of neighbouring columns, row after row, and panels follow each other. Narrow tables, and those
// whose columns are bundled, are one panel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/problem.hpp"
#include "training/bundles.hpp"

namespace epiboost {

class PanelLayout {
  public:
    // How the bytes of rows are divided. They stay together if the copy of so many rows would be too large. More than two outputs
    // have histograms that are summed in tiles (histogram_sums.hpp).
    PanelLayout(const Bundles& bundles, std::size_t rows, int outputs) : row_bytes_(bundles.row_bytes()), width_(row_bytes_) {
        constexpr std::size_t most_together = 16;
        constexpr std::size_t most_copied = std::size_t{1} << 27;  // 128 MB
        if (bundles.shared() > 0 || outputs > 2 || row_bytes_ <= most_together || rows * row_bytes_ > most_copied) return;
        width_ = divided_width;
        count_ = divide_up(row_bytes_, width_);
    }

    static constexpr std::size_t divided_width = 8;  // one number; panels of sixteen columns are as fast

    bool divides() const { return count_ > 1; }
    std::size_t count() const { return count_; }
    std::size_t width() const { return width_; }  // bytes between rows of a panel

    // The first byte of a row that a panel holds. All have about as many.
    std::size_t begin(std::size_t panel) const { return panel * row_bytes_ / count_; }

    // Bytes of the panels of so many rows.
    std::size_t bytes(std::size_t rows) const { return count_ * rows * width_; }

    // Position of a byte of row 0 in panels of so many rows.
    std::size_t position(std::size_t byte, std::size_t rows) const {
        const std::size_t panel = ((byte + 1) * count_ - 1) / row_bytes_;
        return panel * rows * width_ + (byte - begin(panel));
    }

    // Copies the bytes of a row to its place in panels of so many rows. What a panel does not hold is not read from it.
    void copy_row(const std::uint8_t* from, std::uint8_t* panels, std::size_t rows, std::size_t row) const {
        std::uint8_t* to = panels + row * width_;
        for (std::size_t panel = 0; panel + 1 < count_; ++panel, to += rows * width_) {
            std::memcpy(to, from + begin(panel), divided_width);
        }
        std::memcpy(to, from + begin(count_ - 1), row_bytes_ - begin(count_ - 1));
    }

  private:
    std::size_t row_bytes_;
    std::size_t width_;
    std::size_t count_ = 1;
};

}  // namespace epiboost
