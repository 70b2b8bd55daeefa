// One member in training: a chain of symmetric trees, F(t) = (1 - gamma * rate) F(t - 1) + rate * h(t).
//
// Every thread of a team runs `Chain::run` on its own share of the rows. A tree goes through these steps, each in a file of
// its own:
//   gradients    of all rows, with Langevin noise
//   structure    the rows that choose the splits, their gradients rounded to small whole numbers
//   grower       the splits, level by level, from histograms
//   leaf_values  from the unrounded gradients of all rows
// and then the score of every row moves by its leaf's value. All sums are of whole numbers and all maxima exact, so neither
// the number of threads nor the order of rows matters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/lookup.hpp"
#include "core/objective.hpp"
#include "core/team.hpp"
#include "training/gradients.hpp"
#include "training/grower.hpp"
#include "training/leaf_values.hpp"
#include "training/structure.hpp"
#include "training/task.hpp"

namespace epiboost {

// Where one chain writes its trees.
struct ChainOutput {
    std::uint16_t* feature;
    std::uint8_t* threshold;
    float* leaf;
    std::int32_t* count;
    double* evaluation;
};

template <class Layout>
class Chain {
  public:
    Chain(const Task& task, std::uint64_t seed, int threads, ChainOutput output)
        : task_(task), recipe_(task.recipe), output_(output), rows_(padded(task.table.rows)), gradients_(task, seed, threads),
          structure_(task, seed, threads), grower_(task, threads), leaf_values_(task, threads),
          scores_(rows_ * recipe_.outputs, 0.0f) {
        if (recipe_.guards_variance()) honest_.assign(rows_, 0.0f);
        if (task.evaluation_table) {
            const std::size_t n = padded(task.evaluation_table->rows);
            evaluation_scores_.assign(n * recipe_.outputs, 0.0f);
            block_losses_.resize(n / block);
        }
    }

    void run(Team team, Watch& watch, bool asks) {
        double best_loss = HUGE_VAL;
        int best_tree = -1;
        int tree = 0;
        for (; tree < recipe_.trees; ++tree) {
            fold_decay(team, tree);
            gradients_.compute(team, tree, scores(tree), honest_.empty() ? scores_.data() : honest_.data());
            team.barrier();
            structure_.prepare(team, tree, gradients_);
            if (team.rank == 0) leaf_values_.set_scale(gradients_);
            if (!grower_.grow(team, structure_, watch, asks)) return;
            leaf_values_.sum(team, gradients_, grower_.splits(team));
            team.barrier();
            move_scores(team, tree);
            if (task_.evaluation_table) {
                const double loss = evaluate(team, tree);
                if (loss < best_loss) {
                    best_loss = loss;
                    best_tree = tree;
                }
                if (recipe_.patience > 0 && tree - best_tree >= recipe_.patience) break;
            }
            if (team.rank == 0) watch.tree_done();
        }
        if (team.rank == 0) *output_.count = recipe_.patience > 0 ? std::max(best_tree, 0) + 1 : tree;
    }

  private:
    // c^t since the last folding; every thread computes the same.
    double decay_after(int trees) const { return std::pow(1.0 - recipe_.shrink * recipe_.learning_rate, trees - folded_at_); }

    Scores scores(int tree) const {
        return {scores_.data(), rows_, recipe_.start.data(), static_cast<float>(decay_after(tree))};
    }

    // Scores are stored as F / c^t. Before c^t gets so small that its inverse would overflow, it is multiplied in.
    void fold_decay(Team team, int tree) {
        const double decay = decay_after(tree);
        if (decay > 0x1p-20) return;
        team.barrier();
        for (auto* all : {&scores_, &honest_, &evaluation_scores_}) {
            for (std::size_t i = team.begin(all->size()); i < team.end(all->size()); ++i) (*all)[i] *= static_cast<float>(decay);
        }
        team.barrier();
        if (team.rank == 0) folded_at_ = tree;
        team.barrier();
    }

    void move_scores(Team team, int tree) {
        const LeafValues::Result leaves = leaf_values_.result();
        const float step = static_cast<float>(1.0 / decay_after(tree + 1));
        if (team.rank == 0) keep(tree, grower_.splits(team), leaves.value);
        if (!honest_.empty()) move_honest(team, leaves, step, scores(tree));
        const std::size_t count = leaves.weight.size();
        std::vector<float> moves(leaves.value.size());  // by output, in the units of the stored scores
        for (std::size_t leaf = 0; leaf < count; ++leaf) {
            for (int k = 0; k < recipe_.outputs; ++k) moves[k * count + leaf] = step * leaves.value[leaf * recipe_.outputs + k];
        }
        for (std::size_t b = team.begin(rows_ / block); b < team.end(rows_ / block); ++b) {
            move_block(leaf_values_.leaf() + b * block, moves, scores_.data() + b * block, rows_);
        }
        if (!task_.evaluation_table) return;
        const Table& table = *task_.evaluation_table;
        const Splits& splits = grower_.splits(team);
        std::uint8_t leaf[block];
        for (std::size_t b = team.begin(block_losses_.size()); b < team.end(block_losses_.size()); ++b) {
            find_leaves([&](int level) { return table.column(splits.feature[level]) + b * block; }, splits.threshold,
                        recipe_.depth, leaf);
            move_block(leaf, moves, evaluation_scores_.data() + b * block, padded(table.rows));
        }
    }

    void move_block(const std::uint8_t* leaf, const std::vector<float>& moves, float* scores, std::size_t stride) const {
        const int leaves = 1 << recipe_.depth;
        for (int k = 0; k < recipe_.outputs; ++k) {
            float found[block];
            look_up(moves.data() + k * leaves, leaves, leaf, found);
            float* __restrict score = scores + k * stride;
            for (std::size_t i = 0; i < block; ++i) score[i] += found[i];
        }
    }

    // The mean score without the row's own pull on its leaf: what a model that had not seen the row would say, as far as
    // leaf values go.
    void move_honest(Team team, const LeafValues::Result& leaves, float step, const Scores& scores) {
        const float rate = step * static_cast<float>(recipe_.learning_rate);
        std::vector<float> gradient(leaves.weight.size());
        std::vector<float> size(leaves.weight.size());
        for (std::size_t leaf = 0; leaf < size.size(); ++leaf) {
            gradient[leaf] = static_cast<float>(leaves.gradient[leaf * recipe_.outputs]);
            size[leaf] = static_cast<float>(leaves.weight[leaf] + recipe_.l2);
        }
        const int count = 1 << recipe_.depth;
        for (std::size_t b = team.begin(rows_ / block); b < team.end(rows_ / block); ++b) {
            const std::size_t row = b * block;
            float leaf_gradient[block];
            float leaf_size[block];
            look_up(gradient.data(), count, leaf_values_.leaf() + row, leaf_gradient);
            look_up(size.data(), count, leaf_values_.leaf() + row, leaf_size);
            const float* weight = gradients_.weight() + row;
            const float* y = task_.target.y.data() + row;
            float* __restrict honest = honest_.data() + row;
            for (std::size_t i = 0; i < block; ++i) {
                const float own = weight[i] * (scores.at(0, row + i) - y[i]);
                const float others = leaf_size[i] - weight[i];
                const float pull = rate * (leaf_gradient[i] - own) / (others > 1e-20f ? others : 1.0f);
                honest[i] -= others > 1e-20f ? pull : 0.0f;
            }
        }
    }

    void keep(int tree, const Splits& splits, const std::vector<float>& value) {
        std::copy_n(splits.feature, recipe_.depth, output_.feature + static_cast<std::size_t>(tree) * recipe_.depth);
        std::copy_n(splits.threshold, recipe_.depth, output_.threshold + static_cast<std::size_t>(tree) * recipe_.depth);
        std::copy(value.begin(), value.end(), output_.leaf + static_cast<std::size_t>(tree) * value.size());
    }

    // The loss on the evaluation table, summed block by block so that threads do not change it.
    double evaluate(Team team, int tree) {
        const Table& table = *task_.evaluation_table;
        const Target& target = *task_.evaluation_target;
        const Scores scores{evaluation_scores_.data(), padded(table.rows), recipe_.start.data(),
                            static_cast<float>(decay_after(tree + 1))};
        for (std::size_t b = team.begin(block_losses_.size()); b < team.end(block_losses_.size()); ++b) {
            double loss = 0.0;
            for (std::size_t row = b * block; row < std::min((b + 1) * block, table.rows); ++row) {
                loss += target.weight[row] *
                        negative_log_likelihood(recipe_.objective, scores, recipe_.outputs, target.y[row], row);
            }
            block_losses_[b] = loss;
        }
        team.barrier();
        double loss = 0.0;
        for (const double part : block_losses_) loss += part;
        team.barrier();
        loss /= target.total_weight;
        if (team.rank == 0) output_.evaluation[tree] = loss;
        return loss;
    }

    const Task& task_;
    const Recipe& recipe_;
    ChainOutput output_;
    std::size_t rows_;
    Gradients gradients_;
    Structure<Layout> structure_;
    Grower<Layout> grower_;
    LeafValues leaf_values_;
    std::vector<float> scores_;             // (outputs, rows), as F / c^t and without the start
    std::vector<float> honest_;             // (rows): the mean's, leave-one-out
    std::vector<float> evaluation_scores_;  // (outputs, evaluation rows)
    std::vector<double> block_losses_;
    int folded_at_ = 0;
};

}  // namespace epiboost
