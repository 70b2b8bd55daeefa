// One level of the trees of all chains: every block takes one or a few columns of one chain, or a part of its rows, and finds their
// best threshold for all leaves of the level. Histograms stay in the block's memory.
//
// Of two sibling leaves only the lighter one is summed from rows; the other has the prefix sums of the parent without those of its
// sibling. Where the leaves of a level do not fit the memory of a block, all are summed, some at a time.
#pragma once

#include "cuda/allowed_columns.cuh"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/histogram.cuh"
#include "cuda/scores.cuh"
#include "cuda/splits.cuh"
#include "cuda/tiles.cuh"

namespace epiboost::cuda {

constexpr int max_cells = 256;  // a bin is one byte

// One block's place in the grid, and the memory of its columns.
struct LevelBlock {
    const Chains& chains;
    const Member& member;
    int level;
    int first_column;
    int tile;  // of the rows

    int leaf_size() const { return planes * chains.cells; }
    bool subtracts() const { return chains.subtracts && level > 0; }

    // Rows of this tile of the sample.
    HistogramPart part() const {
        const std::uint64_t drawn = *member.drawn;
        const std::size_t sampled = drawn < member.sample_capacity ? drawn : member.sample_capacity;
        const std::size_t tiles = static_cast<std::size_t>(chains.row_tiles);
        const std::size_t share = (sampled / tiles + rows_at_once) / rows_at_once * rows_at_once;
        const std::size_t first = static_cast<std::size_t>(tile) * share;
        return {0, 0, first, first + share < sampled ? first + share : sampled};
    }

    const std::uint8_t* bins_of(int other) const { return member.sample_bins + other * member.sample_stride; }
    std::uint8_t* leaves_at(int of_level) const { return member.sample_leaf + of_level % 2 * member.sample_stride; }
    const std::uint8_t* leaves() const { return leaves_at(level > 0 ? level - 1 : 0); }

    LastSplit last_split() const {
        if (level == 0) return {nullptr, 255, 0};
        const FoundSplit split = unpack_split(member.best[level - 1]);
        return {bins_of(split.feature), split.threshold, 1 << (level - 1)};
    }

    // Prefix sums of a column's leaves at a level.
    std::uint32_t* prefix_sums(int of_level, int column) const {
        if (!chains.subtracts || of_level + 1 >= chains.depth) return nullptr;
        const int leaves = chains.depth > 1 ? 1 << (chains.depth - 2) : 1;
        const std::size_t number = static_cast<std::size_t>(of_level % 2) * member.columns + column;
        return member.parents + number * leaves * leaf_size();
    }

    // Comparisons of the sides of a column's best split at a level.
    std::uint8_t* comparisons(int of_level, int of_column) const {
        const int leaves = 1 << (chains.depth - 1);
        return member.right_is_lighter + (static_cast<std::size_t>(of_level % 2) * member.columns + of_column) * leaves;
    }

    std::uint32_t* shared_by_tiles(int column) const {
        return member.histograms + (static_cast<std::size_t>(column) << (chains.depth - 1)) * leaf_size();
    }
};

// Reads which child of each leaf is summed. Without a split all rows are on the left.
inline void read_comparisons(const LevelBlock& block, std::uint8_t* right_is_lighter) {
    const std::uint64_t best = block.member.best[block.level - 1];
    const std::uint8_t* found = block.comparisons(block.level - 1, unpack_split(best).feature);
    for (int leaf = static_cast<int>(threadIdx.x); leaf < 1 << (block.level - 1); leaf += static_cast<int>(blockDim.x)) {
        right_is_lighter[leaf] = best == 0 ? 1 : found[leaf];
    }
}

}  // namespace epiboost::cuda

// Grid: ((groups of columns + 1) * tiles of rows, chains). The blocks of the last group move rows to their new leaves.
EPIBOOST_KERNEL __launch_bounds__(EPIBOOST_LEVEL_THREADS, EPIBOOST_LEVEL_BLOCKS) find_split(const epiboost::cuda::Chains chains, const int level) {
    using namespace epiboost;
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const int tiles = chains.row_tiles;
    const int tree = *chains.current;
    const int group = static_cast<int>(blockIdx.x) / tiles;
    const LevelBlock block{chains, member, level, group * columns_at_once, static_cast<int>(blockIdx.x) % tiles};
    HistogramPart part = block.part();
    const LastSplit split = block.last_split();
    if (group == chains.column_groups) {
        if (level > 0 && level + 1 < chains.depth) move_rows(block.leaves(), split, part, block.leaves_at(level));
        return;
    }

    BlockColumns columns{};
    int last[columns_at_once] = {};
    bool any = false;
    for (int c = 0; c < columns_at_once; ++c) {
        const int column = block.first_column + c;
        if (column >= member.columns || member.lowest[column] >= member.highest[column]) continue;
        if (!is_drawn_column(chains, member, tree, column) || !may_interact(chains, member, level, column)) continue;
        columns.bins[c] = block.bins_of(column);
        last[c] = member.highest[column];
        any = true;
    }
    if (!any) return;

    __shared__ float scores[columns_at_once][max_cells];
    __shared__ float squared_units[outputs];
    __shared__ float deviation;
    __shared__ std::uint8_t right_is_lighter[LeafTotalsOfLevel::most];
    __shared__ std::uint64_t best;
    __shared__ LeafTotalsOfLevel totals[columns_at_once];
    const int cells = chains.cells;
    const int leaf_size = block.leaf_size();
    const int leaf_count = 1 << level;
    const bool subtracts = block.subtracts();
    auto* histogram = reinterpret_cast<std::uint32_t*>(shared_memory());
    if (chains.histograms) {
        const std::size_t number = static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
        histogram = chains.histograms + number * chains.leaves_per_pass * leaf_size;
    }
    clear(&scores[0][0], static_cast<std::size_t>(columns_at_once * max_cells));
    for (int k = static_cast<int>(threadIdx.x); k < outputs; k += static_cast<int>(blockDim.x)) squared_units[k] = squared_unit(member, tree, k);
    if (subtracts) read_comparisons(block, right_is_lighter);
    const Units units{squared_units, member.weight_unit, member.split_l2};

    const auto sums_of_column = [&](int c) {
        const std::uint32_t* own = histogram + c * part.slots * leaf_size;
        const std::uint32_t* parents = subtracts ? block.prefix_sums(level - 1, block.first_column + c) : nullptr;
        return [=](int leaf) -> LeafSums {
            if (!subtracts) return {own + leaf * leaf_size, nullptr, false};
            const int half = leaf_count / 2;
            const int slot = leaf < half ? leaf : leaf - half;
            return {own + slot * leaf_size, parents + slot * leaf_size, (right_is_lighter[slot] != 0) != (leaf >= half)};
        };
    };
    const auto score_part = [&] {
        const int leaves = subtracts ? leaf_count : part.slots;
        scan(histogram, columns_at_once * part.slots, cells);
        __syncthreads();
        for (int c = 0; c < columns_at_once; ++c) {
            if (columns.bins[c]) totals[c].read(sums_of_column(c), leaves, cells, last[c]);
        }
        __syncthreads();
        for (int at = static_cast<int>(threadIdx.x); at < columns_at_once * cells; at += static_cast<int>(blockDim.x)) {
            const int c = columns_at_once > 1 ? at / cells : 0;
            const int threshold = at - c * cells;
            const int end = member.highest[block.first_column + c < member.columns ? block.first_column + c : 0];
            if (!columns.bins[c] || threshold > end) continue;
            std::uint32_t* children = block.prefix_sums(level, block.first_column + c);
            const int direction = direction_of(member, block.first_column + c);
            float& score = scores[c][threshold];
            score = add_leaves(member, sums_of_column(c), totals[c], leaves, cells, end, units, direction, threshold, children, score);
        }
        __syncthreads();
    };
    const auto for_each_part = [&](const auto& work) {
        const int slots = subtracts ? leaf_count / 2 : leaf_count;
        for (part.first_leaf = 0; part.first_leaf < slots; part.first_leaf += chains.leaves_per_pass) {
            const int rest = slots - part.first_leaf;
            part.slots = rest < chains.leaves_per_pass ? rest : chains.leaves_per_pass;
            work(static_cast<std::size_t>(part.slots * leaf_size), part.first_leaf * leaf_size);
        }
    };
    for_each_part([&](std::size_t size, int first) {
        clear(histogram, columns_at_once * size);
        __syncthreads();
        if (subtracts) {
            add_rows<true>(member, columns, block.leaves(), split, right_is_lighter, part, cells, histogram);
        } else {
            add_rows<false>(member, columns, block.leaves(), split, right_is_lighter, part, cells, histogram);
        }
        __syncthreads();
        if (tiles == 1) {
            score_part();
            return;
        }
        for (int c = 0; c < columns_at_once; ++c) {
            if (columns.bins[c]) flush(histogram + c * size, block.shared_by_tiles(block.first_column + c) + first, size, cells);
        }
        __syncthreads();
    });
    if (tiles > 1) {
        if (!is_last_block(member.arrived + block.first_column, static_cast<std::uint32_t>(tiles))) return;
        for_each_part([&](std::size_t size, int first) {
            for (int c = 0; c < columns_at_once; ++c) {
                if (columns.bins[c]) take(block.shared_by_tiles(block.first_column + c) + first, histogram + c * size, size);
            }
            __syncthreads();
            score_part();
        });
    }
    if (threadIdx.x == 0) deviation = score_deviation(member, tree, squared_units);
    __syncthreads();
    const NoiseKey key(member.seed, static_cast<std::uint64_t>(tree), Purpose::split_scores, static_cast<std::uint64_t>(level));
    unsigned long long own_best = 0;
    for (int at = static_cast<int>(threadIdx.x); at < columns_at_once * cells; at += static_cast<int>(blockDim.x)) {
        const int c = columns_at_once > 1 ? at / cells : 0;
        const int threshold = at - c * cells;
        const int column = block.first_column + c;
        if (!columns.bins[c] || threshold < member.lowest[column] || threshold >= member.highest[column]) continue;
        const unsigned long long packed = candidate(key, column, threshold, deviation, scores[c][threshold]);
        own_best = packed > own_best ? packed : own_best;
    }
    const std::uint64_t found = block_max(own_best);
    if (threadIdx.x == 0) best = found;
    __syncthreads();
    if (best == 0) return;
    const FoundSplit winner = unpack_split(best);
    if (chains.subtracts && level + 1 < chains.depth) {
        const int c = winner.feature - block.first_column;
        compare_sides(sums_of_column(c), leaf_count, cells, member.highest[winner.feature], winner.threshold, block.comparisons(level, winner.feature));
    }
    if (threadIdx.x == 0) atomicMax(reinterpret_cast<unsigned long long*>(member.best + level), static_cast<unsigned long long>(best));
}
