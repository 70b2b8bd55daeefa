// Scores the candidate splits of one tree: units, regularisation and noise are the same for all of its leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/compiler.hpp"
#include "training/context.hpp"
#include "training/random_strength.hpp"
#include "training/split.hpp"
#include "training/split_sample.hpp"

namespace epiboost {

// One thread's scorer. `node` identifies a level, or a leaf, in the noise function.
template <class Layout>
class SplitScorer {
  public:
    explicit SplitScorer(const TrainingContext& context)
        : context_(context), is_constrained_(!context.recipe.monotone.empty() || context.min_integer_weight > 0),
          running_(static_cast<std::size_t>(std::max(Layout::words(context.recipe.outputs), 3)) * max_bins) {}

    void start(const SplitSample<Layout>& sample, std::uint64_t seed, int tree) {
        seed_ = seed;
        tree_ = tree;
        squared_units_ = sample.squared_units();
        squared_units_.resize(static_cast<std::size_t>(std::max(Layout::words(context_.recipe.outputs), context_.recipe.outputs)), 0.0f);
        const double noise = score_noise(context_.recipe, context_.target.total_weight, tree);
        deviation_ = noise > 0.0 ? static_cast<float>(noise) * sample.root_mean_square() : 0.0f;
    }

    bool is_noisy() const { return deviation_ > 0.0f; }

    // Adds a leaf's contribution to the scores of a feature's thresholds.
    void add(const typename Layout::Word* histogram, std::size_t feature, float* scores) {
        const Units units{squared_units_.data(), context_.weight_unit,
                          static_cast<float>(context_.recipe.l2 * context_.structure_share)};
        if (is_constrained_) {
            add_constrained(histogram, feature, units, scores);
        } else {
            add_scores<Layout>(histogram, cells(feature), context_.recipe.outputs, units, running_.data(), scores);
        }
    }

    // Replaces the scores of a feature's thresholds by their noisy square roots.
    void add_noise(int node, std::size_t feature, float* scores) const {
        const NoiseKey key(seed_, tree_, Purpose::split_scores, node);
        add_score_noise(key, deviation_, feature, context_.table.highest[feature], scores);
    }

    // Cells of a feature's histogram that may be in use; the last threshold leaves all rows on one side.
    int cells(std::size_t feature) const { return cells_for(context_.table.highest[feature] + 1, context_.recipe.outputs); }

  private:
    // The rare case, out of the way of the usual one.
    EPIBOOST_NOINLINE void add_constrained(const typename Layout::Word* histogram, std::size_t feature, const Units& units,
                                           float* scores) {
        const std::vector<int>& monotone = context_.recipe.monotone;
        const int outputs = context_.recipe.outputs;
        const std::int64_t least = context_.min_integer_weight;
        auto* running = reinterpret_cast<std::int32_t(*)[max_bins]>(running_.data());
        if (monotone.empty() || monotone[feature] == 0) {
            add_scores<Layout>(histogram, cells(feature), outputs, units, running_.data(), scores);
        } else {
            add_monotone_scores<Layout>(histogram, cells(feature), outputs, units, monotone[feature], running, scores);
        }
        if (least > 0) refuse_small_leaves<Layout>(histogram, cells(feature), outputs, least, running, scores);
    }

    const TrainingContext& context_;
    bool is_constrained_;
    std::uint64_t seed_ = 0;
    int tree_ = 0;
    std::vector<float> squared_units_;
    float deviation_ = 0.0f;
    std::vector<std::int32_t> running_;
};

}  // namespace epiboost
