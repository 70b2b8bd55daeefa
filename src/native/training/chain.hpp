// Trains one member: a chain of trees, F(t) = (1 - gamma * rate) F(t - 1) + rate * h(t).
//
// Every thread of a group runs `Chain::run` on its share of the rows. Each tree takes these steps, each in a file of its own:
//   gradients     of all rows, with Langevin noise
//   split_sample  the rows that choose the splits, their gradients rounded to small integers
//   grower        the splits, from histograms: symmetric_grower level by level, leafwise_grower leaf by leaf
//   leaf_values   from the unrounded gradients of all rows
//   monotone      leaf values in the order that constraints ask for, if there are any
//   leave_one_out the mean score of every row without its own influence, for the variance guard
// Then the score of every row is updated with the value of its leaf. Trees that are given are not grown: their gradients and leaf
// sums are computed anew, so that all state of the chain is as it was when they were grown. All sums are of integers and all
// maxima are exact, so the number of threads and the order of rows do not change the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/leaf_lookup.hpp"
#include "core/monitor.hpp"
#include "core/objective.hpp"
#include "core/thread_group.hpp"
#include "training/context.hpp"
#include "training/gradients.hpp"
#include "training/grower.hpp"
#include "training/leaf_values.hpp"
#include "training/leave_one_out.hpp"
#include "training/monotone.hpp"

namespace epiboost {

// Destination of one chain's trees.
struct ChainOutput {
    std::uint16_t* feature;
    std::uint8_t* threshold;
    std::uint8_t* parent;  // null for symmetric trees
    float* leaf;
    double* evaluation;  // null if the loss is not measured
    int given;           // number of trees that are there already
};

// What a chain carries from tree to tree. Everything else is computed anew for each tree, from its number and the seed.
struct ChainState {
    explicit ChainState(const TrainingContext& context)
        : scores(padded(context.table.rows) * context.recipe.outputs, 0.0f) {
        if (context.recipe.guards_variance()) leave_one_out.assign(padded(context.table.rows), 0.0f);
        if (context.evaluation_table) {
            evaluation_scores.assign(padded(context.evaluation_table->rows) * context.recipe.outputs, 0.0f);
        }
    }

    std::vector<float> scores;             // (outputs, rows), as F / c^t and without the start
    std::vector<float> leave_one_out;      // (rows): leave-one-out scores of the mean; empty without variance guard
    std::vector<float> evaluation_scores;  // (outputs, evaluation rows)
    int rescaled_at = 0;

    // c^t since the scores were last rescaled.
    double decay_after(const ChainRecipe& recipe, int trees) const {
        return std::pow(1.0 - recipe.shrink * recipe.learning_rate, trees - rescaled_at);
    }
};

class Chain {
  public:
    Chain(const TrainingContext& context, HistogramLayout layout, std::uint64_t seed, int threads, ChainState& state,
          ChainOutput output)
        : context_(context), recipe_(context.recipe), state_(state), output_(output), rows_(padded(context.table.rows)),
          gradients_(context, seed, threads), grower_(make_grower(layout, context, gradients_, seed, threads)),
          leaf_values_(context, threads) {
        if (context.evaluation_table) block_losses_.resize(padded(context.evaluation_table->rows) / block);
    }

    // Grows the trees from `first` to before `last`.
    void run(ThreadGroup group, int first, int last, TrainingMonitor& monitor, bool polls) {
        for (int tree = first; tree < last; ++tree) {
            prepare(group, tree);
            if (!grow(group, tree, false, monitor, polls)) return;
        }
    }

    // Whether a tree is there already.
    bool is_given(int tree) const { return tree < output_.given; }

    // The root of the tree that has been prepared.
    Root root() { return grower_->root(); }

    // Computes the gradients for a tree.
    void prepare(ThreadGroup group, int tree) {
        rescale_scores(group, tree);
        const float* mean_scores = state_.leave_one_out.empty() ? state_.scores.data() : state_.leave_one_out.data();
        gradients_.compute(group, tree, scores(tree), mean_scores);
        group.barrier();
        if (!is_given(tree)) grower_->prepare(group, tree, gradients_);
        if (group.rank == 0) leaf_values_.set_scale(gradients_);
    }

    // Grows that tree and adds it to the scores. Returns false if the caller wants to stop.
    bool grow(ThreadGroup group, int tree, bool root_is_summed, TrainingMonitor& monitor, bool polls) {
        const bool goes_on = is_given(tree) ? restore(group, tree, monitor, polls)
                                            : grower_->grow(group, tree, root_is_summed, monitor, polls);
        if (!goes_on) return false;
        leaf_values_.sum(group, gradients_, splits(group, tree));
        group.barrier();
        update_scores(group, tree);
        if (output_.evaluation != nullptr && context_.evaluation_table) evaluate(group, tree);
        if (group.rank == 0) monitor.tree_done();
        return true;
    }

  private:
    // Reads the splits of a given tree. Returns false if the caller wants to stop, as `grow`.
    bool restore(ThreadGroup group, int tree, TrainingMonitor& monitor, bool polls) {
        if (polls) monitor.poll();
        if (group.rank == 0) {
            stop_ = monitor.stopped();
            const auto count = static_cast<std::size_t>(recipe_.splits());
            std::copy_n(output_.feature + tree * count, count, given_.feature);
            std::copy_n(output_.threshold + tree * count, count, given_.threshold);
            if (output_.parent != nullptr) std::copy_n(output_.parent + tree * count, count, given_.parent);
        }
        group.barrier();
        return !stop_;
    }

    const Splits& splits(ThreadGroup group, int tree) const {
        return is_given(tree) ? given_ : grower_->splits(group);
    }

    static constexpr double min_decay = 0x1p-20;  // far from overflow, and so rare that rescaling costs nothing

    // Every thread computes the same number.
    double decay_after(int trees) const { return state_.decay_after(recipe_, trees); }

    Scores scores(int tree) const {
        return {state_.scores.data(), rows_, recipe_.start.data(), static_cast<float>(decay_after(tree))};
    }

    // Scores are stored as F / c^t. They are multiplied by c^t before its inverse could overflow single precision.
    void rescale_scores(ThreadGroup group, int tree) {
        const double decay = decay_after(tree);
        if (decay > min_decay) return;
        group.barrier();
        for (auto* all : {&state_.scores, &state_.leave_one_out, &state_.evaluation_scores}) {
            const std::size_t end = group.end(all->size());
            for (std::size_t i = group.begin(all->size()); i < end; ++i) (*all)[i] *= static_cast<float>(decay);
        }
        group.barrier();
        if (group.rank == 0) state_.rescaled_at = tree;
        group.barrier();
    }

    void update_scores(ThreadGroup group, int tree) {
        LeafValues::Result leaves = leaf_values_.result();
        const MonotoneLeaves changed = make_monotone(recipe_, splits(group, tree), leaves);
        const auto outputs = static_cast<std::size_t>(recipe_.outputs);
        const float scale = static_cast<float>(1.0 / decay_after(tree + 1));
        const bool trained_on_rows = !is_given(tree) || take_given_values(tree, leaves.value);
        if (group.rank == 0 && !is_given(tree)) store_tree(tree, splits(group, tree), leaves.value);
        const bool leaves_out = !state_.leave_one_out.empty() && trained_on_rows;
        LeaveOneOutStep step(context_, leaves, changed, scale, scores(tree), gradients_.own());
        LeafNumbers numbers(leaves.weight.size(), outputs + (leaves_out ? LeaveOneOutStep::numbers : 0));
        for (std::size_t leaf = 0; leaf < leaves.weight.size(); ++leaf) {  // in the units of the stored scores
            for (std::size_t k = 0; k < outputs; ++k) numbers.set(k, leaf, scale * leaves.value[leaf * outputs + k]);
        }
        if (leaves_out) step.set_numbers(numbers, outputs);
        for (std::size_t b = group.begin(rows_ / block); b < group.end(rows_ / block); ++b) {
            const std::size_t row = b * block;
            const std::uint8_t* leaf = leaf_values_.leaf() + row;
            numbers.look_up(leaf);
            if (leaves_out) {  // from the scores before the tree
                step.update_block(row, leaf, numbers.of_rows(outputs), numbers.of_rows(outputs + 1), gradients_.weight() + row,
                                  state_.leave_one_out.data() + row);
            } else if (!state_.leave_one_out.empty()) {
                add_steps(numbers, 1, state_.leave_one_out.data() + row, rows_);
            }
            add_steps(numbers, outputs, state_.scores.data() + row, rows_);
        }
        if (!context_.evaluation_table) return;
        const Table& table = *context_.evaluation_table;
        const Splits& splits = this->splits(group, tree);
        std::uint8_t leaf[block];
        for (std::size_t b = group.begin(block_losses_.size()); b < group.end(block_losses_.size()); ++b) {
            splits.find_leaves_of(table, b * block, 1, recipe_, leaf);
            numbers.look_up(leaf);
            add_steps(numbers, outputs, state_.evaluation_scores.data() + b * block, padded(table.rows));
        }
    }

    // Adds the first numbers of a block of rows to their scores, one array of `stride` rows per output.
    static void add_steps(const LeafNumbers& numbers, std::size_t outputs, float* scores, std::size_t stride) {
        for (std::size_t k = 0; k < outputs; ++k) {
            const float* step = numbers.of_rows(k);
            float* __restrict score = scores + k * stride;
            for (std::size_t i = 0; i < block; ++i) score[i] += step[i];
        }
    }

    // Replaces leaf values by those of a given tree. Returns whether they are the same: then the tree was trained on these rows.
    // Otherwise the rows have had no influence on it, and their leave-one-out score takes the same step as their score.
    bool take_given_values(int tree, std::vector<float>& value) const {
        const float* given = output_.leaf + static_cast<std::size_t>(tree) * value.size();
        const bool are_same = std::equal(value.begin(), value.end(), given);
        std::copy_n(given, value.size(), value.begin());
        return are_same;
    }

    void store_tree(int tree, const Splits& splits, const std::vector<float>& value) {
        const auto count = static_cast<std::size_t>(recipe_.splits());
        std::copy_n(splits.feature, count, output_.feature + tree * count);
        std::copy_n(splits.threshold, count, output_.threshold + tree * count);
        if (output_.parent != nullptr) std::copy_n(splits.parent, count, output_.parent + tree * count);
        std::copy(value.begin(), value.end(), output_.leaf + static_cast<std::size_t>(tree) * value.size());
    }

    // The loss on the evaluation table. It is summed by blocks, so that the number of threads does not change it.
    void evaluate(ThreadGroup group, int tree) {
        const Table& table = *context_.evaluation_table;
        const Target& target = *context_.evaluation_target;
        const Scores scores{state_.evaluation_scores.data(), padded(table.rows), recipe_.start.data(),
                            static_cast<float>(decay_after(tree + 1))};
        std::vector<float> shifted(target.offset.empty() ? 0 : recipe_.outputs);
        const std::size_t stride = padded(table.rows);
        const auto loss_of = [&](std::size_t row) {
            if (target.offset.empty()) {
                return negative_log_likelihood(recipe_.objective, scores, recipe_.outputs, recipe_.constants.data(), &target.y[row],
                                               stride, row);
            }
            const Scores own = with_offset(scores, target.offset.data(), recipe_.outputs, row, 1, shifted.data());
            return negative_log_likelihood(recipe_.objective, own, recipe_.outputs, recipe_.constants.data(), &target.y[row], stride, 0);
        };
        for (std::size_t b = group.begin(block_losses_.size()); b < group.end(block_losses_.size()); ++b) {
            double loss = 0.0;
            for (std::size_t row = b * block; row < std::min((b + 1) * block, table.rows); ++row) {
                loss += target.weight[row] * loss_of(row);
            }
            block_losses_[b] = loss;
        }
        group.barrier();
        double loss = 0.0;
        for (const double part : block_losses_) loss += part;
        group.barrier();
        if (group.rank == 0) output_.evaluation[tree] = loss / target.total_weight;
    }

    const TrainingContext& context_;
    const ChainRecipe& recipe_;
    ChainState& state_;
    ChainOutput output_;
    std::size_t rows_;
    Gradients gradients_;
    std::unique_ptr<Grower> grower_;
    LeafValues leaf_values_;
    std::vector<double> block_losses_;
    Splits given_;  // of the current tree, if it is given
    bool stop_ = false;
};

}  // namespace epiboost
