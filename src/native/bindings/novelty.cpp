// Bindings of novelty: the nearest reference rows.
#include <nanobind/stl/tuple.h>

#include <limits>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "novelty/nearest_rows.hpp"

namespace epiboost {
namespace {

// Distance to the nearest reference row and its position, for each query of shape (n, columns).
std::tuple<Result<float, 1>, Result<std::int64_t, 1>> nearest_rows(Array<float, 2> queries, Array<float, 2> reference,
                                                                   Array<float, 1> weight, bool leave_one_out) {
    const std::size_t columns = reference.shape(0);
    if (queries.shape(1) != columns || weight.shape(0) != columns) {
        throw std::invalid_argument("queries, reference rows and weights must have the same columns");
    }
    const NearestRows search({columns, reference.shape(1), span_of(reference), span_of(weight)});
    NewArray<float, 1> distance({queries.shape(0)});
    NewArray<std::int64_t, 1> nearest({queries.shape(0)});
    {
        nb::gil_scoped_release release;
        for (std::size_t row = 0; row < queries.shape(0); ++row) {
            const std::size_t self = leave_one_out ? row : std::numeric_limits<std::size_t>::max();
            search.find(queries.data() + row * columns, self, distance.data[row], nearest.data[row]);
        }
    }
    return {distance.release(), nearest.release()};
}

}  // namespace

void bind_novelty(nb::module_& module) {
    module.def("nearest_rows", &nearest_rows, nb::arg("queries"), nb::arg("reference"), nb::arg("weight"),
               nb::arg("leave_one_out"));
}

}  // namespace epiboost
