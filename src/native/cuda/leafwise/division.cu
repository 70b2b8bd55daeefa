// Division of a leaf: of all nodes of a growing tree, the one whose best split gains most is divided, and its rows are moved to its
// children in the list of rows. The twin of training/leaf_partition.hpp; the order of rows does not matter, since sums are of integers.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leafwise/growth.cuh"
#include "cuda/splits.cuh"

namespace epiboost::cuda {

constexpr int division_rows = 4;  // per thread and turn

// The node with the largest gain, of equals the first leaf; -1 if no split gains anything. All threads of all blocks of a chain choose
// the same one.
inline int choose_node(const Growth& growth, int split) {
    __shared__ std::uint64_t chosen;
    unsigned long long own = 0;
    for (int node = static_cast<int>(threadIdx.x); node <= 2 * split; node += static_cast<int>(blockDim.x)) {
        const std::uint64_t best = growth.best[node];
        if (best == 0) continue;
        const auto leaf_last = static_cast<std::uint64_t>(no_leaf - growth.nodes[node].leaf);
        const unsigned long long order = best >> 24 << 32 | leaf_last << 16 | static_cast<std::uint64_t>(node);
        own = order > own ? order : own;
    }
    const std::uint64_t found = block_max(own);
    if (threadIdx.x == 0) chosen = found;
    __syncthreads();
    return chosen == 0 ? -1 : static_cast<int>(chosen & 0xffff);
}

// Stores a split in the tree, and its two nodes. One block does it.
inline void store_split(const Chains& chains, const Member& member, const Growth& growth, int tree, int split, int divided) {
    const FoundSplit found = unpack_split(growth.best[divided]);
    const int left = 2 * split + 1;
    for (int word = static_cast<int>(threadIdx.x); growth.paths && word < chains.group_words; word += static_cast<int>(blockDim.x)) {
        const std::uint32_t groups = member.groups[found.feature * chains.group_words + word];
        const std::uint32_t path = growth.paths[divided * chains.group_words + word] & groups;
        growth.paths[left * chains.group_words + word] = path;
        growth.paths[(left + 1) * chains.group_words + word] = path;
    }
    if (threadIdx.x != 0) return;
    const NodeRows rows = rows_of(member, growth, divided);
    const Node& node = growth.nodes[divided];
    for (int side = 0; side < 2; ++side) {  // other blocks count the rows
        Node& child = growth.nodes[left + side];
        child.origin = side == 0 ? rows.first : rows.first + rows.count;
        child.leaf = side == 0 ? node.leaf : split + 1;
        child.depth = node.depth + 1;
    }
    growth.divided[split] = divided;
    const std::size_t at = first_split(chains, tree) + split;
    growth.parent[at] = static_cast<std::uint8_t>(node.leaf);
    member.feature[at] = static_cast<std::uint16_t>(found.feature);
    member.threshold[at] = static_cast<std::uint8_t>(found.threshold);
}

// Writes the rows on the left to the front of the children's list, and those on the right to its back.
inline void divide_rows(const Member& member, const Growth& growth, int split, int divided) {
    const NodeRows rows = rows_of(member, growth, divided);
    const FoundSplit found = unpack_split(growth.best[divided]);
    const std::uint8_t* bins = member.sample_bins + found.feature * member.sample_stride;
    std::uint32_t* moved = growth.listed + (growth.nodes[divided].depth + 1) % 2 * member.sample_stride;
    __shared__ std::uint32_t count[2];
    __shared__ std::uint32_t before[2];
    Node* const children = growth.nodes + 2 * split + 1;
    const std::size_t at_once = static_cast<std::size_t>(division_rows) * blockDim.x;
    for (std::size_t begin = blockIdx.x * at_once; begin < rows.count; begin += gridDim.x * at_once) {
        if (threadIdx.x < 2) count[threadIdx.x] = 0;
        __syncthreads();
        std::uint32_t row[division_rows];
        std::uint32_t place[division_rows];
        int side[division_rows];
        for (unsigned i = 0; i < division_rows; ++i) {
            const std::size_t at = begin + i * blockDim.x + threadIdx.x;
            side[i] = -1;
            if (at >= rows.count) continue;
            row[i] = rows.list ? rows.list[rows.first + at] : static_cast<std::uint32_t>(at);
            if (!rows.list && member.sample_leaf[at] == no_leaf) continue;
            side[i] = bins[row[i]] > found.threshold ? 1 : 0;
            place[i] = atomicAdd(&count[side[i]], 1u);
        }
        __syncthreads();
        if (threadIdx.x < 2) before[threadIdx.x] = atomicAdd(&children[threadIdx.x].rows, count[threadIdx.x]);
        __syncthreads();
        for (unsigned i = 0; i < division_rows; ++i) {
            if (side[i] < 0) continue;
            const std::uint32_t from_end = before[side[i]] + place[i];
            moved[rows.first + (side[i] == 0 ? from_end : rows.count - 1 - from_end)] = row[i];
        }
    }
}

}  // namespace epiboost::cuda

// Grid: (blocks of rows, chains). `split` is the number of splits that the trees have.
EPIBOOST_KERNEL __launch_bounds__(256, EPIBOOST_ROW_BLOCKS) divide_leaf(const epiboost::cuda::Chains chains, const int split) {
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const Growth growth = chains.growths[blockIdx.y];
    const int divided = choose_node(growth, split);
    if (divided < 0) return;
    if (blockIdx.x == 0) store_split(chains, member, growth, *chains.current, split, divided);
    if (split + 1 < chains.leaves - 1) divide_rows(member, growth, split, divided);  // the children of the last split are not divided
}
