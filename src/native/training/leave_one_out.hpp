// The leave-one-out scores of the mean, from which the variance guard learns: the gradient of one copy of each row is removed from
// the value of its leaf. Approximates the prediction of a model that was not trained on the row.
//
// A weight above one counts merged copies of equal rows: a row among them has the others as neighbours, and they stay. Without the
// row, its neighbours (the rows with the same bins) would have its leave-one-out score; that changes their gradients by
// `towards_row`. What `make_monotone` has added to a leaf is added here too, and the row's influence is that on the value it has
// made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/leaf_lookup.hpp"
#include "core/objective.hpp"
#include "training/context.hpp"
#include "training/leaf_values.hpp"
#include "training/leave_one_out_row.hpp"
#include "training/monotone.hpp"

namespace epiboost {

// The step that one tree takes.
class LeaveOneOutStep {
  public:
    // `scale` takes leaf values to the units of the stored scores; `scores` are those before the tree. `own_gradient` is the gradient of
    // the first output of each row, or null for a Normal.
    LeaveOneOutStep(const TrainingContext& context, const LeafValues::Result& leaves, const MonotoneLeaves& changed, float scale,
                    const Scores& scores, const float* own_gradient)
        : context_(context), recipe_(context.recipe), changed_(changed), scores_(scores), own_gradient_(own_gradient), scale_(scale),
          leaves_(leaves), order_(changed.shift.empty() ? 0 : leaves.weight.size(), 3) {
        for (std::size_t leaf = 0; leaf < changed.shift.size(); ++leaf) {
            order_.set(0, leaf, changed.before[leaf]);
            order_.set(1, leaf, changed.shift[leaf]);
            order_.set(2, leaf, changed.share[leaf]);
        }
    }

    static constexpr std::size_t numbers = 2;  // per leaf that `update_block` needs

    // Sets these numbers, of which the first has the given place.
    void set_numbers(LeafNumbers& of_leaf, std::size_t first) const {
        for (std::size_t leaf = 0; leaf < leaves_.weight.size(); ++leaf) {
            of_leaf.set(first, leaf, static_cast<float>(leaves_.gradient[leaf * recipe_.outputs]));
            of_leaf.set(first + 1, leaf, static_cast<float>(leaves_.weight[leaf] + recipe_.l2));
        }
    }

    // Updates the leave-one-out scores of the block of rows that begins at `row`. All arrays are of the block: the leaves of the
    // rows, the numbers of these leaves, and the weights of the rows in this tree.
    void update_block(std::size_t row, const std::uint8_t* leaf, const float* leaf_gradient, const float* leaf_size,
                      const float* weight, float* __restrict leave_one_out) {
        const float rate = scale_ * static_cast<float>(recipe_.learning_rate);
        const float* y = context_.target.y.data() + row;
        float previous[block];
        std::copy_n(leave_one_out, block, previous);
        float towards_row[block] = {};
        if (!context_.neighbour_weight.empty()) {
            const float* neighbours = context_.neighbour_weight.data() + row;
            const float share = static_cast<float>(recipe_.subsample) * scores_.decay;
            for (std::size_t i = 0; i < block; ++i) {
                towards_row[i] = share * neighbours[i] * (previous[i] - scores_.raw[row + i]);
            }
        }
        for (std::size_t i = 0; i < block; ++i) {
            const LeafTotals totals{leaf_gradient[i], leaf_size[i]};
            const float gradient = own_gradient_ ? own_gradient_[row + i] : scores_.at(0, row + i) - y[i];
            leave_one_out[i] -= leave_one_out_step(totals, weight[i], gradient, towards_row[i], rate);
        }
        if (!changed_.shift.empty()) follow_order(leaf, previous, leave_one_out);
    }

  private:
    // Adds what the order of monotone leaves has changed.
    void follow_order(const std::uint8_t* leaf, const float* previous, float* __restrict leave_one_out) {
        order_.look_up(leaf);
        const float* before = order_.of_rows(0);
        const float* shift = order_.of_rows(1);
        const float* share = order_.of_rows(2);
        for (std::size_t i = 0; i < block; ++i) {
            const float own_influence = scale_ * before[i] - (leave_one_out[i] - previous[i]);
            leave_one_out[i] += scale_ * shift[i] + (1.0f - share[i]) * own_influence;
        }
    }

    const TrainingContext& context_;
    const ChainRecipe& recipe_;
    const MonotoneLeaves& changed_;
    Scores scores_;
    const float* own_gradient_;
    float scale_;
    const LeafValues::Result& leaves_;
    LeafNumbers order_;  // what the order of monotone leaves has changed, see MonotoneLeaves
};

}  // namespace epiboost
