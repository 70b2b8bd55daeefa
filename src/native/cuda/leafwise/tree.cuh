// The leaf of a finished leaf-wise tree that a row falls into. The splits are followed from the root down, which takes as many steps as
// the leaf is deep; core/leaves.hpp follows all of them, in the order in which they were made.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leafwise/growth.cuh"

namespace epiboost::cuda {

// The splits of a leaf-wise tree, in shared memory. A child is a split, or the complement of a leaf.
struct NodeSplits {
    const std::uint8_t* column[max_splits];
    std::int16_t child[max_splits][2];
    std::uint8_t threshold[max_splits];
    std::uint8_t parent[max_splits];
};

// The first split of a leaf from a split on, or the complement of the leaf.
inline int next_split(const NodeSplits& splits, int count, int first, int leaf) {
    for (int split = first; split < count; ++split) {
        if (splits.parent[split] == leaf) return split;
    }
    return ~leaf;
}

inline void read_splits(const Chains& chains, const Member& member, int tree, const std::uint8_t* bins, std::size_t stride,
                        NodeSplits& splits) {
    const int count = chains.leaves - 1;
    const std::size_t first = first_split(chains, tree);
    for (int split = static_cast<int>(threadIdx.x); split < count; split += static_cast<int>(blockDim.x)) {
        splits.column[split] = bins + member.feature[first + split] * stride;
        splits.threshold[split] = member.threshold[first + split];
        splits.parent[split] = chains.growths[blockIdx.y].parent[first + split];
    }
    __syncthreads();
    for (int split = static_cast<int>(threadIdx.x); split < count; split += static_cast<int>(blockDim.x)) {
        if (splits.parent[split] == no_leaf) continue;  // not made
        splits.child[split][0] = static_cast<std::int16_t>(next_split(splits, count, split + 1, splits.parent[split]));
        splits.child[split][1] = static_cast<std::int16_t>(next_split(splits, count, split + 1, split + 1));
    }
    __syncthreads();
}

inline int leaf_of(const NodeSplits& splits, int, std::size_t row) {
    int at = splits.parent[0] == no_leaf ? ~0 : 0;
    while (at >= 0) at = splits.child[at][splits.column[at][row] > splits.threshold[at] ? 1 : 0];
    return ~at;
}

}  // namespace epiboost::cuda
