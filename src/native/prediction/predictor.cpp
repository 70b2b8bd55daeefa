#include "prediction/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/objective.hpp"
#include "core/threads.hpp"
#include "prediction/walk.hpp"

namespace epiboost {
namespace {

constexpr std::size_t few_rows = 4;  // fewer rows than this are taken one by one

// The bin of a value of a table; where it is one of bins, that bin.
template <class Number, class FindBin>
std::uint8_t bin_in(const Numbers<Number>& table, std::size_t row, std::size_t column, const FindBin& find_bin) {
    if constexpr (std::is_same_v<Number, std::uint8_t>) {
        return table.own(row, column);
    } else {
        return find_bin(table.at(row, column));
    }
}

template <class Number>
void bin_strip(const Numbers<Number>& table, const std::vector<BorderGroups>& borders, std::size_t first, std::size_t count,
               Strip& own) {
    for (std::size_t begin = 0; begin < count; begin += block) {  // a block of rows at a time: they stay in the cache
        const std::size_t end = std::min(begin + block, count);
        for (std::size_t column = 0; column < table.columns; ++column) {
            const auto find_bin = [&](double value) { return borders[column].bin_of(value); };
            for (std::size_t i = begin; i < end; ++i) own.bin(i, column) = bin_in(table, first + i, column, find_bin);
        }
    }
}

// Scores of `count` rows, one array of `stride` rows an output, to parameters of consecutive rows.
void write_parameters(const Link& link, const double* scores, std::size_t stride, std::size_t count, double* parameters) {
    const std::size_t outputs = link.start.size();
    if (link.objective == Objective::normal) {
        float spread[strip];  // in a loop of its own, which vectorises
        const double start = link.start[1];
        const double* __restrict log_std = scores + stride;
        for (std::size_t i = 0; i < count; ++i) {
            spread[i] = exponential(clamp(static_cast<float>(start + log_std[i]), min_log_std, max_log_std));
        }
        const double location = link.location + link.scale * link.start[0];
        const double scale = link.scale;
        for (std::size_t i = 0; i < count; ++i) {
            const double std = scale * static_cast<double>(spread[i]);
            parameters[i * 2] = location + scale * scores[i];
            parameters[i * 2 + 1] = std * std;
        }
        return;
    }
    if (link.objective == Objective::bernoulli) {
        for (std::size_t i = 0; i < count; ++i) {
            const double score = link.start[0] + scores[i];
            parameters[i * 2] = 1.0 / (1.0 + std::exp(score));
            parameters[i * 2 + 1] = 1.0 / (1.0 + std::exp(-score));
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        double* own = parameters + i * outputs;
        for (std::size_t k = 0; k < outputs; ++k) own[k] = link.start[k] + scores[k * stride + i];
        const double top = *std::max_element(own, own + outputs);
        double sum = 0.0;
        for (std::size_t k = 0; k < outputs; ++k) sum += own[k] = std::exp(own[k] - top);
        for (std::size_t k = 0; k < outputs; ++k) own[k] /= sum;
    }
}

// Takes rows through one member: `add(stretch, sums)` adds the values of some trees, and after each part the parameters are
// written. `sums` and `running` hold one array of `stride` rows an output.
template <class Add>
void run_member(const ReadyTrees& trees, const Link& link, std::size_t member, std::size_t rows, std::size_t first,
                std::size_t count, std::size_t stride, const Add& add, std::vector<float>& sums, std::vector<double>& running,
                double* parameters) {
    std::fill(running.begin(), running.end(), 0.0);
    for (std::size_t at = 0; at < trees.parts_each; ++at) {
        const ReadyTrees::Part& part = trees.parts[member * trees.parts_each + at];
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (std::size_t stretch = part.first; stretch < part.end; ++stretch) add(stretch);
        for (std::size_t i = 0; i < running.size(); ++i) running[i] = part.carry * running[i] + sums[i];
        write_parameters(link, running.data(), stride, count, parameters + (at * rows + first) * link.parameters());
    }
}

template <class Number>
void predict_strips(const Numbers<Number>& table, const std::vector<BorderGroups>& borders, const ReadyTrees& trees,
                    const Link& link, Chains chains, int threads, double* parameters) {
    const std::size_t share = (table.rows / static_cast<std::size_t>(std::max(threads, 1)) + 1) / (2 * block) + 1;
    const std::size_t step = std::min(strip, share * 2 * block);  // with few rows, every thread has some nevertheless
    share_out(table.rows, step, threads, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        Strip own(trees, table.columns);
        std::vector<double> running(static_cast<std::size_t>(trees.outputs) * strip);
        own.blocks = (count + 2 * block - 1) / (2 * block) * 2;
        bin_strip(table, borders, first, count, own);
        prepare(trees, own);
        const auto add = [&](std::size_t stretch) { add_stretch(trees, stretch, own); };
        for (std::size_t i = 0; i < chains.count; ++i) {
            run_member(trees, link, chains.first + i, table.rows, first, count, strip, add, own.sums, running,
                       parameters + i * trees.parts_each * table.rows * link.parameters());
        }
    });
}

template <class Number>
void predict_one_by_one(const Numbers<Number>& table, const Borders& borders, const ReadyTrees& trees, const Link& link,
                        Chains chains, double* parameters) {
    std::vector<std::uint8_t> bins(table.columns);
    std::vector<std::uint8_t> above(trees.points.size());
    std::vector<std::int32_t> whole(trees.outputs);
    std::vector<float> sums(trees.outputs);
    std::vector<double> running(trees.outputs);
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t column = 0; column < table.columns; ++column) {
            bins[column] = bin_in(table, row, column, [&](double value) { return bin_of(value, borders.of(column)); });
        }
        for (std::size_t p = 0; p < above.size(); ++p) above[p] = bins[trees.points[p].feature] > trees.points[p].threshold;
        const auto add = [&](std::size_t stretch) {
            add_stretch_to_one(trees, stretch, above.data(), whole.data(), sums.data());
        };
        for (std::size_t i = 0; i < chains.count; ++i) {
            run_member(trees, link, chains.first + i, table.rows, row, 1, 1, add, sums, running,
                       parameters + i * trees.parts_each * table.rows * link.parameters());
        }
    }
}

}  // namespace

Predictor::Predictor(const RawTrees& raw, const Borders& borders, Link link)
    : trees_(raw), border_(borders.value.begin(), borders.value.end()), offset_(borders.offset.begin(), borders.offset.end()),
      groups_(group_borders(borders)), link_(std::move(link)) {}

template <class Number>
void Predictor::predict(const Numbers<Number>& table, Chains chains, int threads, double* parameters) const {
    if (table.rows < few_rows) {
        predict_one_by_one(table, Borders{border_, offset_}, trees_, link_, chains, parameters);
    } else {
        predict_strips(table, groups_, trees_, link_, chains, threads, parameters);
    }
}

template void Predictor::predict(const Numbers<float>&, Chains, int, double*) const;
template void Predictor::predict(const Numbers<double>&, Chains, int, double*) const;
template void Predictor::predict(const Numbers<std::uint8_t>&, Chains, int, double*) const;

}  // namespace epiboost
