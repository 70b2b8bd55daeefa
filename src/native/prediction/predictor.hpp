// Distribution parameters of all members for a table of numbers, or of bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bins/bins.hpp"
#include "core/problem.hpp"
#include "prediction/ready_trees.hpp"

namespace epiboost {

// How scores become parameters: for a Normal (mean, variance) in the units of the target, else class probabilities.
struct Link {
    Objective objective;
    std::vector<double> start;  // (outputs): added to every score
    double location;            // of the Normal's target
    double scale;

    // Numbers that a prediction has for a row: a Bernoulli has one score but two probabilities.
    std::size_t parameters() const { return objective == Objective::bernoulli ? 2 : start.size(); }
};

// Those of a forest's chains that are asked.
struct Chains {
    std::size_t first;
    std::size_t count;
};

// A forest made ready once, for any number of tables.
class Predictor {
  public:
    Predictor(const RawTrees& raw, const Borders& borders, Link link);

    std::size_t chains() const { return trees_.members; }
    std::size_t parts() const { return trees_.parts_each; }
    std::size_t parameters() const { return link_.parameters(); }

    // Writes (chains * parts, rows, parameters).
    template <class Number>
    void predict(const Numbers<Number>& table, Chains chains, int threads, double* parameters) const;

  private:
    ReadyTrees trees_;
    std::vector<double> border_;
    std::vector<std::int64_t> offset_;
    std::vector<BorderGroups> groups_;
    Link link_;
};

}  // namespace epiboost
