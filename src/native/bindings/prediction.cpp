// Bindings of prediction: the predictor of a forest, recalibration, and the decomposition of the variance.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "prediction/class_entropies.hpp"
#include "prediction/class_recalibration.hpp"
#include "prediction/decomposition.hpp"
#include "prediction/predictor.hpp"
#include "prediction/recalibration.hpp"

namespace epiboost {
namespace {

void make_predictor(Predictor* self, Array<double, 1> borders, Array<std::int64_t, 1> offsets, Array<std::uint16_t, 3> feature,
                    Array<std::uint8_t, 3> threshold, Array<std::uint8_t, 3> parent, Array<float, 4> leaf,
                    Array<std::int32_t, 2> end, Array<double, 2> decay, int objective, Array<double, 1> start, double location,
                    double scale) {
    const ForestArrays forest{.members = feature.shape(0),
                              .trees = feature.shape(1),
                              .segments = end.shape(1),
                              .splits = static_cast<int>(feature.shape(2)),
                              .outputs = static_cast<int>(leaf.shape(3)),
                              .feature = span_of(feature),
                              .threshold = span_of(threshold),
                              .parent = span_of(parent),
                              .leaf = span_of(leaf),
                              .end = span_of(end),
                              .decay = span_of(decay)};
    const Link link{static_cast<Objective>(objective), {start.data(), start.data() + start.size()}, location, scale};
    new (self) Predictor(forest, {span_of(borders), span_of(offsets)}, link);
}

// Writes to an array that NumPy allocated: for large arrays NumPy requests huge pages, which are faster to allocate.
template <class T>
void predict_parameters(const Predictor& predictor, Matrix<T> table, int threads, std::size_t first_chain,
                        OutputArray<double, 3> parameters) {
    const StridedTable<T> numbers = strided(table);
    const ChainRange chains{first_chain, parameters.shape(0) / predictor.segments()};
    if (parameters.shape(0) % predictor.segments() != 0 || first_chain + chains.count > predictor.chains() ||
        parameters.shape(1) != numbers.rows || parameters.shape(2) != predictor.parameters()) {
        throw std::invalid_argument("parameters must have the shape (chains * segments, rows, parameters)");
    }
    ReleasedGil gil;
    predictor.predict(numbers, chains, threads, parameters.data(), SignalCheck(gil));
}

// Mean, data and knowledge uncertainty per row, recalibrated if there are the numbers of a `NormalRecalibration`.
template <class T>
std::tuple<Result<double, 1>, Result<double, 1>, Result<double, 1>> summarize_normal(
    const Predictor& predictor, Matrix<T> table, std::optional<std::array<double, 5>> recalibration, int threads) {
    if (!predictor.is_normal()) throw std::invalid_argument("only an ensemble of Normals has a summary");
    const StridedTable<T> numbers = strided(table);
    std::optional<NormalRecalibration> settings;
    if (recalibration) {
        const auto [factor, reference, power, knowledge, limit] = *recalibration;
        settings = NormalRecalibration{factor, reference, power, knowledge, limit};
    }
    NewArray<double, 1> mean({numbers.rows});
    NewArray<double, 1> data({numbers.rows});
    NewArray<double, 1> knowledge({numbers.rows});
    {
        ReleasedGil gil;
        predictor.summarize(numbers, settings ? &*settings : nullptr, threads,
                            {mean.data.get(), data.data.get(), knowledge.data.get()}, SignalCheck(gil));
    }
    return {mean.release(), data.release(), knowledge.release()};
}

NormalParameters<const double> normal_parameters(const Array<double, 3>& parameters) {
    if (parameters.shape(0) < 1 || parameters.shape(2) != 2) {
        throw std::invalid_argument("parameters must have the shape (members, rows, 2)");
    }
    return {parameters.data(), parameters.shape(0), parameters.shape(1)};
}

// Data and knowledge uncertainty per row, from parameters of shape (members, rows, 2).
std::tuple<Result<double, 1>, Result<double, 1>> split_normal_variance(Array<double, 3> parameters, int threads) {
    const auto given = normal_parameters(parameters);
    NewArray<double, 1> data({given.stride});
    NewArray<double, 1> knowledge({given.stride});
    {
        ReleasedGil gil;
        split_variances(given, threads, data.data.get(), knowledge.data.get(), SignalCheck(gil));
    }
    return {data.release(), knowledge.release()};
}

// Writes recalibrated parameters, shape (members, rows, 2).
void recalibrate_normal(const NormalRecalibration& settings, Array<double, 3> parameters, int threads,
                        OutputArray<double, 3> changed) {
    const auto given = normal_parameters(parameters);
    if (changed.shape(0) != parameters.shape(0) || changed.shape(1) != parameters.shape(1) || changed.shape(2) != 2) {
        throw std::invalid_argument("both arrays must have the shape (members, rows, 2)");
    }
    ReleasedGil gil;
    recalibrate_all(settings, given, threads, changed.data(), SignalCheck(gil));
}

// Data and knowledge uncertainty per row, after recalibration.
std::tuple<Result<double, 1>, Result<double, 1>> recalibrated_normal_variance(const NormalRecalibration& settings,
                                                                              Array<double, 3> parameters, int threads) {
    const auto given = normal_parameters(parameters);
    NewArray<double, 1> data({given.stride});
    NewArray<double, 1> knowledge({given.stride});
    {
        ReleasedGil gil;
        recalibrated_uncertainty(settings, given, threads, data.data.get(), knowledge.data.get(), SignalCheck(gil));
    }
    return {data.release(), knowledge.release()};
}

ClassParameters<const double> class_parameters(const Array<double, 3>& parameters) {
    if (parameters.shape(0) < 1 || parameters.shape(2) < 1) {
        throw std::invalid_argument("parameters must have the shape (members, rows, classes)");
    }
    return {parameters.data(), parameters.shape(0), parameters.shape(1), parameters.shape(2)};
}

// Data and knowledge uncertainty per row, from class probabilities of shape (members, rows, classes).
std::tuple<Result<double, 1>, Result<double, 1>> split_class_entropy(Array<double, 3> parameters, int threads) {
    const auto given = class_parameters(parameters);
    NewArray<double, 1> data({given.stride});
    NewArray<double, 1> knowledge({given.stride});
    {
        ReleasedGil gil;
        split_entropies(given, threads, data.data.get(), knowledge.data.get(), SignalCheck(gil));
    }
    return {data.release(), knowledge.release()};
}

// Writes recalibrated class probabilities, shape (members, rows, classes).
void recalibrate_classes(const ClassRecalibration& settings, Array<double, 3> parameters, int threads,
                         OutputArray<double, 3> changed) {
    const auto given = class_parameters(parameters);
    if (changed.shape(0) != given.members || changed.shape(1) != given.stride || changed.shape(2) != given.classes) {
        throw std::invalid_argument("both arrays must have the shape (members, rows, classes)");
    }
    ReleasedGil gil;
    recalibrate_all(settings, given, threads, changed.data(), SignalCheck(gil));
}

// Data and knowledge uncertainty per row, after recalibration.
std::tuple<Result<double, 1>, Result<double, 1>> recalibrated_class_entropy(const ClassRecalibration& settings,
                                                                            Array<double, 3> parameters, int threads) {
    const auto given = class_parameters(parameters);
    NewArray<double, 1> data({given.stride});
    NewArray<double, 1> knowledge({given.stride});
    {
        ReleasedGil gil;
        recalibrated_uncertainty(settings, given, threads, data.data.get(), knowledge.data.get(), SignalCheck(gil));
    }
    return {data.release(), knowledge.release()};
}

}  // namespace

void bind_prediction(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Predictor> predictor(module, "Predictor");
    predictor
        .def("__init__", &make_predictor, "borders"_a, "offsets"_a, "feature"_a, "threshold"_a, "parent"_a, "leaf"_a,
             "end"_a, "decay"_a, "objective"_a, "start"_a, "location"_a, "scale"_a)
        .def_prop_ro("chains", &Predictor::chains)
        .def_prop_ro("segments", &Predictor::segments)
        .def_prop_ro("parameters", &Predictor::parameters);
    const auto bind_predict = [&]<class T>(const char* name, T) {
        predictor.def(name, &predict_parameters<T>, "table"_a, "threads"_a, "first_chain"_a, "parameters"_a);
    };
    bind_predict("predict", double{});
    bind_predict("predict", float{});
    bind_predict("predict_bins", std::uint8_t{});
    const auto bind_summarize = [&]<class T>(const char* name, T) {
        predictor.def(name, &summarize_normal<T>, "table"_a, "recalibration"_a.none(), "threads"_a);
    };
    bind_summarize("summarize", double{});
    bind_summarize("summarize", float{});
    bind_summarize("summarize_bins", std::uint8_t{});
    nb::class_<NormalRecalibration>(module, "NormalRecalibration")
        .def(nb::init<double, double, double, double, double>(), "factor"_a, "reference"_a, "power"_a, "knowledge"_a, "limit"_a);
    module.def("recalibrate_normal", &recalibrate_normal, "settings"_a, "parameters"_a, "threads"_a, "changed"_a);
    module.def("recalibrated_normal_variance", &recalibrated_normal_variance, "settings"_a, "parameters"_a, "threads"_a);
    module.def("split_normal_variance", &split_normal_variance, "parameters"_a, "threads"_a);
    nb::class_<ClassRecalibration>(module, "ClassRecalibration")
        .def(nb::init<double, double, double>(), "temperature"_a, "knowledge"_a, "max_mean_error"_a);
    module.def("recalibrate_classes", &recalibrate_classes, "settings"_a, "parameters"_a, "threads"_a, "changed"_a);
    module.def("recalibrated_class_entropy", &recalibrated_class_entropy, "settings"_a, "parameters"_a, "threads"_a);
    module.def("split_class_entropy", &split_class_entropy, "parameters"_a, "threads"_a);
}

}  // namespace epiboost
