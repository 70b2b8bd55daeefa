// Grows the structure of one tree, level by level: each level has one split for all its leaves.
//
// Every thread keeps its own rows sorted by leaf and sums their histograms; the sums are merged feature by feature. Of two
// sibling leaves only the smaller is summed, the other is the parent less its sibling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "histogram.hpp"
#include "leaves.hpp"
#include "split.hpp"
#include "structure.hpp"
#include "task.hpp"
#include "team.hpp"

namespace epiboost {

struct Splits {  // of all levels
    std::uint16_t feature[max_depth] = {};
    std::uint8_t threshold[max_depth] = {};
};

template <class Layout>
class Grower {
    using Word = typename Layout::Word;

  public:
    Grower(const Task& task, int threads, std::size_t room)
        : task_(task), outputs_(task.recipe.outputs), leaves_(1 << task.recipe.depth),
          feature_size_(static_cast<std::size_t>(task.stride) * Layout::words(outputs_)),
          size_(task.table.columns * feature_size_), fills_most_(std::max(leaves_ / 4, 1)), spare_(room),
          histograms_(static_cast<std::size_t>(std::max(leaves_ / 2, 1)) * size_), workers_(threads) {
        if (threads > 1) own_histograms_.resize(static_cast<std::size_t>(threads) * fills_most_ * size_);
        for (auto& worker : workers_) {
            worker.start.resize(leaves_);
            worker.size.resize(leaves_);
            worker.slot.resize(leaves_);
            worker.running.resize(static_cast<std::size_t>(outputs_ + 1) * max_bins);
        }
    }

    const Splits& splits(Team team) const { return workers_[team.rank].splits; }

    // False if the caller wants to stop; every thread of the team gets the same answer.
    bool grow(Team team, Structure<Layout>& structure, Watch& watch, bool asks) {
        Worker& worker = workers_[team.rank];
        worker.start[0] = structure.share(team.rank).first;
        worker.size[0] = structure.share(team.rank).count;
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
        std::vector<std::size_t> start;  // where a leaf's rows begin
        std::vector<std::size_t> size;   // and how many there are
        std::vector<std::int32_t> running;
        std::vector<int> slot;  // which slot holds a leaf's histogram; -1 for leaves without rows
        std::vector<Fill> fills;
        int slots_used = 0;
        Splits splits;
        Split best;
    };

    void split_leaves(Worker& worker, Structure<Layout>& structure, int level) {
        const int half = 1 << level;
        const std::uint8_t* column = structure.by_row() + worker.splits.feature[level];
        for (int leaf = 0; leaf < half; ++leaf) {
            const std::size_t start = worker.start[leaf];
            const std::size_t left = split_rows(column, task_.table.columns, worker.splits.threshold[level],
                                                rows_at(level, structure) + start, worker.size[leaf],
                                                rows_at(level + 1, structure) + start);
            worker.start[leaf + half] = worker.start[leaf] + left;
            worker.size[leaf + half] = worker.size[leaf] - left;
            worker.size[leaf] = left;
        }
    }

    // Rows sorted by the leaves of a level: from level to level they go to and fro between two arrays.
    std::uint32_t* rows_at(int level, Structure<Layout>& structure) {
        return level % 2 == 0 ? structure.rows() : spare_.data();
    }

    std::size_t leaf_size(int leaf) const {
        std::size_t size = 0;
        for (const auto& worker : workers_) size += worker.size[leaf];
        return size;
    }

    // Decides which leaves are summed and which slot holds whose histogram.
    void plan_level(Worker& worker, int level) const {
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
            const std::size_t left_size = leaf_size(left);
            const std::size_t right_size = leaf_size(right);
            if (left_size == 0 || right_size == 0) {
                worker.slot[right] = left_size == 0 ? parent : -1;
                worker.slot[left] = left_size == 0 ? -1 : parent;
                continue;
            }
            const int smaller = left_size <= right_size ? left : right;
            const int larger = smaller == left ? right : left;
            worker.slot[smaller] = worker.slots_used++;
            worker.slot[larger] = parent;
            worker.fills.push_back({smaller, worker.slot[smaller], parent});
        }
    }

    Word* slot(int index) { return histograms_.data() + static_cast<std::size_t>(index) * size_; }

    Word* own_histogram(std::size_t rank, std::size_t fill) {
        if (workers_.size() == 1) return slot(workers_[0].fills[fill].slot);
        return own_histograms_.data() + (rank * fills_most_ + fill) * size_;
    }

    void fill_histograms(Team team, Structure<Layout>& structure, int level) {
        const Worker& worker = workers_[team.rank];
        for (std::size_t i = 0; i < worker.fills.size(); ++i) {
            Word* histogram = own_histogram(team.rank, i);
            std::fill(histogram, histogram + size_, Word{0});
            const int leaf = worker.fills[i].leaf;
            add_rows<Layout>(structure.by_row(), task_.table.columns, structure.words(), outputs_, task_.stride,
                             rows_at(level, structure) + worker.start[leaf], worker.size[leaf], histogram);
        }
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
            for (std::size_t i = 0; i < worker.fills.size(); ++i) complete(worker.fills[i], i, f * feature_size_);
            float scores[max_bins] = {};
            for (int leaf = 0; leaf < 1 << level; ++leaf) {
                if (worker.slot[leaf] < 0) continue;
                Layout::scan(slot(worker.slot[leaf]) + f * feature_size_, task_.stride, outputs_, running);
                add_scores(running, task_.stride, outputs_, units, scores);
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
    std::vector<std::uint32_t> spare_;
    std::vector<Word> histograms_;
    std::vector<Word> own_histograms_;
    std::vector<Worker> workers_;
    bool stop_ = false;
};

}  // namespace epiboost
