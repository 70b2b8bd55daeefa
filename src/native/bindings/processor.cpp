// The Python module that tells what the processor can do. It is compiled for every processor, and imported before the module of an
// instruction set is chosen.
#include "core/processor.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace {

// Instruction sets of this processor for which there may be a module, best first.
std::vector<std::string> instruction_sets() {
    std::vector<std::string> sets;
    if (epiboost::has_avx512()) sets.emplace_back("avx512");
    if (epiboost::has_avx2()) sets.emplace_back("avx2");
    sets.emplace_back("portable");
    return sets;
}

}  // namespace

NB_MODULE(_processor, module) { module.def("instruction_sets", &instruction_sets); }
