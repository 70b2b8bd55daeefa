// Histograms of integer gradients of one column, for some leaves of a level, in the memory of one block: (leaves, lanes, cells).
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"

namespace epiboost::cuda {

// The rows of one block and the leaves whose histograms it sums.
struct HistogramPart {
    int first_leaf;
    int leaf_count;
    std::size_t first_row;
    std::size_t end_row;
};

// Rows are read four at a time, because bins and leaves are bytes.
constexpr std::size_t rows_at_once = 4;

inline int byte_of(std::uint32_t four, unsigned index) { return static_cast<int>(four >> 8 * index & 255u); }

inline std::uint32_t load_four(const std::uint8_t* bytes) { return *reinterpret_cast<const std::uint32_t*>(bytes); }

// Adds the rows of a part. `leaves` are those of the level before; rows whose bin in `split_column` is above the threshold have
// moved to leaf + `added`. A null `split_column` means that none has.
inline void add_rows(const Member& member, const std::uint8_t* column, const std::uint8_t* leaves, const std::uint8_t* split_column,
                     int threshold, int added, const HistogramPart& part, int cells, std::int32_t* histogram) {
    const std::int32_t* weights = member.sample_weight;
    for (std::size_t row = part.first_row + rows_at_once * threadIdx.x; row < part.end_row; row += rows_at_once * blockDim.x) {
        const std::uint32_t four_leaves = load_four(leaves + row);
        const std::uint32_t four_bins = load_four(column + row);
        const std::uint32_t four_splits = split_column ? load_four(split_column + row) : 0;
        std::uint32_t four_integers[outputs <= 4 ? outputs : 1];
        if constexpr (outputs <= 4) {
            for (int k = 0; k < outputs; ++k) {
                four_integers[k] = load_four(reinterpret_cast<const std::uint8_t*>(member.integers + k * member.sample_stride + row));
            }
        }
        for (unsigned i = 0; i < rows_at_once; ++i) {
            int leaf = byte_of(four_leaves, i);
            if (leaf == no_leaf || row + i >= part.end_row) continue;
            if (split_column && byte_of(four_splits, i) > threshold) leaf += added;
            leaf -= part.first_leaf;
            if (leaf < 0 || leaf >= part.leaf_count) continue;
            std::int32_t* cell = histogram + static_cast<std::size_t>(leaf) * lanes * cells + byte_of(four_bins, i);
            for (int k = 0; k < outputs; ++k) {
                std::int32_t gradient;
                if constexpr (outputs <= 4) {
                    gradient = static_cast<std::int8_t>(byte_of(four_integers[k], i));
                } else {
                    gradient = member.integers[k * member.sample_stride + row + i];
                }
                if (gradient != 0) atomicAdd(cell + k * cells, gradient);
            }
            atomicAdd(cell + outputs * cells, weights ? weights[row + i] : 1);
        }
    }
}

// Moves rows of the sample to the leaves of the next level.
inline void move_rows(const std::uint8_t* leaves, const std::uint8_t* split_column, int threshold, int added, const HistogramPart& part,
                      std::uint8_t* moved) {
    for (std::size_t row = part.first_row + threadIdx.x; row < part.end_row; row += blockDim.x) {
        const int leaf = leaves[row];
        moved[row] = static_cast<std::uint8_t>(leaf != no_leaf && split_column[row] > threshold ? leaf + added : leaf);
    }
}

// Replaces every lane of every leaf by its prefix sums over the cells. One warp takes one lane.
inline void scan(std::int32_t* histogram, int leaf_count, int cells, int used_cells) {
    const int lane_in_warp = static_cast<int>(threadIdx.x % warp_size);
    for (int line = static_cast<int>(threadIdx.x / warp_size); line < leaf_count * lanes; line += static_cast<int>(blockDim.x / warp_size)) {
        std::int32_t* sums = histogram + static_cast<std::size_t>(line) * cells;
        std::int32_t before = 0;
        for (int first = 0; first < used_cells; first += static_cast<int>(warp_size)) {
            const int at = first + lane_in_warp;
            std::int32_t sum = at < used_cells ? sums[at] : 0;
            for (int distance = 1; distance < static_cast<int>(warp_size); distance *= 2) {
                const std::int32_t other = __shfl_up_sync(all_lanes, sum, static_cast<unsigned>(distance));
                if (lane_in_warp >= distance) sum += other;
            }
            sum += before;
            if (at < used_cells) sums[at] = sum;
            before = __shfl_sync(all_lanes, sum, static_cast<int>(warp_size) - 1);
        }
    }
}

}  // namespace epiboost::cuda
