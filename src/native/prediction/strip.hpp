// Rows that one thread evaluates together, and the leaves that they fall into.
//
// A thread evaluates a batch of trees for one strip, for its other strips, and then the next batch: leaf indices and leaf values of a
// batch stay in the L1 cache, the bins and sums of strips in the L2 cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.hpp"
#include "prediction/binned_rows.hpp"
#include "prediction/compiled_trees.hpp"

namespace epiboost {

constexpr std::size_t strip_blocks = 48;
constexpr std::size_t strip_rows = strip_blocks * block;
constexpr std::size_t leaf_stride = strip_rows + block;  // between the leaves of two trees; caches dislike powers of two

// Position of each row within its block. Leaf values that are looked up in registers unpack into consecutive rows if the rows are
// permuted like this; see the files of the instruction sets.
using Positions = std::array<std::uint8_t, block>;

inline Positions positions_in_block(bool uses_tables) {
    Positions positions;
    for (std::size_t row = 0; row < block; ++row) {
        std::size_t position = row;
#if defined(__AVX512BW__)
        constexpr std::size_t remainder[] = {0, 2, 1, 3};
        if (uses_tables) position = row % 16 * 4 + remainder[row / 16];
#elif defined(__AVX2__)
        constexpr std::size_t remainder[] = {0, 2, 1, 3};
        if (uses_tables) position = row / 32 * 32 + row % 8 * 4 + remainder[row / 8 % 4];
#endif
        positions[row] = static_cast<std::uint8_t>(position);
    }
    static_cast<void>(uses_tables);
    return positions;
}

// On which sides of a condition the rows of a strip are.
enum class Sides : std::uint32_t { below = 0, above = 1, both = 1 << 16 };

// Leaf of each row of a strip in a tree; rows by position.
struct alignas(64) Leaves {
    std::uint8_t of_row[leaf_stride];
};

// Bins are less 128: signed bytes are compared by one instruction on every instruction set. They are ordered by block, then by
// column. Sums have one array of rows per output.
struct Strip {
    struct alignas(64) Bins {
        std::int8_t of_row[block];
    };
    Positions position;
    std::vector<Bins> bins;
    std::span<Leaves> leaves;  // per tree of a batch; the same memory for all strips of a thread
    std::vector<float> sums;      // of the leaf values of a segment so far
    std::vector<double> scores;   // after the segments so far
    std::vector<Sides> sides;  // per condition
    std::size_t columns;
    std::size_t rows;
    std::size_t blocks;  // number of blocks in use

    Strip(const CompiledTrees& trees, std::size_t rows, std::span<Leaves> leaves)
        : position(positions_in_block(trees.uses_tables())), bins(trees.columns.size() * (padded(rows) / block)),
          leaves(leaves), sums(static_cast<std::size_t>(trees.outputs) * padded(rows)), scores(sums.size()),
          sides(trees.conditions.size()), columns(trees.columns.size()), rows(rows), blocks(padded(rows) / block) {}

    std::size_t stride() const { return blocks * block; }  // between the sums of two outputs

    // Takes the bins of the rows from the columns of a chunk.
    void fill(const CompiledTrees& trees, const BinnedRows& binned, const std::uint32_t* row) {
        const auto* condition = trees.conditions.data();
        Sides* side = sides.data();
        for (std::size_t c = 0; c < columns; ++c) {
            const Range range = fill_column(c, binned.column(c), row);
            for (; side != sides.data() + sides.size() && condition->feature == trees.columns[c]; ++condition, ++side) {
                const bool all_above = range.lowest > condition->threshold;
                *side = all_above ? Sides::above : range.highest > condition->threshold ? Sides::both : Sides::below;
            }
        }
    }

    const std::int8_t* column(std::size_t which_block, std::size_t column) const {
        return bins[which_block * columns + column].of_row;
    }

  private:
    struct Range {
        std::uint8_t lowest = 255;
        std::uint8_t highest = 0;
    };

    Range fill_column(std::size_t column, const std::uint8_t* from, const std::uint32_t* row) {
        Range range;
        for (std::size_t first = 0; first < rows; first += block) {
            const std::size_t count = std::min(block, rows - first);
            std::uint8_t bin[block];
            for (std::size_t i = 0; i < count; ++i) bin[i] = from[row[first + i]];
            for (std::size_t i = count; i < block; ++i) bin[i] = bin[0];
            std::int8_t* of_row = bins[first / block * columns + column].of_row;
            for (std::size_t i = 0; i < block; ++i) of_row[position[i]] = static_cast<std::int8_t>(bin[i] ^ 0x80);
            for (std::size_t i = 0; i < block; ++i) {
                range.lowest = std::min(range.lowest, bin[i]);
                range.highest = std::max(range.highest, bin[i]);
            }
        }
        return range;
    }
};

}  // namespace epiboost
