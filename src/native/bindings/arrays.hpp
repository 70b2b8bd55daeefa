// Arrays of NumPy as arguments and results of the bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bins/bins.hpp"

namespace epiboost {

namespace nb = nanobind;

// Read-only argument in C order.
template <class T, std::size_t Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// Read-only table with any strides.
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

// Array that the function writes to.
template <class T, std::size_t Dimensions>
using OutputArray = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

// Result that Python owns.
template <class T, std::size_t Dimensions>
using Result = nb::ndarray<nb::numpy, T, nb::ndim<Dimensions>>;

template <class AnyArray>
auto span_of(const AnyArray& array) {
    return std::span(array.data(), array.size());
}

template <class T>
StridedTable<T> strided(const Matrix<T>& table) {
    return {table.data(), table.shape(0), table.shape(1), table.stride(0), table.stride(1)};
}

// A new, uninitialised array that is passed to Python by `release`.
template <class T, std::size_t Dimensions>
struct NewArray {
    std::vector<std::size_t> shape;
    std::size_t size = 1;
    std::unique_ptr<T[]> data;

    explicit NewArray(std::vector<std::size_t> dimensions) : shape(std::move(dimensions)) {
        for (const std::size_t n : shape) size *= n;
        data = std::make_unique_for_overwrite<T[]>(size);
    }

    std::span<T> span() { return {data.get(), size}; }

    Result<T, Dimensions> release() {
        T* memory = data.release();
        nb::capsule owner(memory, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return Result<T, Dimensions>(memory, shape.size(), shape.data(), owner);
    }
};

}  // namespace epiboost
