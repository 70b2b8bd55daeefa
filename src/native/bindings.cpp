// The module's functions: arrays in, arrays out. Arguments are checked by the caller (engines/native.py).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>

#include "bins/bins.hpp"
#include "categories/keys.hpp"
#include "categories/ordered.hpp"
#include "categories/writer.hpp"
#include "core/noise.hpp"
#include "core/threads.hpp"
#include "prediction/decomposition.hpp"
#include "prediction/predictor.hpp"
#include "training/trainer.hpp"

namespace nb = nanobind;

namespace epiboost {
namespace {

template <class T, std::size_t Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class AnyArray>
auto span_of(const AnyArray& array) {
    return std::span(array.data(), array.size());
}

template <class T>
struct Fresh {  // a new array that Python will own; its numbers are whatever was there
    std::vector<std::size_t> shape;
    std::unique_ptr<T[]> data;
    std::size_t size = 1;

    explicit Fresh(std::vector<std::size_t> wanted) : shape(std::move(wanted)) {
        for (const std::size_t n : shape) size *= n;
        data = std::make_unique_for_overwrite<T[]>(size);
    }

    std::span<T> span() { return {data.get(), size}; }

    nb::ndarray<nb::numpy, T> release() {
        T* memory = data.release();
        nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return nb::ndarray<nb::numpy, T>(memory, shape.size(), shape.data(), owner);
    }
};

template <class T>
Numbers<T> numeric_rows(const Matrix<T>& table) {
    return {table.data(), table.shape(0), table.shape(1), table.stride(0), table.stride(1)};
}

template <class T>
nb::list find_borders(Matrix<T> table, Array<double, 1> weights, int max_bins, int threads) {
    const Numbers<T> numbers = numeric_rows(table);
    std::vector<std::vector<double>> found(numbers.columns);
    {
        nb::gil_scoped_release release;
        share_out(numbers.columns, 1, numbers.rows > 4096 ? threads : 1, [&](std::size_t column, std::size_t) {
            found[column] = quantile_borders(numbers, column, span_of(weights), max_bins);
        });
    }
    nb::list borders;
    for (const auto& column : found) {
        Fresh<double> fresh({column.size()});
        std::copy(column.begin(), column.end(), fresh.data.get());
        borders.append(fresh.release());
    }
    return borders;
}

template <class T>
nb::ndarray<nb::numpy, std::uint8_t> bin_table(Matrix<T> table, Array<double, 1> borders,
                                               Array<std::int64_t, 1> offsets, int threads) {
    const Numbers<T> numbers = numeric_rows(table);
    Fresh<std::uint8_t> bins({numbers.rows, numbers.columns});
    {
        nb::gil_scoped_release release;
        bin_rows(numbers, {span_of(borders), span_of(offsets)}, threads, bins.data.get());
    }
    return bins.release();
}

// A hash of each row's bins: rows that a model cannot tell apart have the same.
nb::ndarray<nb::numpy, std::uint64_t> hash_rows(Array<std::uint8_t, 2> bins) {
    const std::size_t columns = bins.shape(1);
    Fresh<std::uint64_t> hashes({bins.shape(0)});
    {
        nb::gil_scoped_release release;
        for (std::size_t row = 0; row < bins.shape(0); ++row) {
            const std::uint8_t* own = bins.data() + row * columns;
            std::uint64_t hash = columns;
            for (std::size_t first = 0; first < columns; first += 8) {
                std::uint64_t word = 0;
                std::memcpy(&word, own + first, std::min<std::size_t>(8, columns - first));
                hash = scramble(hash ^ word);
            }
            hashes.data[row] = hash;
        }
    }
    return hashes.release();
}

Table table_of(const Array<std::uint8_t, 2>& bins, const Array<std::int32_t, 1>& bin_counts) {
    Table table;
    table.rows = bins.shape(0);
    table.columns = bins.shape(1);
    table.by_row = {bins.data(), bins.size()};
    table.by_column.assign(table.columns * padded(table.rows), 0);
    table.bins.assign(bin_counts.data(), bin_counts.data() + bin_counts.size());
    table.first_threshold.assign(table.columns, 1);
    bool too_large = false;
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t c = 0; c < table.columns; ++c) {
            const std::uint8_t bin = bins.data()[row * table.columns + c];
            table.by_column[c * padded(table.rows) + row] = bin;
            if (bin == 0) table.first_threshold[c] = 0;
            too_large |= bin >= table.bins[c];
        }
    }
    if (too_large) throw std::invalid_argument("a bin that its column does not have");
    return table;
}

Target target_of(const Array<float, 1>& y, const Array<float, 1>& weight, const Array<std::uint32_t, 1>& keys) {
    Target target;
    const std::size_t n = padded(y.size());
    target.y.assign(n, 0.0f);
    target.weight.assign(n, 0.0f);
    target.key.assign(n, 0);
    for (std::size_t i = 0; i < y.size(); ++i) {
        target.y[i] = y.data()[i];
        target.weight[i] = weight.data()[i];
        target.key[i] = keys.data()[i];
        target.total_weight += weight.data()[i];
    }
    return target;
}

Recipe recipe_of(const nb::dict& options) {
    Recipe recipe;
    recipe.objective = static_cast<Objective>(nb::cast<int>(options["objective"]));
    recipe.outputs = nb::cast<int>(options["outputs"]);
    recipe.trees = nb::cast<int>(options["trees"]);
    recipe.depth = nb::cast<int>(options["depth"]);
    recipe.learning_rate = nb::cast<double>(options["learning_rate"]);
    recipe.l2 = nb::cast<double>(options["l2"]);
    recipe.shrink = nb::cast<double>(options["shrink"]);
    recipe.noise = nb::cast<double>(options["noise"]);
    recipe.subsample = nb::cast<double>(options["subsample"]);
    recipe.variance_guard = nb::cast<double>(options["variance_guard"]);
    recipe.structure_rows = nb::cast<double>(options["structure_rows"]);
    recipe.patience = nb::cast<int>(options["patience"]);
    recipe.start = nb::cast<std::vector<float>>(options["start"]);
    if (recipe.outputs < 1 || recipe.outputs > max_outputs) throw std::invalid_argument("outputs out of range");
    if (recipe.depth < 1 || recipe.depth > max_depth) throw std::invalid_argument("depth out of range");
    if (recipe.start.size() != static_cast<std::size_t>(recipe.outputs)) throw std::invalid_argument("start: one an output");
    return recipe;
}

// One table with its target, as the trainer takes it: what it was made from, but for the bins, may go.
struct Sample {
    Array<std::uint8_t, 2> bins;  // what the table points into
    Table table;
    Target target;

    Sample(Array<std::uint8_t, 2> own_bins, const Array<float, 1>& y, const Array<float, 1>& weight,
           const Array<std::uint32_t, 1>& keys, const Array<std::int32_t, 1>& bin_counts)
        : bins(std::move(own_bins)) {
        const std::size_t rows = bins.shape(0);
        if (rows < 1 || bins.shape(1) < 1 || bins.shape(1) > 65535 || bins.shape(1) != bin_counts.size() ||
            y.size() != rows || weight.size() != rows || keys.size() != rows || rows >= 0xffffffffu) {
            throw std::invalid_argument("arrays of mismatched sizes");
        }
        table = table_of(bins, bin_counts);
        target = target_of(y, weight, keys);
    }
};

nb::tuple train_members(const std::vector<const Sample*>& samples, const Sample* other, Array<std::uint64_t, 1> seeds,
                        nb::dict options, int threads, nb::callable progress) {
    const Recipe recipe = recipe_of(options);
    if (samples.empty()) throw std::invalid_argument("at least one sample");
    std::vector<Rows> rows;
    for (const Sample* own : samples) {
        if (!own || own->table.rows != samples[0]->table.rows || own->table.bins != samples[0]->table.bins) {
            throw std::invalid_argument("samples of differing sizes");
        }
        rows.push_back({&own->table, &own->target});
    }
    if (other && other->table.bins != samples[0]->table.bins) throw std::invalid_argument("an evaluation of another size");
    const Rows watched = other ? Rows{&other->table, &other->target} : Rows{};
    const std::size_t members = seeds.size();
    const std::size_t trees = recipe.trees;
    const std::size_t depth = recipe.depth;
    Fresh<std::uint16_t> feature({members, trees, depth});
    Fresh<std::uint8_t> threshold({members, trees, depth});
    Fresh<float> leaf({members, trees, std::size_t{1} << depth, static_cast<std::size_t>(recipe.outputs)});
    Fresh<std::int32_t> count({members});
    Fresh<double> losses({members, other ? trees : 0});
    std::fill_n(losses.data.get(), losses.size, std::nan(""));  // a chain that stops early has none for the rest
    std::exception_ptr failure;
    bool finished = false;
    {
        nb::gil_scoped_release release;
        Watch watch([&](long done) {
            nb::gil_scoped_acquire acquire;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                progress(done);
                return true;
            } catch (...) {
                failure = std::current_exception();
                return false;
            }
        });
        finished = train(rows, watched, recipe, span_of(seeds), threads, watch,
                         {feature.span(), threshold.span(), leaf.span(), count.span(), losses.span()});
    }
    if (failure) std::rethrow_exception(failure);
    if (!finished) throw std::runtime_error("training was stopped");
    return nb::make_tuple(feature.release(), threshold.release(), leaf.release(), count.release(), losses.release());
}

void make_predictor(Predictor* place, Array<double, 1> borders, Array<std::int64_t, 1> offsets,
                    Array<std::uint16_t, 3> feature, Array<std::uint8_t, 3> threshold, Array<float, 4> leaf,
                    Array<std::int32_t, 2> end, Array<double, 2> carry, int objective, Array<double, 1> start, double location,
                    double scale) {
    const RawTrees raw{feature.shape(0), feature.shape(1), end.shape(1), static_cast<int>(feature.shape(2)),
                       static_cast<int>(leaf.shape(3)), span_of(feature), span_of(threshold), span_of(leaf), span_of(end),
                       span_of(carry)};
    const Link link{static_cast<Objective>(objective), {start.data(), start.data() + start.size()}, location, scale};
    new (place) Predictor(raw, {span_of(borders), span_of(offsets)}, link);
}

// Fills an array that NumPy made: for large ones it asks for large pages, which are faster to come by.
template <class T>
void predict_parameters(const Predictor& predictor, Matrix<T> table, int threads, std::size_t first,
                        nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu> parameters) {
    const Numbers<T> numbers = numeric_rows(table);
    const Chains chains{first, parameters.shape(0) / predictor.parts()};
    if (parameters.shape(0) % predictor.parts() != 0 || first + chains.count > predictor.chains() ||
        parameters.shape(1) != numbers.rows || parameters.shape(2) != predictor.parameters()) {
        throw std::invalid_argument("parameters: (chains * parts, rows, parameters)");
    }
    nb::gil_scoped_release release;
    predictor.predict(numbers, chains, threads, parameters.data());
}

// (members, rows, 2) to two arrays of (rows): data and knowledge.
nb::tuple split_normal_variance(Array<double, 3> parameters) {
    if (parameters.shape(0) < 1 || parameters.shape(2) != 2) throw std::invalid_argument("parameters: (members, rows, 2)");
    Fresh<double> data({parameters.shape(1)});
    Fresh<double> knowledge({parameters.shape(1)});
    split_variance(parameters.data(), parameters.shape(0), parameters.shape(1), data.data.get(), knowledge.data.get());
    return nb::make_tuple(data.release(), knowledge.release());
}

// The noise of one tree, for tests: standard Normal numbers of the pair of outputs that `output` belongs to.
nb::ndarray<nb::numpy, float> langevin_noise(std::uint64_t seed, std::uint64_t tree, Array<std::uint32_t, 1> keys, int output) {
    Fresh<float> noise({keys.size()});
    const Stream stream(seed, tree, Purpose::langevin, static_cast<std::uint64_t>(output / 2));
    for (std::size_t i = 0; i < keys.size(); ++i) {
        float pair[2];
        normal_pair(stream, keys.data()[i], pair[0], pair[1]);
        noise.data[i] = pair[output % 2];
    }
    return noise.release();
}

nb::ndarray<nb::numpy, double> ordered_means(Array<std::int64_t, 1> group, Array<double, 1> target, Array<double, 1> weight,
                                             Array<std::int64_t, 1> order, std::int64_t groups, double prior, double strength) {
    if (target.size() != group.size() || weight.size() != group.size() || order.size() != group.size()) {
        throw std::invalid_argument("every row must have a group, a target, a weight and a place");
    }
    Fresh<double> mean({group.size()});
    ordered_mean(span_of(group), span_of(target), span_of(weight), span_of(order), groups, {prior, strength}, mean.span());
    return mean.release();
}

nb::ndarray<nb::numpy, std::int64_t> find_keys(const Keys& keys, Array<std::int64_t, 1> wanted) {
    Fresh<std::int64_t> places({wanted.size()});
    keys.find(span_of(wanted), places.span());
    return places.release();
}

// What groups of columns are written as, and the keys they point to.
struct Writer {
    std::vector<nb::object> owners;
    std::vector<WrittenGroup> groups;

    void add(nb::object keys, std::vector<std::size_t> columns, std::vector<std::int64_t> sizes, Array<std::uint8_t, 2> values,
             std::size_t first) {
        const Keys* own = nb::cast<const Keys*>(keys);
        if (columns.empty() || columns.size() != sizes.size() ||
            values.shape(0) != static_cast<std::size_t>(own->count()) + 1) {
            throw std::invalid_argument("a group of mismatched sizes");
        }
        std::vector<std::uint8_t> bins(values.data(), values.data() + values.size());
        groups.push_back({own, std::move(columns), std::move(sizes), std::move(bins), values.shape(1), first});
        owners.push_back(std::move(keys));
    }

    void write(Array<std::int64_t, 2> codes, int threads, nb::ndarray<std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> table,
               nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> unseen) const {
        const std::size_t rows = codes.shape(1);
        bool fits = table.shape(1) == rows && unseen.shape(0) == rows;
        for (const WrittenGroup& group : groups) {
            fits = fits && group.first + group.width <= table.shape(0) &&
                   *std::max_element(group.columns.begin(), group.columns.end()) < codes.shape(0);
        }
        if (!fits) throw std::invalid_argument("arrays of mismatched sizes");
        nb::gil_scoped_release release;
        write_groups(groups, codes.data(), rows, threads, table.data(), unseen.data());
    }
};

// Instruction sets of this machine for which there is a module, best first.
std::vector<const char*> instruction_sets() {
    std::vector<const char*> sets;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        sets.push_back("avx512");
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
        sets.push_back("avx2");
    }
#endif
    sets.push_back("portable");
    return sets;
}

}  // namespace
}  // namespace epiboost

NB_MODULE(EPIBOOST_MODULE, module) {
    using namespace epiboost;
    module.def("instruction_sets", [] {
        nb::list names;
        for (const char* name : instruction_sets()) names.append(name);
        return names;
    });
    module.def("find_borders", &find_borders<double>);
    module.def("find_borders", &find_borders<float>);
    module.def("bin_table", &bin_table<double>);
    module.def("bin_table", &bin_table<float>);
    module.def("hash_rows", &hash_rows);
    module.def("ordered_means", &ordered_means);
    nb::class_<Keys>(module, "Keys")
        .def("__init__", [](Keys* place, Array<std::int64_t, 1> keys) { new (place) Keys(span_of(keys)); })
        .def("find", &find_keys);
    nb::class_<Writer>(module, "Writer").def(nb::init<>()).def("add", &Writer::add).def("write", &Writer::write);
    nb::class_<Sample>(module, "Sample")
        .def(nb::init<Array<std::uint8_t, 2>, const Array<float, 1>&, const Array<float, 1>&, const Array<std::uint32_t, 1>&,
                      const Array<std::int32_t, 1>&>());
    module.def("train", &train_members, nb::arg("samples"), nb::arg("evaluation").none(), nb::arg("seeds"), nb::arg("options"),
               nb::arg("threads"), nb::arg("progress"));
    module.def("split_normal_variance", &split_normal_variance);
    nb::class_<Predictor>(module, "Predictor")
        .def("__init__", &make_predictor)
        .def_prop_ro("chains", &Predictor::chains)
        .def_prop_ro("parts", &Predictor::parts)
        .def_prop_ro("parameters", &Predictor::parameters)
        .def("predict", &predict_parameters<double>)
        .def("predict", &predict_parameters<float>)
        .def("predict_bins", &predict_parameters<std::uint8_t>);
    module.def("langevin_noise", &langevin_noise);
}
