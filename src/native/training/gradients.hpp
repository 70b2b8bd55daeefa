// Gradients of all rows for one tree: weighted, with Langevin noise, in single precision.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/noise.hpp"
#include "core/objective.hpp"
#include "core/thread_group.hpp"
#include "training/context.hpp"
#include "training/pair_keys.hpp"

namespace epiboost {

class Gradients {
  public:
    Gradients(const TrainingContext& context, std::uint64_t seed, int threads)
        : context_(context), recipe_(context.recipe), seed_(seed), rows_(padded(context.table.rows)),
          values_(rows_ * recipe_.outputs), largest_(threads, std::vector<std::int32_t>(recipe_.outputs)) {
        if (recipe_.subsample < 1.0) {
            weight_.resize(rows_);
            integer_weight_.resize(rows_);
        }
        if (recipe_.separates_noise()) noise_.resize(rows_);
        if (recipe_.guards_variance() && is_family(recipe_.objective)) own_.resize(rows_);
    }

    const float* of(int output) const { return values_.data() + output * rows_; }

    // Noise in the gradients of the first output, and a bound of its size; only if the recipe separates it.
    const float* noise() const { return noise_.data(); }
    float largest_noise() const {
        return epiboost::largest_noise(recipe_.objective, context_.largest_weight, static_cast<float>(recipe_.noise));
    }

    // Gradients of the first output without weights and noise, for the variance guard of families; null for the Normal, whose
    // gradient is the residual.
    const float* own() const { return own_.empty() ? nullptr : own_.data(); }

    // Weights of the rows in the current tree: the sample weights, or the drawn part of them.
    const float* weight() const { return weight_.empty() ? context_.target.weight.data() : weight_.data(); }
    const std::int32_t* integer_weight() const {
        return integer_weight_.empty() ? context_.integer_weight.data() : integer_weight_.data();
    }

    float largest(int output) const {
        std::int32_t bits = 0;
        for (const auto& of_thread : largest_) bits = std::max(bits, of_thread[output]);
        return std::bit_cast<float>(bits);
    }

    // Computes this thread's share of the rows. `leave_one_out` is the mean score that gives the residuals for the variance.
    void compute(ThreadGroup group, int tree, const Scores& scores, const float* leave_one_out) {
        std::vector<std::int32_t>& largest = largest_[group.rank];
        std::fill(largest.begin(), largest.end(), 0);
        std::vector<float> raw(static_cast<std::size_t>(recipe_.outputs) * block);
        std::vector<float> noise_scale(raw.size(), 1.0f);
        std::vector<float> shifted(context_.target.offset.empty() ? 0 : raw.size());
        const float* y = context_.target.y.data();
        const std::vector<NoiseKey> keys = pair_keys(seed_, tree, Purpose::langevin, recipe_.outputs);
        const NoiseKey subsample_key(seed_, tree, Purpose::subsample, 0);
        for (std::size_t b = group.begin(rows_ / block); b < group.end(rows_ / block); ++b) {
            const std::size_t row = b * block;
            if (recipe_.objective == Objective::normal) {
                normal_gradient(scores, leave_one_out, static_cast<float>(recipe_.variance_guard), y, row, raw.data(),
                                raw.data() + block, noise_scale.data(), noise_scale.data() + block);
            } else if (is_family(recipe_.objective)) {
                with_family(recipe_.objective, [&](auto family) {
                    family_gradient(family, scores, leave_one_out, static_cast<float>(recipe_.variance_guard), y, rows_,
                                    recipe_.constants.data(), row, raw.data(), noise_scale.data());
                });
                if (!own_.empty()) std::copy_n(raw.data(), block, own_.data() + row);
            } else if (context_.target.offset.empty()) {
                class_gradient(scores, y, row, raw.data());
            } else {
                const float* offset = context_.target.offset.data();
                class_gradient(with_offset(scores, offset, recipe_.outputs, row, block, shifted.data()), y + row, 0, raw.data());
            }
            if (!weight_.empty()) draw_weight(subsample_key, row);
            for (int k = 0; k < recipe_.outputs; k += 2) add_noise(keys[k / 2], row, k, raw.data(), noise_scale.data(), largest.data());
        }
    }

  private:
    void class_gradient(const Scores& scores, const float* y, std::size_t row, float* gradient) const {
        if (recipe_.objective == Objective::bernoulli) {
            bernoulli_gradient(scores, y, row, gradient);
        } else {
            categorical_gradient(scores, recipe_.outputs, y, row, gradient);
        }
    }

    // Subsampling: a row of weight w is drawn about w times, each time with the same probability.
    void draw_weight(const NoiseKey& noise_key, std::size_t row) {
        const std::uint32_t limit = limit_for_probability(recipe_.subsample);
        std::int32_t kept[block] = {};
        for (std::int32_t draw = 0; draw < context_.max_draws; ++draw) {
            for (std::size_t i = 0; i < block; ++i) {
                const std::uint32_t key = context_.target.key[row + i] + static_cast<std::uint32_t>(draw) * 0x9e3779b9u;
                kept[i] += draw < context_.draws[row + i] && noise_key.bits(key) < limit ? 1 : 0;
            }
        }
        for (std::size_t i = 0; i < block; ++i) {
            const std::int32_t draws = context_.draws[row + i];
            weight_[row + i] = context_.target.weight[row + i] * static_cast<float>(kept[i]) / static_cast<float>(draws);
            integer_weight_[row + i] = static_cast<std::int32_t>(
                (static_cast<std::int64_t>(context_.integer_weight[row + i]) * kept[i] + draws - 1) / draws);
        }
    }

    // Weighted gradients plus noise of a pair of outputs, in the Fisher metric (`noise_scale`). A row of weight w gets the summed
    // noise of w rows.
    void add_noise(const NoiseKey& key, std::size_t row, int output, const float* raw, const float* noise_scale,
                   std::int32_t* largest) {
        const float* weight = this->weight() + row;
        float noise[2][block];
        if (recipe_.noise > 0.0) {
            draw_noise(key, row, noise);
        } else {
            std::fill_n(&noise[0][0], 2 * block, 0.0f);
        }
        for (int k = output; k < std::min(output + 2, recipe_.outputs); ++k) {
            float* __restrict value = values_.data() + k * rows_ + row;
            const float* own_raw = raw + k * block;
            const float* own_noise = noise[k - output];
            const float* own_scale = noise_scale + k * block;
            std::int32_t most = largest[k];
            for (std::size_t i = 0; i < block; ++i) {
                value[i] = weight[i] * own_raw[i] + own_scale[i] * own_noise[i];
                most = std::max(most, std::bit_cast<std::int32_t>(value[i]) & 0x7fffffff);
            }
            largest[k] = most;
            if (k > 0 || noise_.empty()) continue;
            for (std::size_t i = 0; i < block; ++i) noise_[row + i] = own_scale[i] * own_noise[i];
        }
    }

    // Noise of a pair of outputs, without the scale of the Fisher metric.
    void draw_noise(const NoiseKey& noise_key, std::size_t row, float (&noise)[2][block]) const {
        const float deviation = static_cast<float>(recipe_.noise);
        const std::uint32_t* key = context_.target.key.data() + row;
        float drawn_root[block];
        const float* root_weight = context_.root_weight.data() + row;
        if (!weight_.empty()) {  // the weights of this tree
            for (std::size_t i = 0; i < block; ++i) drawn_root[i] = std::sqrt(weight_[row + i]);
            root_weight = drawn_root;
        }
        normal_pairs<block>(noise_key, key, noise[0], noise[1]);
        for (std::size_t i = 0; i < block; ++i) {
            const float size = root_weight[i] * deviation;
            noise[0][i] *= size;
            noise[1][i] *= size;
        }
    }

    const TrainingContext& context_;
    const ChainRecipe& recipe_;
    std::uint64_t seed_;
    std::size_t rows_;
    std::vector<float> values_;  // (outputs, rows)
    std::vector<float> noise_;   // (rows)
    std::vector<float> own_;     // (rows)
    std::vector<float> weight_;
    std::vector<std::int32_t> integer_weight_;
    std::vector<std::vector<std::int32_t>> largest_;  // per thread: largest |gradient| per output, as the bits of a float
};

}  // namespace epiboost
