// Which columns a tree may split on, see training/allowed_columns.hpp.
#pragma once

#include "core/noise.hpp"
#include "cuda/chains.cuh"
#include "cuda/device.cuh"
#include "cuda/splits.cuh"

namespace epiboost::cuda {

inline bool is_in_group(const Chains& chains, const Member& member, int column) {
    if (!member.groups) return true;
    std::uint32_t any = 0;
    for (int word = 0; word < chains.group_words; ++word) any |= member.groups[column * chains.group_words + word];
    return any != 0;
}

// Whether a group has the column and all columns that the tree has split so far.
inline bool may_interact(const Chains& chains, const Member& member, int level, int column) {
    if (!member.groups) return true;
    for (int word = 0; word < chains.group_words; ++word) {
        std::uint32_t common = member.groups[column * chains.group_words + word];
        for (int before = 0; before < level; ++before) {
            common &= member.groups[unpack_split(member.best[before]).feature * chains.group_words + word];
        }
        if (common != 0) return true;
    }
    return false;
}

// Whether a column is drawn: those of a tree are the ones with the smallest random numbers.
inline bool is_drawn_column(const Chains& chains, const Member& member, int tree, int column) {
    if (!(member.column_share < 1.0) || !is_in_group(chains, member, column)) return true;
    const NoiseKey key(member.seed, static_cast<std::uint64_t>(tree), Purpose::columns, 0);
    const std::uint32_t own = key.bits(static_cast<std::uint32_t>(column));
    long long before = 0;
    for (int other = static_cast<int>(threadIdx.x); other < member.columns; other += static_cast<int>(blockDim.x)) {
        const std::uint32_t bits = key.bits(static_cast<std::uint32_t>(other));
        if (is_in_group(chains, member, other) && (bits < own || (bits == own && other < column))) ++before;
    }
    __shared__ bool drawn;
    const long long rank = block_sum(before);
    if (threadIdx.x == 0) {
        const double wanted = member.column_share * static_cast<double>(member.usable_columns) + 0.5;
        const auto count = static_cast<long long>(wanted);
        drawn = rank < (count > 1 ? count : 1);
    }
    __syncthreads();
    return drawn;
}

}  // namespace epiboost::cuda
