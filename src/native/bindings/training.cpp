// Bindings of training: the training rows, and the trainer.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "core/noise.hpp"
#include "families/families.hpp"
#include "training/trainer.hpp"

namespace epiboost {
namespace {

using Progress = nb::typed<nb::callable, void(std::int64_t)>;
using RoundDone = nb::typed<nb::callable, bool(int, nb::typed<nb::list, std::tuple<int, Result<float, 2>>>)>;
using TrainedArrays =
    std::tuple<Result<std::uint16_t, 3>, Result<std::uint8_t, 3>, Result<std::uint8_t, 3>, Result<float, 4>,
               Result<std::int32_t, 1>, Result<double, 2>>;

Table table_of(const Array<std::uint8_t, 2>& bins, const Array<std::int32_t, 1>& bin_counts) {
    Table table;
    table.rows = bins.shape(0);
    table.columns = bins.shape(1);
    table.by_row = {bins.data(), bins.size()};
    table.by_column.assign(table.columns * padded(table.rows), 0);
    table.bins.assign(bin_counts.data(), bin_counts.data() + bin_counts.size());
    table.lowest.assign(table.columns, 255);
    table.highest.assign(table.columns, 0);
    for (std::size_t first = 0; first < table.rows; first += block) {  // block by block, so that rows stay in the cache
        const std::size_t count = std::min(block, table.rows - first);
        for (std::size_t c = 0; c < table.columns; ++c) {
            const std::uint8_t* const by_row = bins.data() + first * table.columns + c;
            std::uint8_t* const by_column = table.by_column.data() + c * padded(table.rows) + first;
            for (std::size_t i = 0; i < count; ++i) by_column[i] = by_row[i * table.columns];
            std::uint8_t lowest = 255;
            std::uint8_t highest = 0;
            for (std::size_t i = 0; i < count; ++i) {
                lowest = std::min(lowest, by_column[i]);
                highest = std::max(highest, by_column[i]);
            }
            table.lowest[c] = std::min<int>(table.lowest[c], lowest);
            table.highest[c] = std::max<int>(table.highest[c], highest);
        }
    }
    const bool too_large = !std::ranges::equal(table.highest, table.bins, std::ranges::less{});
    if (too_large) throw std::invalid_argument("bins must be below the bin_counts of their columns");
    return table;
}

// `y` holds one number per row, or several columns of them.
Target target_of(const Array<float, 1>& y, const Array<float, 1>& weight, const Array<std::uint32_t, 1>& keys) {
    Target target;
    const std::size_t rows = weight.size();
    const std::size_t n = padded(rows);
    target.y.assign(y.size() / rows * n, 0.0f);
    target.weight.assign(n, 0.0f);
    target.key.assign(n, 0);
    for (std::size_t i = 0; i < y.size(); ++i) target.y[i / rows * n + i % rows] = y.data()[i];
    for (std::size_t i = 0; i < rows; ++i) {
        target.weight[i] = weight.data()[i];
        target.key[i] = keys.data()[i];
        target.total_weight += weight.data()[i];
    }
    return target;
}

// A table and its target in the layout of the trainer. Only the array of bins is referenced, the others are copied.
struct Sample {
    Array<std::uint8_t, 2> bins;
    Table table;
    Target target;

    Sample(Array<std::uint8_t, 2> binned, const Array<float, 1>& y, const Array<float, 1>& weight,
           const Array<std::uint32_t, 1>& keys, const Array<std::int32_t, 1>& bin_counts,
           const std::optional<Array<float, 2>>& offset)
        : bins(std::move(binned)) {
        const std::size_t rows = bins.shape(0);
        if (rows < 1 || bins.shape(1) < 1 || bins.shape(1) > 65535 || bins.shape(1) != bin_counts.size() ||
            y.size() < rows || y.size() % rows != 0 || weight.size() != rows || keys.size() != rows || rows >= 0xffffffffu) {
            throw std::invalid_argument("bins, y, weight, keys and bin_counts must have matching sizes");
        }
        table = table_of(bins, bin_counts);
        target = target_of(y, weight, keys);
        if (!offset) return;
        if (offset->shape(0) != rows) throw std::invalid_argument("offset must have one row per row of the bins");
        const std::size_t outputs = offset->shape(1);
        target.offset.assign(outputs * padded(rows), 0.0f);
        for (std::size_t i = 0; i < offset->size(); ++i) {
            target.offset[i % outputs * padded(rows) + i / outputs] = offset->data()[i];
        }
    }
};

std::vector<Rows> rows_of(const std::vector<const Sample*>& samples) {
    if (samples.empty()) throw std::invalid_argument("samples must not be empty");
    std::vector<Rows> rows;
    for (const Sample* sample : samples) {
        if (!sample || sample->table.bins != samples[0]->table.bins) {
            throw std::invalid_argument("samples must have the same bin_counts");
        }
        rows.push_back({&sample->table, &sample->target});
    }
    return rows;
}

// Refuses constraints on columns that the table does not have.
void check_columns(const ChainRecipe& recipe, const std::vector<const Sample*>& samples) {
    const std::size_t columns = samples.empty() || !samples[0] ? 0 : samples[0]->table.columns;
    if (!recipe.monotone.empty() && recipe.monotone.size() != columns) {
        throw std::invalid_argument("monotone: one entry per column");
    }
    for (const std::vector<int>& group : recipe.interactions) {
        for (const int column : group) {
            if (column < 0 || static_cast<std::size_t>(column) >= columns) {
                throw std::invalid_argument("interactions: columns of the table");
            }
        }
    }
}

// Refuses targets and offsets that do not have the columns of the objective.
void check_target(const Target& target, const ChainRecipe& recipe) {
    std::size_t columns = 1;
    with_family(recipe.objective, [&](auto family) { columns = family.targets; });
    if (target.y.size() != columns * target.weight.size()) throw std::invalid_argument("y must have the columns of the objective");
    if (!target.offset.empty() && (!is_of_classes(recipe.objective) ||
                                   target.offset.size() != target.weight.size() * static_cast<std::size_t>(recipe.outputs))) {
        throw std::invalid_argument("offset must have one column per output of a classification");
    }
}

// One problem per list of samples, with its evaluation rows (none or one sample), recipe and seeds.
std::vector<Problem> problems_of(const std::vector<std::vector<const Sample*>>& samples,
                                 const std::vector<std::vector<const Sample*>>& evaluations,
                                 const std::vector<const ChainRecipe*>& recipes,
                                 const std::vector<Array<std::uint64_t, 1>>& seeds) {
    if (samples.empty() || evaluations.size() != samples.size() || recipes.size() != samples.size() ||
        seeds.size() != samples.size()) {
        throw std::invalid_argument("samples, evaluations, recipes and seeds must have one entry per problem");
    }
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const ChainRecipe* recipe = recipes[i];
        if (!recipe || recipe->trees != recipes[0]->trees || recipe->depth != recipes[0]->depth ||
            recipe->leaves != recipes[0]->leaves || recipe->outputs != recipes[0]->outputs) {
            throw std::invalid_argument("recipes must have the same trees, depth, leaves and outputs");
        }
        check_columns(*recipe, samples[i]);
        const Sample* evaluation = evaluations[i].empty() ? nullptr : evaluations[i][0];
        Problem problem{rows_of(samples[i]), {}, recipe, span_of(seeds[i])};
        for (const Rows& rows : problem.samples) check_target(*rows.target, *recipe);
        if (evaluation) check_target(evaluation->target, *recipe);
        if (evaluation) {
            if (evaluation->table.bins != samples[i][0]->table.bins) {
                throw std::invalid_argument("evaluation must have the same bin_counts as the samples");
            }
            problem.evaluation = {&evaluation->table, &evaluation->target};
        }
        problems.push_back(std::move(problem));
    }
    return problems;
}

// Pairs of a chain's number and the scores of its evaluation rows.
nb::list scores_of(const std::vector<EvaluationScores>& evaluated, int outputs) {
    nb::list all;
    for (const EvaluationScores& one : evaluated) {
        NewArray<float, 2> scores({one.rows, static_cast<std::size_t>(outputs)});
        std::copy(one.scores.begin(), one.scores.end(), scores.data.get());
        all.append(nb::make_tuple(one.member, scores.release()));
    }
    return all;
}

using GivenArrays =
    std::tuple<Array<std::uint16_t, 3>, Array<std::uint8_t, 3>, Array<std::uint8_t, 3>, Array<float, 4>>;

// Trees with which the chains begin: feature, threshold, parent and leaf, as `train` returns them.
GivenTrees given_trees(const GivenArrays& arrays, std::size_t members, const ChainRecipe& recipe, std::size_t columns) {
    const auto& [feature, threshold, parent, leaf] = arrays;
    const std::size_t trees = feature.shape(1);
    const auto splits = static_cast<std::size_t>(recipe.splits());
    const auto has_shape = [&](const auto& array, std::size_t width) {
        return array.shape(0) == members && array.shape(1) == trees && array.shape(2) == width;
    };
    if (trees > static_cast<std::size_t>(recipe.trees) || !has_shape(feature, splits) || !has_shape(threshold, splits) ||
        !has_shape(parent, recipe.is_symmetric() ? 0 : splits) ||
        !has_shape(leaf, static_cast<std::size_t>(recipe.leaf_count())) ||
        leaf.shape(3) != static_cast<std::size_t>(recipe.outputs)) {
        throw std::invalid_argument("given: trees must have the shape of those that are trained, and not be more");
    }
    const bool in_table =
        std::all_of(feature.data(), feature.data() + feature.size(), [&](std::uint16_t column) { return column < columns; });
    if (!in_table) throw std::invalid_argument("given: features must be columns of the samples");
    return {static_cast<int>(trees), span_of(feature), span_of(threshold), span_of(parent), span_of(leaf)};
}

TrainedArrays train_members(const std::vector<std::vector<const Sample*>>& samples,
                            const std::vector<std::vector<const Sample*>>& evaluations,
                            const std::vector<const ChainRecipe*>& recipes, const std::vector<Array<std::uint64_t, 1>>& seeds,
                            int threads, Progress progress, bool losses_wanted, int round_trees,
                            std::optional<RoundDone> round_done, const std::optional<GivenArrays>& given) {
    if (round_trees < 1) throw std::invalid_argument("round_trees must be at least 1");
    const std::vector<Problem> problems = problems_of(samples, evaluations, recipes, seeds);
    const ChainRecipe& recipe = *recipes[0];
    std::size_t members = 0;
    for (const Problem& problem : problems) members += problem.seeds.size();
    const std::size_t trees = recipe.trees;
    const auto splits = static_cast<std::size_t>(recipe.splits());
    NewArray<std::uint16_t, 3> feature({members, trees, splits});
    NewArray<std::uint8_t, 3> threshold({members, trees, splits});
    NewArray<std::uint8_t, 3> parent({members, trees, recipe.is_symmetric() ? 0 : splits});
    const auto leaves = static_cast<std::size_t>(recipe.leaf_count());
    NewArray<float, 4> leaf({members, trees, leaves, static_cast<std::size_t>(recipe.outputs)});
    NewArray<std::int32_t, 1> count({members});
    NewArray<double, 2> losses({members, losses_wanted ? trees : 0});
    std::fill_n(losses.data.get(), losses.size, std::nan(""));  // remains for trees that are not grown, and chains without evaluation rows
    GivenTrees begin;
    if (given) begin = given_trees(*given, members, recipe, samples[0][0]->table.columns);
    std::exception_ptr failure;
    bool finished = false;
    {
        ReleasedGil gil;
        TrainingMonitor monitor([&](std::int64_t done) {
            return gil.hold(failure, [&] {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                progress(done);
                return true;
            });
        });
        Rounds rounds{.trees = round_trees, .done = nullptr};
        if (round_done) {
            rounds.done = [&](int done, const std::vector<EvaluationScores>& evaluated) {
                return gil.hold(failure, [&] { return nb::cast<bool>((*round_done)(done, scores_of(evaluated, recipe.outputs))); });
            };
        }
        finished = train(problems, threads, monitor,
                         {feature.span(), threshold.span(), parent.span(), leaf.span(), count.span(), losses.span(), begin}, rounds);
    }
    if (failure) std::rethrow_exception(failure);
    if (!finished) throw std::runtime_error("training was stopped");
    return {feature.release(), threshold.release(), parent.release(), leaf.release(), count.release(), losses.release()};
}

// Langevin noise of one tree and output: standard Normal numbers, one per key.
Result<float, 1> langevin_noise(std::uint64_t seed, std::uint64_t tree, Array<std::uint32_t, 1> keys, int output) {
    NewArray<float, 1> noise({keys.size()});
    const NoiseKey noise_key(seed, tree, Purpose::langevin, static_cast<std::uint64_t>(output / 2));
    for (std::size_t i = 0; i < keys.size(); ++i) {
        float pair[2];
        normal_pair(noise_key, keys.data()[i], pair[0], pair[1]);
        noise.data[i] = pair[output % 2];
    }
    return noise.release();
}

}  // namespace

void bind_training(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Sample>(module, "Sample")
        .def(nb::init<Array<std::uint8_t, 2>, const Array<float, 1>&, const Array<float, 1>&, const Array<std::uint32_t, 1>&,
                      const Array<std::int32_t, 1>&, const std::optional<Array<float, 2>>&>(),
             "bins"_a, "y"_a, "weight"_a, "keys"_a, "bin_counts"_a, "offset"_a = nb::none());
    module.def("train", &train_members, "samples"_a, "evaluations"_a, "recipes"_a, "seeds"_a, "threads"_a, "progress"_a,
               "losses"_a = false, "round_trees"_a = std::numeric_limits<int>::max(), "round_done"_a = nb::none(),
               "given"_a = nb::none());
    module.def("langevin_noise", &langevin_noise, "seed"_a, "tree"_a, "keys"_a, "output"_a);
}

}  // namespace epiboost
