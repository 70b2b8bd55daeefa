// The mean target of each row's group over the rows that stand before it in an order.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace epiboost {

struct Prior {
    double mean;      // of no rows
    double strength;  // rows that it counts for
};

inline void ordered_mean(std::span<const std::int64_t> group, std::span<const double> target, std::span<const double> weight,
                         std::span<const std::int64_t> order, std::int64_t groups, Prior prior, std::span<double> mean) {
    struct Sums {
        double total;
        double weight;
    };
    std::vector<Sums> sums(static_cast<std::size_t>(groups), Sums{prior.strength * prior.mean, prior.strength});
    for (const std::int64_t row : order) {
        const auto place = static_cast<std::size_t>(row);
        if (place >= group.size() || group[place] < 0 || group[place] >= groups) {
            throw std::invalid_argument("rows and groups must be numbered from 0");
        }
        Sums& own = sums[static_cast<std::size_t>(group[place])];
        mean[place] = own.total / own.weight;
        own.total += weight[place] * target[place];
        own.weight += weight[place];
    }
}

}  // namespace epiboost
