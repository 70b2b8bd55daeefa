// Class probabilities of an ensemble for a few rows, one vector of rows per member and class, so that every operation on them
// vectorises.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace epiboost {

constexpr std::size_t class_rows = 32;  // at once: the probabilities of ten members and classes stay near the L1 cache

// One number per row of a block.
struct alignas(64) ClassLanes {
    double of_row[class_rows];

    double& operator[](std::size_t row) { return of_row[row]; }
    double operator[](std::size_t row) const { return of_row[row]; }
};

// Probabilities of each member for each class of each row. The arrays of two members are `stride` rows apart.
template <class Number>
struct ClassParameters {
    Number* values;
    std::size_t members;
    std::size_t stride;
    std::size_t classes;

    Number* row(std::size_t member, std::size_t row) const { return values + (member * stride + row) * classes; }
};

struct ClassBlock {
    std::size_t members;
    std::size_t classes;
    std::vector<ClassLanes> values;  // (members, classes)

    ClassBlock(std::size_t members, std::size_t classes) : members(members), classes(classes), values(members * classes) {}

    ClassLanes* of(std::size_t member) { return values.data() + member * classes; }
    const ClassLanes* of(std::size_t member) const { return values.data() + member * classes; }

    // Reads `count` rows; the last one fills the block.
    void load(const ClassParameters<const double>& from, std::size_t first, std::size_t count) {
        for (std::size_t m = 0; m < members; ++m) {
            for (std::size_t i = 0; i < class_rows; ++i) {
                const double* row = from.row(m, first + std::min(i, count - 1));
                for (std::size_t k = 0; k < classes; ++k) of(m)[k][i] = row[k];
            }
        }
    }

    void store(const ClassParameters<double>& to, std::size_t first, std::size_t count) const {
        for (std::size_t m = 0; m < members; ++m) {
            for (std::size_t i = 0; i < count; ++i) {
                double* row = to.row(m, first + i);
                for (std::size_t k = 0; k < classes; ++k) row[k] = of(m)[k][i];
            }
        }
    }
};

// The greater of two numbers; what is not a number stays so.
inline double at_least(double low, double x) { return x < low ? low : x; }

constexpr double least_probability = std::numeric_limits<double>::min();  // smaller ones have no logarithm here

}  // namespace epiboost
