// Histograms of a column whose rows are divided among several blocks, the tiles.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/histogram.cuh"

namespace epiboost::cuda {

// Adds a block's histograms to those that the tiles of a column share.
inline void flush(const std::uint32_t* own, std::uint32_t* shared, std::size_t size, int cells) {
    for (std::size_t i = threadIdx.x; i < size; i += blockDim.x) {
        if constexpr (packs) {
            const std::size_t at = i / cells * 2 * cells + i % cells;
            if (i < size / 2 && (own[at] | own[at + cells]) != 0) add_in_halves(shared + at, shared + at + cells, own[at], own[at + cells]);
        } else if (own[i] != 0) {
            atomicAdd(shared + i, own[i]);
        }
    }
}

// Takes the sums of all tiles and leaves zeros.
inline void take(std::uint32_t* shared, std::uint32_t* own, std::size_t size) {
    for (std::size_t i = threadIdx.x; i < size; i += blockDim.x) own[i] = atomicExch(shared + i, 0u);
}

}  // namespace epiboost::cuda
