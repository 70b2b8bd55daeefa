// Leaf-wise trees while they grow. Nodes have numbers in the order of their creation: 0 is the root, and split s makes the nodes
// 2 s + 1, with the rows up to its threshold, and 2 s + 2. The leaves of a tree are the nodes that are not divided.
//
// Each split takes two launches for all chains: `divide_leaf` (division.cu) chooses the node with the largest gain and divides its
// rows, and `find_leaf_splits` (open_leaves.cu) finds the best splits of its children. Chains without any gain left do nothing.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"

namespace epiboost::cuda {

struct Node {
    uint32_t rows;  // number of rows that choose splits; not set for the root
    uint32_t origin;  // where they begin in the list of rows; for the second child of a split, where they end
    int32_t leaf;
    int32_t depth;
    int32_t slot;  // of the prefix sums
};

// Bins of a leaf in one column; none if the highest is below the lowest.
struct Interval {
    std::int16_t low;
    std::int16_t high;
};

// Leaves that monotone constraints order: the value of the first must not be above that of the second.
struct LeafPair {
    std::int16_t lower;
    std::int16_t upper;
};

// The growing tree of one chain.
struct Growth {
    Node* nodes;  // (2 leaves - 1)
    uint64_t* best;  // (2 leaves - 1): the best split of each node with its gain, see splits.cuh; 0: none, or divided already
    uint32_t* paths;  // (2 leaves - 1, group_words): the groups that have all columns of a node's path; null: no restriction
    int32_t* divided;  // (leaves - 1): the node that each split divides
    uint32_t* listed;  // (2, sample_stride): rows by node, for nodes of even and of odd depths; those of the root are not listed
    uint32_t* sums;  // (columns, leaves - 1, planes, cells): prefix sums of leaves; null if those of all nodes are summed from rows
    uint8_t* parent;  // (trees, leaves - 1): the leaf that each split divides
    Interval* boxes;  // (leaves - 1, leaves): see boxes.cuh; null without monotone constraints, as what follows
    LeafPair* pairs;  // (leaves * (leaves - 1) / 2): two boxes are apart along one column at most if they are neighbours
    double* push;  // of each pair: how far it has been pushed, times weight
};

inline int nodes_of(const Chains& chains) { return 2 * chains.leaves - 1; }

// The next tree begins with its root alone. One block does it.
inline void reset_growth(const Chains& chains, const Growth& growth) {
    for (int node = static_cast<int>(threadIdx.x); node < nodes_of(chains); node += static_cast<int>(blockDim.x)) {
        growth.nodes[node] = {0, 0, 0, 0, 0};
        growth.best[node] = 0;
    }
    for (int word = static_cast<int>(threadIdx.x); growth.paths && word < chains.group_words; word += static_cast<int>(blockDim.x)) {
        growth.paths[word] = 0xffffffffu;
    }
}

// Number of rows that choose the splits.
inline std::uint32_t sampled_rows(const Member& member) {
    const std::uint64_t drawn = *member.drawn;
    return static_cast<std::uint32_t>(drawn < member.sample_capacity ? drawn : member.sample_capacity);
}

// The rows of a node: a part of a list, or all rows of the sample but those in no leaf.
struct NodeRows {
    const std::uint32_t* list;  // null for the root
    std::uint32_t first;
    std::uint32_t count;
};

inline NodeRows rows_of(const Member& member, const Growth& growth, int node) {
    if (node == 0) return {nullptr, 0, sampled_rows(member)};
    const Node& of_tree = growth.nodes[node];
    const bool ends_at_origin = node % 2 == 0;
    return {growth.listed + of_tree.depth % 2 * member.sample_stride, of_tree.origin - (ends_at_origin ? of_tree.rows : 0), of_tree.rows};
}

// Where the splits of a tree are stored.
inline std::size_t first_split(const Chains& chains, int tree) { return static_cast<std::size_t>(tree) * (chains.leaves - 1); }

}  // namespace epiboost::cuda
