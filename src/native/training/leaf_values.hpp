// Values of a tree's leaves, -sum(gradients) / (sum(weights) + l2), from the unrounded gradients of all rows.
//
// Sums are in fixed point, so that neither the number of threads nor the order of rows matters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/leaves.hpp"
#include "core/team.hpp"
#include "training/gradients.hpp"
#include "training/grower.hpp"
#include "training/task.hpp"

namespace epiboost {

class LeafValues {
  public:
    LeafValues(const Task& task, int threads)
        : task_(task), outputs_(task.recipe.outputs), leaves_(1 << task.recipe.depth), leaf_(padded(task.table.rows)),
          sums_(threads, std::vector<std::int64_t>(copies * leaves_ * (outputs_ + 1))),
          scale_(outputs_ + 1) {}

    const std::uint8_t* leaf() const { return leaf_.data(); }  // of every row

    // What a leaf's rows add up to, and what the leaf is worth.
    struct Result {
        std::vector<double> gradient;  // (leaves, outputs)
        std::vector<double> weight;    // (leaves), without l2
        std::vector<float> value;      // (leaves, outputs), learning rate included
    };

    // Powers of two that bring every number below 2^30: sums of a billion of them fit 64 bits.
    void set_scale(const Gradients& gradients) {
        for (int k = 0; k < outputs_; ++k) scale_[k] = fixed_point(gradients.largest(k));
        scale_[outputs_] = fixed_point(task_.largest_weight);
    }

    // Finds the leaves of this thread's rows and adds up what falls into them.
    void sum(Team team, const Gradients& gradients, const Splits& splits) {
        std::vector<std::int64_t>& sums = sums_[team.rank];
        std::fill(sums.begin(), sums.end(), 0);
        const int width = outputs_ + 1;
        std::vector<std::int32_t> fixed(static_cast<std::size_t>(width) * block);
        for (std::size_t b = team.begin(leaf_.size() / block); b < team.end(leaf_.size() / block); ++b) {
            const std::size_t row = b * block;
            std::uint8_t* leaf = leaf_.data() + row;
            find_leaves([&](int level) { return task_.table.column(splits.feature[level]) + row; }, splits.threshold,
                        task_.recipe.depth, leaf);
            for (int k = 0; k < width; ++k) {
                const float* __restrict values = (k < outputs_ ? gradients.of(k) : gradients.weight()) + row;
                std::int32_t* __restrict own = fixed.data() + k * block;
                const float scale = scale_[k];
                for (std::size_t i = 0; i < block; ++i) own[i] = nearest(values[i] * scale);
            }
            add_block(leaf, fixed.data(), sums.data());
        }
    }

    // Every thread works out the same values.
    Result result() const {
        Result result{std::vector<double>(static_cast<std::size_t>(leaves_) * outputs_), std::vector<double>(leaves_),
                      std::vector<float>(static_cast<std::size_t>(leaves_) * outputs_)};
        for (int leaf = 0; leaf < leaves_; ++leaf) {
            result.weight[leaf] = total(leaf, outputs_);
            for (int k = 0; k < outputs_; ++k) {
                const double gradient = total(leaf, k);
                const bool guarded = k == 1 && task_.recipe.guards_variance();
                const double weight = result.weight[leaf] + task_.recipe.l2 + (guarded ? task_.recipe.variance_guard : 0.0);
                result.gradient[leaf * outputs_ + k] = gradient;
                result.value[leaf * outputs_ + k] =
                    static_cast<float>(weight > 1e-20 ? -task_.recipe.learning_rate * gradient / weight : 0.0);
            }
        }
        return result;
    }

  private:
    static constexpr std::size_t copies = 4;

    static std::int32_t nearest(float x) { return static_cast<std::int32_t>(x + (x < 0.0f ? -0.5f : 0.5f)); }

    static float fixed_point(float largest) {
        if (!(largest > 0.0f)) return 1.0f;
        return static_cast<float>(std::ldexp(1.0, std::min(29 - std::ilogb(largest), 120)));
    }

    // Adds a block's numbers, one array of rows a lane, to the sums of their leaves. Neighbours go to different copies of the
    // sums: many fall into the same leaf, and one would have to wait for the other.
    void add_block(const std::uint8_t* leaf, const std::int32_t* __restrict fixed, std::int64_t* __restrict sums) const {
        const std::size_t size = static_cast<std::size_t>(leaves_) * (outputs_ + 1);
        if (outputs_ == 2) {  // the Normal: worth a loop without a loop inside
            for (std::size_t i = 0; i < block; i += copies) {
                for (std::size_t copy = 0; copy < copies; ++copy) {
                    std::int64_t* sum = sums + copy * size + leaf[i + copy] * 3;
                    sum[0] += fixed[i + copy];
                    sum[1] += fixed[block + i + copy];
                    sum[2] += fixed[2 * block + i + copy];
                }
            }
            return;
        }
        for (int k = 0; k <= outputs_; ++k) {
            for (std::size_t i = 0; i < block; ++i) {
                sums[i % copies * size + leaf[i] * (outputs_ + 1) + k] += fixed[k * block + i];
            }
        }
    }

    double total(int leaf, int lane) const {
        std::int64_t sum = 0;
        const std::size_t size = static_cast<std::size_t>(leaves_) * (outputs_ + 1);
        for (const auto& own : sums_) {
            for (std::size_t copy = 0; copy < copies; ++copy) sum += own[copy * size + leaf * (outputs_ + 1) + lane];
        }
        return static_cast<double>(sum) / scale_[lane];
    }

    const Task& task_;
    int outputs_;
    int leaves_;
    std::vector<std::uint8_t> leaf_;
    std::vector<std::vector<std::int64_t>> sums_;  // by thread: (copies, leaves, outputs + 1), the last lane for weights
    std::vector<float> scale_;
};

}  // namespace epiboost
