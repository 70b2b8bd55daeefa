// Leaf values of a tree, -sum(gradients) / (sum(weights) + l2), from the unrounded gradients of all rows.
//
// Sums are in fixed point, so the number of threads and the order of rows do not change them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned_words.hpp"
#include "core/integer_vector.hpp"
#include "core/interleave.hpp"
#include "core/thread_group.hpp"
#include "families/families.hpp"
#include "training/context.hpp"
#include "training/gradients.hpp"
#include "training/leaf_step.hpp"
#include "training/rounding.hpp"
#include "training/splits.hpp"

namespace epiboost {

class LeafValues {
  public:
    LeafValues(const TrainingContext& context, int threads)
        : context_(context), outputs_(context.recipe.outputs), leaves_(context.recipe.leaf_count()),
          width_(outputs_ == 2 ? normal_width : outputs_ + 1), leaf_(padded(context.table.rows)),
          sums_(threads, AlignedWords(copies * leaves_ * width_)),
          bounds_(outputs_, StepBound::none), scale_(outputs_ + 1), spare_bits_(spare_bits(context)) {
        with_family(context.recipe.objective, [&](auto family) {
            std::copy_n(family.step_bound, family.outputs, bounds_.begin());
        });
        if (context.recipe.objective == Objective::normal) bounds_[1] = StepBound::log_dispersion;
        if (context.recipe.separates_noise()) noise_sums_.assign(threads, std::vector<std::int64_t>(leaves_));
    }

    const std::uint8_t* leaf() const { return leaf_.data(); }  // leaf index of every row

    // Sums over the rows of each leaf, and leaf values.
    struct Result {
        std::vector<double> gradient;  // (leaves, outputs)
        std::vector<double> weight;    // (leaves), without l2
        std::vector<float> value;      // (leaves, outputs), learning rate included
        std::vector<double> noise;     // (leaves): noise in the gradients of the first output; empty if it is not separated
    };

    // Scales by powers of two so that every number is below 2^30, or 2^(30 + spare bits). Sums of all rows fit 64 bits.
    void set_scale(const Gradients& gradients) {
        for (int k = 0; k < outputs_; ++k) scale_[k] = fixed_point(gradients.largest(k), spare_bits_);
        scale_[outputs_] = fixed_point(context_.largest_weight, spare_bits_);
        if (!noise_sums_.empty()) noise_scale_ = fixed_point(gradients.largest_noise(), unused_bits(context_));
    }

    // Finds the leaves of this thread's rows and sums gradients and weights per leaf.
    void sum(ThreadGroup group, const Gradients& gradients, const Splits& splits) {
        AlignedWords& sums = sums_[group.rank];
        sums.fill_zeros(copies * leaves_ * width_);
        const std::size_t end = group.end(leaf_.size() / block);
        for (std::size_t b = group.begin(leaf_.size() / block); b < end; b += blocks_at_once) {
            const std::size_t blocks = std::min(blocks_at_once, end - b);
            splits.find_leaves_of(context_.table, b * block, blocks, context_.recipe, leaf_.data() + b * block);
        }
        if (spare_bits_ == 0) {
            add_rows<std::int32_t>(group, gradients, sums.data());
        } else {
            add_rows<std::int64_t>(group, gradients, sums.data());
        }
        if (!noise_sums_.empty()) sum_noise(group, gradients.noise());
    }

    // Every thread computes the same values.
    Result result() const {
        Result result{std::vector<double>(static_cast<std::size_t>(leaves_) * outputs_), std::vector<double>(leaves_),
                      std::vector<float>(static_cast<std::size_t>(leaves_) * outputs_), {}};
        for (int leaf = 0; leaf < leaves_; ++leaf) {
            result.weight[leaf] = total(leaf, outputs_);
            for (int k = 0; k < outputs_; ++k) {
                const double gradient = total(leaf, k);
                const double weight = result.weight[leaf] + context_.recipe.l2;
                result.gradient[leaf * outputs_ + k] = gradient;
                result.value[leaf * outputs_ + k] =
                    static_cast<float>(weight > 1e-20 ? leaf_step(gradient / weight, context_.recipe.learning_rate, bounds_[k]) : 0.0);
            }
        }
        if (noise_sums_.empty()) return result;
        for (int leaf = 0; leaf < leaves_; ++leaf) {
            std::int64_t sum = 0;
            for (const auto& of_thread : noise_sums_) sum += of_thread[leaf];
            result.noise.push_back(static_cast<double>(sum) / noise_scale_);
        }
        return result;
    }

  private:
    static constexpr std::size_t copies = 4;  // of the sums: hides the latency of an addition, see add_block
    static constexpr std::size_t normal_width = 4;  // one word that is not used, so that a leaf of two outputs is one vector

    // One row may be so heavy that 30 bits of its gradient leave none for others. There is room for more bits if there are not
    // too many rows.
    static int spare_bits(const TrainingContext& context) {
        const std::span weights(context.target.weight.data(), context.table.rows);
        if (context.largest_weight < 1024.0f * std::max(1.0f, *std::ranges::min_element(weights))) return 0;
        return unused_bits(context);
    }

    // Bits that a sum of 30 bits of each row leaves unused, of 63.
    static int unused_bits(const TrainingContext& context) {
        return std::max(0, 32 - static_cast<int>(std::bit_width(context.table.rows)));
    }

    // Adds this thread's rows to its sums.
    template <class Integer>
    void add_rows(ThreadGroup group, const Gradients& gradients, std::int64_t* sums) const {
        std::vector<Integer> fixed(static_cast<std::size_t>(outputs_ + 1) * block);
        for (std::size_t b = group.begin(leaf_.size() / block); b < group.end(leaf_.size() / block); ++b) {
            for (int k = 0; k <= outputs_; ++k) {
                const float* __restrict values = (k < outputs_ ? gradients.of(k) : gradients.weight()) + b * block;
                Integer* __restrict lane = fixed.data() + k * block;
                const float scale = scale_[k];
                for (std::size_t i = 0; i < block; ++i) lane[i] = round_to_nearest<Integer>(values[i] * scale);
            }
            add_block(leaf_.data() + b * block, fixed.data(), sums);
        }
    }

    // Adds a block's numbers, one array of rows per lane, to the sums of their leaves. Neighbouring rows go to different
    // copies of the sums, because many fall into the same leaf and would have to wait for each other's addition.
    template <class Integer>
    void add_block(const std::uint8_t* leaf, const Integer* __restrict fixed, std::int64_t* __restrict sums) const {
        const std::size_t size = leaves_ * width_;
        if (outputs_ == 2) {  // the Normal, the most common case: one vector per row
            Integer rows[block * normal_width];
            interleave_three(fixed, rows);
            for (std::size_t i = 0; i < block; i += copies) {
                for (std::size_t copy = 0; copy < copies; ++copy) {
                    std::int64_t* const sum = sums + copy * size + leaf[i + copy] * normal_width;
                    IntegerVector<std::int64_t, normal_width> row;
                    row.load_narrow(rows + (i + copy) * normal_width);
                    row.add(sum);
                    row.store(sum);
                }
            }
            return;
        }
        for (int k = 0; k <= outputs_; ++k) {
            for (std::size_t i = 0; i < block; ++i) sums[i % copies * size + leaf[i] * width_ + k] += fixed[k * block + i];
        }
    }

    void sum_noise(ThreadGroup group, const float* noise) {
        std::vector<std::int64_t>& sums = noise_sums_[group.rank];
        std::fill(sums.begin(), sums.end(), 0);
        const std::size_t blocks = leaf_.size() / block;
        for (std::size_t row = group.begin(blocks) * block; row < group.end(blocks) * block; ++row) {
            sums[leaf_[row]] += round_to_nearest<std::int64_t>(noise[row] * noise_scale_);
        }
    }

    double total(int leaf, int lane) const {
        std::int64_t sum = 0;
        for (const AlignedWords& of_thread : sums_) {
            for (std::size_t copy = 0; copy < copies; ++copy) sum += of_thread.data()[(copy * leaves_ + leaf) * width_ + lane];
        }
        return static_cast<double>(sum) / scale_[lane];
    }

    const TrainingContext& context_;
    int outputs_;
    int leaves_;
    std::size_t width_;  // words per leaf: one per output and one for the weight
    std::vector<std::uint8_t> leaf_;
    std::vector<AlignedWords> sums_;  // per thread: (copies, leaves, width)
    std::vector<StepBound> bounds_;  // per output
    std::vector<float> scale_;
    int spare_bits_;
    std::vector<std::vector<std::int64_t>> noise_sums_;  // per thread: (leaves)
    float noise_scale_ = 1.0f;
};

}  // namespace epiboost
