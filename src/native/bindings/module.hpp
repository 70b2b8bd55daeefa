// The parts of the native module, one function per file.
#pragma once

#include <nanobind/nanobind.h>

namespace epiboost {

void bind_bins(nanobind::module_& module);
void bind_categories(nanobind::module_& module);
void bind_recipe(nanobind::module_& module);
void bind_training(nanobind::module_& module);
void bind_prediction(nanobind::module_& module);
void bind_novelty(nanobind::module_& module);
void bind_explanation(nanobind::module_& module);
void bind_families(nanobind::module_& module);

}  // namespace epiboost
