// The rows on which one tree's splits are chosen, with their gradients as small whole numbers.
//
// For large tables these are a fresh random sample in every tree, copied together so that histograms read them in one go;
// leaf values come from all rows (leaf_values.hpp). Gradients are rounded up or down at random, so that sums stay unbiased.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "core/noise.hpp"
#include "core/team.hpp"
#include "training/gradients.hpp"
#include "training/histogram.hpp"
#include "training/task.hpp"

namespace epiboost {

template <class Layout>
class Structure {
    using Word = typename Layout::Word;

  public:
    struct Share {  // one thread's rows
        std::size_t first = 0;
        std::size_t count = 0;
        std::vector<std::int64_t> squares;  // sums of squared whole gradients, one an output
    };

    Structure(const Task& task, std::uint64_t seed, int threads)
        : task_(task), seed_(seed), outputs_(task.recipe.outputs), width_(Layout::words(outputs_)), shares_(threads) {
        std::size_t room = padded(task.table.rows);
        if (task.samples_structure()) {
            room = 0;
            for (int rank = 0; rank < threads; ++rank) {
                const Team team{rank, threads, nullptr};
                const std::size_t blocks = padded(task.table.rows) / block;
                shares_[rank].first = room;
                room += task.most_drawn((team.end(blocks) - team.begin(blocks)) * block);
            }
            bins_.resize(room * task.bundles.row_bytes() + block);
        }
        room_ = room;
        words_.resize(room * width_);
        unit_squared_.resize(outputs_);
        for (auto& share : shares_) share.squares.resize(outputs_);
    }

    const std::uint8_t* by_row() const { return bins_.empty() ? task_.bundles.by_row() : bins_.data(); }
    const Word* words() const { return words_.data(); }
    const Share& share(int rank) const { return shares_[rank]; }

    // Weights that tell which of the rows the tree sees; null where it sees all of them.
    const float* weight() const { return weight_; }

    struct Column {
        const std::uint8_t* bins;  // row r has its bin at bins[r * stride]
        std::size_t stride;
    };
    Column column(std::size_t index) const {
        if (bins_.empty()) return {task_.table.column(index), 1};
        return {bins_.data() + task_.bundles.shared() + task_.bundles.place(index), task_.bundles.row_bytes()};
    }

    // Squares of the units of the gradients, for scores. The outputs of a Normal differ in kind: each is measured by its own
    // mean square, which is what its part of the likelihood weighs it by.
    std::vector<float> squared_units() const {
        if (task_.recipe.objective != Objective::normal) return unit_squared_;
        std::vector<float> units(outputs_);
        for (int k = 0; k < outputs_; ++k) {
            std::int64_t squares = 0;
            for (const auto& share : shares_) squares += share.squares[k];
            units[k] = 1.0f / static_cast<float>(std::max<std::int64_t>(squares, 1));
        }
        return units;
    }

    // Draws, copies and rounds this thread's share of the rows.
    void prepare(Team team, int tree, const Gradients& gradients) {
        std::vector<float> levels(outputs_);
        for (int k = 0; k < outputs_; ++k) {
            const float largest = gradients.largest(k);
            const float unit = largest > 0.0f ? largest / task_.largest_level : 1.0f;
            levels[k] = 1.0f / unit;
            if (team.rank == 0) unit_squared_[k] = unit * unit;
        }
        Share& share = shares_[team.rank];
        std::fill(share.squares.begin(), share.squares.end(), 0);
        if (bins_.empty()) {
            if (team.rank == 0) weight_ = task_.recipe.subsample < 1.0 ? gradients.weight() : nullptr;
            round_rows(team, tree, gradients, levels.data(), share);
        } else {
            draw_rows(team, tree, gradients, levels.data(), share);
        }
    }

  private:
    void round_rows(Team team, int tree, const Gradients& gradients, const float* levels, Share& share) {
        const std::size_t blocks = padded(task_.table.rows) / block;
        std::vector<std::int32_t> whole(static_cast<std::size_t>(outputs_) * block);
        share.first = team.begin(blocks) * block;
        share.count = std::min(team.end(blocks) * block, task_.table.rows) - share.first;
        for (std::size_t b = team.begin(blocks); b < team.end(blocks); ++b) {
            round_block(tree, b * block, gradients, levels, whole.data());
            Layout::pack_block(whole.data(), outputs_, gradients.whole_weight() + b * block, words_.data() + b * block * width_);
            add_squares(whole.data(), nullptr, block, share.squares);
        }
    }

    void draw_rows(Team team, int tree, const Gradients& gradients, const float* levels, Share& share) {
        const std::size_t blocks = padded(task_.table.rows) / block;
        const std::size_t end = team.rank + 1 < team.size ? shares_[team.rank + 1].first : room_;
        std::vector<std::int32_t> whole(static_cast<std::size_t>(outputs_) * block);
        std::vector<Word> packed(static_cast<std::size_t>(width_) * block);
        std::uint32_t seen[block];
        std::size_t next = share.first;
        for (std::size_t b = team.begin(blocks); b < team.end(blocks); ++b) {
            const std::size_t count = std::min(draw(tree, b * block, gradients.weight(), seen), end - next);
            if (count == 0) continue;
            round_block(tree, b * block, gradients, levels, whole.data());
            Layout::pack_block(whole.data(), outputs_, gradients.whole_weight() + b * block, packed.data());
            add_squares(whole.data(), seen, count, share.squares);
            for (std::size_t i = 0; i < count; ++i) copy_row(seen[i], packed.data(), next + i);
            next += count;
        }
        share.count = next - share.first;
    }

    // The rows of a block that the tree's structure sees.
    std::size_t draw(int tree, std::size_t row, const float* weight, std::uint32_t* seen) const {
        bool in[block];
        const Stream stream(seed_, tree, Purpose::structure, 0);
        const std::uint32_t limit = share_limit(task_.structure_share);
        for (std::size_t i = 0; i < block; ++i) {
            in[i] = weight[row + i] > 0.0f && stream.bits(task_.target.key[row + i]) < limit;
        }
        std::size_t count = 0;
        for (std::size_t i = 0; i < block; ++i) {
            seen[count] = static_cast<std::uint32_t>(row + i);
            count += in[i];
        }
        return count;
    }

    // Stochastic rounding: the whole number below gradient / unit + u, u uniform on (0, 1). Two outputs share 32 bits.
    void round_block(int tree, std::size_t row, const Gradients& gradients, const float* levels,
                     std::int32_t* __restrict whole) const {
        const std::uint32_t* key = task_.target.key.data() + row;
        std::uint32_t bits[block];
        for (int k = 0; k < outputs_; ++k) {
            if (k % 2 == 0) {
                const Stream stream(seed_, tree, Purpose::rounding, k / 2);
                for (std::size_t i = 0; i < block; ++i) bits[i] = stream.bits(key[i]);
            }
            const float* gradient = gradients.of(k) + row;
            const int shift = k % 2 ? 16 : 0;
            const float level = levels[k];
            for (std::size_t i = 0; i < block; ++i) {
                const std::int32_t half = static_cast<std::int32_t>((bits[i] >> shift) & 0xffffu);
                const float uniform = (static_cast<float>(half) + 0.5f) * 0x1p-16f;
                whole[k * block + i] = static_cast<std::int32_t>(gradient[i] * level + uniform + 256.0f) - 256;
            }
        }
    }

    void add_squares(const std::int32_t* whole, const std::uint32_t* seen, std::size_t count,
                     std::vector<std::int64_t>& squares) const {
        if (task_.recipe.objective != Objective::normal) return;
        for (int k = 0; k < outputs_; ++k) {
            std::int32_t sum = 0;
            const std::int32_t* own = whole + k * block;
            if (count == block) {  // rows that are not seen are zero
                for (std::size_t i = 0; i < block; ++i) sum += own[i] * own[i];
            } else {
                for (std::size_t i = 0; i < count; ++i) sum += own[seen[i] % block] * own[seen[i] % block];
            }
            squares[k] += sum;
        }
    }

    void copy_row(std::size_t row, const Word* packed, std::size_t place) {
        const std::size_t bytes = task_.bundles.row_bytes();
        std::memcpy(bins_.data() + place * bytes, task_.bundles.by_row() + row * bytes, bytes);
        for (int k = 0; k < width_; ++k) words_[place * width_ + k] = packed[row % block * width_ + k];
    }

    const Task& task_;
    std::uint64_t seed_;
    int outputs_;
    int width_;
    std::size_t room_ = 0;
    std::vector<Share> shares_;
    std::vector<std::uint8_t> bins_;  // copies of the drawn rows' bins; empty where the table's own are used
    std::vector<Word> words_;
    const float* weight_ = nullptr;
    std::vector<float> unit_squared_;
};

}  // namespace epiboost
