#include "bins/bins.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bins/sorting.hpp"
#include "core/threads.hpp"

namespace epiboost {
namespace {

struct Atom {  // a distinct value and the weight of the rows that have it
    double value;
    double weight;
};

template <class Number>
std::vector<Atom> atoms_of(const Numbers<Number>& table, std::size_t column, std::span<const double> weights) {
    std::vector<Atom> atoms;
    atoms.reserve(table.rows);
    if (weights.empty()) {
        std::vector<double> values;
        values.reserve(table.rows);
        for (std::size_t row = 0; row < table.rows; ++row) {
            const double value = table.at(row, column);
            if (!std::isnan(value)) values.push_back(value);
        }
        sort_numbers(values);
        for (const double value : values) {
            if (atoms.empty() || atoms.back().value != value) atoms.push_back({value, 0.0});
            atoms.back().weight += 1.0;
        }
        return atoms;
    }
    std::vector<Atom> pairs;
    pairs.reserve(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const double value = table.at(row, column);
        if (!std::isnan(value) && weights[row] > 0.0) pairs.push_back({value, weights[row]});
    }
    std::sort(pairs.begin(), pairs.end(),
              [](const Atom& a, const Atom& b) { return std::pair(a.value, a.weight) < std::pair(b.value, b.weight); });
    for (const Atom& pair : pairs) {
        if (atoms.empty() || atoms.back().value != pair.value) atoms.push_back({pair.value, 0.0});
        atoms.back().weight += pair.weight;
    }
    return atoms;
}

// A border between two neighbours: above the lower one or equal to it, below the higher one.
double between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle >= low && middle < high ? middle : low;
}

}  // namespace

template <class Number>
std::vector<double> quantile_borders(const Numbers<Number>& table, std::size_t column, std::span<const double> weights,
                                     int max_bins) {
    const std::vector<Atom> atoms = atoms_of(table, column, weights);
    std::vector<double> borders;
    double left = 0.0;
    for (const Atom& atom : atoms) left += atom.weight;
    const bool every = atoms.size() <= static_cast<std::size_t>(max_bins);
    int bins_left = max_bins;
    double filled = 0.0;
    for (std::size_t i = 0; i + 1 < atoms.size() && bins_left > 1; ++i) {
        filled += atoms[i].weight;
        if (!every && filled * bins_left < left) continue;
        borders.push_back(between(atoms[i].value, atoms[i + 1].value));
        left -= filled;
        filled = 0.0;
        --bins_left;
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

BorderGroups::BorderGroups(std::span<const double> borders) {
    border_.fill(HUGE_VAL);  // no value is above it
    std::copy(borders.begin(), borders.end(), border_.begin());
    for (std::size_t group = 0; group < last_.size(); ++group) last_[group] = border_[group * 16 + 15];
}

std::vector<BorderGroups> group_borders(const Borders& borders) {
    std::vector<BorderGroups> groups;
    for (std::size_t column = 0; column + 1 < borders.offset.size(); ++column) groups.emplace_back(borders.of(column));
    return groups;
}

template <class Number>
void bin_rows(const Numbers<Number>& table, const Borders& borders, int threads,
              std::uint8_t* bins) {
    const std::vector<BorderGroups> groups = group_borders(borders);
    share_out(table.rows, 4096, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            for (std::size_t column = 0; column < table.columns; ++column) {
                bins[row * table.columns + column] = groups[column].bin_of(table.at(row, column));
            }
        }
    });
}

template std::vector<double> quantile_borders(const Numbers<float>&, std::size_t, std::span<const double>, int);
template std::vector<double> quantile_borders(const Numbers<double>&, std::size_t, std::span<const double>, int);
template void bin_rows(const Numbers<float>&, const Borders&, int, std::uint8_t*);
template void bin_rows(const Numbers<double>&, const Borders&, int, std::uint8_t*);

}  // namespace epiboost
