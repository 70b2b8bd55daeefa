// Histograms of the leaves of a growing tree, in numbered slots.
//
// Every thread sums the rows of its share; then each thread merges the sums of its features. Of two sibling leaves only the
// lighter is summed, the other is the parent minus its sibling. Columns with few bins are bundled (bundles.hpp); they come
// last in a leaf's histograms and have fewer cells than the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "training/context.hpp"
#include "training/histogram.hpp"
#include "training/split_sample.hpp"

namespace epiboost {

// A histogram to sum from rows, and the slot of the parent's histogram, which becomes the sibling's.
struct Fill {
    int leaf;
    int slot;
    int sibling_slot;  // -1 without sibling
};

constexpr int root_slot = 0;

template <class Layout>
class LeafHistograms {
    using Word = typename Layout::Word;

  public:
    // `max_fills` is the number of histograms that are summed between two merges. Memory of slots that are never used is
    // reserved but not touched.
    LeafHistograms(const TrainingContext& context, int threads, std::size_t slots, std::size_t max_fills)
        : context_(context), outputs_(context.recipe.outputs), width_(Layout::words(outputs_)),
          bundled_stride_(static_cast<std::size_t>(cells_for(static_cast<int>(context.bundles.most_bins()), outputs_))),
          size_(width_ * (context.bundles.unbundled() * context.stride +
                          (context.table.columns - context.bundles.unbundled()) * bundled_stride_)),
          max_fills_(max_fills), threads_(static_cast<std::size_t>(threads)),
          histograms_(std::make_unique_for_overwrite<Word[]>(slots * size_)) {
        if (threads_ > 1) thread_histograms_ = std::make_unique_for_overwrite<Word[]>(threads_ * max_fills_ * size_);
        joint_.resize(threads_);
        for (auto& joint : joint_) joint.resize(context.bundles.shared() * context.bundles.stride() * width_);
    }

    // Histogram of a feature, and those of all features.
    Word* of(int slot, std::size_t feature) { return of_slot(slot) + offset(feature); }
    Word* of_slot(int slot) { return histograms_.get() + static_cast<std::size_t>(slot) * size_; }

    // Weight of a leaf's rows up to a threshold, and above it.
    struct Sides {
        std::int64_t left;
        std::int64_t right;
    };
    Sides sides(int slot, std::size_t feature, std::uint8_t threshold) {
        const Word* sums = of(slot, feature);
        const int cells = static_cast<int>(stride(feature));
        const std::int64_t left = Layout::weight(sums, std::min(threshold + 1, cells), outputs_);
        return {left, Layout::weight(sums, cells, outputs_) - left};
    }

    // Sums one thread's rows of a fill, by bundles if that is faster. `number` counts the fills since the last merge.
    template <class Rows>
    void sum(int rank, std::size_t number, const Fill& fill, const SplitSample<Layout>& sample, const Rows& rows,
             std::size_t count) {
        Word* histogram = threads_ > 1 ? thread_histogram(rank, number) : of_slot(fill.slot);
        std::fill(histogram, histogram + size_, Word{0});
        const Bundles& bundles = context_.bundles;
        const std::uint8_t* bins = sample.by_row() + bundles.shared();
        add(sample, bins, bundles.unbundled(), context_.stride, rows, count, histogram);
        if (bundles.shared() == 0) return;
        if (!bundles.is_faster(count)) {
            add(sample, bins + bundles.unbundled(), context_.table.columns - bundles.unbundled(),
                static_cast<int>(bundled_stride_), rows, count, histogram + first_bundled());
            return;
        }
        std::vector<Word>& joint = joint_[static_cast<std::size_t>(rank)];
        std::fill(joint.begin(), joint.end(), Word{0});
        add(sample, sample.by_row(), bundles.shared(), static_cast<int>(bundles.stride()), rows, count, joint.data());
        bundles.unbundle(joint.data(), width_, [&](std::size_t column) { return histogram + offset(column); });
    }

    // Merges the sums of all threads for one feature, and subtracts them from the parent's.
    void merge(const Fill& fill, std::size_t number, std::size_t feature) {
        const std::size_t size = stride(feature) * width_;
        Word* __restrict summed = of(fill.slot, feature);
        if (threads_ > 1) {
            std::copy_n(thread_histogram(0, number) + offset(feature), size, summed);
            for (std::size_t rank = 1; rank < threads_; ++rank) {
                const Word* part = thread_histogram(rank, number) + offset(feature);
                for (std::size_t i = 0; i < size; ++i) summed[i] += part[i];
            }
        }
        if (fill.sibling_slot < 0) return;
        Word* __restrict sibling = of(fill.sibling_slot, feature);
        for (std::size_t i = 0; i < size; ++i) sibling[i] -= summed[i];
    }

  private:
    std::size_t first_bundled() const { return context_.bundles.unbundled() * context_.stride * width_; }
    bool is_bundled(std::size_t feature) const { return context_.bundles.position(feature) >= context_.bundles.unbundled(); }
    std::size_t stride(std::size_t feature) const { return is_bundled(feature) ? bundled_stride_ : context_.stride; }
    std::size_t offset(std::size_t feature) const {
        const std::size_t position = context_.bundles.position(feature);
        if (!is_bundled(feature)) return position * context_.stride * width_;
        return first_bundled() + (position - context_.bundles.unbundled()) * bundled_stride_ * width_;
    }

    template <class Rows>
    void add(const SplitSample<Layout>& sample, const std::uint8_t* bins, std::size_t columns, int stride, const Rows& rows,
             std::size_t count, Word* histogram) const {
        add_rows(HistogramInput<Layout>{bins, context_.bundles.row_bytes(), columns, sample.words(), outputs_, stride}, rows,
                 count, histogram);
    }

    Word* thread_histogram(std::size_t rank, std::size_t fill) {
        return thread_histograms_.get() + (rank * max_fills_ + fill) * size_;
    }

    const TrainingContext& context_;
    int outputs_;
    std::size_t width_;           // words in a cell
    std::size_t bundled_stride_;  // cells of a bundled column's histogram
    std::size_t size_;            // words in one leaf's histograms
    std::size_t max_fills_;
    std::size_t threads_;
    std::unique_ptr<Word[]> histograms_;
    std::unique_ptr<Word[]> thread_histograms_;
    std::vector<std::vector<Word>> joint_;  // per thread: histograms of bundles
};

}  // namespace epiboost
