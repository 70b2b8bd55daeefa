#include "bins/bins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "bins/radix_sort.hpp"

namespace epiboost {
namespace {

constexpr std::size_t rows_per_chunk = 4096;  // enough work to outweigh the cost of taking a chunk

struct DistinctValue {  // a distinct value and the weight of its rows
    double value;
    double weight;
};

template <class Number>
std::vector<DistinctValue> distinct_values(const StridedTable<Number>& table, std::size_t column,
                                           std::span<const double> weights) {
    std::vector<DistinctValue> distinct;
    distinct.reserve(table.rows);
    if (weights.empty()) {
        std::vector<Number> values;
        values.reserve(table.rows);
        for (std::size_t row = 0; row < table.rows; ++row) {
            const Number value = table.raw(row, column);
            if (!std::isnan(value)) values.push_back(value);
        }
        radix_sort(values);
        for (const Number value : values) {
            if (distinct.empty() || distinct.back().value != value) distinct.push_back({value, 0.0});
            distinct.back().weight += 1.0;
        }
        return distinct;
    }
    std::vector<DistinctValue> pairs;
    pairs.reserve(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const double value = table.at(row, column);
        if (!std::isnan(value) && weights[row] > 0.0) pairs.push_back({value, weights[row]});
    }
    std::sort(pairs.begin(), pairs.end(), [](const DistinctValue& a, const DistinctValue& b) {
        return std::pair(a.value, a.weight) < std::pair(b.value, b.weight);
    });
    for (const DistinctValue& pair : pairs) {
        if (distinct.empty() || distinct.back().value != pair.value) distinct.push_back({pair.value, 0.0});
        distinct.back().weight += pair.weight;
    }
    return distinct;
}

// A border between two neighbouring values, with low <= border < high.
double between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle >= low && middle < high ? middle : low;
}

// Weight that is still to be divided into bins, and the number of bins for it.
struct Remaining {
    double weight;
    int bins;
};

// Shares of the weight that bins get. The first and the last bin are divided into halves, the outer halves again, and so on:
// at the ends of a column a few rows may be special, and have no neighbours on the other side that show it. No part has less than
// eight rows, of which a leaf would learn little.
class EndBins {
  public:
    explicit EndBins(const Remaining& all) : bins_(all.bins) {
        constexpr double min_weight = 8.0;
        const int most = static_cast<int>(std::bit_width(static_cast<unsigned>(all.bins))) - 5;
        double weight = all.weight / all.bins;
        while (halvings_ < most && (weight /= 2.0) >= min_weight) ++halvings_;
    }

    double total() const { return bins_ - 2 * halvings_; }

    double share(int bin) const {
        const int from_end = std::min(bin, bins_ - 1 - bin);
        return from_end > halvings_ ? 1.0 : std::ldexp(1.0, std::max(from_end, 1) - halvings_ - 1);
    }

  private:
    int bins_;
    int halvings_ = 0;
};

// Values that weigh as much as an average bin get a bin of their own. Without them the average is lower, which may make more
// values heavy. Returns the least weight of a heavy value, and what remains for the others, at least one bin.
std::pair<double, Remaining> set_heavy_apart(const std::vector<DistinctValue>& distinct, int max_bins) {
    double heavy = HUGE_VAL;
    while (true) {
        Remaining light{0.0, max_bins};
        for (const DistinctValue& one : distinct) {
            if (one.weight < heavy) {
                light.weight += one.weight;
            } else {
                --light.bins;
            }
        }
        const double average = light.weight / light.bins;
        const auto more = std::count_if(distinct.begin(), distinct.end(), [&](const DistinctValue& one) {
            return one.weight < heavy && one.weight >= average;
        });
        if (more == 0 || light.bins - more < 1) return {heavy, light};
        heavy = average;
    }
}

}  // namespace

template <class Number>
std::vector<double> quantile_borders(const StridedTable<Number>& table, std::size_t column, std::span<const double> weights,
                                     int max_bins) {
    const std::vector<DistinctValue> distinct = distinct_values(table, column, weights);
    std::vector<double> borders;
    if (distinct.size() <= static_cast<std::size_t>(max_bins)) {
        for (std::size_t i = 0; i + 1 < distinct.size(); ++i) borders.push_back(between(distinct[i].value, distinct[i + 1].value));
        return borders;
    }
    auto [heavy, light] = set_heavy_apart(distinct, max_bins);
    const EndBins ends(light);
    double filled = 0.0;
    double shares = ends.total();
    int bin = 0;
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i) {
        const bool is_heavy = distinct[i].weight >= heavy;
        if (!is_heavy) filled += distinct[i].weight;
        // Before a heavy value, light ones that fill most of a bin get it; fewer share the bin of the heavy value.
        const double least = distinct[i + 1].weight >= heavy ? 0.5 : 1.0;
        const bool is_full = filled * shares >= least * light.weight * ends.share(bin);
        if (!is_heavy && !(is_full && bin + 1 < light.bins)) continue;
        borders.push_back(between(distinct[i].value, distinct[i + 1].value));
        if (filled > 0.0 && !is_heavy) shares -= ends.share(bin++);
        light.weight -= filled;
        filled = 0.0;
    }
    return borders;
}

std::uint8_t bin_of(double value, std::span<const double> borders) {
    if (std::isnan(value)) return 0;
    std::size_t below = 0;
    std::size_t size = borders.size();
    while (size > 0) {
        const std::size_t half = (size + 1) / 2;
        below += borders[below + half - 1] < value ? half : 0;
        size -= half;
    }
    return static_cast<std::uint8_t>(below + 1);
}

BorderIndex::BorderIndex(std::span<const double> borders) {
    border_.fill(HUGE_VAL);  // no value is above the padding
    std::copy(borders.begin(), borders.end(), border_.begin());
    for (std::size_t group = 0; group < last_.size(); ++group) last_[group] = border_[group * 16 + 15];
}

std::vector<BorderIndex> index_borders(const Borders& borders) {
    std::vector<BorderIndex> indices;
    for (std::size_t column = 0; column + 1 < borders.offset.size(); ++column) indices.emplace_back(borders.of(column));
    return indices;
}

template <class Number>
void bin_rows(const StridedTable<Number>& table, const Borders& borders, int threads, std::uint8_t* bins, const Poll& poll) {
    const std::vector<BorderIndex> indices = index_borders(borders);
    parallel_for(table.rows, rows_per_chunk, threads, poll, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            for (std::size_t column = 0; column < table.columns; ++column) {
                bins[row * table.columns + column] = indices[column].bin_of(table.at(row, column));
            }
        }
    });
}

template std::vector<double> quantile_borders(const StridedTable<float>&, std::size_t, std::span<const double>, int);
template std::vector<double> quantile_borders(const StridedTable<double>&, std::size_t, std::span<const double>, int);
template void bin_rows(const StridedTable<float>&, const Borders&, int, std::uint8_t*, const Poll&);
template void bin_rows(const StridedTable<double>&, const Borders&, int, std::uint8_t*, const Poll&);

}  // namespace epiboost
