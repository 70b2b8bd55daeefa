// Trains all members of an ensemble.
#pragma once

#include <cstdint>
#include <span>

#include "problem.hpp"
#include "team.hpp"

namespace epiboost {

// Grows one chain a seed, with the same bits for any number of threads; false if the watch stopped it.
bool train(const Table& table, const Target& target, const Recipe& recipe, const Table* evaluation_table,
           const Target* evaluation_target, std::span<const std::uint64_t> seeds, int threads, Watch& watch, Trees trees);

}  // namespace epiboost
