// The rows that choose the splits of each chain's next tree, with gradients rounded to small integers. The twin of
// training/split_sample.hpp. Drawn rows are copied into consecutive memory, in any order: sums of integers do not depend on it.
#pragma once

#include "core/noise.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/gradients.cu"
#include "training/rounding.hpp"

namespace epiboost::cuda {

// What the rows of a block share when they are rounded.
struct Rounding {
    const NoiseKey* keys;  // of each pair of outputs
    const float* levels;   // 1 / unit of each output
};

inline Rounding rounding_of(const Member& member, int tree) {
    __shared__ float levels[outputs];
    for (int k = static_cast<int>(threadIdx.x); k < outputs; k += static_cast<int>(blockDim.x)) {
        levels[k] = 1.0f / gradient_unit(std::bit_cast<float>(member.largest[tree % 2 * outputs + k]), member.largest_level);
    }
    return {output_keys(member, tree, Purpose::rounding), levels};
}

// Rounds the gradients of a row and writes them to a place of the sample. `add(k, integer)` takes them too.
template <class Add>
void round_row(const Member& member, const Rounding& rounding, std::size_t row, std::size_t place, std::int32_t weight, const Add& add) {
    std::uint32_t bits = 0;
    std::uint32_t packed = static_cast<std::uint32_t>(weight) << 16;
    for (int k = 0; k < outputs; ++k) {
        if (k % 2 == 0) bits = rounding.keys[k / 2].bits(key_of(member, row));
        const std::int32_t integer = round_gradient(member.gradients[k * member.stride + row], rounding.levels[k], bits, k % 2 ? 16 : 0);
        add(k, integer);
        if constexpr (packs) {
            packed |= (static_cast<std::uint32_t>(integer) & 255u) << 8 * k;
        } else {
            member.integers[k * member.sample_stride + place] = static_cast<std::int8_t>(integer);
        }
    }
    if constexpr (packs) reinterpret_cast<std::uint32_t*>(member.integers)[place] = packed;
}

inline std::int32_t integer_weight_of(const Member& member, std::size_t row) {
    const std::int32_t* weights = member.subsamples ? member.drawn_integer_weight : member.integer_weight;
    return weights ? weights[row] : 1;
}

inline bool is_drawn(const Member& member, const NoiseKey& noise_key, std::size_t row) {
    return weight_of(member, row) > 0.0f && noise_key.bits(key_of(member, row)) < member.structure_limit;
}

// Sums of squares of the rows that a thread has rounded. With many outputs they are added where they are.
struct Squares {
    static constexpr int in_registers = 4;
    std::int64_t* sums;
    long long own[outputs <= in_registers ? outputs : 1] = {};

    void add(int output, int value) {
        if constexpr (!counts_squares) return;
        if constexpr (outputs <= in_registers) {
            own[output] += value * value;
        } else {
            add_to(sums + output, value * value);
        }
    }

    void finish() {
        if constexpr (counts_squares && outputs <= in_registers) {
            for (int k = 0; k < outputs; ++k) {
                const long long sum = block_sum(own[k]);
                if (threadIdx.x == 0) add_to(sums + k, sum);
            }
        }
    }
};

// Rows of weight zero choose no splits where rows are drawn by subsampling; otherwise all do.
inline void round_all_rows(const Member& member, const Rounding& rounding, Squares& squares) {
    for (std::size_t row = first_row(); row < member.rows; row += row_step()) {
        round_row(member, rounding, row, row, integer_weight_of(member, row), [&](int k, int value) { squares.add(k, value); });
        member.sample_leaf[row] = member.subsamples && !(member.drawn_weight[row] > 0.0f) ? no_leaf : 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *member.drawn = member.rows;
}

// Each block lists the rows that it draws and copies them to the end of the sample.
inline void draw_rows(const Member& member, const Rounding& rounding, int tree, Squares& squares) {
    const NoiseKey noise_key(member.seed, static_cast<std::uint64_t>(tree), Purpose::structure, 0);
    auto* listed = reinterpret_cast<std::uint64_t*>(shared_memory());  // one entry per thread
    __shared__ std::uint32_t count;
    __shared__ std::uint64_t position;
    for (std::size_t begin = static_cast<std::size_t>(blockIdx.x) * blockDim.x; begin < member.rows; begin += row_step()) {
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        const std::size_t row = begin + threadIdx.x;
        if (row < member.rows && is_drawn(member, noise_key, row)) listed[atomicAdd(&count, 1u)] = row;
        __syncthreads();
        if (threadIdx.x == 0) {
            position = atomicAdd(reinterpret_cast<unsigned long long*>(member.drawn), static_cast<unsigned long long>(count));
        }
        __syncthreads();
        const std::size_t fits = position < member.sample_capacity ? member.sample_capacity - position : 0;
        const std::size_t copied = count < fits ? count : fits;
        for (std::size_t i = threadIdx.x; i < copied * static_cast<std::size_t>(member.columns); i += blockDim.x) {
            const std::size_t column = i / copied;
            const std::size_t at = i % copied;
            member.sample_bins[column * member.sample_stride + position + at] = member.bins[column * member.stride + listed[at]];
        }
        if (threadIdx.x < copied) {
            const std::size_t from = listed[threadIdx.x];
            const std::size_t at = position + threadIdx.x;
            const std::int32_t weight = integer_weight_of(member, from);
            round_row(member, rounding, from, at, weight, [&](int k, int value) { squares.add(k, value); });
            if (!packs && member.sample_weight) member.sample_weight[at] = weight;
            member.sample_leaf[at] = 0;
        }
        __syncthreads();
    }
}

}  // namespace epiboost::cuda

// Grid: (blocks of rows, chains).
EPIBOOST_KERNEL __launch_bounds__(256, EPIBOOST_ROW_BLOCKS) prepare_sample(const epiboost::cuda::Chains chains) {
    using namespace epiboost::cuda;
    const Member member = chains.members[blockIdx.y];
    const int tree = *chains.current;
    Squares squares{member.squares};
    const Rounding rounding = rounding_of(member, tree);
    if (member.samples_structure) {
        draw_rows(member, rounding, tree, squares);
    } else {
        round_all_rows(member, rounding, squares);
    }
    squares.finish();
}
