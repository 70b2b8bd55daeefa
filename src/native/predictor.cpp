#include "predictor.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "leaves.hpp"
#include "lookup.hpp"
#include "problem.hpp"
#include "threads.hpp"

namespace epiboost {
namespace {

constexpr std::size_t strip = 16 * block;  // rows that are taken through all trees together: their bins stay in the cache

// Bins of a strip, one block of rows after the other, by column within a block.
template <class Number>
void bin_strip(const Numbers<Number>& table, const Borders& borders, std::size_t first, std::size_t count,
               std::uint8_t* bins) {
    for (std::size_t column = 0; column < table.columns; ++column) {
        const auto begin = static_cast<std::size_t>(borders.offset[column]);
        const auto end = static_cast<std::size_t>(borders.offset[column + 1]);
        const std::span<const double> own = borders.value.subspan(begin, end - begin);
        for (std::size_t i = 0; i < count; ++i) {
            bins[(i / block * table.columns + column) * block + i % block] = bin_of(table.at(first + i, column), own);
        }
    }
}

// Adds one tree's values to a block's sums, one array of rows an output.
inline void add_tree(const std::uint8_t* bins, const std::uint16_t* feature, const std::uint8_t* threshold, int depth,
                     const float* leaf, int outputs, float* __restrict sums) {
    std::uint8_t index[block];
    find_leaves([&](int level) { return bins + feature[level] * block; }, threshold, depth, index);
    const int leaves = 1 << depth;
    for (int k = 0; k < outputs; ++k) add_looked_up(leaf + k * leaves, leaves, index, sums + k * strip);
}

}  // namespace

template <class Number>
void predict(const Numbers<Number>& table, const Borders& borders, const ReadyTrees& trees, int threads, double* scores) {
    const std::size_t outputs = trees.outputs;
    const std::size_t leaf_values = outputs << trees.depth;
    const auto strips = static_cast<std::ptrdiff_t>((table.rows + strip - 1) / strip);
#pragma omp parallel num_threads(available_threads(threads)) if (strips > 1)
    {
        std::vector<std::uint8_t> bins(table.columns * strip);
        std::vector<float> sums(outputs * strip);
        std::vector<double> running(outputs * strip);
#pragma omp for schedule(dynamic)
        for (std::ptrdiff_t s = 0; s < strips; ++s) {
            const std::size_t first = static_cast<std::size_t>(s) * strip;
            const std::size_t count = std::min(strip, table.rows - first);
            const std::size_t blocks = (count + block - 1) / block;
            bin_strip(table, borders, first, count, bins.data());
            for (std::size_t member = 0; member < trees.members; ++member) {
                std::fill(running.begin(), running.end(), 0.0);
                std::size_t tree = member * trees.trees;
                for (std::size_t part = 0; part < trees.parts; ++part) {
                    const std::size_t at = member * trees.parts + part;
                    std::fill(sums.begin(), sums.end(), 0.0f);
                    for (const std::size_t end = member * trees.trees + trees.end[at]; tree < end; ++tree) {
                        for (std::size_t b = 0; b < blocks; ++b) {
                            add_tree(bins.data() + b * table.columns * block, trees.feature.data() + tree * trees.depth,
                                     trees.threshold.data() + tree * trees.depth, trees.depth,
                                     trees.leaf.data() + tree * leaf_values, trees.outputs, sums.data() + b * block);
                        }
                    }
                    for (std::size_t k = 0; k < outputs; ++k) {
                        for (std::size_t i = 0; i < count; ++i) {
                            double& score = running[k * strip + i];
                            score = trees.carry[at] * score + sums[k * strip + i];
                            scores[(at * table.rows + first + i) * outputs + k] = trees.start[k] + score;
                        }
                    }
                }
            }
        }
    }
}

template void predict(const Numbers<float>&, const Borders&, const ReadyTrees&, int, double*);
template void predict(const Numbers<double>&, const Borders&, const ReadyTrees&, int, double*);

}  // namespace epiboost
