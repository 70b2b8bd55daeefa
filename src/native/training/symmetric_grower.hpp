// Grows one symmetric tree, level by level: all leaves of a level have the same split.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/monitor.hpp"
#include "core/thread_group.hpp"
#include "training/allowed_columns.hpp"
#include "training/context.hpp"
#include "training/leaf_histograms.hpp"
#include "training/leaf_rows.hpp"
#include "training/row_list.hpp"
#include "training/split_sample.hpp"
#include "training/split_scorer.hpp"
#include "training/splits.hpp"

namespace epiboost {

template <class Layout>
class SymmetricGrower {
  public:
    SymmetricGrower(const TrainingContext& context, std::uint64_t seed, int threads)
        : context_(context), seed_(seed), leaves_(1 << context.recipe.depth),
          histograms_(context, threads, std::max(leaves_ / 2, 1), std::max(leaves_ / 4, 1)) {
        workers_.reserve(threads);
        for (int rank = 0; rank < threads; ++rank) workers_.emplace_back(context, leaves_);
    }

    const Splits& splits(ThreadGroup group) const { return workers_[group.rank].splits; }

    typename Layout::Word* root_histograms() { return histograms_.of_slot(root_slot); }

    // Returns false if the caller wants to stop; the same for all threads of the group.
    bool grow(ThreadGroup group, int tree, SplitSample<Layout>& sample, bool root_is_summed, TrainingMonitor& monitor, bool polls) {
        Worker& worker = workers_[group.rank];
        const auto& share = sample.share(group.rank);
        worker.rows.start(share.first, share.count, sample.weight());
        for (int level = 0; level < context_.recipe.depth; ++level) {
            if (level > 0) split_leaves(worker, sample, level - 1);
            plan_level(worker, level);
            list_rows(worker, level, sample);
            if (polls) monitor.poll();
            if (group.rank == 0) stop_ = monitor.stopped();
            group.barrier();
            if (stop_) return false;
            if (level == 0) worker.scorer.start(sample, seed_, tree);
            if (level == 0) worker.columns.start(seed_, tree);
            worker.best = Split{};
            const auto panels = histograms_.panels(group);
            for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
                if (level > 0 || !root_is_summed) fill_histograms(group, sample, level, panel);
                if (histograms_.divides_columns()) score_features(worker, level, histograms_.features_of(panel));
            }
            if (!histograms_.divides_columns()) {
                group.barrier();
                score_features(worker, level, histograms_.features(group));
            }
            group.barrier();
            choose_split(worker, level);
        }
        return true;
    }

  private:
    // State of one thread. All threads compute the same plan and the same splits.
    struct alignas(64) Worker {
        Worker(const TrainingContext& context, int leaves)
            : scorer(context), columns(context.recipe, context.table.columns), slot(leaves) {}

        LeafRows rows;
        SplitScorer<Layout> scorer;
        AllowedColumns columns;  // the whole tree is one path: its number is 0
        std::vector<int> slot;  // index of each leaf's histogram; -1 for leaves without rows
        std::vector<Fill> fills;
        std::vector<ListedRows> lists;  // of this thread's rows, one per fill
        std::vector<ListedRows> listed;  // and those of one fill, one per thread
        std::vector<RowList<ConsecutiveRows>> consecutive;
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
            worker.slot[0] = root_slot;
            worker.slots_used = 1;
            worker.fills.push_back({0, root_slot, -1});
            return;
        }
        const int half = 1 << (level - 1);
        for (int left = 0; left < half; ++left) {
            const int right = left + half;
            const int parent = worker.slot[left];
            worker.slot[right] = -1;
            if (parent < 0) continue;
            const auto sides = histograms_.sides(parent, worker.splits.feature[level - 1], worker.splits.threshold[level - 1]);
            if (sides.left == 0 || sides.right == 0) {
                worker.slot[right] = sides.left == 0 ? parent : -1;
                worker.slot[left] = sides.left == 0 ? -1 : parent;
                continue;
            }
            const int lighter = sides.left <= sides.right ? left : right;
            const int heavier = lighter == left ? right : left;
            worker.slot[lighter] = worker.slots_used++;
            worker.slot[heavier] = parent;
            worker.fills.push_back({lighter, worker.slot[lighter], parent});
        }
    }

    // Lists the rows of all leaves to sum. The root holds consecutive rows, unless some are of no weight.
    void list_rows(Worker& worker, int level, const SplitSample<Layout>& sample) {
        worker.rows.clear_lists();
        worker.lists.clear();
        if (level == 0 && sample.weight() == nullptr) return;
        for (const Fill& fill : worker.fills) worker.lists.push_back(worker.rows.list(fill.leaf));
    }

    // Sums the fills of a level in one panel: all rows, or those of this thread.
    void fill_histograms(ThreadGroup group, const SplitSample<Layout>& sample, int level, std::size_t panel) {
        Worker& worker = workers_[group.rank];
        const int first = histograms_.divides_columns() ? 0 : group.rank;
        const int last = histograms_.divides_columns() ? group.size : group.rank + 1;
        if (level == 0 && sample.weight() == nullptr) {
            worker.consecutive.clear();
            for (int rank = first; rank < last; ++rank) {
                worker.consecutive.push_back({{sample.share(rank).first}, sample.share(rank).count});
            }
            histograms_.template sum<ConsecutiveRows>(group.rank, 0, worker.fills[0], panel, sample, worker.consecutive);
            return;
        }
        for (std::size_t i = 0; i < worker.fills.size(); ++i) {
            worker.listed.clear();
            for (int rank = first; rank < last; ++rank) worker.listed.push_back(workers_[rank].lists[i]);
            histograms_.template sum<const std::uint32_t*>(group.rank, i, worker.fills[i], panel, sample, worker.listed);
        }
    }

    // Completes the histograms of some features, and finds the best threshold.
    void score_features(Worker& worker, int level, typename LeafHistograms<Layout>::Part features) {
        for (std::size_t f = features.begin; f < features.end; ++f) {
            if (!worker.columns.allows(0, f)) continue;  // nor will any later level
            for (std::size_t i = 0; i < worker.fills.size(); ++i) histograms_.merge(worker.fills[i], i, f);
            float scores[max_bins] = {};
            for (int leaf = 0; leaf < 1 << level; ++leaf) {
                if (worker.slot[leaf] >= 0) worker.scorer.add(histograms_.of(worker.slot[leaf], f), f, scores);
            }
            if (worker.scorer.is_noisy()) worker.scorer.add_noise(level, f, scores);
            const Split best = best_threshold(scores, f, context_.table.lowest[f], context_.table.highest[f]);
            if (best.better_than(worker.best)) worker.best = best;
        }
    }

    void choose_split(Worker& worker, int level) const {
        Split best;
        for (const auto& other : workers_) {
            if (other.best.better_than(best)) best = other.best;
        }
        worker.splits.feature[level] = best.feature;
        worker.splits.threshold[level] = best.threshold;
        worker.columns.narrow(0, best.feature);
    }

    const TrainingContext& context_;
    std::uint64_t seed_;
    int leaves_;
    LeafHistograms<Layout> histograms_;
    std::vector<Worker> workers_;
    bool stop_ = false;
};

}  // namespace epiboost
