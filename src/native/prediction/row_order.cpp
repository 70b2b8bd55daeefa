#include "prediction/row_order.hpp"

#include <algorithm>
#include <numeric>

namespace epiboost {
namespace {

constexpr std::size_t most_columns = 64;  // that are considered; cells are few, so others are hardly ever cut
constexpr std::size_t sampled_rows = 128;  // of a cell, in which the range of each column is looked up

struct Cell {
    std::size_t begin;
    std::size_t end;

    std::size_t rows() const { return end - begin; }
};

// Column whose conditions separate the most of a cell's rows; a cut in its middle decides half of them for each part.
std::size_t column_to_cut(const BinnedRows& binned, const std::vector<ColumnSplits>& splits, const std::uint32_t* row,
                          std::size_t count) {
    const std::size_t step = std::max<std::size_t>(count / sampled_rows, 1);
    std::size_t best = splits.front().column;
    std::uint32_t most = 0;
    for (const ColumnSplits& of_column : splits) {
        const std::uint8_t* bins = binned.column(of_column.column);
        std::uint8_t lowest = 255;
        std::uint8_t highest = 0;
        for (std::size_t i = 0; i < count; i += step) {
            lowest = std::min(lowest, bins[row[i]]);
            highest = std::max(highest, bins[row[i]]);
        }
        const std::uint32_t between = of_column.between(lowest, highest);
        if (between > most) {
            most = between;
            best = of_column.column;
        }
    }
    return best;
}

// Writes the `left` rows with the lowest bins, then the others.
void cut(const std::uint8_t* bins, const std::uint32_t* from, std::size_t count, std::size_t left, std::uint32_t* to) {
    std::array<std::size_t, 256> rows_in_bin{};
    for (std::size_t i = 0; i < count; ++i) ++rows_in_bin[bins[from[i]]];
    std::size_t middle = 0;  // the bin that is divided
    std::size_t below = 0;
    while (below + rows_in_bin[middle] < left) below += rows_in_bin[middle++];
    std::size_t of_middle = left - below;  // rows of it that still go left
    std::size_t next_left = 0;
    std::size_t next_right = left;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t bin = bins[from[i]];
        const bool takes_middle = (bin == middle) & (of_middle > 0);
        const bool is_left = (bin < middle) | takes_middle;
        of_middle -= takes_middle;
        to[is_left ? next_left : next_right] = from[i];
        next_left += is_left;
        next_right += !is_left;
    }
}

}  // namespace

std::vector<ColumnSplits> count_splits(const CompiledTrees& trees) {
    const auto is_made = [&](std::size_t i) { return trees.is_symmetric() || trees.parent[i] != no_leaf; };
    std::vector<std::uint32_t> of_column(trees.columns.size());
    for (std::size_t i = 0; i < trees.feature.size(); ++i) of_column[trees.feature[i]] += is_made(i);
    std::vector<std::size_t> kept(trees.columns.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    std::stable_sort(kept.begin(), kept.end(), [&](std::size_t a, std::size_t b) { return of_column[a] > of_column[b]; });
    kept.resize(std::min(kept.size(), most_columns));
    std::vector<ColumnSplits> splits;
    std::vector<std::size_t> place(trees.columns.size(), kept.size());
    for (const std::size_t column : kept) {
        place[column] = splits.size();
        splits.push_back({column, {}});
    }
    for (std::size_t i = 0; i < trees.feature.size(); ++i) {
        const std::size_t bin = static_cast<std::uint8_t>(trees.threshold[i]) ^ std::size_t{0x80};
        const std::size_t number = place[trees.feature[i]];
        if (is_made(i) && number < splits.size() && bin < 255) ++splits[number].below[bin + 1];
    }
    for (ColumnSplits& counts : splits) std::partial_sum(counts.below.begin(), counts.below.end(), counts.below.begin());
    return splits;
}

std::vector<std::uint32_t> order_rows(const BinnedRows& binned, const std::vector<ColumnSplits>& splits, std::size_t strip,
                                      int threads, const Poll& poll) {
    std::vector<std::uint32_t> rows(binned.rows);
    std::iota(rows.begin(), rows.end(), 0u);
    std::vector<std::uint32_t> reordered(binned.rows);
    std::vector<Cell> cells{{0, binned.rows}};
    while (!splits.empty() && std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.rows() > strip; })) {
        std::vector<Cell> halves(cells.size() * 2);
        parallel_for(cells.size(), 1, threads, poll, [&](std::size_t number, std::size_t) {
            const auto [begin, end] = cells[number];
            const std::size_t strips = (end - begin + strip - 1) / strip;
            const std::size_t left = strips > 1 ? strips / 2 * strip : end - begin;
            const std::size_t column = column_to_cut(binned, splits, rows.data() + begin, end - begin);
            if (strips > 1) {
                cut(binned.column(column), rows.data() + begin, end - begin, left, reordered.data() + begin);
            } else {
                std::copy(rows.data() + begin, rows.data() + end, reordered.data() + begin);
            }
            halves[number * 2] = {begin, begin + left};
            halves[number * 2 + 1] = {begin + left, end};
        });
        rows.swap(reordered);
        cells.clear();
        for (const Cell& half : halves) {
            if (half.rows() > 0) cells.push_back(half);
        }
    }
    return rows;
}

}  // namespace epiboost
