// Predicts the distribution parameters of all members for a table of numbers or of bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bins/bins.hpp"
#include "core/problem.hpp"
#include "core/threads.hpp"
#include "prediction/compiled_trees.hpp"

namespace epiboost {

// Maps scores to parameters: (mean, variance) of a Normal in the units of the target, or class probabilities. The scores of other
// families are returned as they are.
struct Link {
    Objective objective;
    std::vector<double> start;  // (outputs): initial score
    double location;            // mean and standard deviation of the Normal's target
    double scale;

    // Number of parameters per row. A Bernoulli has one score but two probabilities.
    std::size_t parameters() const { return objective == Objective::bernoulli ? 2 : start.size(); }
};

// A range of a forest's chains.
struct ChainRange {
    std::size_t first;
    std::size_t count;
};

// A compiled forest, for any number of tables.
class Predictor {
  public:
    Predictor(const ForestArrays& forest, const Borders& borders, Link link);

    std::size_t chains() const { return trees_.members; }
    std::size_t segments() const { return trees_.segments_per_chain; }
    std::size_t parameters() const { return link_.parameters(); }

    // Writes an array of shape (chains * segments, rows, parameters).
    template <class Number>
    void predict(const StridedTable<Number>& table, ChainRange chains, int threads, double* parameters, const Poll& poll) const;

  private:
    CompiledTrees trees_;
    std::vector<double> border_;
    std::vector<std::int64_t> offset_;
    std::vector<BorderIndex> border_index_;
    Link link_;
};

}  // namespace epiboost
