// Grows one leaf-wise tree: of all leaves, the one whose best split gains most is split next.
//
// The gain of a split is its score, that of both sides, minus the score of the leaf itself. Splits without gain are not made, so
// a tree can have fewer leaves than allowed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/monitor.hpp"
#include "core/thread_group.hpp"
#include "training/allowed_columns.hpp"
#include "training/context.hpp"
#include "training/leaf_histograms.hpp"
#include "training/leaf_partition.hpp"
#include "training/row_list.hpp"
#include "training/split_sample.hpp"
#include "training/split_scorer.hpp"
#include "training/splits.hpp"

namespace epiboost {

template <class Layout>
class LeafwiseGrower {
    using Word = typename Layout::Word;

  public:
    LeafwiseGrower(const TrainingContext& context, std::uint64_t seed, int threads)
        : context_(context), seed_(seed), histograms_(context, threads, context.recipe.leaves, 1) {
        workers_.reserve(threads);
        for (int rank = 0; rank < threads; ++rank) workers_.emplace_back(context);
    }

    const Splits& splits(ThreadGroup group) const { return workers_[group.rank].splits; }

    typename Layout::Word* root_histograms() { return histograms_.of_slot(root_slot); }

    // Returns false if the caller wants to stop; the same for all threads of the group.
    bool grow(ThreadGroup group, int tree, SplitSample<Layout>& sample, bool root_is_summed, TrainingMonitor& monitor, bool polls) {
        Worker& worker = workers_[group.rank];
        const auto& share = sample.share(group.rank);
        worker.start(share.first, share.count, sample.weight());
        const int splits = context_.recipe.splits();
        for (int split = 0; split < splits; ++split) {
            if (polls) monitor.poll();
            if (group.rank == 0) stop_ = monitor.stopped();
            group.barrier();
            if (stop_) return false;
            if (split == 0) worker.scorer.start(sample, seed_, tree);
            if (split == 0) worker.columns.start(seed_, tree);
            worker.found = {};
            list_rows(group);
            const auto panels = histograms_.panels(group);
            for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
                if (split > 0 || !root_is_summed) {
                    histograms_.template sum<const std::uint32_t*>(group.rank, 0, worker.fill, panel, sample, worker.lists);
                }
                if (histograms_.divides_columns()) score_features(worker, histograms_.features_of(panel));
            }
            if (!histograms_.divides_columns()) {
                group.barrier();
                score_features(worker, histograms_.features(group));
            }
            group.barrier();
            collect_candidates(worker);
            const int leaf = best_leaf(worker, split + 1);
            if (leaf < 0) break;
            divide(worker, sample, leaf, split);
        }
        return true;
    }

  private:
    struct Leaf {
        int node = 0;  // in the order of creation; identifies the leaf in the noise function
        int depth = 0;
        int slot = 0;
        Split best;  // its score is the gain
    };

    // State of one thread. All threads compute the same leaves and the same splits.
    struct alignas(64) Worker {
        explicit Worker(const TrainingContext& context) : scorer(context), columns(context.recipe, context.table.columns) {}

        void start(std::size_t first, std::size_t count, const float* weight) {
            rows.start(first, count, weight);
            std::fill(std::begin(splits.parent), std::end(splits.parent), no_leaf);
            std::fill(std::begin(splits.feature), std::end(splits.feature), std::uint16_t{0});
            std::fill(std::begin(splits.threshold), std::end(splits.threshold), std::uint8_t{255});  // no bin is above
            leaf[0] = {};
            fill = {0, root_slot, -1};
            opened = {0, -1};
            free_slots.clear();
            slots_used = 1;
        }

        LeafPartition rows;
        std::vector<ListedRows> lists;  // of the leaf to sum next
        SplitScorer<Layout> scorer;
        AllowedColumns columns;  // one path per leaf
        Leaf leaf[max_leaves];
        std::vector<int> free_slots;
        int slots_used = 0;
        Fill fill{};                 // the histogram to sum next
        std::array<int, 2> opened{};  // leaves whose best splits are looked for; -1 for none
        std::array<Split, 2> found;  // best splits of this thread's features
        Splits splits;
    };

    // Lists the rows to sum: those of all threads, or those of this one.
    void list_rows(ThreadGroup group) {
        Worker& worker = workers_[group.rank];
        worker.lists.clear();
        for (const Worker& other : workers_) {
            if (histograms_.divides_columns() || &other == &worker) worker.lists.push_back(other.rows.rows_of(worker.fill.leaf));
        }
    }

    // Completes the histograms of some features of the opened leaves, and finds their best splits.
    void score_features(Worker& worker, typename LeafHistograms<Layout>::Part features) {
        for (std::size_t f = features.begin; f < features.end; ++f) {
            if (!worker.columns.allows(worker.opened[0], f)) continue;  // nor do the sibling and what they become
            histograms_.merge(worker.fill, 0, f);
            for (int i = 0; i < 2 && worker.opened[i] >= 0; ++i) {
                const Leaf& leaf = worker.leaf[worker.opened[i]];
                if (leaf.depth >= context_.recipe.depth) continue;
                const Split best = best_of_feature(worker.scorer, leaf, f);
                if (best.better_than(worker.found[i])) worker.found[i] = best;
            }
        }
    }

    Split best_of_feature(SplitScorer<Layout>& scorer, const Leaf& leaf, std::size_t feature) {
        const Word* histogram = histograms_.of(leaf.slot, feature);
        const int cells = scorer.cells(feature);
        const auto [lowest, highest] = Layout::occupied(histogram, cells, context_.recipe.outputs);
        if (lowest >= highest) return {};
        float scores[max_bins] = {};
        scorer.add(histogram, feature, scores);
        const float of_leaf = scores[cells - 1];
        if (scorer.is_noisy()) scorer.add_noise(leaf.node, feature, scores);
        Split best = best_threshold(scores, feature, lowest, highest);
        const float score = scorer.is_noisy() ? best.score * std::abs(best.score) : best.score;
        best.score = score - of_leaf;
        return best;
    }

    void collect_candidates(Worker& worker) const {
        for (int i = 0; i < 2 && worker.opened[i] >= 0; ++i) {
            Leaf& leaf = worker.leaf[worker.opened[i]];
            leaf.best = {};
            for (const auto& other : workers_) {
                if (other.found[i].better_than(leaf.best)) leaf.best = other.found[i];
            }
            if (!(leaf.best.score > 0.0f)) worker.free_slots.push_back(leaf.slot);
        }
    }

    // The leaf to split next, the first of equals; -1 if no split gains anything.
    static int best_leaf(const Worker& worker, int leaves) {
        int best = -1;
        float most = 0.0f;
        for (int leaf = 0; leaf < leaves; ++leaf) {
            if (worker.leaf[leaf].best.score > most) {
                best = leaf;
                most = worker.leaf[leaf].best.score;
            }
        }
        return best;
    }

    // Splits a leaf. It keeps the rows on the left; the others go to a new one. The lighter of the two is summed next.
    void divide(Worker& worker, const SplitSample<Layout>& sample, int left, int split) {
        const Split best = worker.leaf[left].best;
        worker.splits.feature[split] = best.feature;
        worker.splits.threshold[split] = best.threshold;
        worker.splits.parent[split] = static_cast<std::uint8_t>(left);
        const int right = split + 1;
        const auto column = sample.column(best.feature);
        worker.rows.split(left, right, column.bins, column.stride, best.threshold);
        worker.columns.narrow(left, best.feature);
        worker.columns.copy(left, right);
        const Leaf parent = worker.leaf[left];
        const auto sides = histograms_.sides(parent.slot, best.feature, best.threshold);
        int slot = worker.slots_used;
        if (worker.free_slots.empty()) {
            ++worker.slots_used;
        } else {
            slot = worker.free_slots.back();
            worker.free_slots.pop_back();
        }
        const bool left_is_lighter = sides.left <= sides.right;
        worker.leaf[left] = {2 * split + 1, parent.depth + 1, left_is_lighter ? slot : parent.slot, {}};
        worker.leaf[right] = {2 * split + 2, parent.depth + 1, left_is_lighter ? parent.slot : slot, {}};
        worker.fill = {left_is_lighter ? left : right, slot, parent.slot};
        worker.opened = {left, right};
    }

    const TrainingContext& context_;
    std::uint64_t seed_;
    LeafHistograms<Layout> histograms_;
    std::vector<Worker> workers_;
    bool stop_ = false;
};

}  // namespace epiboost
