// The kernels of training behind one C function, as a library for the tests.
#include "emulator.hpp"

#include "cuda/training.cu"

namespace {

template <class Arguments>
Arguments copy_of(const void* bytes) {
    Arguments arguments;
    std::memcpy(&arguments, bytes, sizeof(Arguments));
    return arguments;
}

}  // namespace

// Returns whether there is such a kernel.
extern "C" EXPORTED int launch(const char* name, const void* arguments, int level, unsigned grid_x, unsigned grid_y, unsigned threads,
                               std::size_t shared_bytes, int descending) {
    using epiboost::cuda::Chains;
    using epiboost::cuda::TablePart;
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    const auto run = [&](const auto& kernel) {
        emulator::run_grid({grid_x, grid_y}, threads, shared_bytes, descending != 0, kernel);
        return 1;
    };
#if EPIBOOST_LEAF_WISE
    if (is("find_leaf_splits")) return run([=] { find_leaf_splits(copy_of<Chains>(arguments), level); });
    if (is("divide_leaf")) return run([=] { divide_leaf(copy_of<Chains>(arguments), level); });
#else
    if (is("find_split")) return run([=] { find_split(copy_of<Chains>(arguments), level); });
#endif
    if (is("compute_gradients")) return run([=] { compute_gradients(copy_of<Chains>(arguments)); });
    if (is("prepare_sample")) return run([=] { prepare_sample(copy_of<Chains>(arguments)); });
    if (is("sum_leaves")) return run([=] { sum_leaves(copy_of<Chains>(arguments)); });
#if EPIBOOST_MONOTONE
    if (is("order_leaves")) return run([=] { order_leaves(copy_of<Chains>(arguments)); });
#endif
    if (is("evaluate_rows")) return run([=] { evaluate_rows(copy_of<Chains>(arguments)); });
    if (is("transpose_table")) return run([=] { transpose_table(copy_of<TablePart>(arguments)); });
    if (is("compare_rows")) return run([=] { compare_rows(copy_of<TablePart>(arguments)); });
    return 0;
}

// Sizes of the structures, for a test of the host's layout of them.
extern "C" EXPORTED std::size_t size_of(const char* name) {
    if (std::strcmp(name, "Chains") == 0) return sizeof(epiboost::cuda::Chains);
    if (std::strcmp(name, "Member") == 0) return sizeof(epiboost::cuda::Member);
    if (std::strcmp(name, "Step") == 0) return sizeof(epiboost::cuda::Step);
    if (std::strcmp(name, "Node") == 0) return sizeof(epiboost::cuda::Node);
    if (std::strcmp(name, "Growth") == 0) return sizeof(epiboost::cuda::Growth);
    return sizeof(epiboost::cuda::TablePart);
}
