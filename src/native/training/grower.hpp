// What grows the trees of a chain, whatever its histograms look like. One call per tree, so that a virtual call costs nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "core/monitor.hpp"
#include "core/thread_group.hpp"
#include "training/context.hpp"
#include "training/gradients.hpp"
#include "training/root_histograms.hpp"
#include "training/splits.hpp"

namespace epiboost {

class Grower {
  public:
    virtual ~Grower() = default;

    // Draws the rows that choose the splits of a tree. All threads of the group call these functions.
    virtual void prepare(ThreadGroup group, int tree, const Gradients& gradients) = 0;

    // The root of that tree, for growers that `has_common_root` allows.
    virtual Root root() = 0;

    // Finds the splits of that tree; the histograms of its root may have been summed already. Returns false if the caller wants to
    // stop; the same for all threads of the group.
    virtual bool grow(ThreadGroup group, int tree, bool root_is_summed, TrainingMonitor& monitor, bool polls) = 0;

    virtual const Splits& splits(ThreadGroup group) const = 0;
};

// Layouts of histograms, see training/histogram.hpp: packed words for one and for two outputs, and lanes for so many outputs and
// weights.
enum class HistogramLayout { packed_one, packed_two, lanes_4, lanes_8, lanes_16, any_lanes };

// The layout for chains that are trained together, the sum of whose integer weights is `max_integer_weight` at most.
inline HistogramLayout layout_for(int outputs, std::int64_t max_integer_weight) {
    if (outputs == 1) return HistogramLayout::packed_one;
    if (outputs == 2 && max_integer_weight <= PackedTwo::capacity) return HistogramLayout::packed_two;
    if (outputs <= 3) return HistogramLayout::lanes_4;
    if (outputs <= 7) return HistogramLayout::lanes_8;
    return outputs <= 15 ? HistogramLayout::lanes_16 : HistogramLayout::any_lanes;
}

// Whether the roots of chains of a table are in a form that RootHistograms can sum. More rows would not stay in the cache.
inline bool has_common_root(HistogramLayout layout, const TrainingContext& context) {
    constexpr std::size_t most_rows = 65536;
    const bool is_packed = layout == HistogramLayout::packed_one || layout == HistogramLayout::packed_two;
    return is_packed && !context.samples_structure() && context.bundles.shared() == 0 && context.table.rows <= most_rows;
}

std::unique_ptr<Grower> make_grower(HistogramLayout layout, const TrainingContext& context, const Gradients& gradients,
                                    std::uint64_t seed, int threads);

}  // namespace epiboost
