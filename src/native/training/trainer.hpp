// Trains all members of an ensemble.
#pragma once

#include <cstdint>
#include <span>

#include "core/monitor.hpp"
#include "core/problem.hpp"

namespace epiboost {

// A table and its target.
struct Rows {
    const Table* table = nullptr;
    const Target* target = nullptr;
};

// Trains one chain per seed; the number of threads does not change the result. Returns false if the monitor stopped it. The
// samples are encodings of the same rows: member m is trained on sample m modulo their number.
bool train(std::span<const Rows> samples, Rows evaluation, const ChainRecipe& recipe, std::span<const std::uint64_t> seeds,
           int threads, TrainingMonitor& monitor, TreeArrays trees);

}  // namespace epiboost
