// Predicts the distribution parameters of all members, or summaries of them, for a table of numbers or of bins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bins/bins.hpp"
#include "core/problem.hpp"
#include "core/threads.hpp"
#include "prediction/compiled_trees.hpp"
#include "prediction/link.hpp"
#include "prediction/normal_summary.hpp"
#include "prediction/row_order.hpp"

namespace epiboost {

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
    bool is_normal() const { return link_.objective == Objective::normal; }

    // Writes an array of shape (chains * segments, rows, parameters).
    template <class Number>
    void predict(const StridedTable<Number>& table, ChainRange chains, int threads, double* parameters, const Poll& poll) const;

    // Writes the summaries of the ensemble of Normals of all chains and segments, whose parameters are never written as a whole.
    template <class Number>
    void summarize(const StridedTable<Number>& table, const NormalRecalibration* recalibration, int threads,
                   const NormalSummaries& summaries, const Poll& poll) const;

  private:
    CompiledTrees trees_;
    std::vector<ColumnSplits> column_splits_;
    std::vector<double> border_;
    std::vector<std::int64_t> offset_;
    std::vector<BorderIndex> border_index_;
    Link link_;
};

}  // namespace epiboost
