// Leaves of all rows in the finished trees, sums of their unrounded gradients in fixed point, and the leaf values. The twin of
// training/leaf_values.hpp.
#pragma once

#include "core/objective.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/gradients.cu"
#include "cuda/histogram.cuh"
#include "cuda/leafwise/tree.cuh"
#include "cuda/splits.cuh"
#include "training/leaf_step.hpp"
#include "training/rounding.hpp"

namespace epiboost::cuda {

// The splits of a symmetric tree, in shared memory.
struct LevelSplits {
    const std::uint8_t* column[max_depth];
    int threshold[max_depth];
};

template <bool LeafWise>
struct SplitsOf {
    using Type = LevelSplits;
};
template <>
struct SplitsOf<true> {
    using Type = NodeSplits;
};
using TreeSplits = SplitsOf<is_leaf_wise>::Type;

inline void read_splits(const Chains& chains, const Member& member, int tree, const std::uint8_t* bins, std::size_t stride, LevelSplits& splits) {
    for (int level = static_cast<int>(threadIdx.x); level < chains.depth; level += static_cast<int>(blockDim.x)) {
        const FoundSplit split = split_of(chains, member, tree, level);
        splits.column[level] = bins + split.feature * stride;
        splits.threshold[level] = split.threshold;
    }
    __syncthreads();
}

inline int leaf_of(const LevelSplits& splits, int depth, std::size_t row) {
    int leaf = 0;
    for (int level = 0; level < depth; ++level) leaf |= splits.column[level][row] > splits.threshold[level] ? 1 << level : 0;
    return leaf;
}

// Fixed point of a lane: gradients, the weight, and noise.
inline float lane_scale(const Member& member, int tree, int lane) {
    if (lane == outputs) return member.weight_scale;
    if (is_monotone && lane == lanes) return fixed_point(largest_noise(objective, member.largest_weight, member.noise), member.noise_bits);
    return fixed_point(std::bit_cast<float>(member.largest[tree % 2 * outputs + lane]), member.spare_bits);
}

inline long long fixed_lane(const Member& member, int lane, float scale, std::size_t row) {
    if (is_monotone && lane == lanes) return member.gradient_noise ? round_to_nearest<std::int64_t>(member.gradient_noise[row] * scale) : 0;
    const float value = lane < outputs ? member.gradients[lane * member.stride + row] : weight_of(member, row);
    if (member.spare_bits > 0) return round_to_nearest<std::int64_t>(value * scale);
    return round_to_nearest<std::int32_t>(value * scale);
}

// Sums of 64 bits in shared memory, in two halves.
struct SharedSums {
    std::uint32_t* lower;
    std::uint32_t* upper;

    SharedSums(int size, int copy) {
        lower = reinterpret_cast<std::uint32_t*>(shared_memory()) + 2 * static_cast<std::size_t>(size) * copy;
        upper = lower + size;
    }

    void add(int at, long long value) const {
        add_in_halves(lower + at, upper + at, static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32));
    }
    long long sum(int at) const {
        return static_cast<long long>(static_cast<unsigned long long>(upper[at]) << 32 | static_cast<unsigned long long>(lower[at]));
    }
};

// How far the step of a leaf may go.
constexpr StepBound bound_of(int output) {
    if constexpr (is_family(objective)) {
        constexpr StepBound first = CompiledFamily::step_bound[0];
        constexpr StepBound last = CompiledFamily::step_bound[CompiledFamily::outputs - 1];
        return output == 0 ? first : last;
    } else {
        return objective == Objective::normal && output == 1 ? StepBound::log_dispersion : StepBound::none;
    }
}

// The sum of a lane over the rows of a leaf.
inline double leaf_sum(const Chains& chains, const Member& member, int tree, int leaf, int lane) {
    const auto of_tree = static_cast<std::size_t>(tree % 2);
    const std::int64_t* sums = member.sums + (is_leaf_wise ? of_tree * chains.leaves : of_tree << chains.depth) * sum_lanes;
    return static_cast<double>(sums[leaf * sum_lanes + lane]) / static_cast<double>(lane_scale(member, tree, lane));
}

// The value of a leaf by its own sums.
inline float leaf_value(const Chains& chains, const Member& member, int tree, int leaf, int k) {
    const double gradient = leaf_sum(chains, member, tree, leaf, k);
    const double total = leaf_sum(chains, member, tree, leaf, outputs) + member.l2;
    return static_cast<float>(total > 1e-20 ? leaf_step(gradient / total, member.learning_rate, bound_of(k)) : 0.0);
}

// Computes leaf values from the sums; one block per chain. `ordered` are those of the first output if an order has changed them.
inline void compute_values(const Chains& chains, const Member& member, int tree, const float* ordered) {
    const int leaves = is_leaf_wise ? chains.leaves : 1 << chains.depth;
    const Step step = member.steps[tree];
    __shared__ bool own_values;
    if (threadIdx.x == 0) own_values = true;
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < leaves * outputs; at += static_cast<int>(blockDim.x)) {
        const int leaf = at / outputs;
        const int k = at % outputs;
        float value = ordered && k == 0 ? ordered[leaf] : leaf_value(chains, member, tree, leaf, k);
        float& stored = member.value[(static_cast<std::size_t>(tree) * leaves + leaf) * outputs + k];
        if (tree < chains.given) {
            if (value != stored) own_values = false;
            value = stored;
        } else {
            stored = value;
        }
        member.leaf_steps[k * leaves + leaf] = step.scale * value;
        if (k == 0) {
            member.leaf_totals[2 * leaf] = static_cast<float>(leaf_sum(chains, member, tree, leaf, 0));
            member.leaf_totals[2 * leaf + 1] = static_cast<float>(leaf_sum(chains, member, tree, leaf, outputs) + member.l2);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) *member.own_values = own_values ? 1 : 0;
    if (is_leaf_wise || tree < chains.given) return;
    for (int level = static_cast<int>(threadIdx.x); level < chains.depth; level += static_cast<int>(blockDim.x)) {
        const FoundSplit split = unpack_split(member.best[level]);
        member.feature[tree * chains.depth + level] = static_cast<std::uint16_t>(split.feature);
        member.threshold[tree * chains.depth + level] = static_cast<std::uint8_t>(split.threshold);
    }
}

}  // namespace epiboost::cuda

// Grid: (blocks of rows, chains).
EPIBOOST_KERNEL __launch_bounds__(256, EPIBOOST_ROW_BLOCKS) sum_leaves(const epiboost::cuda::Chains chains) {
    using namespace epiboost;
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const int tree = *chains.current;
    const int leaves = is_leaf_wise ? chains.leaves : 1 << chains.depth;
    const int size = leaves * sum_lanes;
    std::int64_t* sums = member.sums + static_cast<std::size_t>(tree % 2) * size;
    if (blockIdx.x == 0) {  // those of the next tree
        clear(member.sums + static_cast<std::size_t>((tree + 1) % 2) * size, static_cast<std::size_t>(size));
        clear(member.largest + (tree + 1) % 2 * outputs, outputs);
        if (blockIdx.y == 0 && threadIdx.x == 0) *chains.upcoming = tree + 1;
    }
    __shared__ TreeSplits splits;
    read_splits(chains, member, tree, member.bins, member.stride, splits);
    const int copies = chains.sum_copies;
    const SharedSums own(size, copies > 0 ? static_cast<int>(threadIdx.x / warp_size) % copies : 0);
    clear(reinterpret_cast<std::int32_t*>(shared_memory()), static_cast<std::size_t>(2 * size * copies));
    __syncthreads();
    constexpr int scales = outputs <= 4 ? sum_lanes : 1;
    float scale[scales];
    if constexpr (outputs <= 4) {
        for (int k = 0; k < sum_lanes; ++k) scale[k] = lane_scale(member, tree, k);
    }
    for (std::size_t row = first_row(); row < member.rows; row += row_step()) {
        const int leaf = leaf_of(splits, chains.depth, row);
        member.leaf[row] = static_cast<std::uint8_t>(leaf);
        for (int k = 0; k < sum_lanes; ++k) {
            const long long fixed = fixed_lane(member, k, outputs <= 4 ? scale[k % scales] : lane_scale(member, tree, k), row);
            if (copies > 0) {
                own.add(leaf * sum_lanes + k, fixed);
            } else {
                add_to(sums + leaf * sum_lanes + k, fixed);
            }
        }
    }
    __syncthreads();
    for (int at = static_cast<int>(threadIdx.x); at < size && copies > 0; at += static_cast<int>(blockDim.x)) {
        long long sum = 0;
        for (int copy = 0; copy < copies; ++copy) sum += SharedSums(size, copy).sum(at);
        if (sum != 0) add_to(sums + at, sum);
    }
    if constexpr (!is_monotone) {  // otherwise order_leaves does it
        if (is_last_block(member.arrived + member.columns, gridDim.x)) compute_values(chains, member, tree, nullptr);
    }
}
