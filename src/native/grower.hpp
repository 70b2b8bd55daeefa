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
          histograms_(static_cast<std::size_t>(std::max(leaves_ / 2, 1)) * size_), workers_(threads), slot_(leaves_) {
        if (threads > 1) own_histograms_.resize(static_cast<std::size_t>(threads) * fills_most_ * size_);
        for (auto& worker : workers_) {
            worker.start.resize(leaves_);
            worker.size.resize(leaves_);
            worker.running.resize(static_cast<std::size_t>(outputs_ + 1) * max_bins);
        }
    }

    const Splits& splits() const { return splits_; }

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
            if (team.rank == 0) plan_level(level);
            team.barrier();
            fill_histograms(team, structure);
            team.barrier();
            score_features(team, structure, level);
            team.barrier();
            if (team.rank == 0) choose(level);
            team.barrier();
        }
        return true;
    }

  private:
    struct alignas(64) Worker {
        std::vector<std::size_t> start;  // where a leaf's rows begin
        std::vector<std::size_t> size;   // and how many there are
        std::vector<std::int32_t> running;
        Split best;
    };

    // A histogram to be summed from rows, and the slot of the parent from which the sibling's is then the difference.
    struct Fill {
        int leaf;
        int slot;
        int sibling_slot;  // -1: none
    };

    void split_leaves(Worker& worker, Structure<Layout>& structure, int level) {
        const int half = 1 << level;
        const std::uint8_t* column = structure.by_row() + splits_.feature[level];
        for (int leaf = 0; leaf < half; ++leaf) {
            const std::size_t left = split_rows(column, task_.table.columns, splits_.threshold[level],
                                                structure.rows() + worker.start[leaf], worker.size[leaf],
                                                spare_.data() + worker.start[leaf]);
            worker.start[leaf + half] = worker.start[leaf] + left;
            worker.size[leaf + half] = worker.size[leaf] - left;
            worker.size[leaf] = left;
        }
    }

    std::size_t leaf_size(int leaf) const {
        std::size_t size = 0;
        for (const auto& worker : workers_) size += worker.size[leaf];
        return size;
    }

    // Decides which leaves are summed and which slot holds whose histogram; leaves without rows have none (slot -1).
    void plan_level(int level) {
        fills_.clear();
        if (level == 0) {
            slot_[0] = 0;
            slots_used_ = 1;
            fills_.push_back({0, 0, -1});
            return;
        }
        const int half = 1 << (level - 1);
        for (int left = 0; left < half; ++left) {
            const int right = left + half;
            const int parent = slot_[left];
            slot_[right] = -1;
            if (parent < 0) continue;
            const std::size_t left_size = leaf_size(left);
            const std::size_t right_size = leaf_size(right);
            if (left_size == 0 || right_size == 0) {
                slot_[right] = left_size == 0 ? parent : -1;
                slot_[left] = left_size == 0 ? -1 : parent;
                continue;
            }
            const int smaller = left_size <= right_size ? left : right;
            const int larger = smaller == left ? right : left;
            slot_[smaller] = slots_used_++;
            slot_[larger] = parent;
            fills_.push_back({smaller, slot_[smaller], parent});
        }
    }

    Word* slot(int index) { return histograms_.data() + static_cast<std::size_t>(index) * size_; }

    Word* own_histogram(std::size_t rank, std::size_t fill) {
        if (workers_.size() == 1) return slot(fills_[fill].slot);
        return own_histograms_.data() + (rank * fills_most_ + fill) * size_;
    }

    void fill_histograms(Team team, Structure<Layout>& structure) {
        const Worker& worker = workers_[team.rank];
        for (std::size_t i = 0; i < fills_.size(); ++i) {
            Word* histogram = own_histogram(team.rank, i);
            std::fill(histogram, histogram + size_, Word{0});
            const int leaf = fills_[i].leaf;
            add_rows<Layout>(structure.by_row(), task_.table.columns, structure.words(), outputs_, task_.stride,
                             structure.rows() + worker.start[leaf], worker.size[leaf], histogram);
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
            for (std::size_t i = 0; i < fills_.size(); ++i) complete(i, f * feature_size_);
            float scores[max_bins] = {};
            for (int leaf = 0; leaf < 1 << level; ++leaf) {
                if (slot_[leaf] < 0) continue;
                Layout::scan(slot(slot_[leaf]) + f * feature_size_, task_.stride, outputs_, running);
                add_scores(running, task_.stride, outputs_, units, scores);
            }
            const Split best = best_threshold(scores, f, task_.table.first_threshold[f], task_.table.bins[f]);
            if (best.better_than(worker.best)) worker.best = best;
        }
    }

    void complete(std::size_t fill, std::size_t offset) {
        Word* __restrict summed = slot(fills_[fill].slot) + offset;
        if (workers_.size() > 1) {
            std::copy_n(own_histogram(0, fill) + offset, feature_size_, summed);
            for (std::size_t rank = 1; rank < workers_.size(); ++rank) {
                const Word* part = own_histogram(rank, fill) + offset;
                for (std::size_t i = 0; i < feature_size_; ++i) summed[i] += part[i];
            }
        }
        if (fills_[fill].sibling_slot < 0) return;
        Word* __restrict sibling = slot(fills_[fill].sibling_slot) + offset;
        for (std::size_t i = 0; i < feature_size_; ++i) sibling[i] -= summed[i];
    }

    void choose(int level) {
        Split best;
        for (const auto& worker : workers_) {
            if (worker.best.better_than(best)) best = worker.best;
        }
        splits_.feature[level] = best.feature;
        splits_.threshold[level] = best.threshold;
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
    std::vector<int> slot_;
    std::vector<Fill> fills_;
    int slots_used_ = 0;
    bool stop_ = false;
    Splits splits_;
};

}  // namespace epiboost
