#include "predictor.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lookup.hpp"
#include "objective.hpp"
#include "threads.hpp"

namespace epiboost {
namespace {

constexpr std::size_t strip = 16 * block;      // rows that are taken through all trees together: their bins stay in the cache
constexpr std::size_t trees_at_once = 32;      // and so do the values of so many trees
constexpr std::size_t few_rows = 8;            // fewer rows than this are taken one by one

// Bins of a strip, one block of rows after the other, by column within a block.
template <class Number>
void bin_strip(const Numbers<Number>& table, const std::vector<BorderGroups>& borders, std::size_t first, std::size_t count,
               std::uint8_t* bins) {
    for (std::size_t column = 0; column < table.columns; ++column) {
        for (std::size_t i = 0; i < count; ++i) {
            bins[(i / block * table.columns + column) * block + i % block] =
                borders[column].bin_of(table.at(first + i, column));
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

Stretch stretch_of(const ReadyTrees& trees, std::size_t first, std::size_t count) {
    const std::size_t leaf_values = static_cast<std::size_t>(trees.outputs) << trees.depth;
    return {trees.feature.data() + first * trees.depth, trees.threshold.data() + first * trees.depth,
            trees.leaf.data() + first * leaf_values, count, trees.depth, trees.outputs};
}

// Takes rows through one member: `add(stretch, sums)` adds the values of some trees, and after each part the parameters are
// written. `sums` and `running` hold one array of `stride` rows an output.
template <class Add>
void run_member(const ReadyTrees& trees, const Link& link, std::size_t member, std::size_t rows, std::size_t first,
                std::size_t count, std::size_t stride, const Add& add, float* sums, double* running, double* parameters) {
    const std::size_t size = static_cast<std::size_t>(trees.outputs) * stride;
    std::fill(running, running + size, 0.0);
    std::size_t tree = 0;
    for (std::size_t part = 0; part < trees.parts; ++part) {
        const std::size_t at = member * trees.parts + part;
        const auto end = static_cast<std::size_t>(trees.end[at]);
        std::fill(sums, sums + size, 0.0f);
        for (; tree < end; tree += std::min(trees_at_once, end - tree)) {
            add(stretch_of(trees, member * trees.trees + tree, std::min(trees_at_once, end - tree)), sums);
        }
        for (std::size_t i = 0; i < size; ++i) running[i] = trees.carry[at] * running[i] + sums[i];
        write_parameters(link, running, stride, count, parameters + (at * rows + first) * link.parameters());
    }
}

template <class Number>
void predict_strips(const Numbers<Number>& table, const Borders& borders, const ReadyTrees& trees, const Link& link,
                    int threads, double* parameters) {
    const std::vector<BorderGroups> groups = group_borders(borders);
    share_out(table.rows, strip, threads, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        std::vector<std::uint8_t> bins(table.columns * strip);
        std::vector<float> sums(trees.outputs * strip);
        std::vector<double> running(trees.outputs * strip);
        bin_strip(table, groups, first, count, bins.data());
        const auto add = [&](const Stretch& stretch, float* own) {
            for (std::size_t b = 0; b < (count + block - 1) / block; ++b) {
                add_trees(stretch, bins.data() + b * table.columns * block, own + b * block, strip);
            }
        };
        for (std::size_t member = 0; member < trees.members; ++member) {
            run_member(trees, link, member, table.rows, first, count, strip, add, sums.data(), running.data(), parameters);
        }
    });
}

template <class Number>
void predict_one_by_one(const Numbers<Number>& table, const Borders& borders, const ReadyTrees& trees, const Link& link,
                        double* parameters) {
    std::vector<std::uint8_t> bins(table.columns);
    std::vector<float> sums(trees.outputs);
    std::vector<double> running(trees.outputs);
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t column = 0; column < table.columns; ++column) {
            bins[column] = bin_of(table.at(row, column), borders.of(column));
        }
        const auto add = [&](const Stretch& stretch, float* own) { add_trees_to_one(stretch, bins.data(), own); };
        for (std::size_t member = 0; member < trees.members; ++member) {
            run_member(trees, link, member, table.rows, row, 1, 1, add, sums.data(), running.data(), parameters);
        }
    }
}

}  // namespace

template <class Number>
void predict(const Numbers<Number>& table, const Borders& borders, const ReadyTrees& trees, const Link& link, int threads,
             double* parameters) {
    if (table.rows < few_rows) {
        predict_one_by_one(table, borders, trees, link, parameters);
    } else {
        predict_strips(table, borders, trees, link, threads, parameters);
    }
}

template void predict(const Numbers<float>&, const Borders&, const ReadyTrees&, const Link&, int, double*);
template void predict(const Numbers<double>&, const Borders&, const ReadyTrees&, const Link&, int, double*);

}  // namespace epiboost
