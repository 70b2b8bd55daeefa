// Bindings of the families of distributions: their names, and their formulas for tests.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "families/families.hpp"
#include "families/normal_hazard.hpp"
#include "families/special.hpp"

namespace epiboost {
namespace {

// Names of the families, in the order of their codes.
std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (int code = first_family; code < first_family + family_count; ++code) {
        with_family(static_cast<Objective>(code), [&](auto family) { names.emplace_back(family.name); });
    }
    return names;
}

// Gradients, noise scales and negative log-likelihoods of rows with given scores, encoded targets of shape (columns, rows), and
// first scores without the rows' own influence.
std::tuple<Result<float, 2>, Result<float, 2>, Result<double, 1>> family_gradients(int code, const std::vector<float>& constants,
                                                                                 const Array<float, 2>& scores,
                                                                                 const Array<float, 1>& y,
                                                                                 const Array<float, 1>& location) {
    const std::size_t rows = scores.shape(0);
    const std::size_t outputs = scores.shape(1);
    NewArray<float, 2> gradient({rows, outputs});
    NewArray<float, 2> noise_scale({rows, outputs});
    NewArray<double, 1> loss({rows});
    bool fits = false;
    with_family(static_cast<Objective>(code), [&]<class F>(F) {
        fits = outputs == F::outputs && constants.size() == F::constants && y.size() == rows * F::targets && location.size() == rows;
        for (std::size_t row = 0; fits && row < rows; ++row) {
            float target[F::targets];
            double score[F::outputs];
            for (int k = 0; k < F::targets; ++k) target[k] = y.data()[k * rows + row];
            std::copy_n(scores.data() + row * outputs, outputs, score);
            F::gradient(scores.data() + row * outputs, location.data()[row], target, constants.data(),
                        gradient.data.get() + row * outputs, noise_scale.data.get() + row * outputs);
            loss.data[row] = F::negative_log_likelihood(score, target, constants.data());
        }
    });
    if (!fits) throw std::invalid_argument("code, constants, scores, y and location must have the sizes of a family");
    return {gradient.release(), noise_scale.release(), loss.release()};
}

// Special functions of positive numbers, one column each: digamma, trigamma, log minus digamma, trigamma minus inverse, and
// exp(x) - 1 - x.
Result<float, 2> special_functions(const Array<float, 1>& x) {
    NewArray<float, 2> values({x.size(), std::size_t{5}});
    for (std::size_t i = 0; i < x.size(); ++i) {
        float* row = values.data.get() + 5 * i;
        row[0] = digamma(x.data()[i]);
        row[1] = trigamma(x.data()[i]);
        row[2] = log_minus_digamma(x.data()[i]);
        row[3] = trigamma_minus_inverse(x.data()[i]);
        row[4] = exponential_excess(x.data()[i]);
    }
    return values.release();
}

// The Normal's hazard rate at each number.
Result<float, 1> normal_hazards(const Array<float, 1>& x) {
    NewArray<float, 1> values({x.size()});
    for (std::size_t i = 0; i < x.size(); ++i) values.data[i] = normal_hazard(x.data()[i]);
    return values.release();
}

}  // namespace

void bind_families(nb::module_& module) {
    using namespace nb::literals;
    module.attr("FIRST_FAMILY") = first_family;
    module.def("family_names", &family_names);
    module.def("family_gradients", &family_gradients, "code"_a, "constants"_a, "scores"_a, "y"_a, "location"_a);
    module.def("normal_hazards", &normal_hazards, "x"_a);
    module.def("special_functions", &special_functions, "x"_a);
}

}  // namespace epiboost
