// Rows that one thread evaluates together, and the leaves that they fall into.
//
// A strip is a number of blocks that are evaluated with one batch of trees before the next batch: leaf indices and leaf values
// of a batch stay in the L1 cache, the bins and sums of a strip in the L2 cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/problem.hpp"
#include "prediction/compiled_trees.hpp"

namespace epiboost {

constexpr std::size_t strip_blocks = 16;
constexpr std::size_t strip_rows = strip_blocks * block;

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

// Bins are less 128: signed bytes are compared by one instruction on every instruction set. They are ordered by block, then by
// column. Sums have one array of rows per output.
struct Strip {
    struct alignas(64) Bins {
        std::int8_t of_row[block];
    };
    struct alignas(64) Leaves {
        std::uint8_t of_row[strip_rows];
    };
    Positions position;
    std::vector<Bins> bins;
    std::vector<Leaves> leaves;  // per tree of a batch; rows by position
    std::vector<float> sums;
    std::size_t columns;
    std::size_t blocks = 0;  // number of blocks in use

    Strip(const CompiledTrees& trees, std::size_t columns)
        : position(positions_in_block(trees.uses_tables())), bins(columns * strip_blocks), leaves(trees_per_batch),
          sums(static_cast<std::size_t>(trees.outputs) * strip_rows), columns(columns) {}

    void set_bin(std::size_t row, std::size_t column, std::uint8_t bin) {
        bins[row / block * columns + column].of_row[position[row % block]] = static_cast<std::int8_t>(bin ^ 0x80);
    }
    const std::int8_t* column(std::size_t which_block, std::size_t column) const {
        return bins[which_block * columns + column].of_row;
    }
};

}  // namespace epiboost
