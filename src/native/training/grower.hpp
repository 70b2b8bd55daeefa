// Grows the structure of one tree, level by level: each level has one split for all its leaves.
//
// Every thread sums the histograms of its own rows; the sums are merged feature by feature. Of two sibling leaves only the
// lighter is summed, the other is the parent less its sibling. Columns of few bins are summed together (bundles.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/team.hpp"
#include "training/histogram.hpp"
#include "training/leaf_rows.hpp"
#include "training/split.hpp"
#include "training/structure.hpp"
#include "training/task.hpp"

namespace epiboost {

struct Splits {  // of all levels
    std::uint16_t feature[max_depth] = {};
    std::uint8_t threshold[max_depth] = {};
};

template <class Layout>
class Grower {
    using Word = typename Layout::Word;

  public:
    Grower(const Task& task, int threads)
        : task_(task), outputs_(task.recipe.outputs), leaves_(1 << task.recipe.depth),
          feature_size_(static_cast<std::size_t>(task.stride) * Layout::words(outputs_)),
          size_(task.table.columns * feature_size_), fills_most_(std::max(leaves_ / 4, 1)),
          histograms_(static_cast<std::size_t>(std::max(leaves_ / 2, 1)) * size_), workers_(threads) {
        if (threads > 1) own_histograms_.resize(static_cast<std::size_t>(threads) * fills_most_ * size_);
        for (auto& worker : workers_) {
            worker.slot.resize(leaves_);
            worker.running.resize(static_cast<std::size_t>(outputs_ + 1) * max_bins);
            worker.joint.resize(task.bundles.shared() * task.bundles.stride() * Layout::words(outputs_));
        }
    }

    const Splits& splits(Team team) const { return workers_[team.rank].splits; }

    // False if the caller wants to stop; every thread of the team gets the same answer.
    bool grow(Team team, Structure<Layout>& structure, Watch& watch, bool asks) {
        Worker& worker = workers_[team.rank];
        const auto& share = structure.share(team.rank);
        worker.rows.start(share.first, share.count, structure.weight());
        for (int level = 0; level < task_.recipe.depth; ++level) {
            if (level > 0) split_leaves(worker, structure, level - 1);
            if (asks) watch.look();
            if (team.rank == 0) stop_ = watch.stopped();
            team.barrier();
            if (stop_) return false;
            plan_level(worker, level);
            fill_histograms(team, structure, level);
            team.barrier();
            score_features(team, structure, level);
            team.barrier();
            choose(worker, level);
        }
        return true;
    }

  private:
    // A histogram to be summed from rows, and the slot of the parent from which the sibling's is then the difference.
    struct Fill {
        int leaf;
        int slot;
        int sibling_slot;  // -1: none
    };

    // What a thread keeps. All threads come to the same plan and the same splits, each for itself.
    struct alignas(64) Worker {
        LeafRows rows;
        std::vector<std::int32_t> running;
        std::vector<Word> joint;  // histograms of bytes that columns share
        std::vector<int> slot;  // which slot holds a leaf's histogram; -1 for leaves without rows
        std::vector<Fill> fills;
        int slots_used = 0;
        Splits splits;
        Split best;
    };

    void split_leaves(Worker& worker, const Structure<Layout>& structure, int level) {
        const auto column = structure.column(worker.splits.feature[level]);
        worker.rows.split(column.bins, column.stride, worker.splits.threshold[level], level);
    }

    // Decides which leaves are summed and which slot holds whose histogram.
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
            const std::int64_t left_weight = Layout::weight(sums, std::min(bins, task_.stride), outputs_);
            const std::int64_t right_weight = Layout::weight(sums, task_.stride, outputs_) - left_weight;
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

    std::size_t offset(std::size_t feature) const { return task_.bundles.place(feature) * feature_size_; }

    Word* own_histogram(std::size_t rank, std::size_t fill) {
        if (workers_.size() == 1) return slot(workers_[0].fills[fill].slot);
        return own_histograms_.data() + (rank * fills_most_ + fill) * size_;
    }

    void fill_histograms(Team team, Structure<Layout>& structure, int level) {
        Worker& worker = workers_[team.rank];
        for (std::size_t i = 0; i < worker.fills.size(); ++i) {
            Word* histogram = own_histogram(team.rank, i);
            std::fill(histogram, histogram + size_, Word{0});
            if (level == 0 && structure.weight() == nullptr) {
                const auto& share = structure.share(team.rank);
                add(structure, Stretch{share.first}, share.count, worker.joint, histogram);
            } else {
                const auto list = worker.rows.rows_of(worker.fills[i].leaf);
                add(structure, list.rows, list.count, worker.joint, histogram);
            }
        }
    }

    // Adds rows to a leaf's histogram; where there are many, columns that share a byte are summed together.
    template <class Rows>
    void add(const Structure<Layout>& structure, const Rows& rows, std::size_t count, std::vector<Word>& joint,
             Word* histogram) const {
        const Bundles& bundles = task_.bundles;
        const bool together = bundles.pay(count);
        const std::uint8_t* bytes = structure.by_row();
        add_rows(Cells<Layout>{bytes + bundles.shared(), bundles.row_bytes(), together ? bundles.alone() : task_.table.columns,
                               structure.words(), outputs_, task_.stride},
                 rows, count, histogram);
        if (!together) return;
        std::fill(joint.begin(), joint.end(), Word{0});
        add_rows(Cells<Layout>{bytes, bundles.row_bytes(), bundles.shared(), structure.words(), outputs_,
                               static_cast<int>(bundles.stride())},
                 rows, count, joint.data());
        bundles.take_apart(joint.data(), Layout::words(outputs_), feature_size_, histogram);
    }

    // This thread's features: merge the threads' histograms, subtract to get the siblings', score every threshold.
    void score_features(Team team, const Structure<Layout>& structure, int level) {
        Worker& worker = workers_[team.rank];
        worker.best = Split{};
        auto* running = reinterpret_cast<std::int32_t(*)[max_bins]>(worker.running.data());
        const std::vector<float> squared_units = structure.squared_units();
        const Units units{squared_units.data(), task_.weight_unit,
                          static_cast<float>(task_.recipe.l2 * task_.structure_share)};
        for (std::size_t f = team.begin(task_.table.columns); f < team.end(task_.table.columns); ++f) {
            const std::size_t own = offset(f);
            for (std::size_t i = 0; i < worker.fills.size(); ++i) complete(worker.fills[i], i, own);
            float scores[max_bins] = {};
            for (int leaf = 0; leaf < 1 << level; ++leaf) {
                if (worker.slot[leaf] < 0) continue;
                add_scores<Layout>(slot(worker.slot[leaf]) + own, task_.stride, outputs_, units, running, scores);
            }
            const Split best = best_threshold(scores, f, task_.table.first_threshold[f], task_.table.bins[f]);
            if (best.better_than(worker.best)) worker.best = best;
        }
    }

    void complete(const Fill& fill, std::size_t number, std::size_t offset) {
        const std::size_t size = feature_size_;
        Word* __restrict summed = slot(fill.slot) + offset;
        if (workers_.size() > 1) {
            std::copy_n(own_histogram(0, number) + offset, size, summed);
            for (std::size_t rank = 1; rank < workers_.size(); ++rank) {
                const Word* part = own_histogram(rank, number) + offset;
                for (std::size_t i = 0; i < size; ++i) summed[i] += part[i];
            }
        }
        if (fill.sibling_slot < 0) return;
        Word* __restrict sibling = slot(fill.sibling_slot) + offset;
        for (std::size_t i = 0; i < size; ++i) sibling[i] -= summed[i];
    }

    void choose(Worker& worker, int level) const {
        Split best;
        for (const auto& other : workers_) {
            if (other.best.better_than(best)) best = other.best;
        }
        worker.splits.feature[level] = best.feature;
        worker.splits.threshold[level] = best.threshold;
    }

    const Task& task_;
    int outputs_;
    int leaves_;
    std::size_t feature_size_;  // words in one feature's histogram
    std::size_t size_;          // words in one leaf's
    std::size_t fills_most_;
    std::vector<Word> histograms_;
    std::vector<Word> own_histograms_;
    std::vector<Worker> workers_;
    bool stop_ = false;
};

}  // namespace epiboost
