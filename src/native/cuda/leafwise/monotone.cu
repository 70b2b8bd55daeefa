// Leaf values of leaf-wise trees in the order that monotone constraints ask for. The twin of training/monotone.hpp.
//
// Pairs share leaves here, so that they are projected one after the other, by one warp. Most pairs move nothing: 32 of them are looked
// at side by side, and those before the first that moves are passed, with the bits of one after the other.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leaf_order.cuh"
#include "cuda/leafwise/boxes.cuh"
#include "cuda/leafwise/growth.cuh"
#include "training/monotone_pair.hpp"

namespace epiboost::cuda {

// What a block knows of the leaves of a tree.
struct PairOrder {
    double value[max_leaves];
    double weight[max_leaves];
    double inverse[max_leaves];  // of the weight
    double noise[max_leaves];    // times weight
    double below[max_leaves];    // largest value below each leaf
    double above[max_leaves];    // smallest value above each leaf
    double movement;             // of a sweep
    float ordered[max_leaves];
    int set[max_leaves];    // a leaf of the set of each leaf that is not behind it
    int first[max_leaves];  // the first leaf of that set
    int pairs;
    bool changes;
    BoxSplits splits;

    double* spare() { return below; }
};

// Calls `move(pair)` for the pairs with `moves(pair)`, in their order; the first warp does it. What `moves` reads may be changed by `move`
// of earlier pairs.
template <class Moves, class Move>
void for_each_moving(int pairs, const Moves& moves, const Move& move) {
    __syncthreads();
    if (threadIdx.x < warp_size) {
        for (int first = 0; first < pairs; first += static_cast<int>(warp_size)) {
            const int pair = first + static_cast<int>(threadIdx.x);
            unsigned ahead = all_lanes;  // lanes whose pairs are not passed
            while (ahead != 0) {
                const unsigned moving = __ballot_sync(all_lanes, pair < pairs && moves(pair)) & ahead;
                if (moving == 0) break;
                const unsigned next = moving & (0u - moving);  // the lowest bit
                if (next == 1u << threadIdx.x) move(pair);
                ahead = ~(next | (next - 1));
                __syncwarp();
            }
        }
    }
    __syncthreads();
}

inline int first_of_set(const PairOrder& order, int leaf) {
    while (order.set[leaf] != leaf) leaf = order.set[leaf];
    return leaf;
}

// Finds the sets of leaves that pairs connect, those that have been pushed or all. Returns the first leaf of each one's set.
inline const int* connect(PairOrder& order, const Chains& chains, bool pushed_alone) {
    const Growth& growth = chains.growths[blockIdx.y];
    for_each_leaf(chains.leaves, [&](int leaf) { order.set[leaf] = leaf; });
    const auto joins = [&](int pair) {
        if (pushed_alone && !(growth.push[pair] > 0.0)) return false;
        return first_of_set(order, growth.pairs[pair].lower) != first_of_set(order, growth.pairs[pair].upper);
    };
    for_each_moving(order.pairs, joins, [&](int pair) {
        const int one = first_of_set(order, growth.pairs[pair].lower);
        const int other = first_of_set(order, growth.pairs[pair].upper);
        order.set[one < other ? other : one] = one < other ? one : other;
    });
    for_each_leaf(chains.leaves, [&](int leaf) { order.first[leaf] = first_of_set(order, leaf); });
    __syncthreads();
    return order.first;
}

// One sweep of Dykstra's algorithm over all pairs; returns the largest movement.
inline double sweep(PairOrder& order, const Chains& chains) {
    const Growth& growth = chains.growths[blockIdx.y];
    if (threadIdx.x == 0) order.movement = 0.0;
    const auto moves = [&](int pair) {
        const LeafPair leaves = growth.pairs[pair];
        return !(order.value[leaves.lower] - order.value[leaves.upper] <= 0.0 && growth.push[pair] == 0.0);
    };
    for_each_moving(order.pairs, moves, [&](int pair) {
        const LeafPair leaves = growth.pairs[pair];
        const double moved = project_pair(order.value[leaves.lower], order.value[leaves.upper], order.inverse[leaves.lower],
                                          order.inverse[leaves.upper], growth.push[pair]);
        order.movement = moved > order.movement ? moved : order.movement;
    });
    const double movement = order.movement;
    __syncthreads();
    return movement;
}

// Closes what rounding has left between values: the mean of the largest one below each leaf, and of the smallest one above it.
inline void close_gaps(PairOrder& order, const Chains& chains) {
    const Growth& growth = chains.growths[blockIdx.y];
    for_each_leaf(chains.leaves, [&](int leaf) { order.below[leaf] = order.above[leaf] = order.value[leaf]; });
    const auto differs = [&](int pair) {
        const LeafPair leaves = growth.pairs[pair];
        return order.below[leaves.upper] < order.below[leaves.lower] || order.above[leaves.lower] > order.above[leaves.upper];
    };
    bool changes = true;
    while (changes) {
        __syncthreads();
        if (threadIdx.x == 0) order.changes = false;
        for_each_moving(order.pairs, differs, [&](int pair) {
            const LeafPair leaves = growth.pairs[pair];
            if (order.below[leaves.upper] < order.below[leaves.lower]) order.below[leaves.upper] = order.below[leaves.lower];
            if (order.above[leaves.lower] > order.above[leaves.upper]) order.above[leaves.lower] = order.above[leaves.upper];
            order.changes = true;
        });
        changes = order.changes;
    }
    for_each_leaf(chains.leaves, [&](int leaf) { order.value[leaf] = 0.5 * (order.below[leaf] + order.above[leaf]); });
}

}  // namespace epiboost::cuda

// Grid: (1, chains). Computes the leaf values where trees have monotone constraints; elsewhere sum_leaves does.
EPIBOOST_KERNEL __launch_bounds__(256) order_leaves(const epiboost::cuda::Chains chains) {
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const Growth growth = chains.growths[blockIdx.y];
    const int tree = *chains.current;
    __shared__ PairOrder order;
    int pairs = 0;
    if (member.monotone) {
        read_box_splits(chains, member, growth, tree, order.splits);
        find_boxes(order.splits, growth.boxes);
        pairs = find_pairs(member, order.splits, growth);
    }
    if (threadIdx.x == 0) order.pairs = pairs;
    __syncthreads();
    if (pairs > 0) {
        order_values(chains, member, tree, order);
    } else {
        clear_changes(member, chains.leaves);
    }
    compute_values(chains, member, tree, pairs > 0 ? order.ordered : nullptr);
}
