#include "training/grower.hpp"

#include "training/leafwise_grower.hpp"
#include "training/split_sample.hpp"
#include "training/symmetric_grower.hpp"

namespace epiboost {
namespace {

template <class Layout, class TreeGrower>
class GrowerOfLayout final : public Grower {
  public:
    GrowerOfLayout(const TrainingContext& context, const Gradients& gradients, std::uint64_t seed, int threads)
        : sample_(context, gradients, seed, threads), grower_(context, seed, threads) {}

    void prepare(ThreadGroup group, int tree, const Gradients& gradients) override { sample_.prepare(group, tree, gradients); }

    Root root() override {
        if constexpr (Layout::single_word) {
            return {sample_.words(), grower_.root_histograms()};
        } else {
            return {};
        }
    }

    bool grow(ThreadGroup group, int tree, bool root_is_summed, TrainingMonitor& monitor, bool polls) override {
        return grower_.grow(group, tree, sample_, root_is_summed, monitor, polls);
    }

    const Splits& splits(ThreadGroup group) const override { return grower_.splits(group); }

  private:
    SplitSample<Layout> sample_;
    TreeGrower grower_;
};

template <class Layout>
std::unique_ptr<Grower> of_layout(const TrainingContext& context, const Gradients& gradients, std::uint64_t seed, int threads) {
    if (context.recipe.is_symmetric()) {
        return std::make_unique<GrowerOfLayout<Layout, SymmetricGrower<Layout>>>(context, gradients, seed, threads);
    }
    return std::make_unique<GrowerOfLayout<Layout, LeafwiseGrower<Layout>>>(context, gradients, seed, threads);
}

}  // namespace

std::unique_ptr<Grower> make_grower(HistogramLayout layout, const TrainingContext& context, const Gradients& gradients,
                                    std::uint64_t seed, int threads) {
    switch (layout) {
        case HistogramLayout::packed_one: return of_layout<PackedOne>(context, gradients, seed, threads);
        case HistogramLayout::packed_two: return of_layout<PackedTwo>(context, gradients, seed, threads);
        case HistogramLayout::lanes_4: return of_layout<Lanes<4>>(context, gradients, seed, threads);
        case HistogramLayout::lanes_8: return of_layout<Lanes<8>>(context, gradients, seed, threads);
        case HistogramLayout::lanes_16: return of_layout<Lanes<16>>(context, gradients, seed, threads);
        default: return of_layout<Lanes<0>>(context, gradients, seed, threads);
    }
}

}  // namespace epiboost
