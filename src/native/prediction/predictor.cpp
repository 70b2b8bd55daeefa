#include "prediction/predictor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/compiler.hpp"
#include "prediction/outputs.hpp"
#include "prediction/tree_evaluation.hpp"

namespace epiboost {
namespace {

constexpr std::size_t min_strip_rows = 4;      // fewer rows are faster one by one
constexpr std::size_t binned_at_once = 1024;   // rows that a thread bins
constexpr std::size_t most_ordered = std::size_t{1} << 17;     // rows, and
constexpr std::size_t most_binned = std::size_t{1} << 24;      // bytes of a chunk
constexpr std::size_t most_in_cache = std::size_t{1} << 18;    // bytes of the bins of a thread's strips
constexpr std::size_t most_kept = std::size_t{1} << 24;        // bytes of parameters and sums that a thread keeps
constexpr std::size_t most_strips = 8;                         // at once: enough for a thread to find leaf values in the cache
constexpr std::size_t most_work = std::size_t{1} << 28;        // rows times trees between two polls: 50 to 200 ms

// Rows from which merging pays: what is left of the trees of fewer rows is not much less. Look-ups of AVX-512 are fast.
#if defined(__AVX512BW__)
constexpr std::size_t min_merged_rows = 24'000;
#else
constexpr std::size_t min_merged_rows = 3'000;
#endif

// Bin of a value of a table. A table of bins holds it already.
template <class Number, class FindBin>
std::uint8_t bin_in(const StridedTable<Number>& table, std::size_t row, std::size_t column, const FindBin& find_bin) {
    if constexpr (std::is_same_v<Number, std::uint8_t>) {
        return table.raw(row, column);
    } else {
        return find_bin(table.at(row, column));
    }
}

template <class Number>
BinnedRows bin_chunk(const StridedTable<Number>& table, const std::vector<BorderIndex>& borders, const CompiledTrees& trees,
                     std::size_t first, std::size_t rows, int threads, const Poll& poll) {
    BinnedRows binned{rows, std::vector<std::uint8_t>(rows * trees.columns.size())};
    const std::size_t share = padded(rows / static_cast<std::size_t>(std::max(threads, 1)) + 1);
    parallel_for(rows, std::min(share, binned_at_once), threads, poll, [&](std::size_t begin, std::size_t end) {
        for (std::size_t from = begin; from < end; from += block) {  // block by block, so that rows stay in the cache
            for (std::size_t c = 0; c < trees.columns.size(); ++c) {
                const std::size_t column = trees.columns[c];
                std::uint8_t* bins = binned.bins.data() + c * rows + from;
                const std::size_t count = std::min(block, end - from);
                if constexpr (std::is_same_v<Number, std::uint8_t>) {
                    for (std::size_t i = 0; i < count; ++i) bins[i] = table.raw(first + from + i, column);
                } else {
                    std::array<std::uint8_t, block> bin;
                    find_bins(table, borders[column], first + from, count, column, bin);
                    std::copy_n(bin.begin(), count, bins);
                }
            }
        }
    });
    return binned;
}

// Evaluates one member: add(batch) for each batch of trees of a segment, then end(segment), for each segment.
template <class Add, class End>
void evaluate_member(const CompiledTrees& trees, std::size_t member, const Add& add, const End& end) {
    for (std::size_t s = 0; s < trees.segments_per_chain; ++s) {
        const CompiledTrees::Segment& segment = trees.segments[member * trees.segments_per_chain + s];
        for (std::size_t batch = segment.first; batch < segment.end; ++batch) add(batch);
        end(s);
    }
}

// Moves the sums of a segment to the scores.
void end_segment(const CompiledTrees& trees, std::size_t member, std::size_t segment, std::vector<float>& sums,
                 std::vector<double>& scores) {
    if (segment == 0) std::fill(scores.begin(), scores.end(), 0.0);  // of the member before
    const double decay = trees.segments[member * trees.segments_per_chain + segment].decay;
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = decay * scores[i] + sums[i];
    std::fill(sums.begin(), sums.end(), 0.0f);
}

// Asks for the leaf values of a batch: merging reads some of them only, in an order that processors do not foresee.
void prefetch_values(const CompiledTrees& trees, std::size_t number) {
    if (number >= trees.batches.size()) return;
    const auto [first, count] = trees.batches[number];
    const auto all = [](const auto* begin, std::size_t values) {
        constexpr std::size_t line = 64;
        constexpr std::size_t most = std::size_t{1} << 14;  // more would take the place of what is in use
        if (values * sizeof *begin > most) return;
        const auto* bytes = reinterpret_cast<const char*>(begin);
        for (std::size_t byte = 0; byte < values * sizeof *begin; byte += line) prefetch(bytes + byte);
    };
    const auto outputs = static_cast<std::size_t>(trees.outputs);
    if (trees.uses_tables()) {
        all(trees.table.data() + first * outputs, count * outputs);
    } else if (outputs <= 2) {
        all(trees.word.data() + first * trees.leaves(), count * trees.leaves());
    }
}

// How rows are divided: among threads evenly, each into strips.
struct Division {
    bool orders;                 // rows, so that those of a strip are alike
    bool merges;                 // trees for each strip
    std::size_t strip;           // rows
    std::size_t strips_at_once;  // that a thread evaluates together

    Division(const CompiledTrees& trees, std::size_t rows, int threads) {
        const bool can_merge = MergedTrees::can_merge(trees);
        orders = can_merge ? rows >= min_merged_rows : !trees.is_symmetric() && rows >= min_needed_rows;
        divide(trees, rows, threads);
        if (orders && strip < min_needed_rows) {  // little is left out of the trees for each strip, but in little time
            orders = false;
            divide(trees, rows, threads);
        }
        merges = orders && can_merge;
    }

  private:
    void divide(const CompiledTrees& trees, std::size_t rows, int threads) {
        const auto fit = [](std::size_t most, std::size_t of_one) { return most / std::max<std::size_t>(of_one, 1); };
        const std::size_t usual = orders ? strip_rows : strip_rows / 3;  // merging takes as long as some hundred rows
        const std::size_t most_rows = std::clamp(fit(most_work, work_per_row(trees)) / block * block, 4 * block, usual);
        const auto outputs = static_cast<std::size_t>(trees.outputs);
        const std::size_t kept = trees.segments.size() * 2 * sizeof(double) + outputs * (sizeof(float) + sizeof(double));
        const auto workers = static_cast<std::size_t>(std::max(threads, 1));
        const std::size_t strips = divide_up(rows, most_rows);
        strips_at_once = std::min({divide_up(strips, 2 * workers), most_strips, fit(most_in_cache, most_rows * trees.columns.size()),
                                   fit(most_kept, most_rows * kept), fit(most_work, most_rows * work_per_row(trees))});
        strips_at_once = std::max<std::size_t>(strips_at_once, 1);
        const std::size_t tasks = divide_up(divide_up(strips, strips_at_once), workers) * workers;
        strip = divide_up(divide_up(rows, tasks * strips_at_once), block) * block;
    }

    // In units of a symmetric tree of at most two outputs.
    static std::size_t work_per_row(const CompiledTrees& trees) {
        const auto splits = static_cast<std::size_t>(trees.splits);
        constexpr std::size_t splits_per_unit = 8;
        const std::size_t leaf_wise = trees.is_symmetric() ? 0 : splits / splits_per_unit;
        return trees.split.size() / splits * (1 + leaf_wise + static_cast<std::size_t>(trees.outputs) / lanes_at_once);
    }
};

// `make_output(rows)` returns the output of the rows of a thread.
template <class Number, class MakeOutput>
void predict_strips(const StridedTable<Number>& table, const std::vector<BorderIndex>& borders, const CompiledTrees& trees,
                    const std::vector<ColumnSplits>& splits, const Link& link, ChainRange chains, int threads,
                    const MakeOutput& make_output, const Poll& poll) {
    const std::size_t columns = std::max<std::size_t>(trees.columns.size(), 1);
    const std::size_t rows_at_once = std::clamp(most_binned / columns, strip_rows, most_ordered);
    for (std::size_t start = 0; start < table.rows; start += rows_at_once) {
        const std::size_t rows = std::min(rows_at_once, table.rows - start);
        const Division division(trees, rows, threads);
        const BinnedRows binned = bin_chunk(table, borders, trees, start, rows, threads, poll);
        const std::vector<std::uint32_t> order =
            order_rows(binned, splits, division.orders ? division.strip : rows, threads, poll);
        parallel_for(rows, division.strip * division.strips_at_once, threads, poll, [&](std::size_t first, std::size_t last) {
            std::vector<Leaves> leaves(trees_per_batch);
            std::vector<Strip> strips;
            for (std::size_t from = first; from < last; from += division.strip) {
                strips.emplace_back(trees, std::min(division.strip, last - from), leaves).fill(trees, binned, order.data() + from);
            }
            std::optional<MergedTrees> merged;
            if (division.merges) merged.emplace(trees);
            const auto add = [&](std::size_t batch) {
                if (merged) prefetch_values(trees, batch + 1);
                for (Strip& strip : strips) {
                    if (merged && merged->merge(trees.batches[batch], strip)) {
                        add_merged(trees, batch, *merged, strip);
                    } else {
                        add_batch(trees, batch, strip);
                    }
                }
            };
            auto output = make_output(Rows{start, std::span(order).subspan(first, last - first)});
            for (std::size_t i = 0; i < chains.count; ++i) {
                const auto end = [&](std::size_t segment) {
                    const std::size_t member = i * trees.segments_per_chain + segment;
                    std::size_t row = 0;
                    for (Strip& strip : strips) {
                        end_segment(trees, chains.first + i, segment, strip.sums, strip.scores);
                        write_parameters(link, strip.scores.data(), strip.stride(), strip.rows, output.space(member, row));
                        output.written(member, row, strip.rows);
                        row += strip.rows;
                    }
                };
                evaluate_member(trees, chains.first + i, add, end);
            }
            output.finish();
        });
    }
}

template <class Number>
void predict_one_by_one(const StridedTable<Number>& table, const Borders& borders, const CompiledTrees& trees, const Link& link,
                        ChainRange chains, double* parameters) {
    std::vector<std::uint8_t> bins(table.columns);
    std::vector<std::uint8_t> above(trees.conditions.size());
    std::vector<std::int32_t> integers(trees.outputs);
    std::vector<float> sums(trees.outputs);
    std::vector<double> scores(trees.outputs);
    for (std::size_t row = 0; row < table.rows; ++row) {
        for (std::size_t column = 0; column < table.columns; ++column) {
            bins[column] = bin_in(table, row, column, [&](double value) { return bin_of(value, borders.of(column)); });
        }
        for (std::size_t c = 0; c < above.size(); ++c) {
            above[c] = bins[trees.conditions[c].feature] > trees.conditions[c].threshold;
        }
        const auto add = [&](std::size_t batch) {
            add_batch_to_row(trees, batch, above.data(), integers.data(), sums.data());
        };
        for (std::size_t i = 0; i < chains.count; ++i) {
            const auto end = [&](std::size_t segment) {
                const std::size_t member = i * trees.segments_per_chain + segment;
                end_segment(trees, chains.first + i, segment, sums, scores);
                write_parameters(link, scores.data(), 1, 1, parameters + (member * table.rows + row) * link.parameters());
            };
            evaluate_member(trees, chains.first + i, add, end);
        }
    }
}

}  // namespace

Predictor::Predictor(const ForestArrays& forest, const Borders& borders, Link link)
    : trees_(forest), column_splits_(count_splits(trees_)), border_(borders.value.begin(), borders.value.end()),
      offset_(borders.offset.begin(), borders.offset.end()), border_index_(index_borders(borders)), link_(std::move(link)) {}

template <class Number>
void Predictor::predict(const StridedTable<Number>& table, ChainRange chains, int threads, double* parameters,
                        const Poll& poll) const {
    if (table.rows < min_strip_rows) {
        return predict_one_by_one(table, Borders{border_, offset_}, trees_, link_, chains, parameters);
    }
    const auto output = [&](const Rows& rows) { return ParameterOutput(parameters, table.rows, link_.parameters(), rows); };
    predict_strips(table, border_index_, trees_, column_splits_, link_, chains, threads, output, poll);
}

template <class Number>
void Predictor::summarize(const StridedTable<Number>& table, const NormalRecalibration* recalibration, int threads,
                          const NormalSummaries& summaries, const Poll& poll) const {
    const std::size_t members = chains() * segments();
    if (table.rows < min_strip_rows) {
        std::vector<double> parameters(members * table.rows * 2);
        predict_one_by_one(table, Borders{border_, offset_}, trees_, link_, {0, chains()}, parameters.data());
        const auto number = [](std::size_t row) { return row; };
        return summarize_normals(recalibration, {parameters.data(), members, table.rows}, table.rows, number, summaries);
    }
    const auto output = [&](const Rows& rows) { return SummaryOutput(recalibration, summaries, members, rows); };
    predict_strips(table, border_index_, trees_, column_splits_, link_, {0, chains()}, threads, output, poll);
}

template void Predictor::predict(const StridedTable<float>&, ChainRange, int, double*, const Poll&) const;
template void Predictor::predict(const StridedTable<double>&, ChainRange, int, double*, const Poll&) const;
template void Predictor::predict(const StridedTable<std::uint8_t>&, ChainRange, int, double*, const Poll&) const;
template void Predictor::summarize(const StridedTable<float>&, const NormalRecalibration*, int, const NormalSummaries&,
                                   const Poll&) const;
template void Predictor::summarize(const StridedTable<double>&, const NormalRecalibration*, int, const NormalSummaries&,
                                   const Poll&) const;
template void Predictor::summarize(const StridedTable<std::uint8_t>&, const NormalRecalibration*, int, const NormalSummaries&,
                                   const Poll&) const;

}  // namespace epiboost
