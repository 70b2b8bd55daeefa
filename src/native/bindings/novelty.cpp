// Bindings of novelty: the nearest reference rows, and the nearest values of each column.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "core/threads.hpp"
#include "novelty/nearest_rows.hpp"
#include "novelty/nearest_values.hpp"

namespace epiboost {
namespace {

// Distance to the nearest reference row and its position, for each query of shape (n, columns). With groups the queries
// are the reference rows, and rows of the same group are left out.
std::tuple<Result<float, 1>, Result<std::int64_t, 1>> nearest_rows(Array<float, 2> queries, Array<float, 2> reference,
                                                                   Array<float, 1> weight, Array<std::int64_t, 1> groups,
                                                                   int threads) {
    const std::size_t columns = reference.shape(0);
    if (queries.shape(1) != columns || weight.shape(0) != columns) {
        throw std::invalid_argument("queries, reference rows and weights must have the same columns");
    }
    if (groups.size() != 0 && (groups.size() != reference.shape(1) || groups.size() != queries.shape(0))) {
        throw std::invalid_argument("groups must be those of the reference rows, which are the queries");
    }
    const NearestRows search({columns, reference.shape(1), span_of(reference), span_of(weight)}, span_of(groups));
    NewArray<float, 1> distance({queries.shape(0)});
    NewArray<std::int64_t, 1> nearest({queries.shape(0)});
    {
        ReleasedGil gil;
        const std::size_t rows = chunk_rows(queries.shape(1) * reference.shape(1));
        parallel_for(queries.shape(0), rows, threads, SignalCheck(gil), [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                search.find(queries.data() + row * columns, row, distance.data[row], nearest.data[row]);
            }
        });
    }
    return {distance.release(), nearest.release()};
}

// Compares each number, of shape (n, columns), with the values of its column.
template <class T, class Compare>
Result<T, 2> compare_values(Array<float, 2> queries, Array<float, 1> values, Array<std::int64_t, 1> offsets, Compare compare) {
    const std::size_t rows = queries.shape(0);
    const std::size_t columns = queries.shape(1);
    const auto ends = span_of(offsets);
    if (ends.size() != columns + 1 || ends.front() != 0 || !std::is_sorted(ends.begin(), ends.end()) ||
        static_cast<std::size_t>(ends.back()) != values.shape(0)) {
        throw std::invalid_argument("offsets must divide the values among the columns");
    }
    NewArray<T, 2> result({rows, columns});
    {
        const ReleasedGil released;
        for (std::size_t column = 0; column < columns; ++column) {
            const std::int64_t first = offsets.data()[column];
            const auto ascending = span_of(values).subspan(first, offsets.data()[column + 1] - first);
            for (std::size_t row = 0; row < rows; ++row) {
                const std::size_t cell = row * columns + column;
                result.data[cell] = compare(ascending, queries.data()[cell]);
            }
        }
    }
    return result.release();
}

Result<float, 2> nearest_values(Array<float, 2> queries, Array<float, 1> values, Array<std::int64_t, 1> offsets) {
    return compare_values<float>(queries, values, offsets, distance_to_nearest);
}

Result<std::int32_t, 2> count_values(Array<float, 2> queries, Array<float, 1> values, Array<std::int64_t, 1> offsets) {
    return compare_values<std::int32_t>(queries, values, offsets, count_at_least);
}

}  // namespace

void bind_novelty(nb::module_& module) {
    module.def("nearest_rows", &nearest_rows, nb::arg("queries"), nb::arg("reference"), nb::arg("weight"),
               nb::arg("groups"), nb::arg("threads") = 1);
    module.def("nearest_values", &nearest_values, nb::arg("queries"), nb::arg("values"), nb::arg("offsets"));
    module.def("count_values", &count_values, nb::arg("queries"), nb::arg("values"), nb::arg("offsets"));
}

}  // namespace epiboost
