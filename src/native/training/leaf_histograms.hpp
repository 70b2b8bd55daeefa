// Histograms of the leaves of a growing tree, in numbered slots.
//
// Threads share the work in one of two ways. Of wide tables each thread sums all rows of some panels. Of others every thread
// sums the rows of its share, and then merges the sums of its features. Of two sibling leaves only the lighter is summed, the
// other is the parent minus its sibling. Columns with few bins are bundled (bundles.hpp); they come last in a leaf's histograms
// and have fewer cells than the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/thread_group.hpp"
#include "training/context.hpp"
#include "training/histogram_sums.hpp"
#include "training/row_list.hpp"
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
          divides_columns_(threads == 1 || context.panels.count() >= 2 * threads_),
          histograms_(std::make_unique_for_overwrite<Word[]>(slots * size_)) {
        if (!divides_columns_) thread_histograms_ = std::make_unique_for_overwrite<Word[]>(threads_ * max_fills_ * size_);
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

    // Whether a thread sums all rows, for some panels; it may complete their histograms at once. Else it sums its rows for all
    // panels, and all threads must have done so before histograms are completed.
    bool divides_columns() const { return divides_columns_; }

    // The panels that a thread sums, and the features that it completes if it does not divide columns.
    struct Part {
        std::size_t begin;
        std::size_t end;
    };
    Part panels(ThreadGroup group) const {
        const std::size_t count = context_.panels.count();
        return divides_columns_ ? Part{group.begin(count), group.end(count)} : Part{0, count};
    }
    Part features(ThreadGroup group) const { return {group.begin(context_.table.columns), group.end(context_.table.columns)}; }
    Part features_of(std::size_t panel) const {
        if (!context_.panels.divides()) return {0, context_.table.columns};
        return {context_.panels.begin(panel), context_.panels.begin(panel + 1)};
    }

    // Sums the rows of a fill in one panel; there are as many lists as threads whose rows this thread sums. `number` counts the
    // fills since histograms were last completed.
    template <class Rows>
    void sum(int rank, std::size_t number, const Fill& fill, std::size_t panel, const SplitSample<Layout>& sample,
             std::span<const RowList<Rows>> lists) {
        Word* histogram = divides_columns_ ? of_slot(fill.slot) : thread_histogram(rank, number);
        const Bundles& bundles = context_.bundles;
        if (bundles.shared() > 0) {
            std::fill(histogram, histogram + size_, Word{0});
            for (const RowList<Rows>& list : lists) add_bundled(rank, sample, list, histogram);
            return;
        }
        const auto [first, last] = features_of(panel);
        const std::size_t feature_size = context_.stride * width_;
        std::fill(histogram + first * feature_size, histogram + last * feature_size, Word{0});
        for (const RowList<Rows>& list : lists) {
            add(sample, sample.panel(panel), last - first, context_.stride, list, histogram + first * feature_size);
        }
    }

    // Merges the sums of all threads for one feature, and subtracts them from the parent's.
    void merge(const Fill& fill, std::size_t number, std::size_t feature) {
        const std::size_t size = stride(feature) * width_;
        Word* __restrict summed = of(fill.slot, feature);
        if (!divides_columns_) {
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
    // Adds rows by bundles if that is faster.
    template <class Rows>
    void add_bundled(int rank, const SplitSample<Layout>& sample, const RowList<Rows>& list, Word* histogram) {
        const Bundles& bundles = context_.bundles;
        const std::uint8_t* bins = sample.panel(0) + bundles.shared();
        add(sample, bins, bundles.unbundled(), context_.stride, list, histogram);
        if (!bundles.is_faster(list.count)) {
            add(sample, bins + bundles.unbundled(), context_.table.columns - bundles.unbundled(),
                static_cast<int>(bundled_stride_), list, histogram + first_bundled());
            return;
        }
        std::vector<Word>& joint = joint_[static_cast<std::size_t>(rank)];
        std::fill(joint.begin(), joint.end(), Word{0});
        add(sample, sample.panel(0), bundles.shared(), static_cast<int>(bundles.stride()), list, joint.data());
        bundles.unbundle(joint.data(), width_, [&](std::size_t column) { return histogram + offset(column); });
    }

    std::size_t first_bundled() const { return context_.bundles.unbundled() * context_.stride * width_; }
    bool is_bundled(std::size_t feature) const { return context_.bundles.position(feature) >= context_.bundles.unbundled(); }
    std::size_t stride(std::size_t feature) const { return is_bundled(feature) ? bundled_stride_ : context_.stride; }
    std::size_t offset(std::size_t feature) const {
        const std::size_t position = context_.bundles.position(feature);
        if (!is_bundled(feature)) return position * context_.stride * width_;
        return first_bundled() + (position - context_.bundles.unbundled()) * bundled_stride_ * width_;
    }

    template <class Rows>
    void add(const SplitSample<Layout>& sample, const std::uint8_t* bins, std::size_t columns, int stride,
             const RowList<Rows>& list, Word* histogram) const {
        const bool is_panel = context_.bundles.shared() == 0;
        const HistogramInput<Layout> input{bins, context_.panels.width(), columns, sample.words(), outputs_, stride, is_panel};
        add_rows(input, list.rows, list.count, histogram);
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
    bool divides_columns_;
    std::unique_ptr<Word[]> histograms_;
    std::unique_ptr<Word[]> thread_histograms_;
    std::vector<std::vector<Word>> joint_;  // per thread: histograms of bundles
};

}  // namespace epiboost
