// The gradients of all rows in one tree: weighted, with Langevin noise, in single precision.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/noise.hpp"
#include "core/objective.hpp"
#include "core/team.hpp"
#include "training/task.hpp"

namespace epiboost {

class Gradients {
  public:
    Gradients(const Task& task, std::uint64_t seed, int threads)
        : task_(task), recipe_(task.recipe), seed_(seed), rows_(padded(task.table.rows)),
          values_(rows_ * recipe_.outputs), largest_(threads, std::vector<std::int32_t>(recipe_.outputs)) {
        if (recipe_.subsample < 1.0) {
            weight_.resize(rows_);
            whole_weight_.resize(rows_);
        }
    }

    const float* of(int output) const { return values_.data() + output * rows_; }

    // What rows count for in the tree at hand: their weight, or the part of it that was drawn.
    const float* weight() const { return weight_.empty() ? task_.target.weight.data() : weight_.data(); }
    const std::int32_t* whole_weight() const {
        return whole_weight_.empty() ? task_.whole_weight.data() : whole_weight_.data();
    }

    float largest(int output) const {
        std::int32_t bits = 0;
        for (const auto& own : largest_) bits = std::max(bits, own[output]);
        return std::bit_cast<float>(bits);
    }

    // This thread's share of the rows. `honest` is the mean score whose residuals the variance sees.
    void compute(Team team, int tree, const Scores& scores, const float* honest) {
        std::vector<std::int32_t>& largest = largest_[team.rank];
        std::fill(largest.begin(), largest.end(), 0);
        std::vector<float> raw(static_cast<std::size_t>(recipe_.outputs + 1) * block);
        const float* y = task_.target.y.data();
        for (std::size_t b = team.begin(rows_ / block); b < team.end(rows_ / block); ++b) {
            const std::size_t row = b * block;
            if (recipe_.objective == Objective::normal) {
                normal_gradient(scores, honest, y, row, raw.data(), raw.data() + block);
            } else if (recipe_.objective == Objective::bernoulli) {
                bernoulli_gradient(scores, y, row, raw.data());
            } else {
                categorical_gradient(scores, recipe_.outputs, y, row, raw.data());
            }
            if (!weight_.empty()) draw_weight(tree, row);
            for (int k = 0; k < recipe_.outputs; k += 2) add_noise(tree, row, k, raw.data(), largest.data());
        }
    }

  private:
    // A row of weight w is w chances to be seen: it is drawn piece by piece.
    void draw_weight(int tree, std::size_t row) {
        const Stream stream(seed_, tree, Purpose::subsample, 0);
        const std::uint32_t limit = share_limit(recipe_.subsample);
        std::int32_t kept[block] = {};
        for (std::int32_t piece = 0; piece < task_.most_pieces; ++piece) {
            for (std::size_t i = 0; i < block; ++i) {
                const std::uint32_t key = task_.target.key[row + i] + static_cast<std::uint32_t>(piece) * 0x9e3779b9u;
                kept[i] += piece < task_.pieces[row + i] && stream.bits(key) < limit ? 1 : 0;
            }
        }
        for (std::size_t i = 0; i < block; ++i) {
            const std::int32_t pieces = task_.pieces[row + i];
            weight_[row + i] = task_.target.weight[row + i] * static_cast<float>(kept[i]) / static_cast<float>(pieces);
            whole_weight_[row + i] = static_cast<std::int32_t>(
                (static_cast<std::int64_t>(task_.whole_weight[row + i]) * kept[i] + pieces - 1) / pieces);
        }
    }

    // Weighted gradients plus noise of one pair of outputs; a row of weight w gets the noise of w rows together.
    void add_noise(int tree, std::size_t row, int output, const float* raw, std::int32_t* largest) {
        const float* weight = this->weight() + row;
        float noise[2][block] = {};
        if (recipe_.noise > 0.0) {
            const Stream stream(seed_, tree, Purpose::langevin, output / 2);
            const float deviation = static_cast<float>(recipe_.noise);
            const std::uint32_t* key = task_.target.key.data() + row;
            for (std::size_t i = 0; i < block; ++i) {
                float even;
                float odd;
                normal_pair(stream, key[i], even, odd);
                const float size = std::sqrt(weight[i]) * deviation;
                noise[0][i] = size * even;
                noise[1][i] = size * odd;
            }
        }
        for (int k = output; k < std::min(output + 2, recipe_.outputs); ++k) {
            float* __restrict value = values_.data() + k * rows_ + row;
            const float* own_raw = raw + k * block;
            const float* own_noise = noise[k - output];
            std::int32_t most = largest[k];
            for (std::size_t i = 0; i < block; ++i) {
                value[i] = weight[i] * own_raw[i] + own_noise[i];
                most = std::max(most, std::bit_cast<std::int32_t>(value[i]) & 0x7fffffff);
            }
            largest[k] = most;
        }
    }

    const Task& task_;
    const Recipe& recipe_;
    std::uint64_t seed_;
    std::size_t rows_;
    std::vector<float> values_;  // (outputs, rows)
    std::vector<float> weight_;
    std::vector<std::int32_t> whole_weight_;
    std::vector<std::vector<std::int32_t>> largest_;  // by thread: largest |gradient| an output, as the bits of a float
};

}  // namespace epiboost
