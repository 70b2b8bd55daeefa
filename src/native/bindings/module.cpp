// The Python module of one instruction set: arrays in, arrays out. The Python callers check the arguments.
#include "bindings/module.hpp"

#include "core/processor.hpp"

namespace nb = nanobind;

NB_MODULE(EPIBOOST_MODULE, module) {
#if defined(__SSE4_2__)
    if (!epiboost::has_sse42()) throw nb::import_error("this processor has no SSE4.2, which epiboost needs, as NumPy does");
#endif
    nb::set_leak_warnings(false);  // a daemon thread that is in a call when the process exits keeps its arguments
    epiboost::bind_bins(module);
    epiboost::bind_categories(module);
    epiboost::bind_recipe(module);
    epiboost::bind_training(module);
    epiboost::bind_prediction(module);
    epiboost::bind_novelty(module);
    epiboost::bind_explanation(module);
    epiboost::bind_families(module);
}
