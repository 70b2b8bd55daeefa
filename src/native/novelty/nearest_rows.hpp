// The nearest of a set of reference rows, by the sum of the columns' distances.
//
// Numbers differ by their absolute difference. Categories that are not equal differ by the weight of their column. Each
// distance is one sum over columns, in their order: every instruction set computes the same bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace epiboost {

struct ReferenceRows {
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::span<const float> values;  // (columns, rows)
    std::span<const float> weight;  // per column: 0 for numbers, otherwise the distance between two categories
};

// Finds the nearest reference row of each query, the first one if several are as near. If the queries are the reference
// rows themselves, each is compared with those of other groups.
class NearestRows {
public:
    NearestRows(const ReferenceRows& reference, std::span<const std::int64_t> groups) : reference_(reference), groups_(groups) {}

    void find(const float* query, std::size_t self, float& distance, std::int64_t& nearest) const {
        distance = std::numeric_limits<float>::infinity();
        nearest = 0;
        for (std::size_t first = 0; first < reference_.rows; first += block_size) {
            const std::size_t count = std::min(block_size, reference_.rows - first);
            std::array<float, block_size> sum{};
            for (std::size_t column = 0; column < reference_.columns; ++column) {
                add_column(query[column], column, first, count, sum.data());
            }
            if (!groups_.empty()) leave_out(groups_[self], first, count, sum.data());
            for (std::size_t row = 0; row < count; ++row) {
                if (sum[row] < distance) {
                    distance = sum[row];
                    nearest = static_cast<std::int64_t>(first + row);
                }
            }
        }
    }

private:
    static constexpr std::size_t block_size = 1024;  // the sums stay in the first-level cache

    void add_column(float value, std::size_t column, std::size_t first, std::size_t count, float* sum) const {
        const float* other = reference_.values.data() + column * reference_.rows + first;
        const float weight = reference_.weight[column];
        if (weight > 0.0F) {
            for (std::size_t row = 0; row < count; ++row) sum[row] += other[row] == value ? 0.0F : weight;
        } else {
            for (std::size_t row = 0; row < count; ++row) sum[row] += std::abs(other[row] - value);
        }
    }

    void leave_out(std::int64_t group, std::size_t first, std::size_t count, float* sum) const {
        for (std::size_t row = 0; row < count; ++row) {
            if (groups_[first + row] == group) sum[row] = std::numeric_limits<float>::infinity();
        }
    }

    ReferenceRows reference_;
    std::span<const std::int64_t> groups_;  // of the reference rows, if these are the queries; otherwise empty
};

}  // namespace epiboost
