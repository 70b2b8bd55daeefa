// Leaf values of symmetric trees in the order that monotone constraints ask for. The twin of training/monotone.hpp, with the same pairs in the same order.
//
// In a symmetric tree a leaf has at most one neighbour on each side along a column: their pairs are paths. Those of one column share
// no leaf, so that threads project them side by side with the bits of one after the other.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leaf_order.cuh"
#include "cuda/leaf_sums.cu"
#include "cuda/splits.cuh"
#include "training/monotone_pair.hpp"

namespace epiboost::cuda {

constexpr int most_leaves = 1 << max_depth;
constexpr int last_bin = 255;

// What a block knows of the leaves of a tree. Neighbours are along the column of a level; a leaf without one is its own.
struct LeafOrder {
    double value[most_leaves];
    double weight[most_leaves];
    double inverse[most_leaves];  // of the weight
    double noise[most_leaves];    // times weight
    double push[max_depth][most_leaves];  // of the pair of a leaf and its upper neighbour
    float ordered[most_leaves];
    int set[2][most_leaves];  // the first leaf that a leaf belongs to
    std::uint8_t lower[max_depth][most_leaves];
    std::uint8_t upper[max_depth][most_leaves];
    FoundSplit split[max_depth];
    int direction[max_depth];  // 0 for columns without one, and for columns of earlier levels

    double* spare() { return push[0]; }
};

// The bins of a leaf in one column.
struct LeafBounds {
    int low;
    int high;
};

inline LeafBounds bounds_of(const LeafOrder& order, int depth, int leaf, int column) {
    LeafBounds bounds{0, last_bin};
    for (int level = 0; level < depth; ++level) {
        const FoundSplit split = order.split[level];
        if (split.feature != column) continue;
        if (leaf >> level & 1) {
            bounds.low = split.threshold + 1 > bounds.low ? split.threshold + 1 : bounds.low;
        } else {
            bounds.high = split.threshold < bounds.high ? split.threshold : bounds.high;
        }
    }
    return bounds;
}

// The levels that split a column at a threshold, as bits.
inline int levels_at(const LeafOrder& order, int depth, int column, int threshold) {
    int levels = 0;
    for (int level = 0; level < depth; ++level) {
        if (order.split[level].feature == column && order.split[level].threshold == threshold) levels |= 1 << level;
    }
    return levels;
}

// Finds the neighbours of a leaf along the constrained columns. No row can be in a leaf whose bounds contradict each other, and bin 0, of
// missing values, has no order. Returns whether there is an upper one.
inline bool find_neighbours(LeafOrder& order, int depth, int leaf) {
    bool is_possible = true;
    for (int level = 0; level < depth; ++level) {
        const LeafBounds bounds = bounds_of(order, depth, leaf, order.split[level].feature);
        is_possible = is_possible && bounds.low <= bounds.high;
    }
    bool has_upper = false;
    for (int level = 0; level < depth; ++level) {
        const int column = order.split[level].feature;
        const LeafBounds bounds = bounds_of(order, depth, leaf, column);
        const bool is_ordered = is_possible && order.direction[level] != 0;
        const bool goes_up = is_ordered && bounds.high > 0 && bounds.high < last_bin;
        const bool goes_down = is_ordered && bounds.low > 1;
        order.upper[level][leaf] = static_cast<std::uint8_t>(goes_up ? leaf | levels_at(order, depth, column, bounds.high) : leaf);
        order.lower[level][leaf] = static_cast<std::uint8_t>(goes_down ? leaf & ~levels_at(order, depth, column, bounds.low - 1) : leaf);
        order.push[level][leaf] = 0.0;
        has_upper = has_upper || goes_up;
    }
    return has_upper;
}

// Repeats `step(from, to, leaf)`, which writes what a leaf takes from its neighbours in one copy to the other, until nothing changes.
// Returns the copy with the result.
template <class Step>
int repeat_until_settled(int leaves, const Step& step) {
    for (int from = 0;; from = 1 - from) {
        __syncthreads();
        bool changes = false;
        for_each_leaf(leaves, [&](int leaf) { changes = step(from, 1 - from, leaf) || changes; });
        if (!any_of_block(changes)) return 1 - from;
    }
}

// Finds the sets of leaves that pairs connect, those that have been pushed or all. Returns the first leaf of each one's set.
inline const int* connect(LeafOrder& order, const Chains& chains, bool pushed_alone) {
    const int depth = chains.depth;
    const int leaves = 1 << depth;
    for_each_leaf(leaves, [&](int leaf) { order.set[0][leaf] = leaf; });
    const int copy = repeat_until_settled(leaves, [&](int from, int to, int leaf) {
        int first = order.set[from][leaf];
        for (int level = 0; level < depth; ++level) {
            const int below = order.lower[level][leaf];
            const int above = order.upper[level][leaf];
            if ((!pushed_alone || order.push[level][below] > 0.0) && order.set[from][below] < first) first = order.set[from][below];
            if ((!pushed_alone || order.push[level][leaf] > 0.0) && order.set[from][above] < first) first = order.set[from][above];
        }
        order.set[to][leaf] = first;
        return first != order.set[from][leaf];
    });
    return order.set[copy];
}

// One sweep of Dykstra's algorithm over all pairs; returns the largest movement.
inline double sweep(LeafOrder& order, const Chains& chains) {
    const int depth = chains.depth;
    double movement = 0.0;
    for (int level = 0; level < depth; ++level) {
        const int direction = order.direction[level];
        if (direction == 0) continue;
        for_each_leaf(1 << depth, [&](int leaf) {
            if (order.lower[level][leaf] != leaf) return;  // not the first of its path
            for (int below = leaf, above; (above = order.upper[level][below]) != below; below = above) {
                const int first = direction > 0 ? below : above;
                const int second = direction > 0 ? above : below;
                const double moved = project_pair(order.value[first], order.value[second], order.inverse[first], order.inverse[second],
                                                  order.push[level][below]);
                movement = moved > movement ? moved : movement;
            }
        });
        __syncthreads();
    }
    return largest_of_block(movement);
}

// Closes what rounding has left between values: the mean of the largest one below each leaf, and of the smallest one above it.
inline void close_gaps(LeafOrder& order, const Chains& chains) {
    const int depth = chains.depth;
    const int leaves = 1 << depth;
    double(&below)[2][most_leaves] = *reinterpret_cast<double(*)[2][most_leaves]>(order.push[0]);  // pushes are not needed any more
    double(&above)[2][most_leaves] = *reinterpret_cast<double(*)[2][most_leaves]>(order.push[2]);
    for_each_leaf(leaves, [&](int leaf) { below[0][leaf] = above[0][leaf] = order.value[leaf]; });
    const int copy = repeat_until_settled(leaves, [&](int from, int to, int leaf) {
        double largest = below[from][leaf];
        double smallest = above[from][leaf];
        for (int level = 0; level < depth; ++level) {
            const bool rises = order.direction[level] > 0;
            const int before = rises ? order.lower[level][leaf] : order.upper[level][leaf];
            const int after = rises ? order.upper[level][leaf] : order.lower[level][leaf];
            largest = largest < below[from][before] ? below[from][before] : largest;
            smallest = smallest > above[from][after] ? above[from][after] : smallest;
        }
        below[to][leaf] = largest;
        above[to][leaf] = smallest;
        return largest != below[from][leaf] || smallest != above[from][leaf];
    });
    for_each_leaf(leaves, [&](int leaf) { order.value[leaf] = 0.5 * (below[copy][leaf] + above[copy][leaf]); });
}

// Reads the splits of the tree and finds neighbours; returns whether there are any.
inline bool find_order(const Chains& chains, const Member& member, int tree, LeafOrder& order) {
    for (int level = static_cast<int>(threadIdx.x); level < chains.depth; level += static_cast<int>(blockDim.x)) {
        const FoundSplit split = split_of(chains, member, tree, level);
        bool is_first = true;
        for (int before = 0; before < level; ++before) is_first = is_first && split_of(chains, member, tree, before).feature != split.feature;
        order.split[level] = split;
        order.direction[level] = is_first && member.monotone ? member.monotone[split.feature] : 0;
    }
    __syncthreads();
    bool has_pairs = false;
    for_each_leaf(1 << chains.depth, [&](int leaf) { has_pairs = find_neighbours(order, chains.depth, leaf) || has_pairs; });
    return any_of_block(has_pairs);
}

}  // namespace epiboost::cuda

// Grid: (1, chains). Computes the leaf values where trees have monotone constraints; elsewhere sum_leaves does.
EPIBOOST_KERNEL __launch_bounds__(256) order_leaves(const epiboost::cuda::Chains chains) {
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const int tree = *chains.current;
    __shared__ LeafOrder order;
    const bool has_order = find_order(chains, member, tree, order);
    if (has_order) {
        order_values(chains, member, tree, order);
    } else {
        clear_changes(member, 1 << chains.depth);
    }
    compute_values(chains, member, tree, has_order ? order.ordered : nullptr);
}
