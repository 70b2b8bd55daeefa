// Scores of evaluation rows, and the loss after each tree. Losses are summed by blocks of 64 rows, and then block by block, as on
// the CPU.
#pragma once

#include "core/objective.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leaf_sums.cu"

namespace epiboost::cuda {

inline double row_loss(const Member& member, float decay, std::size_t row) {
    const std::size_t stride = member.evaluation_stride;
    const Scores scores{member.evaluation_scores, stride, member.start, decay};
    const float y = member.evaluation_y[row];
    const float weight = member.evaluation_weight ? member.evaluation_weight[row] : 1.0f;
    if constexpr (is_family(objective)) {
        return weight * family_loss(CompiledFamily{}, scores, member.constants, member.evaluation_y + row, stride, row);
    }
    if (!member.evaluation_offset) return weight * negative_log_likelihood(objective, scores, outputs, y, row);
    float shifted[outputs];
    const Scores own = with_offset(scores, member.evaluation_offset, outputs, row, 1, shifted);
    return weight * negative_log_likelihood(objective, own, outputs, y, 0);
}

}  // namespace epiboost::cuda

// Grid: (blocks of rows, chains); a block has a multiple of 64 threads, and each of them one row.
EPIBOOST_KERNEL evaluate_rows(const epiboost::cuda::Chains chains) {
    using namespace epiboost;
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    if (!member.evaluation_bins) return;
    const int tree = *chains.current;
    const Step step = member.steps[tree];
    const std::size_t stride = member.evaluation_stride;
    __shared__ TreeSplits splits;
    __shared__ double losses[1024];
    read_splits(chains, member, tree, member.evaluation_bins, stride, splits);
    const std::size_t row = first_row();
    losses[threadIdx.x] = 0.0;
    if (row < member.evaluation_rows) {
        const int leaf = leaf_of(splits, chains.depth, row);
        for (int k = 0; k < outputs; ++k) {
            float& score = member.evaluation_scores[k * stride + row];
            if (step.factor != 1.0f) score *= step.factor;
            score += member.leaf_steps[k * leaves_of(chains) + leaf];
        }
        losses[threadIdx.x] = row_loss(member, step.decay_after, row);
    }
    __syncthreads();
    if (threadIdx.x % epiboost::block == 0 && row < member.evaluation_rows) {
        double sum = 0.0;
        for (std::size_t i = 0; i < epiboost::block; ++i) sum += losses[threadIdx.x + i];
        member.block_losses[row / epiboost::block] = sum;
    }
    if (!is_last_block(member.arrived + member.columns + 1, gridDim.x)) return;
    double sum = 0.0;
    const std::size_t blocks = (member.evaluation_rows + epiboost::block - 1) / epiboost::block;
    for (std::size_t first = 0; first < blocks; first += blockDim.x) {
        const std::size_t rest = blocks - first;
        const std::size_t count = rest < blockDim.x ? rest : blockDim.x;
        if (threadIdx.x < count) losses[threadIdx.x] = member.block_losses[first + threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) {
            for (std::size_t i = 0; i < count; ++i) sum += losses[i];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) member.losses[tree] = sum / member.evaluation_total_weight;
}
