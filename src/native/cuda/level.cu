// One level of the trees of all chains: every block takes one column of one chain, or a part of its rows, and finds the best
// threshold of the column for all leaves of the level. Histograms stay in the block's memory.
#pragma once

#include "cuda/allowed_columns.cuh"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/histogram.cuh"
#include "cuda/scores.cuh"
#include "cuda/splits.cuh"

namespace epiboost::cuda {

// One block's place in the grid.
struct LevelBlock {
    const Member& member;
    int tree;
    int level;
    int column;
    int tile;  // of the rows

    std::size_t sampled() const {
        const std::uint64_t drawn = *member.drawn;
        return drawn < member.sample_capacity ? drawn : member.sample_capacity;
    }
    std::size_t tile_rows(int tiles) const {
        const std::size_t share = (sampled() + static_cast<std::size_t>(tiles) - 1) / static_cast<std::size_t>(tiles);
        return (share + rows_at_once - 1) / rows_at_once * rows_at_once;
    }
    const std::uint8_t* bins_of(int other) const { return member.sample_bins + other * member.sample_stride; }
    std::uint8_t* leaves_at(int of_level) const { return member.sample_leaf + of_level % 2 * member.sample_stride; }
};

// Adds a block's histograms to those that the tiles of a column share, or takes these and leaves zeros.
inline void flush(const std::int32_t* own, std::int32_t* shared, std::size_t size) {
    for (std::size_t i = threadIdx.x; i < size; i += blockDim.x) {
        if (own[i] != 0) atomicAdd(shared + i, own[i]);
    }
}

inline void take(std::int32_t* shared, std::int32_t* own, std::size_t size) {
    for (std::size_t i = threadIdx.x; i < size; i += blockDim.x) {
        own[i] = atomicExch(shared + i, 0);
    }
}

}  // namespace epiboost::cuda

// Grid: (columns * tiles of rows, chains).
EPIBOOST_KERNEL find_split(const epiboost::cuda::Chains chains, const int level) {
    using namespace epiboost;
    using namespace epiboost::cuda;
    const Member& member = chains.members[blockIdx.y];
    const int tiles = chains.row_tiles;
    const LevelBlock block{member, *chains.current, level, static_cast<int>(blockIdx.x) / tiles, static_cast<int>(blockIdx.x) % tiles};
    if (block.column >= member.columns) return;

    const std::uint8_t* split_column = nullptr;
    FoundSplit split{0, 255};
    const std::uint8_t* leaves = block.leaves_at(level);
    const int added = level > 0 ? 1 << (level - 1) : 0;
    HistogramPart part{0, 0, block.tile * block.tile_rows(tiles), 0};
    part.end_row = part.first_row + block.tile_rows(tiles);
    if (part.end_row > block.sampled()) part.end_row = block.sampled();
    if (level > 0) {
        split = unpack_split(member.best[level - 1]);
        split_column = block.bins_of(split.feature);
        leaves = block.leaves_at(level - 1);
        if (block.column == 0) move_rows(leaves, split_column, split.threshold, added, part, block.leaves_at(level));
    }
    if (!is_drawn_column(chains, member, block.tree, block.column) || !may_interact(chains, member, level, block.column)) return;

    __shared__ float scores[256];
    __shared__ float squared_units[outputs];
    const int cells = chains.cells;
    const int leaf_count = 1 << level;
    const std::size_t leaf_size = static_cast<std::size_t>(lanes) * cells;
    auto* histogram = reinterpret_cast<std::int32_t*>(shared_memory());
    if (chains.histograms) {
        const std::size_t number = static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
        histogram = chains.histograms + number * chains.leaves_per_pass * leaf_size;
    }
    std::int32_t* of_tiles = member.histograms ? member.histograms + (static_cast<std::size_t>(block.column) << (chains.depth - 1)) * leaf_size : nullptr;
    const int lowest = member.lowest[block.column];
    const int highest = member.highest[block.column];
    if (lowest >= highest) return;
    for (int threshold = static_cast<int>(threadIdx.x); threshold <= highest; threshold += static_cast<int>(blockDim.x)) scores[threshold] = 0.0f;
    for (int k = static_cast<int>(threadIdx.x); k < outputs; k += blockDim.x) squared_units[k] = squared_unit(member, block.tree, k);
    const Units units{squared_units, member.weight_unit, member.split_l2};

    const auto score_part = [&] {
        scan(histogram, part.leaf_count, cells, highest + 1);
        __syncthreads();
        add_leaves(member, histogram, part.leaf_count, cells, highest, units, scores);
        __syncthreads();
    };
    const auto for_each_part = [&](const auto& work) {
        for (part.first_leaf = 0; part.first_leaf < leaf_count; part.first_leaf += chains.leaves_per_pass) {
            const int rest = leaf_count - part.first_leaf;
            part.leaf_count = rest < chains.leaves_per_pass ? rest : chains.leaves_per_pass;
            work(part.leaf_count * leaf_size, part.first_leaf * leaf_size);
        }
    };
    for_each_part([&](std::size_t size, std::size_t first) {
        clear(histogram, size);
        __syncthreads();
        add_rows(member, block.bins_of(block.column), leaves, split_column, split.threshold, added, part, cells, histogram);
        __syncthreads();
        if (tiles == 1) {
            score_part();
        } else {
            flush(histogram, of_tiles + first, size);
            __syncthreads();
        }
    });
    if (tiles > 1) {
        if (!is_last_block(member.arrived + block.column, static_cast<std::uint32_t>(tiles))) return;
        for_each_part([&](std::size_t size, std::size_t first) {
            take(of_tiles + first, histogram, size);
            __syncthreads();
            score_part();
        });
    }
    const float deviation = score_deviation(member, block.tree, squared_units);
    const std::uint64_t best = best_threshold(member, block.tree, level, block.column, lowest, highest, deviation, scores);
    if (threadIdx.x == 0 && best != 0) {
        atomicMax(reinterpret_cast<unsigned long long*>(member.best + level), static_cast<unsigned long long>(best));
    }
}
