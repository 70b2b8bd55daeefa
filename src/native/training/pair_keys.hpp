// The keys of a tree's random numbers for each pair of outputs. A key is a chain of multiplications: it is computed once per tree.
#pragma once

#include <cstdint>
#include <vector>

#include "core/noise.hpp"

namespace epiboost {

inline std::vector<NoiseKey> pair_keys(std::uint64_t seed, int tree, Purpose purpose, int outputs) {
    std::vector<NoiseKey> keys;
    for (int k = 0; k < outputs; k += 2) keys.emplace_back(seed, tree, purpose, k / 2);
    return keys;
}

}  // namespace epiboost
