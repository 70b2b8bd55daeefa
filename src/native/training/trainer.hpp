// Trains all members of an ensemble.
#pragma once

#include <cstdint>
#include <span>

#include "core/problem.hpp"
#include "core/team.hpp"

namespace epiboost {

// A table with its target.
struct Rows {
    const Table* table = nullptr;
    const Target* target = nullptr;
};

// Grows one chain a seed, with the same bits for any number of threads; false if the watch stopped it. The samples are the
// same rows in several encodings: member m learns from sample m modulo their number.
bool train(std::span<const Rows> samples, Rows evaluation, const Recipe& recipe, std::span<const std::uint64_t> seeds,
           int threads, Watch& watch, Trees trees);

}  // namespace epiboost
