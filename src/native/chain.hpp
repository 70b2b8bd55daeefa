// One member in training: a chain of symmetric trees, F(t) = (1 - gamma * rate) F(t - 1) + rate * h(t).
//
// Every thread of a team runs `Chain::run` on its own share of the rows. A tree goes through these steps:
//   gradients  of all rows, with Langevin noise, in single precision
//   rounding   of the gradients to small integers, up or down at random so that sums stay unbiased
//   levels     histograms of each thread's rows, merged; the smaller child is summed, the larger is the difference
//   leaves     values from the unrounded gradients, summed in fixed point
//   scores     of all rows moved by their leaf's value
// All sums are of whole numbers and all maxima exact, so neither the number of threads nor the order of rows matters.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "histogram.hpp"
#include "leaves.hpp"
#include "noise.hpp"
#include "objective.hpp"
#include "problem.hpp"
#include "split.hpp"
#include "team.hpp"

namespace epiboost {

// What every chain of a fit shares.
struct Task {
    const Table& table;
    const Target& target;
    const Recipe& recipe;
    const Table* evaluation_table = nullptr;
    const Target* evaluation_target = nullptr;
    std::vector<std::int32_t> whole_weight;  // weights as whole numbers of `weight_unit`
    float weight_unit = 1.0f;
    float largest_weight = 1.0f;
    std::vector<std::int32_t> pieces;  // in how many pieces a row is drawn when trees see a sample
    std::int32_t most_pieces = 1;
    float largest_level = 126.0f;  // gradients are rounded to whole numbers up to this size
    int stride = max_bins;         // cells a feature's histogram takes
};

// Where one chain writes its trees.
struct ChainOutput {
    std::uint16_t* feature;
    std::uint8_t* threshold;
    float* leaf;
    std::int32_t* count;
    double* evaluation;
};

template <class Layout>
class Chain {
    using Word = typename Layout::Word;

  public:
    Chain(const Task& task, std::uint64_t seed, int threads, ChainOutput output)
        : task_(task), recipe_(task.recipe), table_(task.table), target_(task.target), seed_(seed), output_(output),
          outputs_(recipe_.outputs), leaves_(1 << recipe_.depth), rows_padded_(padded(table_.rows)),
          features_size_(table_.columns * task.stride * Layout::words(outputs_)), threads_(threads) {
        const std::size_t k = outputs_;
        scores_.assign(k * rows_padded_, 0.0f);
        gradients_.resize(k * rows_padded_);
        mass_ = target_.weight.data();
        whole_mass_ = task.whole_weight.data();
        if (recipe_.subsample < 1.0) {
            sampled_weight_.resize(rows_padded_);
            mass_ = sampled_weight_.data();
            sampled_whole_weight_.resize(rows_padded_);
            whole_mass_ = sampled_whole_weight_.data();
        }
        if (recipe_.objective == Objective::normal && recipe_.variance_guard > 0.0) honest_.assign(rows_padded_, 0.0f);
        words_.resize(rows_padded_ * Layout::words(outputs_));
        rows_.resize(rows_padded_);
        spare_.resize(rows_padded_);
        histograms_.resize(static_cast<std::size_t>(leaves_ / 2 > 0 ? leaves_ / 2 : 1) * features_size_);
        if (threads > 1) own_histograms_.resize(static_cast<std::size_t>(threads) * std::max(leaves_ / 4, 1) * features_size_);
        workers_.resize(threads);
        for (auto& worker : workers_) {
            worker.largest.assign(k, 0);
            worker.squares.assign(k, 0);
            worker.start.assign(leaves_, 0);
            worker.size.assign(leaves_, 0);
            worker.leaf_sums.assign(static_cast<std::size_t>(leaves_) * (k + 1), 0);
            worker.running.resize((k + 1) * max_bins);
        }
        slot_.resize(leaves_);
        if (task.evaluation_table) {
            const std::size_t n = padded(task.evaluation_table->rows);
            evaluation_scores_.assign(k * n, 0.0f);
            block_losses_.resize(n / block);
        }
    }

    void run(Team team, Watch& watch, bool asks) {
        int tree = 0;
        double best_loss = HUGE_VAL;
        int best_tree = -1;
        for (; tree < recipe_.trees; ++tree) {
            gradients(team, tree);
            team.barrier();
            round_gradients(team, tree);
            if (!grow(team, watch, asks)) return;
            sum_leaves(team);
            team.barrier();
            move_scores(team, tree);
            if (task_.evaluation_table) {
                evaluate(team, tree);
                team.barrier();
                const double loss = evaluation_loss();
                if (team.rank == 0) output_.evaluation[tree] = loss;
                if (loss < best_loss) {
                    best_loss = loss;
                    best_tree = tree;
                }
                if (recipe_.patience > 0 && tree - best_tree >= recipe_.patience) break;
            }
            if (team.rank == 0) watch.tree_done();
        }
        if (team.rank == 0) *output_.count = recipe_.patience > 0 ? best_tree + 1 : tree;
    }

  private:
    struct alignas(64) Worker {
        std::vector<std::int32_t> largest;      // largest |gradient| an output, as the bits of a float
        std::vector<std::size_t> start;         // where a leaf's rows begin in rows_
        std::vector<std::size_t> size;          // and how many there are
        std::vector<std::int64_t> squares;      // sum of squared whole gradients, one an output
        std::vector<std::int64_t> leaf_sums;    // (leaves, outputs + 1)
        std::vector<std::int32_t> running;
        Split best;
    };

    // Scores are stored as F / c^t. Before c^t gets so small that its inverse would overflow, fold it in.
    void fold_decay(Team team, double decay) {
        for (std::size_t b = team.begin(rows_padded_ / block) * block; b < team.end(rows_padded_ / block) * block; ++b) {
            for (int k = 0; k < outputs_; ++k) scores_[k * rows_padded_ + b] *= static_cast<float>(decay);
            if (!honest_.empty()) honest_[b] *= static_cast<float>(decay);
        }
        if (task_.evaluation_table) {
            const std::size_t n = padded(task_.evaluation_table->rows);
            for (std::size_t b = team.begin(n / block) * block; b < team.end(n / block) * block; ++b) {
                for (int k = 0; k < outputs_; ++k) evaluation_scores_[k * n + b] *= static_cast<float>(decay);
            }
        }
    }

    // c^t since the last folding; every thread computes the same.
    double decay_after(int trees) const { return std::pow(1.0 - recipe_.shrink * recipe_.learning_rate, trees - folded_at_); }

    void gradients(Team team, int tree) {
        if (tree > 0 && decay_after(tree) < 0x1p-20) {
            fold_decay(team, decay_after(tree));
            team.barrier();
            if (team.rank == 0) folded_at_ = tree;
            team.barrier();
        }
        const Scores scores{scores_.data(), rows_padded_, recipe_.start.data(), static_cast<float>(decay_after(tree))};
        const float* honest = honest_.empty() ? scores_.data() : honest_.data();
        Worker& worker = workers_[team.rank];
        std::fill(worker.largest.begin(), worker.largest.end(), 0);
        std::vector<float> raw(static_cast<std::size_t>(outputs_ + 1) * block);
        for (std::size_t b = team.begin(rows_padded_ / block); b < team.end(rows_padded_ / block); ++b) {
            const std::size_t row = b * block;
            const float* y = target_.y.data();
            if (recipe_.objective == Objective::normal) {
                normal_gradient(scores, honest, y, row, raw.data(), raw.data() + block);
            } else if (recipe_.objective == Objective::bernoulli) {
                bernoulli_gradient(scores, y, row, raw.data());
            } else {
                categorical_gradient(scores, outputs_, y, row, raw.data());
            }
            weigh(tree, row);
            for (int k = 0; k < outputs_; k += 2) add_noise(tree, row, k, raw.data(), worker);
        }
    }

    // The weights of a block's rows in this tree. A row of weight w is w chances to be seen: it is drawn piece by piece.
    void weigh(int tree, std::size_t row) {
        if (sampled_weight_.empty()) return;
        const Stream stream(seed_, tree, Purpose::subsample, 0);
        const std::uint32_t limit = static_cast<std::uint32_t>(std::min(recipe_.subsample * 0x1p32, 4294967295.0));
        std::int32_t kept[block] = {};
        for (std::int32_t piece = 0; piece < task_.most_pieces; ++piece) {
            for (std::size_t i = 0; i < block; ++i) {
                const std::uint32_t key = target_.key[row + i] + static_cast<std::uint32_t>(piece) * 0x9e3779b9u;
                kept[i] += piece < task_.pieces[row + i] && stream.bits(key) < limit ? 1 : 0;
            }
        }
        for (std::size_t i = 0; i < block; ++i) {
            const std::int32_t pieces = task_.pieces[row + i];
            sampled_weight_[row + i] = target_.weight[row + i] * static_cast<float>(kept[i]) / static_cast<float>(pieces);
            sampled_whole_weight_[row + i] = static_cast<std::int32_t>(
                (static_cast<std::int64_t>(task_.whole_weight[row + i]) * kept[i] + pieces - 1) / pieces);
        }
    }

    // Weighted gradient plus noise of one pair of outputs; a row of weight w gets the noise of w rows together.
    void add_noise(int tree, std::size_t row, int output, const float* raw, Worker& worker) {
        const bool pair = output + 1 < outputs_;
        float* __restrict even = gradients_.data() + output * rows_padded_ + row;
        float* __restrict odd = pair ? even + rows_padded_ : nullptr;
        const float* raw_even = raw + output * block;
        const float* raw_odd = raw + (output + 1) * block;
        const float* mass = mass_ + row;
        float noise_even[block] = {};
        float noise_odd[block] = {};
        if (recipe_.noise > 0.0) {
            const Stream stream(seed_, tree, Purpose::langevin, output / 2);
            const float deviation = static_cast<float>(recipe_.noise);
            const std::uint32_t* key = target_.key.data() + row;
            for (std::size_t i = 0; i < block; ++i) {
                float a;
                float b;
                normal_pair(stream, key[i], a, b);
                const float size = std::sqrt(mass[i]) * deviation;
                noise_even[i] = size * a;
                noise_odd[i] = size * b;
            }
        }
        std::int32_t largest_even = worker.largest[output];
        for (std::size_t i = 0; i < block; ++i) {
            even[i] = mass[i] * raw_even[i] + noise_even[i];
            largest_even = std::max(largest_even, std::bit_cast<std::int32_t>(even[i]) & 0x7fffffff);
        }
        worker.largest[output] = largest_even;
        if (!pair) return;
        std::int32_t largest_odd = worker.largest[output + 1];
        for (std::size_t i = 0; i < block; ++i) {
            odd[i] = mass[i] * raw_odd[i] + noise_odd[i];
            largest_odd = std::max(largest_odd, std::bit_cast<std::int32_t>(odd[i]) & 0x7fffffff);
        }
        worker.largest[output + 1] = largest_odd;
    }

    float largest_gradient(int output) const {
        std::int32_t bits = 0;
        for (const auto& worker : workers_) bits = std::max(bits, worker.largest[output]);
        return std::bit_cast<float>(bits);
    }

    void round_gradients(Team team, int tree) {
        std::vector<float> levels(outputs_);
        std::vector<float> unit_squared(outputs_);
        for (int k = 0; k < outputs_; ++k) {
            const float largest = largest_gradient(k);
            const float unit = largest > 0.0f ? largest / task_.largest_level : 1.0f;
            levels[k] = 1.0f / unit;
            unit_squared[k] = unit * unit;
        }
        Worker& worker = workers_[team.rank];
        std::vector<Stream> streams;
        for (int k = 0; k < outputs_; k += 2) streams.emplace_back(seed_, tree, Purpose::rounding, k / 2);
        std::vector<std::int32_t> whole(static_cast<std::size_t>(outputs_) * block);
        std::vector<std::int32_t> of_row(outputs_);
        const std::size_t first = team.begin(rows_padded_ / block) * block;
        const std::size_t last = team.end(rows_padded_ / block) * block;
        const int width = Layout::words(outputs_);
        std::size_t count = 0;
        std::fill(worker.squares.begin(), worker.squares.end(), 0);
        for (std::size_t row = first; row < last; row += block) {
            for (int k = 0; k < outputs_; ++k) round_block(streams[k / 2], k, row, levels[k], whole.data() + k * block);
            for (std::size_t i = 0; i < block; ++i) {
                const bool seen = mass_[row + i] > 0.0f;
                for (int k = 0; k < outputs_; ++k) {
                    of_row[k] = whole[k * block + i];
                    worker.squares[k] += seen ? of_row[k] * of_row[k] : 0;
                }
                Layout::pack(of_row.data(), outputs_, whole_mass_[row + i], words_.data() + (row + i) * width);
                rows_[first + count] = static_cast<std::uint32_t>(row + i);
                count += seen;
            }
        }
        worker.start[0] = first;
        worker.size[0] = count;
        if (team.rank != 0) return;
        unit_squared_ = unit_squared;
        fixed_scale_.resize(outputs_ + 1);
        for (int k = 0; k < outputs_; ++k) fixed_scale_[k] = fixed_point(largest_gradient(k));
        fixed_scale_[outputs_] = fixed_point(task_.largest_weight);
    }

    // Stochastic rounding: the whole number below gradient / unit + u, u uniform on (0, 1).
    void round_block(const Stream& stream, int output, std::size_t row, float levels, std::int32_t* __restrict whole) {
        const float* gradient = gradients_.data() + output * rows_padded_ + row;
        const std::uint32_t* key = target_.key.data() + row;
        const int shift = output % 2 ? 16 : 0;
        for (std::size_t i = 0; i < block; ++i) {
            const std::int32_t half = static_cast<std::int32_t>((stream.bits(key[i]) >> shift) & 0xffffu);
            const float uniform = (static_cast<float>(half) + 0.5f) * 0x1p-16f;
            whole[i] = static_cast<std::int32_t>(gradient[i] * levels + uniform + 256.0f) - 256;
        }
    }

    // Chooses the splits of all levels; false if the caller wants to stop.
    bool grow(Team team, Watch& watch, bool asks) {
        for (int level = 0; level < recipe_.depth; ++level) {
            if (level > 0) split_leaves(team, level - 1);
            if (asks) watch.look();
            if (team.rank == 0) stop_ = watch.stopped();
            team.barrier();
            if (stop_) return false;
            if (team.rank == 0) plan_level(level);
            team.barrier();
            fill_histograms(team);
            team.barrier();
            score_features(team, level);
            team.barrier();
            Split best;
            for (const auto& worker : workers_) {
                if (worker.best.better_than(best)) best = worker.best;
            }
            if (team.rank == 0) {
                splits_feature_[level] = best.feature;
                splits_threshold_[level] = best.threshold;
            }
            team.barrier();
        }
        return true;
    }

    void split_leaves(Team team, int level) {
        Worker& worker = workers_[team.rank];
        const std::uint8_t* column = table_.column(splits_feature_[level]);
        const int half = 1 << level;
        for (int leaf = 0; leaf < half; ++leaf) {
            std::uint32_t* rows = rows_.data() + worker.start[leaf];
            const std::size_t left =
                split_rows(column, splits_threshold_[level], rows, worker.size[leaf], spare_.data() + worker.start[leaf]);
            worker.start[leaf + half] = worker.start[leaf] + left;
            worker.size[leaf + half] = worker.size[leaf] - left;
            worker.size[leaf] = left;
        }
    }

    // A histogram to be summed from rows, and the slot of the parent from which the sibling's is then the difference.
    struct Fill {
        int leaf;
        int slot;
        int sibling_slot;  // -1: none
    };

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

    Word* slot(int index) { return histograms_.data() + static_cast<std::size_t>(index) * features_size_; }

    Word* own_histogram(int rank, std::size_t fill) {
        if (threads_ == 1) return slot(fills_[fill].slot);
        const std::size_t per_thread = static_cast<std::size_t>(std::max(leaves_ / 4, 1));
        return own_histograms_.data() + (rank * per_thread + fill) * features_size_;
    }

    void fill_histograms(Team team) {
        const Worker& worker = workers_[team.rank];
        for (std::size_t i = 0; i < fills_.size(); ++i) {
            Word* histogram = own_histogram(team.rank, i);
            std::fill(histogram, histogram + features_size_, Word{0});
            const int leaf = fills_[i].leaf;
            add_rows<Layout>(table_.by_row.data(), table_.columns, words_.data(), outputs_, task_.stride,
                             rows_.data() + worker.start[leaf], worker.size[leaf], histogram);
        }
    }

    // This thread's features: merge the threads' histograms, subtract to get the siblings', score every threshold.
    void score_features(Team team, int level) {
        Worker& worker = workers_[team.rank];
        worker.best = Split{};
        auto* running = reinterpret_cast<std::int32_t(*)[max_bins]>(worker.running.data());
        const std::size_t size = static_cast<std::size_t>(task_.stride) * Layout::words(outputs_);
        std::vector<float> unit(unit_squared_);
        if (recipe_.objective == Objective::normal) {
            for (int k = 0; k < outputs_; ++k) {
                std::int64_t squares = 0;
                for (const auto& other : workers_) squares += other.squares[k];
                unit[k] = static_cast<float>(target_.total_weight / static_cast<double>(std::max<std::int64_t>(squares, 1)));
            }
        }
        const Units units{unit.data(), task_.weight_unit, static_cast<float>(recipe_.l2)};
        for (std::size_t f = team.begin(table_.columns); f < team.end(table_.columns); ++f) {
            for (std::size_t i = 0; i < fills_.size(); ++i) complete(i, f * size, size);
            float scores[max_bins] = {};
            for (int leaf = 0; leaf < 1 << level; ++leaf) {
                if (slot_[leaf] < 0) continue;
                Layout::scan(slot(slot_[leaf]) + f * size, task_.stride, outputs_, running);
                add_scores(running, task_.stride, outputs_, units, scores);
            }
            const Split best = best_threshold(scores, f, table_.first_threshold[f], table_.bins[f]);
            if (best.better_than(worker.best)) worker.best = best;
        }
    }

    void complete(std::size_t fill, std::size_t offset, std::size_t size) {
        Word* __restrict summed = slot(fills_[fill].slot) + offset;
        if (threads_ > 1) {
            std::copy_n(own_histogram(0, fill) + offset, size, summed);
            for (int rank = 1; rank < threads_; ++rank) {
                const Word* part = own_histogram(rank, fill) + offset;
                for (std::size_t i = 0; i < size; ++i) summed[i] += part[i];
            }
        }
        if (fills_[fill].sibling_slot < 0) return;
        Word* __restrict sibling = slot(fills_[fill].sibling_slot) + offset;
        for (std::size_t i = 0; i < size; ++i) sibling[i] -= summed[i];
    }

    void leaves_of(const Table& table, std::size_t row, std::uint8_t* leaf) const {
        const auto column = [&](int level) { return table.column(splits_feature_[level]) + row; };
        find_leaves(column, splits_threshold_, recipe_.depth, leaf);
    }

    // A power of two that brings every number up to `largest` below 2^30: sums of a billion of them fit 64 bits.
    static float fixed_point(float largest) {
        if (!(largest > 0.0f)) return 1.0f;
        return static_cast<float>(std::ldexp(1.0, std::min(29 - std::ilogb(largest), 120)));
    }

    void sum_leaves(Team team) {
        Worker& worker = workers_[team.rank];
        std::fill(worker.leaf_sums.begin(), worker.leaf_sums.end(), 0);
        const int width = outputs_ + 1;
        const std::vector<float>& scale = fixed_scale_;
        std::uint8_t leaf[block];
        for (std::size_t b = team.begin(rows_padded_ / block); b < team.end(rows_padded_ / block); ++b) {
            const std::size_t row = b * block;
            leaves_of(table_, row, leaf);
            for (int k = 0; k < width; ++k) {
                const float* values = k < outputs_ ? gradients_.data() + k * rows_padded_ + row : mass_ + row;
                std::int32_t fixed[block];
                for (std::size_t i = 0; i < block; ++i) fixed[i] = static_cast<std::int32_t>(values[i] * scale[k]);
                for (std::size_t i = 0; i < block; ++i) worker.leaf_sums[leaf[i] * width + k] += fixed[i];
            }
        }
    }

    // Leaf values -sum(gradients) / (sum(weights) + l2), then every row's score moves by its leaf's.
    void move_scores(Team team, int tree) {
        const int width = outputs_ + 1;
        std::vector<double> sums(static_cast<std::size_t>(leaves_) * width);
        for (std::size_t i = 0; i < sums.size(); ++i) {
            std::int64_t sum = 0;
            for (const auto& worker : workers_) sum += worker.leaf_sums[i];
            sums[i] = static_cast<double>(sum) / fixed_scale_[i % width];
        }
        const double rate = recipe_.learning_rate;
        std::vector<float> values(static_cast<std::size_t>(leaves_) * outputs_);
        for (int leaf = 0; leaf < leaves_; ++leaf) {
            const double weight = sums[leaf * width + outputs_] + recipe_.l2;
            for (int k = 0; k < outputs_; ++k) {
                const double extra = k == 1 && !honest_.empty() ? recipe_.variance_guard : 0.0;
                const double value = weight > 1e-20 ? -rate * sums[leaf * width + k] / (weight + extra) : 0.0;
                values[leaf * outputs_ + k] = static_cast<float>(value);
            }
        }
        if (team.rank == 0) keep(tree, values);
        const float step = static_cast<float>(1.0 / decay_after(tree + 1));
        if (!honest_.empty()) move_honest(sums, step, static_cast<float>(decay_after(tree)), team);
        move(table_, scores_, values, step, team);
        if (task_.evaluation_table) move(*task_.evaluation_table, evaluation_scores_, values, step, team);
    }

    void keep(int tree, const std::vector<float>& values) {
        std::copy_n(splits_feature_, recipe_.depth, output_.feature + static_cast<std::size_t>(tree) * recipe_.depth);
        std::copy_n(splits_threshold_, recipe_.depth, output_.threshold + static_cast<std::size_t>(tree) * recipe_.depth);
        std::copy(values.begin(), values.end(), output_.leaf + static_cast<std::size_t>(tree) * values.size());
    }

    void move(const Table& table, std::vector<float>& scores, const std::vector<float>& values, float step, Team team) {
        const std::size_t n = padded(table.rows);
        std::uint8_t leaf[block];
        for (std::size_t b = team.begin(n / block); b < team.end(n / block); ++b) {
            leaves_of(table, b * block, leaf);
            for (int k = 0; k < outputs_; ++k) {
                float* __restrict score = scores.data() + k * n + b * block;
                for (std::size_t i = 0; i < block; ++i) score[i] += step * values[leaf[i] * outputs_ + k];
            }
        }
    }

    // The mean score without the row's own pull on its leaf: what a model that had not seen the row would say, as far as
    // leaf values go.
    void move_honest(const std::vector<double>& sums, float step, float decay, Team team) {
        const int width = outputs_ + 1;
        const float rate = step * static_cast<float>(recipe_.learning_rate);
        std::vector<float> gradient(leaves_);
        std::vector<float> weight(leaves_);
        for (int leaf = 0; leaf < leaves_; ++leaf) {
            gradient[leaf] = static_cast<float>(sums[leaf * width]);
            weight[leaf] = static_cast<float>(sums[leaf * width + outputs_] + recipe_.l2);
        }
        std::uint8_t leaf[block];
        for (std::size_t b = team.begin(rows_padded_ / block); b < team.end(rows_padded_ / block); ++b) {
            const std::size_t row = b * block;
            leaves_of(table_, row, leaf);
            for (std::size_t i = 0; i < block; ++i) {
                const float own = mass_[row + i] * (recipe_.start[0] + decay * scores_[row + i] - target_.y[row + i]);
                const float others = gradient[leaf[i]] - own;
                const float size = weight[leaf[i]] - mass_[row + i];
                honest_[row + i] -= size > 1e-20f ? rate * others / size : 0.0f;
            }
        }
    }

    void evaluate(Team team, int tree) {
        const Table& table = *task_.evaluation_table;
        const Target& target = *task_.evaluation_target;
        const std::size_t n = padded(table.rows);
        const Scores scores{evaluation_scores_.data(), n, recipe_.start.data(), static_cast<float>(decay_after(tree + 1))};
        for (std::size_t b = team.begin(n / block); b < team.end(n / block); ++b) {
            double loss = 0.0;
            for (std::size_t row = b * block; row < std::min((b + 1) * block, table.rows); ++row) {
                loss += target.weight[row] *
                        negative_log_likelihood(recipe_.objective, scores, outputs_, target.y[row], row);
            }
            block_losses_[b] = loss;
        }
    }

    double evaluation_loss() const {
        double loss = 0.0;
        for (const double part : block_losses_) loss += part;
        return loss / task_.evaluation_target->total_weight;
    }

    const Task& task_;
    const Recipe& recipe_;
    const Table& table_;
    const Target& target_;
    std::uint64_t seed_;
    ChainOutput output_;
    int outputs_;
    int leaves_;
    std::size_t rows_padded_;
    std::size_t features_size_;
    int threads_;
    int folded_at_ = 0;
    bool stop_ = false;
    int slots_used_ = 0;
    const float* mass_ = nullptr;               // weights in the tree at hand
    const std::int32_t* whole_mass_ = nullptr;  // and as whole numbers
    std::vector<std::int32_t> sampled_whole_weight_;
    std::uint16_t splits_feature_[max_depth] = {};
    std::uint8_t splits_threshold_[max_depth] = {};
    std::vector<float> scores_, gradients_, sampled_weight_, honest_, unit_squared_, fixed_scale_, evaluation_scores_;
    std::vector<Word> words_, histograms_, own_histograms_;
    std::vector<std::uint32_t> rows_, spare_;
    std::vector<int> slot_;
    std::vector<Fill> fills_;
    std::vector<Worker> workers_;
    std::vector<double> block_losses_;
};

}  // namespace epiboost
