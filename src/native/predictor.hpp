// Distribution parameters of all members for a table of numbers.
#pragma once

#include <cstdint>
#include <span>

#include "bins.hpp"
#include "problem.hpp"

namespace epiboost {

// Trees ready for prediction. A member is read in parts; the scores after part p are one output of the prediction:
//     score(p) = carry(p) * score(p - 1) + sum of the leaf values of the trees in part p.
// With the shrinkage inside a part already in the leaf values, one pass gives every truncation of a chain.
struct ReadyTrees {
    std::size_t members;
    std::size_t trees;   // room for so many trees a member
    std::size_t parts;   // parts a member
    int depth;
    int outputs;
    std::span<const std::uint16_t> feature;    // (members, trees, depth)
    std::span<const std::uint8_t> threshold;   // (members, trees, depth)
    std::span<const float> leaf;               // (members, trees, outputs, leaves)
    std::span<const std::int32_t> end;         // (members, parts): the tree after a part's last
    std::span<const double> carry;             // (members, parts)
};

// How scores become parameters: for a Normal (mean, variance) in the units of the target, else class probabilities.
struct Link {
    Objective objective;
    std::span<const double> start;  // (outputs): added to every score
    double location;                // of the Normal's target
    double scale;

    // Numbers that a prediction has for a row: a Bernoulli has one score but two probabilities.
    int parameters() const { return objective == Objective::bernoulli ? 2 : static_cast<int>(start.size()); }
};

// Writes (members * parts, rows, parameters).
template <class Number>
void predict(const Numbers<Number>& table, const Borders& borders, const ReadyTrees& trees, const Link& link, int threads,
             double* parameters);

}  // namespace epiboost
