#include "bins/bins.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "bins/distinct_values.hpp"
#include "core/compiler.hpp"

namespace epiboost {
namespace {

constexpr std::size_t rows_per_chunk = 4096;  // enough work to outweigh the cost of taking a chunk

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
template <class Number>
std::pair<double, Remaining> set_heavy_apart(const DistinctValues<Number>& values, int max_bins) {
    Remaining light{values.weight(), max_bins};
    double heavy = HUGE_VAL;
    while (values.heaviest() >= light.weight / light.bins) {
        const double average = light.weight / light.bins;
        const auto more = std::ranges::count_if(values.all(), [&](const DistinctValue& one) {
            return one.weight < heavy && one.weight >= average;
        });
        if (more == 0 || light.bins - more < 1) break;
        heavy = average;
        light = {0.0, max_bins};
        for (const DistinctValue& one : values.all()) {
            if (one.weight < heavy) {
                light.weight += one.weight;
            } else {
                --light.bins;
            }
        }
    }
    return {heavy, light};
}

// Borders of one column.
template <class Number>
std::vector<double> borders_of(const DistinctValues<Number>& values, int max_bins) {
    const std::span<const DistinctValue> distinct = values.all();
    std::vector<double> borders;
    if (distinct.size() <= static_cast<std::size_t>(max_bins)) {
        for (std::size_t i = 0; i + 1 < distinct.size(); ++i) borders.push_back(between(distinct[i].value, distinct[i + 1].value));
        return borders;
    }
    auto [heavy, light] = set_heavy_apart(values, max_bins);
    const EndBins ends(light);
    double filled = 0.0;
    double shares = ends.total();
    int bin = 0;
    double full = light.weight * ends.share(bin);  // times the shares that are left
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i) {
        const bool is_heavy = distinct[i].weight >= heavy;
        if (!is_heavy) filled += distinct[i].weight;
        // Before a heavy value, light ones that fill most of a bin get it; fewer share the bin of the heavy value.
        const double least = distinct[i + 1].weight >= heavy ? 0.5 : 1.0;
        const bool is_full = filled * shares >= least * full;
        if (!is_heavy && !(is_full && bin + 1 < light.bins)) continue;
        borders.push_back(between(distinct[i].value, distinct[i + 1].value));
        if (filled > 0.0 && !is_heavy) shares -= ends.share(bin++);
        light.weight -= filled;
        full = light.weight * ends.share(bin);
        filled = 0.0;
    }
    return borders;
}

// How many columns a thread reads together: neighbours share the cache lines of a table by rows. Their copy stays small.
template <class Number>
std::size_t columns_at_once(const StridedTable<Number>& table, int threads) {
    constexpr std::size_t per_line = 64 / sizeof(Number);
    constexpr std::size_t most_numbers = std::size_t{1} << 23;
    const std::size_t share = table.columns / static_cast<std::size_t>(std::max(threads, 1));
    return std::clamp<std::size_t>(std::min(share, most_numbers / std::max<std::size_t>(table.rows, 1)), 1, per_line);
}

}  // namespace

template <class Number>
std::vector<std::vector<double>> quantile_borders(const StridedTable<Number>& table, std::span<const double> weights, int max_bins,
                                                  int threads, const Poll& poll) {
    std::vector<std::vector<double>> borders(table.columns);
    parallel_for(table.columns, columns_at_once(table, threads), threads, poll, [&](std::size_t begin, std::size_t end) {
        std::vector<std::vector<Number>> values(end - begin, std::vector<Number>(table.rows));
        for (std::size_t first = 0; first < table.rows; first += block) {
            const std::size_t last = std::min(first + block, table.rows);
            for (std::size_t row = last; row < std::min(last + block, table.rows); ++row) prefetch(table.address(row, begin));
            for (std::size_t column = begin; column < end; ++column) {
                for (std::size_t row = first; row < last; ++row) values[column - begin][row] = table.raw(row, column);
            }
        }
        DistinctValues<Number> distinct;
        for (std::size_t column = begin; column < end; ++column) {
            distinct.find(values[column - begin], weights);
            borders[column] = borders_of(distinct, max_bins);
        }
    });
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
        std::array<std::uint8_t, block> bin;
        for (std::size_t first = begin; first < end; first += block) {  // block by block, so that rows stay in the cache
            const std::size_t count = std::min(block, end - first);
            for (std::size_t column = 0; column < table.columns; ++column) {
                find_bins(table, indices[column], first, count, column, bin);
                for (std::size_t i = 0; i < count; ++i) bins[(first + i) * table.columns + column] = bin[i];
            }
        }
    });
}

template std::vector<std::vector<double>> quantile_borders(const StridedTable<float>&, std::span<const double>, int, int,
                                                           const Poll&);
template std::vector<std::vector<double>> quantile_borders(const StridedTable<double>&, std::span<const double>, int, int,
                                                           const Poll&);
template void bin_rows(const StridedTable<float>&, const Borders&, int, std::uint8_t*, const Poll&);
template void bin_rows(const StridedTable<double>&, const Borders&, int, std::uint8_t*, const Poll&);

}  // namespace epiboost
