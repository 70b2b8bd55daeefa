// Binding of the recipe of a chain.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings/module.hpp"
#include "core/problem.hpp"
#include "families/families.hpp"

namespace epiboost {

namespace nb = nanobind;

namespace {

// Refuses codes of no objective, and sizes that are not those of the family.
void check_family(Objective objective, std::size_t outputs, std::size_t constants) {
    const int code = static_cast<int>(objective);
    if (code < 0 || code >= first_family + family_count) throw std::invalid_argument("objective: unknown code");
    with_family(objective, [&](auto family) {
        if (outputs != static_cast<std::size_t>(family.outputs) || constants != static_cast<std::size_t>(family.constants)) {
            throw std::invalid_argument("start and constants: as many numbers as the family has");
        }
    });
}

// Names of the families, in the order of their codes.
std::vector<std::string> family_names() {
    std::vector<std::string> names;
    for (int code = first_family; code < first_family + family_count; ++code) {
        with_family(static_cast<Objective>(code), [&](auto family) { names.emplace_back(family.name); });
    }
    return names;
}

void make_recipe(ChainRecipe* self, int objective, std::vector<float> start, std::vector<float> constants, int trees, int depth, int leaves,
                 double learning_rate, double l2, double shrink, double noise, double subsample, double variance_guard,
                 double structure_rows, double random_strength, double random_decay,
                 std::vector<int> monotone, std::vector<std::vector<int>> interactions, double min_leaf_weight,
                 double column_share) {
    if (start.empty() || start.size() > max_outputs) throw std::invalid_argument("start: from 1 to 1024 outputs");
    if (leaves == 0 && (depth < 1 || depth > max_depth)) throw std::invalid_argument("depth: from 1 to 8");
    if (leaves != 0 && (leaves < 2 || leaves > max_leaves || depth < 1)) throw std::invalid_argument("leaves: from 2 to 255");
    check_family(static_cast<Objective>(objective), start.size(), constants.size());
    new (self) ChainRecipe{.objective = static_cast<Objective>(objective),
                           .outputs = static_cast<int>(start.size()),
                           .start = std::move(start),
                           .constants = std::move(constants),
                           .trees = trees,
                           .depth = depth,
                           .leaves = leaves,
                           .learning_rate = learning_rate,
                           .l2 = l2,
                           .shrink = shrink,
                           .noise = noise,
                           .subsample = subsample,
                           .variance_guard = variance_guard,
                           .structure_rows = structure_rows,
                           .random_strength = random_strength,
                           .random_decay = random_decay,
                           .monotone = std::move(monotone),
                           .interactions = std::move(interactions),
                           .min_leaf_weight = min_leaf_weight,
                           .column_share = column_share};
}

}  // namespace

void bind_recipe(nb::module_& module) {
    using namespace nb::literals;
    module.attr("FIRST_FAMILY") = first_family;
    module.def("family_names", &family_names);
    nb::class_<ChainRecipe>(module, "ChainRecipe")
        .def("__init__", &make_recipe, nb::kw_only(), "objective"_a, "start"_a, "constants"_a = std::vector<float>(), "trees"_a, "depth"_a, "leaves"_a,
             "learning_rate"_a, "l2"_a, "shrink"_a, "noise"_a, "subsample"_a, "variance_guard"_a, "structure_rows"_a, "random_strength"_a,
             "random_decay"_a, "monotone"_a, "interactions"_a, "min_leaf_weight"_a, "column_share"_a)
        .def_prop_ro("objective", [](const ChainRecipe& recipe) { return static_cast<int>(recipe.objective); })
        .def_ro("start", &ChainRecipe::start)
        .def_ro("constants", &ChainRecipe::constants)
        .def_ro("trees", &ChainRecipe::trees)
        .def_ro("depth", &ChainRecipe::depth)
        .def_ro("leaves", &ChainRecipe::leaves)
        .def_ro("learning_rate", &ChainRecipe::learning_rate)
        .def_ro("l2", &ChainRecipe::l2)
        .def_ro("shrink", &ChainRecipe::shrink)
        .def_ro("noise", &ChainRecipe::noise)
        .def_ro("subsample", &ChainRecipe::subsample)
        .def_ro("variance_guard", &ChainRecipe::variance_guard)
        .def_ro("structure_rows", &ChainRecipe::structure_rows)
        .def_ro("random_strength", &ChainRecipe::random_strength)
        .def_ro("random_decay", &ChainRecipe::random_decay)
        .def_ro("monotone", &ChainRecipe::monotone)
        .def_ro("interactions", &ChainRecipe::interactions)
        .def_ro("min_leaf_weight", &ChainRecipe::min_leaf_weight)
        .def_ro("column_share", &ChainRecipe::column_share);
}

}  // namespace epiboost
