// Bindings of categories: ordered target statistics, key lookup, and the encoder of category codes.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/module.hpp"
#include "categories/category_encoder.hpp"
#include "categories/key_index.hpp"
#include "categories/ordered_means.hpp"

namespace epiboost {
namespace {

Result<double, 1> means_of_preceding_rows(Array<std::int64_t, 1> category, Array<double, 1> target, Array<double, 1> weight,
                                          Array<std::int64_t, 1> order, std::int64_t categories, double prior, double strength) {
    if (target.size() != category.size() || weight.size() != category.size() || order.size() != category.size()) {
        throw std::invalid_argument("category, target, weight and order must have one entry per row");
    }
    NewArray<double, 1> mean({category.size()});
    ordered_means(span_of(category), span_of(target), span_of(weight), span_of(order), categories, {prior, strength}, mean.span());
    return mean.release();
}

Result<std::int64_t, 1> find_keys(const KeyIndex& index, Array<std::int64_t, 1> keys) {
    NewArray<std::int64_t, 1> positions({keys.size()});
    index.find(span_of(keys), positions.span());
    return positions.release();
}

// Value encoders. They point to key indices, which the binding of `add` keeps alive.
struct CategoryEncoder {
    std::vector<ValueEncoder> encoders;

    void add(const KeyIndex& keys, std::vector<std::size_t> columns, std::vector<std::int64_t> code_counts,
             Array<std::uint8_t, 2> bins, std::size_t first_output) {
        if (columns.empty() || columns.size() != code_counts.size() ||
            bins.shape(0) != static_cast<std::size_t>(keys.count()) + 1) {
            throw std::invalid_argument("columns, code_counts and bins must fit each other and the keys");
        }
        std::vector<std::uint8_t> copy(bins.data(), bins.data() + bins.size());
        encoders.push_back({&keys, std::move(columns), std::move(code_counts), std::move(copy), bins.shape(1), first_output});
    }

    void encode(Array<std::int64_t, 2> codes, int threads, OutputArray<std::uint8_t, 2> table,
                OutputArray<std::uint8_t, 1> unseen) const {
        const std::size_t rows = codes.shape(1);
        bool fits = table.shape(1) == rows && unseen.shape(0) == rows;
        for (const ValueEncoder& encoder : encoders) {
            fits = fits && encoder.first_output + encoder.width <= table.shape(0) &&
                   *std::max_element(encoder.columns.begin(), encoder.columns.end()) < codes.shape(0);
        }
        if (!fits) throw std::invalid_argument("codes, table and unseen must have the same rows and all columns of the encoders");
        ReleasedGil gil;
        encode_categories(encoders, codes.data(), rows, threads, table.data(), unseen.data(), SignalCheck(gil));
    }
};

}  // namespace

void bind_categories(nb::module_& module) {
    using namespace nb::literals;
    module.def("ordered_means", &means_of_preceding_rows, "category"_a, "target"_a, "weight"_a, "order"_a, "categories"_a,
               "prior"_a, "strength"_a);
    nb::class_<KeyIndex>(module, "KeyIndex")
        .def("__init__", [](KeyIndex* self, Array<std::int64_t, 1> keys) { new (self) KeyIndex(span_of(keys)); }, "keys"_a)
        .def("find", &find_keys, "keys"_a);
    nb::class_<CategoryEncoder>(module, "CategoryEncoder")
        .def(nb::init<>())
        .def("add", &CategoryEncoder::add, "keys"_a, "columns"_a, "code_counts"_a, "bins"_a, "first_output"_a,
             nb::keep_alive<1, 2>())
        .def("encode", &CategoryEncoder::encode, "codes"_a, "threads"_a, "table"_a, "unseen"_a);
}

}  // namespace epiboost
