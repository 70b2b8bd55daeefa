// The rows that choose the splits of one tree, with gradients rounded to small integers.
//
// Large tables use a new random sample for every tree, copied into consecutive memory for the histograms. Leaf values use all
// rows (leaf_values.hpp). Rounding is stochastic, so that sums are unbiased.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/noise.hpp"
#include "core/thread_group.hpp"
#include "training/context.hpp"
#include "training/gradients.hpp"
#include "training/histogram.hpp"
#include "training/pair_keys.hpp"
#include "training/rounding.hpp"

namespace epiboost {

template <class Layout>
class SplitSample {
    using Word = typename Layout::Word;

  public:
    struct Share {  // one thread's rows
        std::size_t first = 0;
        std::size_t count = 0;
        std::vector<std::int64_t> squares;  // sums of squared integer gradients, one per output
    };

    SplitSample(const TrainingContext& context, const Gradients& gradients, std::uint64_t seed, int threads)
        : context_(context), seed_(seed), outputs_(context.recipe.outputs), width_(Layout::words(outputs_)), shares_(threads),
          weight_(context.recipe.subsample < 1.0 && !context.samples_structure() ? gradients.weight() : nullptr) {
        std::size_t capacity = padded(context.table.rows);
        if (context.samples_structure()) {
            capacity = 0;
            for (int rank = 0; rank < threads; ++rank) {
                const ThreadGroup group{rank, threads, nullptr};
                const std::size_t blocks = padded(context.table.rows) / block;
                shares_[rank].first = capacity;
                capacity += context.max_drawn((group.end(blocks) - group.begin(blocks)) * block);
            }
            bins_.resize(context.panels.bytes(capacity));
        }
        capacity_ = capacity;
        words_.resize(capacity * width_);
        unit_squared_.resize(outputs_);
        for (auto& share : shares_) share.squares.resize(outputs_);
    }

    // The bins of a panel, by row.
    const std::uint8_t* panel(std::size_t number) const {
        const PanelLayout& layout = context_.panels;
        if (!bins_.empty()) return bins_.data() + number * capacity_ * layout.width();
        if (layout.divides()) return context_.panel_bytes.data() + number * context_.table.rows * layout.width();
        return context_.bundles.by_row();
    }
    const Word* words() const { return words_.data(); }
    const Share& share(int rank) const { return shares_[rank]; }

    // Weights of the rows with subsampling, where rows of weight zero are not used; null without subsampling.
    const float* weight() const { return weight_; }

    struct Column {
        const std::uint8_t* bins;  // the bin of row r is bins[r * stride]
        std::size_t stride;
    };
    Column column(std::size_t index) const {
        if (bins_.empty()) return {context_.table.column(index), 1};
        const std::size_t byte = context_.bundles.shared() + context_.bundles.position(index);
        return {bins_.data() + context_.panels.position(byte, capacity_), context_.panels.width()};
    }

    // Squared units of the gradients, for scores. The outputs of a distribution of numbers are different quantities, so each is divided by its
    // own sum of squares.
    std::vector<float> squared_units() const {
        if (is_of_classes(context_.recipe.objective)) return unit_squared_;
        std::vector<float> units(outputs_);
        for (int k = 0; k < outputs_; ++k) units[k] = 1.0f / static_cast<float>(std::max<std::int64_t>(squares(k), 1));
        return units;
    }

    // Root mean square gradient, summed over outputs, in the units of the square root of a score.
    float root_mean_square() const {
        const std::vector<float> units = squared_units();
        double sum = 0.0;
        for (int k = 0; k < outputs_; ++k) sum += units[k] * static_cast<double>(squares(k));
        const double rows = context_.target.total_weight * context_.structure_share * context_.recipe.subsample;
        return static_cast<float>(std::sqrt(sum / rows));
    }

    // Draws, copies and rounds this thread's share of the rows.
    void prepare(ThreadGroup group, int tree, const Gradients& gradients) {
        std::vector<float> levels(outputs_);
        for (int k = 0; k < outputs_; ++k) {
            const float largest = gradients.largest(k);
            const float unit = gradient_unit(largest, context_.largest_level);
            levels[k] = 1.0f / unit;
            if (group.rank == 0) unit_squared_[k] = unit * unit;
        }
        Share& share = shares_[group.rank];
        std::fill(share.squares.begin(), share.squares.end(), 0);
        if (bins_.empty()) {
            round_rows(group, tree, gradients, levels.data(), share);
        } else {
            draw_rows(group, tree, gradients, levels.data(), share);
        }
    }

  private:
    std::int64_t squares(int output) const {
        std::int64_t sum = 0;
        for (const auto& share : shares_) sum += share.squares[output];
        return sum;
    }

    void round_rows(ThreadGroup group, int tree, const Gradients& gradients, const float* levels, Share& share) {
        const std::size_t blocks = padded(context_.table.rows) / block;
        const std::vector<NoiseKey> keys = pair_keys(seed_, tree, Purpose::rounding, outputs_);
        std::vector<std::int32_t> integers(static_cast<std::size_t>(outputs_) * block);
        share.first = group.begin(blocks) * block;
        share.count = std::min(group.end(blocks) * block, context_.table.rows) - share.first;
        for (std::size_t b = group.begin(blocks); b < group.end(blocks); ++b) {
            round_block(keys, b * block, gradients, levels, integers.data());
            Layout::pack_block(integers.data(), outputs_, gradients.integer_weight() + b * block,
                               words_.data() + b * block * width_);
            if constexpr (Layout::single_word) clear_unused(b * block);
            add_squares(integers.data(), nullptr, block, share.squares);
        }
    }

    // Clears the words of rows that no leaf holds. Rounding takes one in 65,536 gradients of zero to one, and RootHistograms sums
    // the words of all rows.
    void clear_unused(std::size_t row) {
        Word* words = words_.data() + row;
        const std::size_t used = std::min(block, context_.table.rows - row);
        std::fill(words + used, words + block, Word{0});
        if (weight_ == nullptr) return;
        for (std::size_t i = 0; i < used; ++i) words[i] = weight_[row + i] > 0.0f ? words[i] : 0;
    }

    void draw_rows(ThreadGroup group, int tree, const Gradients& gradients, const float* levels, Share& share) {
        const std::size_t blocks = padded(context_.table.rows) / block;
        const std::size_t end = group.rank + 1 < group.size ? shares_[group.rank + 1].first : capacity_;
        const std::vector<NoiseKey> keys = pair_keys(seed_, tree, Purpose::rounding, outputs_);
        const NoiseKey structure_key(seed_, tree, Purpose::structure, 0);
        std::vector<std::int32_t> integers(static_cast<std::size_t>(outputs_) * block);
        std::vector<Word> packed(static_cast<std::size_t>(width_) * block);
        std::uint32_t drawn[block];
        std::size_t next = share.first;
        for (std::size_t b = group.begin(blocks); b < group.end(blocks); ++b) {
            const std::size_t count = std::min(draw(structure_key, b * block, gradients.weight(), drawn), end - next);
            if (count == 0) continue;
            round_block(keys, b * block, gradients, levels, integers.data());
            Layout::pack_block(integers.data(), outputs_, gradients.integer_weight() + b * block, packed.data());
            add_squares(integers.data(), drawn, count, share.squares);
            for (std::size_t i = 0; i < count; ++i) copy_row(drawn[i], packed.data(), next + i);
            next += count;
        }
        share.count = next - share.first;
    }

    // Writes the rows of a block that are in the sample; returns their number.
    std::size_t draw(const NoiseKey& noise_key, std::size_t row, const float* weight, std::uint32_t* drawn) const {
        bool is_drawn[block];
        const std::uint32_t limit = limit_for_probability(context_.structure_share);
        for (std::size_t i = 0; i < block; ++i) {
            is_drawn[i] = weight[row + i] > 0.0f && noise_key.bits(context_.target.key[row + i]) < limit;
        }
        std::size_t count = 0;
        for (std::size_t i = 0; i < block; ++i) {
            drawn[count] = static_cast<std::uint32_t>(row + i);
            count += is_drawn[i];
        }
        return count;
    }

    void round_block(const std::vector<NoiseKey>& keys, std::size_t row, const Gradients& gradients, const float* levels,
                     std::int32_t* __restrict integers) const {
        const std::uint32_t* key = context_.target.key.data() + row;
        std::uint32_t bits[block];
        for (int k = 0; k < outputs_; ++k) {
            if (k % 2 == 0) {
                const NoiseKey noise_key = keys[k / 2];
                for (std::size_t i = 0; i < block; ++i) bits[i] = noise_key.bits(key[i]);
            }
            const float* gradient = gradients.of(k) + row;
            const int shift = k % 2 ? 16 : 0;
            const float level = levels[k];
            for (std::size_t i = 0; i < block; ++i) integers[k * block + i] = round_gradient(gradient[i], level, bits[i], shift);
        }
    }

    void add_squares(const std::int32_t* integers, const std::uint32_t* drawn, std::size_t count,
                     std::vector<std::int64_t>& squares) const {
        if (!context_.needs_squares()) return;
        for (int k = 0; k < outputs_; ++k) {
            std::int32_t sum = 0;
            const std::int32_t* gradient = integers + k * block;
            if (count == block) {  // rows that are not drawn are zero
                for (std::size_t i = 0; i < block; ++i) sum += gradient[i] * gradient[i];
            } else {
                for (std::size_t i = 0; i < count; ++i) sum += gradient[drawn[i] % block] * gradient[drawn[i] % block];
            }
            squares[k] += sum;
        }
    }

    void copy_row(std::size_t row, const Word* packed, std::size_t position) {
        const std::uint8_t* bytes = context_.bundles.by_row() + row * context_.bundles.row_bytes();
        context_.panels.copy_row(bytes, bins_.data(), capacity_, position);
        for (int k = 0; k < width_; ++k) words_[position * width_ + k] = packed[row % block * width_ + k];
    }

    const TrainingContext& context_;
    std::uint64_t seed_;
    int outputs_;
    int width_;
    std::size_t capacity_ = 0;
    std::vector<Share> shares_;
    std::vector<std::uint8_t> bins_;  // bins of the drawn rows; empty if all rows are used
    std::vector<Word> words_;
    const float* weight_;
    std::vector<float> unit_squared_;
};

}  // namespace epiboost
