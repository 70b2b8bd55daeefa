// The boxes of bins that are the leaves of a leaf-wise tree, and their neighbours along constrained columns. The twin of LeafBoxes in
// training/monotone.hpp, with the same pairs in the same order. One block has a tree.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leafwise/growth.cuh"

namespace epiboost::cuda {

constexpr int highest_bin = 255;

// The splits of a tree, in shared memory. Columns have numbers in the order of the splits.
struct BoxSplits {
    int made;
    int columns;
    int column_of[max_splits];  // of each split, as its first split before it is numbered
    std::uint16_t feature[max_splits];
    std::uint8_t threshold[max_splits];
    std::uint8_t parent[max_splits];
    std::uint8_t number[max_splits];  // of the column of each split
    std::uint16_t column[max_splits];  // with each number

    int leaves() const { return made + 1; }
};

inline void read_box_splits(const Chains& chains, const Member& member, const Growth& growth, int tree, BoxSplits& splits) {
    const std::size_t first = first_split(chains, tree);
    for (int split = static_cast<int>(threadIdx.x); split < chains.leaves - 1; split += static_cast<int>(blockDim.x)) {
        splits.feature[split] = member.feature[first + split];
        splits.threshold[split] = member.threshold[first + split];
        splits.parent[split] = growth.parent[first + split];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int made = 0;
        while (made < chains.leaves - 1 && splits.parent[made] != no_leaf) ++made;
        splits.made = made;
        splits.columns = 0;
    }
    __syncthreads();
    for (int split = static_cast<int>(threadIdx.x); split < splits.made; split += static_cast<int>(blockDim.x)) {
        int before = 0;
        while (splits.feature[before] != splits.feature[split]) ++before;
        splits.column_of[split] = before;
    }
    __syncthreads();
    for (int split = static_cast<int>(threadIdx.x); split < splits.made; split += static_cast<int>(blockDim.x)) {
        int number = 0;
        for (int before = 0; before < splits.column_of[split]; ++before) number += splits.column_of[before] == before ? 1 : 0;
        splits.number[split] = static_cast<std::uint8_t>(number);
        if (splits.column_of[split] != split) continue;
        splits.column[number] = splits.feature[split];
        atomicAdd(&splits.columns, 1);
    }
    __syncthreads();
}

// Finds the box of each leaf from its last split back to the first.
inline void find_boxes(const BoxSplits& splits, Interval* boxes) {
    const int leaves = splits.leaves();
    for (int leaf = static_cast<int>(threadIdx.x); leaf < leaves; leaf += static_cast<int>(blockDim.x)) {
        for (int number = 0; number < splits.columns; ++number) boxes[number * leaves + leaf] = {0, highest_bin};
        int part_of = leaf;
        for (int split = splits.made - 1; split >= 0; --split) {
            Interval& own = boxes[splits.number[split] * leaves + leaf];
            const int threshold = splits.threshold[split];
            if (split + 1 == part_of) {
                own.low = static_cast<std::int16_t>(threshold + 1 > own.low ? threshold + 1 : own.low);
                part_of = splits.parent[split];
            } else if (splits.parent[split] == part_of) {
                own.high = static_cast<std::int16_t>(threshold < own.high ? threshold : own.high);
            }
        }
    }
    __syncthreads();
}

// Whether the box of `upper` begins along a column where that of `lower` ends, and they overlap in all others. Bin 0 has no order.
inline bool are_neighbours(const BoxSplits& splits, const Interval* boxes, int lower, int upper, int along) {
    const int leaves = splits.leaves();
    const Interval below = boxes[along * leaves + lower];
    const Interval above = boxes[along * leaves + upper];
    if (below.high == 0 || below.high + 1 != above.low || below.low > below.high || above.low > above.high) return false;
    for (int number = 0; number < splits.columns; ++number) {
        if (number == along) continue;
        const Interval one = boxes[number * leaves + lower];
        const Interval other = boxes[number * leaves + upper];
        const int low = one.low > other.low ? one.low : other.low;
        const int high = one.high < other.high ? one.high : other.high;
        if (low > high) return false;
    }
    return true;
}

// Lists the pairs of neighbours along constrained columns: by column, lower leaf and upper leaf. Returns their number.
inline int find_pairs(const Member& member, const BoxSplits& splits, const Growth& growth) {
    __shared__ int first[max_leaves];  // pair of each lower leaf
    __shared__ int count;
    const int leaves = splits.leaves();
    if (threadIdx.x == 0) count = 0;
    for (int number = 0; number < splits.columns; ++number) {
        const int direction = member.monotone[splits.column[number]];
        if (direction == 0) continue;
        __syncthreads();
        for (int lower = static_cast<int>(threadIdx.x); lower < leaves; lower += static_cast<int>(blockDim.x)) {
            int own = 0;
            for (int upper = 0; upper < leaves; ++upper) own += are_neighbours(splits, growth.boxes, lower, upper, number) ? 1 : 0;
            first[lower] = own;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int lower = 0; lower < leaves; ++lower) {
                const int own = first[lower];
                first[lower] = count;
                count += own;
            }
        }
        __syncthreads();
        for (int lower = static_cast<int>(threadIdx.x); lower < leaves; lower += static_cast<int>(blockDim.x)) {
            int at = first[lower];
            for (int upper = 0; upper < leaves; ++upper) {
                if (!are_neighbours(splits, growth.boxes, lower, upper, number)) continue;
                const auto below = static_cast<std::int16_t>(direction > 0 ? lower : upper);
                const auto above = static_cast<std::int16_t>(direction > 0 ? upper : lower);
                growth.pairs[at] = {below, above};
                growth.push[at] = 0.0;
                ++at;
            }
        }
    }
    __syncthreads();
    return count;
}

}  // namespace epiboost::cuda
