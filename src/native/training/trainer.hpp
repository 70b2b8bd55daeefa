// Trains all members of an ensemble.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/monitor.hpp"
#include "core/problem.hpp"

namespace epiboost {

// A table and its target.
struct Rows {
    const Table* table = nullptr;
    const Target* target = nullptr;
};

// Chains with the same recipe. The samples are encodings or bootstrap samples of the same rows: chain i is trained on sample i
// modulo their number.
struct Problem {
    std::vector<Rows> samples;
    Rows evaluation;
    const ChainRecipe* recipe = nullptr;
    std::span<const std::uint64_t> seeds;
};

// Trains the chains of all problems, one per seed; the number of threads does not change the result. Returns false if the monitor
// stopped it. Problems have the same number of trees, levels and outputs, the first has the most rows.
bool train(std::span<const Problem> problems, int threads, TrainingMonitor& monitor, TreeArrays trees);

}  // namespace epiboost
