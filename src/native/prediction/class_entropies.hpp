// Decomposition of the entropy of an ensemble of classifiers: data uncertainty is the mean of the members' entropies, knowledge
// uncertainty the mean of their divergences from the average. The formulas are in `_posterior/uncertainty.py`.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/elementary.hpp"
#include "core/threads.hpp"
#include "prediction/class_block.hpp"

namespace epiboost {

// Adds the terms of one class to the sums over classes and members. The average is computed from differences to the first member,
// so that equal members have no divergence.
inline void add_entropies(const ClassBlock& block, std::size_t k, ClassLanes& entropy, ClassLanes& divergence) {
    const auto members = static_cast<double>(block.members);
    const ClassLanes& first = block.of(0)[k];
    ClassLanes log_average = {};
    for (std::size_t m = 1; m < block.members; ++m) {
        const ClassLanes& p = block.of(m)[k];
        for (std::size_t i = 0; i < class_rows; ++i) log_average[i] += p[i] - first[i];
    }
    for (std::size_t i = 0; i < class_rows; ++i) {
        log_average[i] = logarithm(at_least(least_probability, first[i] + log_average[i] / members));
    }
    for (std::size_t m = 0; m < block.members; ++m) {
        const ClassLanes& p = block.of(m)[k];
        for (std::size_t i = 0; i < class_rows; ++i) {
            const double log_p = logarithm(at_least(least_probability, p[i]));
            entropy[i] -= p[i] * log_p;
            divergence[i] += p[i] * (log_p - log_average[i]);
        }
    }
}

// Writes data and knowledge uncertainty of the first `count` rows of a block. A sum below zero is a rounding error.
inline void split_entropy(const ClassBlock& block, std::size_t count, double* data, double* knowledge) {
    ClassLanes entropy = {};
    ClassLanes divergence = {};
    for (std::size_t k = 0; k < block.classes; ++k) add_entropies(block, k, entropy, divergence);
    const auto members = static_cast<double>(block.members);
    for (std::size_t i = 0; i < count; ++i) {
        data[i] = at_least(0.0, entropy[i] / members);
        knowledge[i] = at_least(0.0, divergence[i] / members);
    }
}

// Runs work(workspace, first, count) on blocks of rows, on all threads. Each thread has its own workspaces.
template <class MakeWorkspace, class Work>
void for_class_blocks(std::size_t rows, int threads, const Poll& poll, const MakeWorkspace& make_workspace, const Work& work) {
    constexpr std::size_t blocks_at_once = 16;
    parallel_for(rows, blocks_at_once * class_rows, threads, poll, [&](std::size_t first, std::size_t last) {
        auto workspace = make_workspace();
        for (; first < last; first += class_rows) work(workspace, first, std::min(class_rows, last - first));
    });
}

inline void split_entropies(const ClassParameters<const double>& given, int threads, double* data, double* knowledge,
                            const Poll& poll) {
    const auto make = [&] { return ClassBlock(given.members, given.classes); };
    for_class_blocks(given.stride, threads, poll, make, [&](ClassBlock& block, std::size_t first, std::size_t count) {
        block.load(given, first, count);
        split_entropy(block, count, data + first, knowledge + first);
    });
}

}  // namespace epiboost
