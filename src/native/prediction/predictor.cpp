#include "prediction/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/objective.hpp"
#include "prediction/tree_evaluation.hpp"

namespace epiboost {
namespace {

constexpr std::size_t min_strip_rows = 4;  // fewer rows are faster one by one

// Bin of a value of a table. A table of bins holds it already.
template <class Number, class FindBin>
std::uint8_t bin_in(const StridedTable<Number>& table, std::size_t row, std::size_t column, const FindBin& find_bin) {
    if constexpr (std::is_same_v<Number, std::uint8_t>) {
        return table.raw(row, column);
    } else {
        return find_bin(table.at(row, column));
    }
}

template <class Number>
void bin_strip(const StridedTable<Number>& table, const std::vector<BorderIndex>& borders, std::size_t first, std::size_t count,
               Strip& strip) {
    for (std::size_t begin = 0; begin < count; begin += block) {  // block by block, so that rows stay in the cache
        const std::size_t end = std::min(begin + block, count);
        for (std::size_t column = 0; column < table.columns; ++column) {
            const auto find_bin = [&](double value) { return borders[column].bin_of(value); };
            for (std::size_t i = begin; i < end; ++i) strip.set_bin(i, column, bin_in(table, first + i, column, find_bin));
        }
    }
}

// Maps the scores of `count` rows, one array of `stride` rows per output, to parameters.
void write_parameters(const Link& link, const double* scores, std::size_t stride, std::size_t count, double* parameters) {
    const std::size_t outputs = link.start.size();
    if (link.objective == Objective::normal) {
        float spread[strip_rows];  // computed in a separate loop, which vectorises
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
    if (is_family(link.objective)) {
        for (std::size_t k = 0; k < outputs; ++k) {
            for (std::size_t i = 0; i < count; ++i) parameters[i * outputs + k] = link.start[k] + scores[k * stride + i];
        }
        return;
    }
    if (link.objective == Objective::bernoulli) {
        for (std::size_t i = 0; i < count; ++i) {
            const double score = link.start[0] + scores[i];
            parameters[i * 2] = 1.0 / (1.0 + exponential(score));
            parameters[i * 2 + 1] = 1.0 / (1.0 + exponential(-score));
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        double* of_row = parameters + i * outputs;
        for (std::size_t k = 0; k < outputs; ++k) of_row[k] = link.start[k] + scores[k * stride + i];
        const double top = *std::max_element(of_row, of_row + outputs);
        double sum = 0.0;
        for (std::size_t k = 0; k < outputs; ++k) of_row[k] = exponential(of_row[k] - top);  // apart, so that it vectorises
        for (std::size_t k = 0; k < outputs; ++k) sum += of_row[k];
        for (std::size_t k = 0; k < outputs; ++k) of_row[k] /= sum;
    }
}

// Evaluates one member. `add(batch)` adds the leaf values of a batch of trees to `sums`. After each segment, the parameters
// are written. `sums` and `running` hold one array of `stride` rows per output.
template <class Add>
void evaluate_member(const CompiledTrees& trees, const Link& link, std::size_t member, std::size_t rows, std::size_t first,
                     std::size_t count, std::size_t stride, const Add& add, std::vector<float>& sums,
                     std::vector<double>& running, double* parameters) {
    std::fill(running.begin(), running.end(), 0.0);
    for (std::size_t s = 0; s < trees.segments_per_chain; ++s) {
        const CompiledTrees::Segment& segment = trees.segments[member * trees.segments_per_chain + s];
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (std::size_t batch = segment.first; batch < segment.end; ++batch) add(batch);
        for (std::size_t i = 0; i < running.size(); ++i) running[i] = segment.decay * running[i] + sums[i];
        write_parameters(link, running.data(), stride, count, parameters + (s * rows + first) * link.parameters());
    }
}

template <class Number>
void predict_strips(const StridedTable<Number>& table, const std::vector<BorderIndex>& borders, const CompiledTrees& trees,
                    const Link& link, ChainRange chains, int threads, double* parameters, const Poll& poll) {
    const std::size_t share = (table.rows / static_cast<std::size_t>(std::max(threads, 1)) + 1) / block + 1;
    const std::size_t step = std::min(strip_rows, share * block);  // small tables too are shared by all threads
    parallel_for(table.rows, step, threads, poll, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        Strip strip(trees, table.columns);
        std::vector<double> running(static_cast<std::size_t>(trees.outputs) * strip_rows);
        strip.blocks = (count + block - 1) / block;
        bin_strip(table, borders, first, count, strip);
        const auto add = [&](std::size_t batch) { add_batch(trees, batch, strip); };
        for (std::size_t i = 0; i < chains.count; ++i) {
            evaluate_member(trees, link, chains.first + i, table.rows, first, count, strip_rows, add, strip.sums, running,
                            parameters + i * trees.segments_per_chain * table.rows * link.parameters());
        }
    });
}

template <class Number>
void predict_one_by_one(const StridedTable<Number>& table, const Borders& borders, const CompiledTrees& trees, const Link& link,
                        ChainRange chains, double* parameters) {
    std::vector<std::uint8_t> bins(table.columns);
    std::vector<std::uint8_t> above(trees.conditions.size());
    std::vector<std::int32_t> integers(trees.outputs);
    std::vector<float> sums(trees.outputs);
    std::vector<double> running(trees.outputs);
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t column = 0; column < table.columns; ++column) {
            bins[column] = bin_in(table, row, column, [&](double value) { return bin_of(value, borders.of(column)); });
        }
        for (std::size_t c = 0; c < above.size(); ++c) {
            above[c] = bins[trees.conditions[c].feature] > trees.conditions[c].threshold;
        }
        const auto add = [&](std::size_t batch) {
            add_batch_to_row(trees, batch, above.data(), integers.data(), sums.data());
        };
        for (std::size_t i = 0; i < chains.count; ++i) {
            evaluate_member(trees, link, chains.first + i, table.rows, row, 1, 1, add, sums, running,
                            parameters + i * trees.segments_per_chain * table.rows * link.parameters());
        }
    }
}

}  // namespace

Predictor::Predictor(const ForestArrays& forest, const Borders& borders, Link link)
    : trees_(forest), border_(borders.value.begin(), borders.value.end()), offset_(borders.offset.begin(), borders.offset.end()),
      border_index_(index_borders(borders)), link_(std::move(link)) {}

template <class Number>
void Predictor::predict(const StridedTable<Number>& table, ChainRange chains, int threads, double* parameters,
                        const Poll& poll) const {
    if (table.rows < min_strip_rows) {
        predict_one_by_one(table, Borders{border_, offset_}, trees_, link_, chains, parameters);
    } else {
        predict_strips(table, border_index_, trees_, link_, chains, threads, parameters, poll);
    }
}

template void Predictor::predict(const StridedTable<float>&, ChainRange, int, double*, const Poll&) const;
template void Predictor::predict(const StridedTable<double>&, ChainRange, int, double*, const Poll&) const;
template void Predictor::predict(const StridedTable<std::uint8_t>&, ChainRange, int, double*, const Poll&) const;

}  // namespace epiboost
