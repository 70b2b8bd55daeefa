// The best splits of the leaves that the last split has made, or of the root, for all chains: every block takes one column of one chain, or
// a part of its rows. The twin of training/leafwise_grower.hpp.
//
// Of two sibling leaves the one with fewer rows is summed from them; the other has the prefix sums of the parent without those of its
// sibling. Where prefix sums of all leaves do not fit the memory, both are summed.
#pragma once

#include "cuda/allowed_columns.cuh"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/histogram.cuh"
#include "cuda/leafwise/growth.cuh"
#include "cuda/scores.cuh"
#include "cuda/splits.cuh"
#include "cuda/tiles.cuh"

namespace epiboost::cuda {

// The nodes whose splits are looked for. `node[0]` is the one with fewer rows.
struct OpenNodes {
    int count;  // 0, if the last split was not made
    int summed;  // how many of them are summed from rows
    int node[2];
    int slot[2];  // of their prefix sums; the parent's is that of `node[1]`
    int parent;
};

// `made` is the number of splits.
inline OpenNodes open_nodes(const Chains& chains, const Growth& growth, int tree, int made) {
    if (made == 0) return {1, 1, {0, 0}, {0, 0}, -1};
    if (growth.parent[first_split(chains, tree) + made - 1] == no_leaf) return {0, 0, {0, 0}, {0, 0}, -1};
    const int left = 2 * made - 1;
    const int fewer = growth.nodes[left].rows <= growth.nodes[left + 1].rows ? 0 : 1;
    const int parent = growth.divided[made - 1];
    return {2, growth.sums ? 1 : 2, {left + fewer, left + 1 - fewer}, {made, growth.nodes[parent].slot}, parent};
}

// Stores where the prefix sums are; the parent is divided now. One thread does it.
inline void open(const Growth& growth, const OpenNodes& nodes) {
    if (nodes.parent < 0) return;  // the root has slot 0
    growth.nodes[nodes.node[0]].slot = nodes.slot[0];
    growth.nodes[nodes.node[1]].slot = nodes.slot[1];
    growth.best[nodes.parent] = 0;
}

// How many tiles of rows are used.
inline int tiles_of(const Chains& chains, const Member& member, const Growth& growth, const OpenNodes& nodes) {
    std::uint32_t rows = 0;
    for (int i = 0; i < nodes.summed; ++i) rows += rows_of(member, growth, nodes.node[i]).count;
    const std::uint32_t tiles = rows / static_cast<std::uint32_t>(chains.tile_rows);
    if (tiles < 1) return 1;
    return tiles < static_cast<std::uint32_t>(chains.row_tiles) ? static_cast<int>(tiles) : chains.row_tiles;
}

inline bool may_split(const Chains& chains, const Member& member, const Growth& growth, int node, int column) {
    if (!growth.paths) return true;
    for (int word = 0; word < chains.group_words; ++word) {
        if ((growth.paths[node * chains.group_words + word] & member.groups[column * chains.group_words + word]) != 0) return true;
    }
    return false;
}

// Adds one row to a cell.
inline void add_row(const Member& member, std::uint32_t row, int cells, std::uint32_t* cell) {
    if constexpr (packs) {
        add_packed(reinterpret_cast<const std::uint32_t*>(member.integers)[row], cells, cell);
    } else {
        for (int k = 0; k < outputs; ++k) {
            const std::int32_t gradient = member.integers[k * member.sample_stride + row];
            if (gradient != 0) atomicAdd(cell + k * cells, static_cast<std::uint32_t>(gradient));
        }
        atomicAdd(cell + outputs * cells, member.sample_weight ? static_cast<std::uint32_t>(member.sample_weight[row]) : 1u);
    }
}

// Adds a tile of the rows of a node to a histogram.
inline void add_node(const Member& member, const NodeRows& rows, const std::uint8_t* bins, int tile, int tiles, int cells,
                     std::uint32_t* histogram) {
    const std::size_t share = (rows.count / static_cast<std::size_t>(tiles) + rows_at_once) / rows_at_once * rows_at_once;
    const std::size_t first = tile * share;
    const std::size_t end = first + share < rows.count ? first + share : rows.count;
    if (!rows.list) {
        BlockColumns columns{};
        columns.bins[0] = bins;
        const HistogramPart part{0, 1, first, end};
        add_rows<false>(member, columns, member.sample_leaf, LastSplit{nullptr, 255, 0}, nullptr, part, cells, histogram);
        return;
    }
    const std::uint32_t* list = rows.list + rows.first;
    for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x) add_row(member, list[i], cells, histogram + bins[list[i]]);
}

// Completes the prefix sums of both nodes, and stores them.
inline void complete_sums(const Chains& chains, const Growth& growth, const OpenNodes& nodes, int column, std::uint32_t* histogram) {
    const int cells = chains.cells;
    const int leaf_size = planes * cells;
    std::uint32_t* of_column = growth.sums + static_cast<std::size_t>(column) * (chains.leaves - 1) * leaf_size;
    std::uint32_t* own = of_column + static_cast<std::size_t>(nodes.slot[0]) * leaf_size;
    std::uint32_t* parent = of_column + static_cast<std::size_t>(nodes.slot[1]) * leaf_size;
    for (int cell = static_cast<int>(threadIdx.x); cell < cells; cell += static_cast<int>(blockDim.x)) {
        SumsAt({histogram, nullptr, false}, cells, cell).store(own);
        if (nodes.count < 2) continue;
        const SumsAt rest({histogram, parent, true}, cells, cell);
        rest.store(histogram + leaf_size);
        rest.store(parent);
    }
}

// The gain of the best threshold of a column in a node, packed with it; 0 if it gains nothing.
inline std::uint64_t gain_of(const Member& member, const SumsAt& all, const Units& units, int direction, bool is_noisy,
                             std::uint64_t best) {
    if (best == 0) return 0;
    const float of_leaf = add_any_leaf(member, all, all, units, direction, 0, 0.0f);
    const float found = unpack_score(best);
    const float score = is_noisy ? found * (found < 0.0f ? -found : found) : found;
    const float gain = score - of_leaf;
    const FoundSplit split = unpack_split(best);
    return gain > 0.0f ? pack_split(gain, split.feature, split.threshold) : 0;
}

}  // namespace epiboost::cuda

// Grid: (columns * tiles of rows, chains). `made` is the number of splits that the trees have.
EPIBOOST_KERNEL __launch_bounds__(EPIBOOST_LEVEL_THREADS, EPIBOOST_LEVEL_BLOCKS)
find_leaf_splits(const epiboost::cuda::Chains chains, const int made) {
    using namespace epiboost;
    using namespace epiboost::cuda;
    static_assert(columns_at_once == 1);
    const Member member = chains.members[blockIdx.y];
    const Growth growth = chains.growths[blockIdx.y];
    const int tree = *chains.current;
    const OpenNodes nodes = open_nodes(chains, growth, tree, made);
    if (nodes.count == 0) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) open(growth, nodes);
    const int column = static_cast<int>(blockIdx.x) / chains.row_tiles;
    const int tile = static_cast<int>(blockIdx.x) % chains.row_tiles;
    const int tiles = tiles_of(chains, member, growth, nodes);
    if (tile >= tiles || growth.nodes[nodes.node[0]].depth >= chains.depth) return;
    if (column >= member.columns || member.lowest[column] >= member.highest[column]) return;
    if (!is_drawn_column(chains, member, tree, column) || !may_split(chains, member, growth, nodes.node[0], column)) return;

    __shared__ float squared_units[outputs];
    __shared__ float deviation;
    __shared__ std::uint32_t keys[2][2];
    const int cells = chains.cells;
    const int leaf_size = planes * cells;
    const std::uint8_t* bins = member.sample_bins + column * member.sample_stride;
    auto* histogram = reinterpret_cast<std::uint32_t*>(shared_memory());
    if (chains.histograms) {
        const std::size_t number = static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
        histogram = chains.histograms + number * 2 * leaf_size;
    }
    const std::size_t size = static_cast<std::size_t>(nodes.summed) * leaf_size;
    clear(histogram, size);
    __syncthreads();
    for (int i = 0; i < nodes.summed; ++i) {
        add_node(member, rows_of(member, growth, nodes.node[i]), bins, tile, tiles, cells, histogram + i * leaf_size);
    }
    __syncthreads();
    if (tiles > 1) {
        std::uint32_t* shared = member.histograms + static_cast<std::size_t>(column) * 2 * leaf_size;
        flush(histogram, shared, size, cells);
        if (!is_last_block(member.arrived + column, static_cast<std::uint32_t>(tiles))) return;
        take(shared, histogram, size);
        __syncthreads();
    }
    scan(histogram, nodes.summed, cells);
    for (int k = static_cast<int>(threadIdx.x); k < outputs; k += static_cast<int>(blockDim.x)) squared_units[k] = squared_unit(member, tree, k);
    if (threadIdx.x < 2) {
        const auto node = static_cast<std::uint64_t>(nodes.node[threadIdx.x]);
        const NoiseKey key(member.seed, static_cast<std::uint64_t>(tree), Purpose::split_scores, node);
        keys[threadIdx.x][0] = key.first;
        keys[threadIdx.x][1] = key.second;
    }
    __syncthreads();
    if (growth.sums) complete_sums(chains, growth, nodes, column, histogram);
    if (threadIdx.x == 0) deviation = score_deviation(member, tree, squared_units);
    __syncthreads();

    const Units units{squared_units, member.weight_unit, member.split_l2};
    const int direction = direction_of(member, column);
    const int last = member.highest[column];
    unsigned long long own[2] = {0, 0};
    for (int at = static_cast<int>(threadIdx.x); at < nodes.count * cells; at += static_cast<int>(blockDim.x)) {
        const int i = at / cells;
        const int threshold = at - i * cells;
        if (threshold >= last) continue;
        const LeafSums sums{histogram + i * leaf_size, nullptr, false};
        const SumsAt left(sums, cells, threshold);
        const SumsAt all(sums, cells, last);
        if (left.weight() <= 0 || left.weight() >= all.weight()) continue;  // all rows of the node are on one side
        const float score = add_any_leaf(member, left, all, units, direction, threshold, 0.0f);
        const unsigned long long packed = candidate(*reinterpret_cast<const NoiseKey*>(keys[i]), column, threshold, deviation, score);
        if (i == 0 && packed > own[0]) own[0] = packed;
        if (i == 1 && packed > own[1]) own[1] = packed;
    }
    for (int i = 0; i < nodes.count; ++i) {
        const std::uint64_t best = block_max(i == 0 ? own[0] : own[1]);
        if (threadIdx.x != 0) continue;
        const SumsAt all({histogram + i * leaf_size, nullptr, false}, cells, last);
        const std::uint64_t found = gain_of(member, all, units, direction, deviation > 0.0f, best);
        auto* const of_node = reinterpret_cast<unsigned long long*>(growth.best + nodes.node[i]);
        if (found != 0) atomicMax(of_node, static_cast<unsigned long long>(found));
    }
}
