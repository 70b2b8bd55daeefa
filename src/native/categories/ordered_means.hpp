// Ordered target statistics: the mean target of each row's category over the rows that precede it in an order.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace epiboost {

struct Prior {
    double mean;      // the mean without rows
    double strength;  // the weight of the prior, in rows
};

inline void ordered_means(std::span<const std::int64_t> category, std::span<const double> target, std::span<const double> weight,
                          std::span<const std::int64_t> order, std::int64_t categories, Prior prior, std::span<double> mean) {
    struct Sums {
        double target;
        double weight;
    };
    std::vector<Sums> sums(static_cast<std::size_t>(categories), Sums{prior.strength * prior.mean, prior.strength});
    for (const std::int64_t index : order) {
        const auto row = static_cast<std::size_t>(index);
        if (row >= category.size() || category[row] < 0 || category[row] >= categories) {
            throw std::invalid_argument("rows and categories must be numbered from 0");
        }
        Sums& so_far = sums[static_cast<std::size_t>(category[row])];
        mean[row] = so_far.target / so_far.weight;
        so_far.target += weight[row] * target[row];
        so_far.weight += weight[row];
    }
}

}  // namespace epiboost
