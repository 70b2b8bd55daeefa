// Bindings of bins: borders, bins of a table, and hashes of rows.
#include "bins/bins.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "bins/column_ranges.hpp"
#include "bins/row_hashes.hpp"
#include "core/threads.hpp"

namespace epiboost {
namespace {

constexpr std::size_t min_parallel_rows = 4096;  // sorting fewer rows is faster than starting threads

template <class T>
std::vector<Result<double, 1>> find_borders(Matrix<T> table, Array<double, 1> weights, int max_bins, int threads) {
    const StridedTable<T> numbers = strided(table);
    std::vector<std::vector<double>> found;
    {
        ReleasedGil gil;
        const int used = numbers.rows > min_parallel_rows ? threads : 1;
        found = quantile_borders(numbers, span_of(weights), max_bins, used, SignalCheck(gil));
    }
    std::vector<Result<double, 1>> borders;
    for (const auto& column : found) {
        NewArray<double, 1> copy({column.size()});
        std::copy(column.begin(), column.end(), copy.data.get());
        borders.push_back(copy.release());
    }
    return borders;
}

template <class T>
Result<std::uint8_t, 2> bin_table(Matrix<T> table, Array<double, 1> borders, Array<std::int64_t, 1> offsets, int threads) {
    const StridedTable<T> numbers = strided(table);
    NewArray<std::uint8_t, 2> bins({numbers.rows, numbers.columns});
    {
        ReleasedGil gil;
        bin_rows(numbers, {span_of(borders), span_of(offsets)}, threads, bins.data.get(), SignalCheck(gil));
    }
    return bins.release();
}

Result<std::uint64_t, 1> hash_rows(Array<std::uint8_t, 2> bins, int threads) {
    NewArray<std::uint64_t, 1> hashes({bins.shape(0)});
    {
        ReleasedGil gil;
        hash_bytes(bins.data(), bins.shape(0), bins.shape(1), threads, SignalCheck(gil), hashes.data.get());
    }
    return hashes.release();
}

template <class T>
Result<std::uint64_t, 1> hash_number_rows(Matrix<T> table, Array<double, 2> more, int threads) {
    if (table.shape(0) != more.shape(0)) throw std::invalid_argument("both tables must have the same rows");
    const StridedTable<T> numbers = strided(table);
    NewArray<std::uint64_t, 1> hashes({numbers.rows});
    {
        ReleasedGil gil;
        hash_numbers(numbers, more.data(), more.shape(1), threads, SignalCheck(gil), hashes.data.get());
    }
    return hashes.release();
}

// The smallest and the largest number of each column, infinite for columns without any, and whether values are missing.
template <class T>
std::tuple<Result<double, 1>, Result<double, 1>, Result<std::uint8_t, 1>> find_column_ranges(Matrix<T> table, int threads) {
    const StridedTable<T> numbers = strided(table);
    NewArray<double, 1> low({numbers.columns});
    NewArray<double, 1> high({numbers.columns});
    NewArray<std::uint8_t, 1> missing({numbers.columns});
    {
        ReleasedGil gil;
        const Ranges<T> ranges = column_ranges(numbers, threads, SignalCheck(gil));
        std::copy(ranges.low.begin(), ranges.low.end(), low.data.get());
        std::copy(ranges.high.begin(), ranges.high.end(), high.data.get());
        std::transform(ranges.missing.begin(), ranges.missing.end(), missing.data.get(), [](T one) { return one != 0 ? 1 : 0; });
    }
    return {low.release(), high.release(), missing.release()};
}

}  // namespace

void bind_bins(nb::module_& module) {
    using namespace nb::literals;
    const auto bind_tables = [&]<class T>(T) {
        module.def("find_borders", &find_borders<T>, "table"_a, "weights"_a, "max_bins"_a, "threads"_a);
        module.def("bin_table", &bin_table<T>, "table"_a, "borders"_a, "offsets"_a, "threads"_a);
        module.def("hash_numbers", &hash_number_rows<T>, "table"_a, "more"_a, "threads"_a);
        module.def("column_ranges", &find_column_ranges<T>, "table"_a, "threads"_a);
    };
    bind_tables(double{});
    bind_tables(float{});
    module.def("hash_rows", &hash_rows, "bins"_a, "threads"_a = 1);
}

}  // namespace epiboost
