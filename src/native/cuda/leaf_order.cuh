// What the order of leaf values takes in trees of any kind. An order has the values, weights and noise of the leaves and knows their pairs:
// `connect` finds the sets of leaves that pairs connect, `sweep` projects all pairs, and `close_gaps` closes what rounding has left.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leaf_sums.cu"
#include "training/monotone_pair.hpp"

namespace epiboost::cuda {

// The largest number of all threads, which is not negative, in all of them.
inline double largest_of_block(double own) {
    __shared__ double largest;
    const unsigned long long found = block_max(std::bit_cast<unsigned long long>(own));
    if (threadIdx.x == 0) largest = std::bit_cast<double>(found);
    __syncthreads();
    const double all = largest;
    __syncthreads();
    return all;
}

inline bool any_of_block(bool own) { return largest_of_block(own ? 1.0 : 0.0) > 0.0; }

// Calls `work` with each leaf of this thread.
template <class Work>
void for_each_leaf(int leaves, const Work& work) {
    for (int leaf = static_cast<int>(threadIdx.x); leaf < leaves; leaf += static_cast<int>(blockDim.x)) work(leaf);
}

// The sum of numbers over the set of a leaf, in the order of the leaves.
inline double sum_of_set(const int* set, const double* numbers, int leaves, int leaf) {
    double sum = 0.0;
    for (int other = 0; other < leaves; ++other) {
        if (set[other] == set[leaf]) sum += numbers[other];
    }
    return sum;
}

// Orders the leaf values of the first output; a leaf without rows counts as one row. Noise is averaged over leaves that an order
// connects.
template <class Order>
void order_values(const Chains& chains, const Member& member, int tree, Order& order) {
    const int leaves = is_leaf_wise ? chains.leaves : 1 << chains.depth;
    const bool has_noise = member.noise > 0.0f;
    double own_largest = 0.0;
    for_each_leaf(leaves, [&](int leaf) {
        const double total = leaf_sum(chains, member, tree, leaf, outputs) + member.l2;
        order.weight[leaf] = total < 1.0 ? 1.0 : total;
        order.inverse[leaf] = 1.0 / order.weight[leaf];
        order.ordered[leaf] = leaf_value(chains, member, tree, leaf, 0);
        order.value[leaf] = order.ordered[leaf];
        order.noise[leaf] = 0.0;
        if (has_noise && total > 1e-20) {
            const double part = -member.learning_rate * leaf_sum(chains, member, tree, leaf, lanes) / total;
            order.value[leaf] -= part;
            order.noise[leaf] = order.weight[leaf] * part;
        }
        const double size = magnitude(order.value[leaf]);
        own_largest = size > own_largest ? size : own_largest;
    });
    const double largest = largest_of_block(own_largest);
    const int* connected = connect(order, chains, false);
    for_each_leaf(leaves, [&](int leaf) {
        order.spare()[leaf] = sum_of_set(connected, order.noise, leaves, leaf) / sum_of_set(connected, order.weight, leaves, leaf);
    });
    __syncthreads();
    for_each_leaf(leaves, [&](int leaf) {  // the mean noise of each leaf's set takes the place of its own
        order.noise[leaf] = order.spare()[leaf];
        order.spare()[leaf] = 0.0;
    });
    __syncthreads();
    for (int number = 0; number < max_sweeps && sweep(order, chains) > min_movement * largest; ++number) continue;
    const int* pushed = connect(order, chains, true);
    close_gaps(order, chains);
    __syncthreads();
    for_each_leaf(leaves, [&](int leaf) {
        const float before = order.ordered[leaf];
        const auto after = static_cast<float>(order.value[leaf] + order.noise[leaf]);
        order.ordered[leaf] = after;
        if (!member.leaf_changes) return;
        member.leaf_changes[leaf] = before;
        member.leaf_changes[leaves + leaf] = after - before;
        member.leaf_changes[2 * leaves + leaf] = static_cast<float>(order.weight[leaf] / sum_of_set(pushed, order.weight, leaves, leaf));
    });
    __syncthreads();
}

// What the leave-one-out scores see if no value is changed.
inline void clear_changes(const Member& member, int leaves) {
    if (!member.leaf_changes) return;
    for_each_leaf(leaves, [&](int leaf) {
        member.leaf_changes[leaf] = 0.0f;
        member.leaf_changes[leaves + leaf] = 0.0f;
        member.leaf_changes[2 * leaves + leaf] = 1.0f;
    });
}

}  // namespace epiboost::cuda
