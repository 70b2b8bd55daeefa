// The distinct values of a column, ascending, with the weights of their rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "bins/radix_sort.hpp"

namespace epiboost {

struct DistinctValue {
    double value = 0.0;
    double weight = 0.0;
};

// Finds the distinct values of one column after the other, in the same memory.
template <class Number>
class DistinctValues {
  public:
    std::span<const DistinctValue> all() const { return {distinct_.data(), size_}; }
    double weight() const { return weight_; }      // of all
    double heaviest() const { return heaviest_; }  // weight of the heaviest

    // Finds those of some values, which may be sorted. Empty weights mean that all are one.
    void find(std::vector<Number>& values, std::span<const double> weights) {
        size_ = 0;
        heaviest_ = 0.0;
        if (weights.empty()) {
            find_unweighted(values);
        } else {
            find_weighted(values, weights);
        }
    }

  private:
    void find_unweighted(std::vector<Number>& values) {
        std::erase_if(values, [](Number value) { return std::isnan(value); });
        sort_(values);
        distinct_.resize(std::max(distinct_.size(), values.size()));
        for (std::size_t first = 0, last = 0; first < values.size(); first = last) {
            while (last < values.size() && values[last] == values[first]) ++last;
            add({values[first], static_cast<double>(last - first)});
        }
        weight_ = static_cast<double>(values.size());
    }

    void find_weighted(const std::vector<Number>& values, std::span<const double> weights) {
        std::vector<DistinctValue> pairs;
        pairs.reserve(values.size());
        for (std::size_t row = 0; row < values.size(); ++row) {
            if (!std::isnan(values[row]) && weights[row] > 0.0) pairs.push_back({static_cast<double>(values[row]), weights[row]});
        }
        std::sort(pairs.begin(), pairs.end(), [](const DistinctValue& a, const DistinctValue& b) {
            return std::pair(a.value, a.weight) < std::pair(b.value, b.weight);
        });
        distinct_.resize(std::max(distinct_.size(), pairs.size()));
        weight_ = 0.0;
        for (std::size_t i = 0; i < pairs.size();) {
            DistinctValue sum{pairs[i].value, 0.0};
            for (; i < pairs.size() && pairs[i].value == sum.value; ++i) sum.weight += pairs[i].weight;
            add(sum);
            weight_ += sum.weight;
        }
    }

    void add(const DistinctValue& one) {
        distinct_[size_++] = one;
        heaviest_ = std::max(heaviest_, one.weight);
    }

    RadixSort<Number> sort_;
    std::vector<DistinctValue> distinct_;
    std::size_t size_ = 0;
    double weight_ = 0.0;
    double heaviest_ = 0.0;
};

}  // namespace epiboost
