// Trains all members of an ensemble.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

// Scores of the evaluation rows of one chain.
struct EvaluationScores {
    std::size_t member;
    std::size_t rows;
    std::vector<float> scores;  // (rows, outputs)
};

// Training pauses after every round of so many trees. `done` gets the number of trees so far and the scores of all chains that
// have evaluation rows; it returns false to end the training there.
struct Rounds {
    int trees = std::numeric_limits<int>::max();
    std::function<bool(int, const std::vector<EvaluationScores>&)> done;
};

// Trains the chains of all problems, one per seed; the number of threads and the length of rounds do not change the trees. Returns
// false if the monitor stopped it. Problems have the same number of trees, levels and outputs, the first has the most rows.
bool train(std::span<const Problem> problems, int threads, TrainingMonitor& monitor, TreeArrays trees, const Rounds& rounds);

}  // namespace epiboost
