// One file of kernels of prediction, EPIBOOST_FILE, behind one C function per kernel, as a library for the tests.
#include "emulator.hpp"

#include <type_traits>
#include <utility>

#include EPIBOOST_FILE

namespace {

// Calls a kernel with arguments that are given by their addresses.
template <class... Arguments>
void run(void (*kernel)(Arguments...), void** given, unsigned grid_x, unsigned grid_y, unsigned threads, std::size_t shared_bytes) {
    emulator::run_grid({grid_x, grid_y}, threads, shared_bytes, false, [=] {
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            kernel(*static_cast<std::remove_const_t<Arguments>*>(given[I])...);
        }(std::index_sequence_for<Arguments...>{});
    });
}

}  // namespace

#define EPIBOOST_LAUNCHER(kernel)                                                                                                \
    extern "C" EXPORTED void launch_##kernel(void** given, unsigned x, unsigned y, unsigned threads, std::size_t shared_bytes) { \
        run(kernel, given, x, y, threads, shared_bytes);                                                                         \
    }

#if defined(EPIBOOST_NUMBER)
EPIBOOST_LAUNCHER(find_bins)
#elif defined(EPIBOOST_LEVELS)
EPIBOOST_LAUNCHER(add_leaf_values)
#else
EPIBOOST_LAUNCHER(normal_parameters)
EPIBOOST_LAUNCHER(bernoulli_parameters)
EPIBOOST_LAUNCHER(categorical_parameters)
EPIBOOST_LAUNCHER(complete_scores)
EPIBOOST_LAUNCHER(summarize_normal)
EPIBOOST_LAUNCHER(average_members)
#endif
