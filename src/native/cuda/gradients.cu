// Gradients of all rows of all chains: first the scores take the step of the tree before, then the gradients are computed at
// them, weighted, with Langevin noise. The twin of training/gradients.hpp and of the updates in training/chain.hpp.
#pragma once

#include "core/noise.hpp"
#include "core/objective.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/leafwise/growth.cuh"
#include "training/leave_one_out_row.hpp"

namespace epiboost::cuda {

inline float weight_of(const Member& member, std::size_t row) {
    if (member.subsamples) return member.drawn_weight[row];
    return member.weight ? member.weight[row] : 1.0f;
}

inline std::uint32_t key_of(const Member& member, std::size_t row) {
    return member.key ? member.key[row] : static_cast<std::uint32_t>(row);
}

// Keys of the random numbers of each pair of outputs, computed once per block. The block synchronises.
inline const NoiseKey* output_keys(const Member& member, int tree, Purpose purpose) {
    __shared__ std::uint32_t parts[outputs + 1][2];
    for (int pair = static_cast<int>(threadIdx.x); pair < (outputs + 1) / 2; pair += static_cast<int>(blockDim.x)) {
        const NoiseKey key(member.seed, static_cast<std::uint64_t>(tree), purpose, static_cast<std::uint64_t>(pair));
        parts[pair][0] = key.first;
        parts[pair][1] = key.second;
    }
    __syncthreads();
    return reinterpret_cast<const NoiseKey*>(parts);
}

// Adds to a leave-one-out score what the order of monotone leaves has changed, see training/leave_one_out.hpp.
inline float follow_order(const Member& member, const Step& step, int leaf, int leaves, float previous, float moved) {
    if (!is_monotone || !member.leaf_changes) return moved;
    const float before = member.leaf_changes[leaf];
    const float shift = member.leaf_changes[leaves + leaf];
    const float share = member.leaf_changes[2 * leaves + leaf];
    const float own_influence = step.scale * before - (moved - previous);
    return moved + (step.scale * shift + (1.0f - share) * own_influence);
}

// Adds the values of the previous tree to the scores of a row. `step` is that of the previous tree.
inline void update_row(const Chains& chains, const Member& member, const Step& step, bool trained_on_rows, std::size_t row) {
    const int leaf = member.leaf[row];
    const int leaves = leaves_of(chains);
    const float raw = member.scores[row];
    if (member.leave_one_out) {
        const float previous = member.leave_one_out[row];
        if (trained_on_rows) {
            float towards_row = 0.0f;
            if (member.neighbour_weight) {
                const float share = member.neighbour_share * step.decay;
                towards_row = share * member.neighbour_weight[row] * (previous - raw);
            }
            const LeafTotals totals{member.leaf_totals[2 * leaf], member.leaf_totals[2 * leaf + 1]};
            const float gradient = member.own_gradient ? member.own_gradient[row] : (member.start[0] + step.decay * raw) - member.y[row];
            const float rate = step.scale * member.step_rate;
            const float moved = previous - leave_one_out_step(totals, weight_of(member, row), gradient, towards_row, rate);
            member.leave_one_out[row] = follow_order(member, step, leaf, leaves, previous, moved);
        } else {
            member.leave_one_out[row] = previous + member.leaf_steps[leaf];
        }
    }
    for (int k = 0; k < outputs; ++k) member.scores[k * member.stride + row] += member.leaf_steps[k * leaves + leaf];
}

inline void rescale_row(const Member& member, float factor, std::size_t row) {
    for (int k = 0; k < outputs; ++k) member.scores[k * member.stride + row] *= factor;
    if (member.leave_one_out) member.leave_one_out[row] *= factor;
}

// Subsampling: a row of weight w is drawn about w times, each time with the same probability.
inline void draw_weight(const Member& member, int tree, std::size_t row) {
    const NoiseKey noise_key(member.seed, static_cast<std::uint64_t>(tree), Purpose::subsample, 0);
    const std::int32_t draws = member.draws ? member.draws[row] : 1;
    const std::uint32_t key = key_of(member, row);
    std::int32_t kept = 0;
    for (std::int32_t draw = 0; draw < draws; ++draw) {
        kept += noise_key.bits(key + static_cast<std::uint32_t>(draw) * 0x9e3779b9u) < member.draw_limit ? 1 : 0;
    }
    const float weight = member.weight ? member.weight[row] : 1.0f;
    const std::int64_t integer_weight = member.integer_weight ? member.integer_weight[row] : 1;
    member.drawn_weight[row] = weight * static_cast<float>(kept) / static_cast<float>(draws);
    member.drawn_integer_weight[row] = static_cast<std::int32_t>((integer_weight * kept + draws - 1) / draws);
}

// The scores of one row.
struct RowScores {
    const Member& member;
    float decay;
    std::size_t row;

    float operator()(int output) const {
        const float raw = member.scores[output * member.stride + row];
        if (!member.offset) return member.start[output] + decay * raw;
        return member.start[output] + (decay * raw + member.offset[output * member.stride + row]);
    }
};

// Weighted gradients of one row with noise. `store(k, value)` takes them.
template <class Store>
void add_noise(const Member& member, const NoiseKey* keys, std::size_t row, float weight, float root, int output, const float* raw,
               const float* noise_scale, int count, const Store& store) {
    float noise[2] = {0.0f, 0.0f};
    if (member.noise > 0.0f) {
        float even;
        float odd;
        normal_pair(keys[output / 2], key_of(member, row), even, odd);
        const float size = root * member.noise;
        noise[0] = size * even;
        noise[1] = size * odd;
    }
    for (int k = 0; k < count; ++k) store(output + k, weight * raw[k] + noise_scale[k] * noise[k]);
    if (is_monotone && output == 0 && member.gradient_noise) member.gradient_noise[row] = noise_scale[0] * noise[0];
}

// The first score of a row, without its own influence where the variance guard removes it.
inline float guarded_location(const Member& member, const Step& step, float score, std::size_t row) {
    const float raw = member.scores[row];
    const float leave_one_out = member.leave_one_out ? member.leave_one_out[row] : raw;
    return guarded_mean(score, step.decay, raw, leave_one_out, member.variance_guard);
}

// Computes the gradients of one row.
template <class Store>
void row_gradients(const Member& member, const Step& step, const NoiseKey* keys, std::size_t row, const Store& store) {
    const RowScores scores{member, step.decay, row};
    const float y = member.y[row];
    const float weight = weight_of(member, row);
    const float root = std::sqrt(weight);
    if constexpr (is_family(objective)) {
        using F = CompiledFamily;
        float score[F::outputs];
        float target[F::targets];
        float raw[F::outputs];
        float noise_scale[F::outputs];
        for (int k = 0; k < F::outputs; ++k) score[k] = scores(k);
        for (int k = 0; k < F::targets; ++k) target[k] = member.y[k * member.stride + row];
        F::gradient(score, guarded_location(member, step, score[0], row), target, member.constants, raw, noise_scale);
        if (member.own_gradient) member.own_gradient[row] = raw[0];
        static_assert(F::outputs <= 2);  // one pair of random numbers
        add_noise(member, keys, row, weight, root, 0, raw, noise_scale, F::outputs, store);
    } else if constexpr (objective == Objective::normal) {
        const float mean = scores(0);
        const float guarded = guarded_location(member, step, mean, row);
        const NormalGradient gradient = normal_gradient(mean, normal_inverse_std(scores(1)), guarded, y);
        const float raw[2] = {gradient.mean, gradient.scale};
        const float noise_scale[2] = {gradient.mean_noise, gradient.scale_noise};
        add_noise(member, keys, row, weight, root, 0, raw, noise_scale, 2, store);
    } else if constexpr (objective == Objective::bernoulli) {
        const float raw[1] = {bernoulli_gradient(scores(0), y)};
        const float noise_scale[1] = {1.0f};
        add_noise(member, keys, row, weight, root, 0, raw, noise_scale, 1, store);
    } else {
        float top = scores(0);
        for (int k = 1; k < outputs; ++k) {
            const float score = scores(k);
            top = score > top ? score : top;
        }
        float sum = 0.0f;
        for (int k = 0; k < outputs; ++k) sum += exponential(scores(k) - top);
        const float noise_scale[2] = {1.0f, 1.0f};
        for (int k = 0; k < outputs; k += 2) {
            const int count = k + 1 < outputs ? 2 : 1;
            float raw[2] = {0.0f, 0.0f};
            for (int i = 0; i < count; ++i) raw[i] = categorical_gradient(exponential(scores(k + i) - top), sum, k + i, y);
            add_noise(member, keys, row, weight, root, k, raw, noise_scale, count, store);
        }
    }
}

// What one tree leaves for the next begins anew.
inline void reset_tree(const Chains& chains, const Member& member) {
    if constexpr (is_leaf_wise) {
        reset_growth(chains, chains.growths[blockIdx.y]);
    } else {
        for (int level = static_cast<int>(threadIdx.x); level < chains.depth; level += blockDim.x) member.best[level] = 0;
    }
    for (int k = static_cast<int>(threadIdx.x); k < outputs; k += blockDim.x) member.squares[k] = 0;
    if (threadIdx.x == 0) *member.drawn = 0;
}

}  // namespace epiboost::cuda

// Grid: (blocks of rows, chains).
EPIBOOST_KERNEL __launch_bounds__(256, EPIBOOST_ROW_BLOCKS) compute_gradients(const epiboost::cuda::Chains chains) {
    using namespace epiboost;
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const int tree = *chains.upcoming;
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) *chains.current = tree;
    if (blockIdx.x == 0) reset_tree(chains, member);
    __shared__ std::int32_t largest[outputs];
    clear(largest, outputs);
    const NoiseKey* keys = output_keys(member, tree, Purpose::langevin);
    const Step step = member.steps[tree];
    const Step previous = member.steps[tree > 0 ? tree - 1 : 0];
    const bool trained_on_rows = *member.own_values != 0;
    for (std::size_t row = first_row(); row < member.rows; row += row_step()) {
        if (tree > 0) update_row(chains, member, previous, trained_on_rows, row);
        if (step.factor != 1.0f) rescale_row(member, step.factor, row);
        if (member.subsamples) draw_weight(member, tree, row);
        row_gradients(member, step, keys, row, [&](int k, float value) {
            member.gradients[k * member.stride + row] = value;
            const std::int32_t bits = std::bit_cast<std::int32_t>(value) & 0x7fffffff;
            if (bits > largest[k]) atomicMax(&largest[k], bits);
        });
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < outputs; k += blockDim.x) {
        atomicMax(&member.largest[tree % 2 * outputs + k], largest[k]);
    }
}
