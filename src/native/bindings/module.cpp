// The Python module of one instruction set: arrays in, arrays out. The Python callers check the arguments.
#include "bindings/module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;

namespace {

// Instruction sets of this machine that have a module, best first.
std::vector<std::string> instruction_sets() {
    std::vector<std::string> sets;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        sets.emplace_back("avx512");
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")) {
        sets.emplace_back("avx2");
    }
#endif
    sets.emplace_back("portable");
    return sets;
}

}  // namespace

NB_MODULE(EPIBOOST_MODULE, module) {
    nb::set_leak_warnings(false);  // a daemon thread that is in a call when the process exits keeps its arguments
    module.def("instruction_sets", &instruction_sets);
    epiboost::bind_bins(module);
    epiboost::bind_categories(module);
    epiboost::bind_recipe(module);
    epiboost::bind_training(module);
    epiboost::bind_prediction(module);
    epiboost::bind_novelty(module);
    epiboost::bind_explanation(module);
}
