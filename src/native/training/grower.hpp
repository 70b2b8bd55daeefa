// Grows one symmetric tree, level by level: all leaves of a level have the same split.
//
// Every thread sums the histograms of its rows; then each thread merges the sums of its features. Of two sibling leaves only
// the lighter is summed, the other is the parent minus its sibling. Columns with few bins are bundled (bundles.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/monitor.hpp"
#include "core/thread_group.hpp"
#include "training/context.hpp"
#include "training/histogram.hpp"
#include "training/leaf_rows.hpp"
#include "training/random_strength.hpp"
#include "training/split.hpp"
#include "training/split_sample.hpp"

namespace epiboost {

struct Splits {  // one per level
    std::uint16_t feature[max_depth] = {};
    std::uint8_t threshold[max_depth] = {};
};

template <class Layout>
class Grower {
    using Word = typename Layout::Word;

  public:
    Grower(const TrainingContext& context, std::uint64_t seed, int threads)
        : context_(context), seed_(seed), outputs_(context.recipe.outputs), leaves_(1 << context.recipe.depth),
          feature_size_(static_cast<std::size_t>(context.stride) * Layout::words(outputs_)),
          size_(context.table.columns * feature_size_), max_fills_(std::max(leaves_ / 4, 1)),
          histograms_(static_cast<std::size_t>(std::max(leaves_ / 2, 1)) * size_), workers_(threads) {
        if (threads > 1) thread_histograms_.resize(static_cast<std::size_t>(threads) * max_fills_ * size_);
        for (auto& worker : workers_) {
            worker.slot.resize(leaves_);
            worker.running.resize(static_cast<std::size_t>(outputs_ + 1) * max_bins);
            worker.joint.resize(context.bundles.shared() * context.bundles.stride() * Layout::words(outputs_));
        }
    }

    const Splits& splits(ThreadGroup group) const { return workers_[group.rank].splits; }

    // Returns false if the caller wants to stop; the same for all threads of the group.
    bool grow(ThreadGroup group, int tree, SplitSample<Layout>& sample, TrainingMonitor& monitor, bool polls) {
        Worker& worker = workers_[group.rank];
        const auto& share = sample.share(group.rank);
        worker.rows.start(share.first, share.count, sample.weight());
        for (int level = 0; level < context_.recipe.depth; ++level) {
            if (level > 0) split_leaves(worker, sample, level - 1);
            if (polls) monitor.poll();
            if (group.rank == 0) stop_ = monitor.stopped();
            group.barrier();
            if (stop_) return false;
            plan_level(worker, level);
            fill_histograms(group, sample, level);
            group.barrier();
            score_features(group, tree, sample, level);
            group.barrier();
            choose_split(worker, level);
        }
        return true;
    }

  private:
    // A histogram to sum from rows, and the slot of the parent's histogram, which becomes the sibling's.
    struct Fill {
        int leaf;
        int slot;
        int sibling_slot;  // -1 without sibling
    };

    // State of one thread. All threads compute the same plan and the same splits.
    struct alignas(64) Worker {
        LeafRows rows;
        std::vector<std::int32_t> running;
        std::vector<Word> joint;  // histograms of bundles
        std::vector<int> slot;    // index of each leaf's histogram; -1 for leaves without rows
        std::vector<Fill> fills;
        int slots_used = 0;
        Splits splits;
        Split best;
    };

    void split_leaves(Worker& worker, const SplitSample<Layout>& sample, int level) {
        const auto column = sample.column(worker.splits.feature[level]);
        worker.rows.split(column.bins, column.stride, worker.splits.threshold[level], level);
    }

    // Decides which leaves are summed, and assigns slots to leaves.
    void plan_level(Worker& worker, int level) {
        worker.fills.clear();
        if (level == 0) {
            worker.slot[0] = 0;
            worker.slots_used = 1;
            worker.fills.push_back({0, 0, -1});
            return;
        }
        const int half = 1 << (level - 1);
        for (int left = 0; left < half; ++left) {
            const int right = left + half;
            const int parent = worker.slot[left];
            worker.slot[right] = -1;
            if (parent < 0) continue;
            const Word* sums = slot(parent) + offset(worker.splits.feature[level - 1]);
            const int bins = worker.splits.threshold[level - 1] + 1;
            const std::int64_t left_weight = Layout::weight(sums, std::min(bins, context_.stride), outputs_);
            const std::int64_t right_weight = Layout::weight(sums, context_.stride, outputs_) - left_weight;
            if (left_weight == 0 || right_weight == 0) {
                worker.slot[right] = left_weight == 0 ? parent : -1;
                worker.slot[left] = left_weight == 0 ? -1 : parent;
                continue;
            }
            const int lighter = left_weight <= right_weight ? left : right;
            const int heavier = lighter == left ? right : left;
            worker.slot[lighter] = worker.slots_used++;
            worker.slot[heavier] = parent;
            worker.fills.push_back({lighter, worker.slot[lighter], parent});
        }
    }

    Word* slot(int index) { return histograms_.data() + static_cast<std::size_t>(index) * size_; }

    std::size_t offset(std::size_t feature) const { return context_.bundles.position(feature) * feature_size_; }

    Word* thread_histogram(std::size_t rank, std::size_t fill) {
        if (workers_.size() == 1) return slot(workers_[0].fills[fill].slot);
        return thread_histograms_.data() + (rank * max_fills_ + fill) * size_;
    }

    void fill_histograms(ThreadGroup group, SplitSample<Layout>& sample, int level) {
        Worker& worker = workers_[group.rank];
        for (std::size_t i = 0; i < worker.fills.size(); ++i) {
            Word* histogram = thread_histogram(group.rank, i);
            std::fill(histogram, histogram + size_, Word{0});
            if (level == 0 && sample.weight() == nullptr) {
                const auto& share = sample.share(group.rank);
                add(sample, ConsecutiveRows{share.first}, share.count, worker.joint, histogram);
            } else {
                const auto list = worker.rows.rows_of(worker.fills[i].leaf);
                add(sample, list.rows, list.count, worker.joint, histogram);
            }
        }
    }

    // Adds rows to a leaf's histogram, by bundles if that is faster.
    template <class Rows>
    void add(const SplitSample<Layout>& sample, const Rows& rows, std::size_t count, std::vector<Word>& joint,
             Word* histogram) const {
        const Bundles& bundles = context_.bundles;
        const bool by_bundles = bundles.is_faster(count);
        const std::uint8_t* bytes = sample.by_row();
        const std::size_t columns = by_bundles ? bundles.unbundled() : context_.table.columns;
        add_rows(HistogramInput<Layout>{bytes + bundles.shared(), bundles.row_bytes(), columns, sample.words(), outputs_,
                                        context_.stride},
                 rows, count, histogram);
        if (!by_bundles) return;
        std::fill(joint.begin(), joint.end(), Word{0});
        add_rows(HistogramInput<Layout>{bytes, bundles.row_bytes(), bundles.shared(), sample.words(), outputs_,
                                        static_cast<int>(bundles.stride())},
                 rows, count, joint.data());
        bundles.unbundle(joint.data(), Layout::words(outputs_), feature_size_, histogram);
    }

    // For this thread's features: merges the histograms of all threads, subtracts for the siblings, scores every threshold.
    void score_features(ThreadGroup group, int tree, const SplitSample<Layout>& sample, int level) {
        Worker& worker = workers_[group.rank];
        worker.best = Split{};
        auto* running = reinterpret_cast<std::int32_t(*)[max_bins]>(worker.running.data());
        const std::vector<float> squared_units = sample.squared_units();
        const Units units{squared_units.data(), context_.weight_unit,
                          static_cast<float>(context_.recipe.l2 * context_.structure_share)};
        const double noise = score_noise(context_.recipe, context_.target.total_weight, tree);
        const float deviation = noise > 0.0 ? static_cast<float>(noise) * sample.root_mean_square() : 0.0f;
        const NoiseKey key(seed_, tree, Purpose::split_scores, level);
        for (std::size_t f = group.begin(context_.table.columns); f < group.end(context_.table.columns); ++f) {
            const std::size_t first_word = offset(f);
            for (std::size_t i = 0; i < worker.fills.size(); ++i) merge(worker.fills[i], i, first_word);
            float scores[max_bins] = {};
            for (int leaf = 0; leaf < 1 << level; ++leaf) {
                if (worker.slot[leaf] < 0) continue;
                add_scores<Layout>(slot(worker.slot[leaf]) + first_word, context_.stride, outputs_, units, running, scores);
            }
            if (deviation > 0.0f) add_score_noise(key, deviation, f, context_.table.highest[f], scores);
            const Split best = best_threshold(scores, f, context_.table.lowest[f], context_.table.highest[f]);
            if (best.better_than(worker.best)) worker.best = best;
        }
    }

    void merge(const Fill& fill, std::size_t number, std::size_t offset) {
        const std::size_t size = feature_size_;
        Word* __restrict summed = slot(fill.slot) + offset;
        if (workers_.size() > 1) {
            std::copy_n(thread_histogram(0, number) + offset, size, summed);
            for (std::size_t rank = 1; rank < workers_.size(); ++rank) {
                const Word* part = thread_histogram(rank, number) + offset;
                for (std::size_t i = 0; i < size; ++i) summed[i] += part[i];
            }
        }
        if (fill.sibling_slot < 0) return;
        Word* __restrict sibling = slot(fill.sibling_slot) + offset;
        for (std::size_t i = 0; i < size; ++i) sibling[i] -= summed[i];
    }

    void choose_split(Worker& worker, int level) const {
        Split best;
        for (const auto& other : workers_) {
            if (other.best.better_than(best)) best = other.best;
        }
        worker.splits.feature[level] = best.feature;
        worker.splits.threshold[level] = best.threshold;
    }

    const TrainingContext& context_;
    std::uint64_t seed_;
    int outputs_;
    int leaves_;
    std::size_t feature_size_;  // words in one feature's histogram
    std::size_t size_;          // words in one leaf's histograms
    std::size_t max_fills_;
    std::vector<Word> histograms_;
    std::vector<Word> thread_histograms_;
    std::vector<Worker> workers_;
    bool stop_ = false;
};

}  // namespace epiboost
