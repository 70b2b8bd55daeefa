// A binned table by columns, from parts of a table by rows, with the lowest and highest bin of each column.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"

namespace epiboost::cuda {

struct TablePart {
    const uint8_t* by_row;  // (rows, columns)
    uint8_t* by_column;  // (columns, stride)
    int32_t* lowest;  // (columns)
    int32_t* highest;  // (columns)
    uint8_t* same_as_before;  // (stride): whether a row has the same bins as the one before it; null if not needed
    uint64_t first;  // row of the table
    uint64_t rows;
    uint64_t stride;
    int32_t columns;
};

constexpr int tile = 32;

}  // namespace epiboost::cuda

// Grid: (tiles of 32 rows, tiles of 32 columns); a block has 256 threads.
EPIBOOST_KERNEL transpose_table(const epiboost::cuda::TablePart part) {
    using namespace epiboost::cuda;
    __shared__ unsigned char bins[tile][tile + 1];
    const std::size_t first_row = static_cast<std::size_t>(blockIdx.x) * tile;
    const int first_column = static_cast<int>(blockIdx.y) * tile;
    for (int at = static_cast<int>(threadIdx.x); at < tile * tile; at += static_cast<int>(blockDim.x)) {
        const std::size_t row = first_row + static_cast<std::size_t>(at / tile);
        const int column = first_column + at % tile;
        if (row < part.rows && column < part.columns) bins[at / tile][at % tile] = part.by_row[row * part.columns + column];
    }
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < tile * tile; at += static_cast<int>(blockDim.x)) {
        const std::size_t row = first_row + static_cast<std::size_t>(at % tile);
        const int column = first_column + at / tile;
        if (row < part.rows && column < part.columns) part.by_column[column * part.stride + part.first + row] = bins[at % tile][at / tile];
    }
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += static_cast<int>(blockDim.x)) {
        if (first_column + i >= part.columns) continue;
        int lowest = 255;
        int highest = 0;
        for (std::size_t row = 0; row < tile && first_row + row < part.rows; ++row) {
            const int bin = bins[row][i];
            lowest = bin < lowest ? bin : lowest;
            highest = bin > highest ? bin : highest;
        }
        if (lowest < part.lowest[first_column + i]) atomicMin(part.lowest + first_column + i, lowest);
        if (highest > part.highest[first_column + i]) atomicMax(part.highest + first_column + i, highest);
    }
}

// Grid: (blocks of rows).
EPIBOOST_KERNEL compare_rows(const epiboost::cuda::TablePart part) {
    using namespace epiboost::cuda;
    for (std::size_t row = first_row(); row < part.rows; row += row_step()) {
        bool is_same = row > 0;
        for (int column = 0; column < part.columns && is_same; ++column) {
            const std::uint8_t* bins = part.by_column + column * part.stride;
            is_same = bins[row] == bins[row - 1];
        }
        part.same_as_before[row] = is_same ? 1 : 0;
    }
}
