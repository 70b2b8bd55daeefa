#include "training/trainer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "core/threads.hpp"
#include "training/chain.hpp"

namespace epiboost {
namespace {

constexpr std::size_t min_rows_per_thread = 2048;  // with fewer rows, threads wait at barriers longer than they work

// With more gradients than this, members are trained one after the other with all threads: several at once would need
// several times the memory.
constexpr std::size_t max_parallel_gradients = std::size_t{1} << 23;

constexpr std::size_t max_side_by_side = 8;  // members, as many as RootHistograms sums at once
constexpr std::size_t max_histogram_bytes = std::size_t{1} << 27;  // of members side by side: those of wide tables are large

// The trees to grow in one round, from `first` to before `last`.
struct Round {
    int first;
    int last;
};

// A chain to train. Its state exists from its first tree to its last, or to the end if it has evaluation rows.
struct Member {
    const TrainingContext* context;
    std::uint64_t seed;
    HistogramLayout layout;
    std::unique_ptr<ChainState> state;

    ChainState& started() {
        if (!state) state = std::make_unique<ChainState>(*context);
        return *state;
    }

    void release_after(Round round) {
        if (round.last == context->recipe.trees && !context->evaluation_table) state.reset();
    }
};

struct BusyGuard {  // decrements the number of busy threads, also after an exception
    std::atomic<int>& busy;
    ~BusyGuard() { --busy; }
};

// Polls the monitor on the calling thread until all threads are done.
void poll_until_done(TrainingMonitor& monitor, const std::atomic<int>& busy) {
    while (busy > 0) {
        monitor.poll();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Marks the trees of a member as not grown: they have no splits and values of zero. It begins with those that are given.
void clear(const TreeArrays& trees, const ChainRecipe& recipe, std::size_t member) {
    const std::size_t first = member * recipe.trees;
    const auto splits = static_cast<std::size_t>(recipe.splits());
    const auto leaf_values = static_cast<std::size_t>(recipe.leaf_count()) * recipe.outputs;
    std::fill_n(trees.feature.data() + first * splits, recipe.trees * splits, std::uint16_t{0});
    std::fill_n(trees.threshold.data() + first * splits, recipe.trees * splits, std::uint8_t{255});
    std::fill_n(trees.leaf.data() + first * leaf_values, recipe.trees * leaf_values, 0.0f);
    if (!recipe.is_symmetric()) std::fill_n(trees.parent.data() + first * splits, recipe.trees * splits, no_leaf);
    const GivenTrees& given = trees.given;
    const auto copy = [&](const auto& from, auto* to, std::size_t size) {
        if (given.trees > 0) std::copy_n(from.data() + member * given.trees * size, given.trees * size, to + first * size);
    };
    copy(given.feature, trees.feature.data(), splits);
    copy(given.threshold, trees.threshold.data(), splits);
    if (!recipe.is_symmetric()) copy(given.parent, trees.parent.data(), splits);
    copy(given.leaf, trees.leaf.data(), leaf_values);
}

// Destination of a member's trees.
ChainOutput output_of(const TreeArrays& trees, const ChainRecipe& recipe, std::size_t member) {
    const std::size_t first = member * recipe.trees;
    const auto splits = static_cast<std::size_t>(recipe.splits());
    const auto leaf_values = static_cast<std::size_t>(recipe.leaf_count()) * recipe.outputs;
    return {trees.feature.data() + first * splits,
            trees.threshold.data() + first * splits,
            recipe.is_symmetric() ? nullptr : trees.parent.data() + first * splits,
            trees.leaf.data() + first * leaf_values,
            trees.evaluation.empty() ? nullptr : trees.evaluation.data() + first,
            trees.given.trees};
}

// Consecutive members that one thread trains side by side.
struct Batch {
    std::size_t first;
    std::size_t count;
};

// How many members of a context one thread may train side by side.
std::size_t most_side_by_side(const Member& member) {
    const TrainingContext& context = *member.context;
    if (!has_common_root(member.layout, context)) return 1;
    const std::size_t cells = context.table.columns * static_cast<std::size_t>(context.stride * context.recipe.leaf_count());
    return std::clamp<std::size_t>(max_histogram_bytes / (cells * sizeof(std::int64_t)), 1, max_side_by_side);
}

// Batches of members whose roots are summed together, of about the same size. There are as many as threads or a multiple, so that
// no thread is left without one, unless batches are single members.
std::vector<Batch> batches_of(std::span<const Member> members, int threads) {
    std::vector<Batch> batches;
    for (std::size_t first = 0, last = 0; first < members.size(); first = last) {
        while (last < members.size() && members[last].context == members[first].context) ++last;
        const std::size_t count = last - first;
        const std::size_t rounds = divide_up(count, most_side_by_side(members[first]) * static_cast<std::size_t>(threads));
        const std::size_t parts = std::min(count, rounds * static_cast<std::size_t>(threads));
        for (std::size_t i = 0; i < parts; ++i) {
            const std::size_t begin = count * i / parts;
            batches.push_back({first + begin, count * (i + 1) / parts - begin});
        }
    }
    return batches;
}

// Trains members of one table on one thread, by turns: tree by tree, so that the histograms of their roots are summed together.
void train_side_by_side(std::span<Member> members, std::size_t first, Round round, TrainingMonitor& monitor, bool polls,
                        const TreeArrays& trees) {
    const TrainingContext& context = *members[0].context;
    std::deque<Chain> chains;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const ChainOutput output = output_of(trees, context.recipe, first + i);
        chains.emplace_back(context, members[i].layout, members[i].seed, 1, members[i].started(), output);
    }
    std::vector<Root> roots(chains.size());
    RootHistograms root_histograms(context.table, context.stride);
    for (Chain& chain : chains) chain.prepare(ThreadGroup{}, round.first);
    for (int tree = round.first; tree < round.last; ++tree) {
        std::size_t summed = 0;
        if (chains.size() > 1 && !chains.front().is_given(tree)) {
            std::ranges::transform(chains, roots.begin(), &Chain::root);
            summed = root_histograms.sum(roots);
        }
        for (std::size_t i = 0; i < chains.size(); ++i) {
            if (!chains[i].grow(ThreadGroup{}, tree, i < summed, monitor, polls)) return;
            if (tree + 1 < round.last) chains[i].prepare(ThreadGroup{}, tree + 1);  // while its scores are in the cache
        }
    }
    for (Member& member : members) member.release_after(round);
}

// Trains members in parallel with one thread per batch. The calling thread polls the monitor until the last one is done.
void train_in_parallel(std::span<Member> members, Round round, int threads, TrainingMonitor& monitor,
                       const TreeArrays& trees) {
    const std::vector<Batch> batches = batches_of(members, threads);
    std::atomic<std::size_t> next{0};
    std::atomic<int> busy{threads};
    run_on_threads(threads, [&](int rank) {
        const bool polls = rank == 0;
        {
            const BusyGuard guard{busy};
            for (std::size_t i; !monitor.stopped() && (i = next++) < batches.size();) {
                const Batch batch = batches[i];
                train_side_by_side(members.subspan(batch.first, batch.count), batch.first, round, monitor, polls, trees);
            }
        }
        if (polls) poll_until_done(monitor, busy);
    });
}

// Trains members in parallel with a group of threads each. `first` is the index of the first of these members.
void train_in_groups(std::span<Member> members, std::size_t first, Round round, int group_size, TrainingMonitor& monitor,
                     const TreeArrays& trees) {
    std::deque<Chain> chains;
    std::deque<Barrier> barriers;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const TrainingContext& context = *members[i].context;
        const ChainOutput output = output_of(trees, context.recipe, first + i);
        chains.emplace_back(context, members[i].layout, members[i].seed, group_size, members[i].started(), output);
        barriers.emplace_back(group_size);
    }
    const int threads = group_size * static_cast<int>(members.size());
    std::atomic<int> busy{threads};
    run_on_threads(threads, [&](int rank) {
        const bool polls = rank == 0;
        Barrier& barrier = barriers[rank / group_size];
        {
            const BusyGuard guard{busy};
            try {
                const ThreadGroup group{rank % group_size, group_size, &barrier};
                chains[rank / group_size].run(group, round.first, round.last, monitor, polls);
            } catch (const Barrier::Broken&) {  // the failed thread reports the error
            } catch (...) {
                barrier.abandon();
                throw;
            }
        }
        if (polls) poll_until_done(monitor, busy);
    });
    for (Member& member : members) member.release_after(round);
}

// Trains one member per thread; members that remain share the threads in groups. Members of a huge table are trained one
// after the other.
void train_members(std::span<Member> members, Round round, int threads, TrainingMonitor& monitor, const TreeArrays& trees) {
    const TrainingContext& context = *members[0].context;
    if (threads > 1 && context.table.rows * static_cast<std::size_t>(context.recipe.outputs) > max_parallel_gradients) {
        for (std::size_t i = 0; i < members.size() && !monitor.stopped(); ++i) {
            train_in_groups(members.subspan(i, 1), i, round, threads, monitor, trees);
        }
        return;
    }
    const std::size_t remaining = members.size() % static_cast<std::size_t>(threads);
    const std::size_t max_group = context.table.rows / min_rows_per_thread + 1;
    const int group_size = remaining > 0 ? static_cast<int>(std::min<std::size_t>(threads / remaining, max_group)) : 1;
    const std::size_t in_parallel = group_size > 1 ? members.size() - remaining : members.size();
    if (in_parallel > 0) {
        const int used = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), in_parallel));
        train_in_parallel(members.first(in_parallel), round, used, monitor, trees);
    }
    if (in_parallel < members.size() && !monitor.stopped()) {
        train_in_groups(members.subspan(in_parallel), in_parallel, round, group_size, monitor, trees);
    }
}

// Scores of the evaluation rows after so many trees.
std::vector<EvaluationScores> evaluation_scores(std::span<const Member> members, int trees) {
    std::vector<EvaluationScores> all;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const TrainingContext& context = *members[i].context;
        if (!context.evaluation_table) continue;
        const ChainState& state = *members[i].state;
        const std::size_t rows = context.evaluation_table->rows;
        const int outputs = context.recipe.outputs;
        const Scores scores{state.evaluation_scores.data(), padded(rows), context.recipe.start.data(),
                            static_cast<float>(state.decay_after(context.recipe, trees))};
        all.push_back({i, rows, std::vector<float>(rows * outputs)});
        for (std::size_t row = 0; row < rows; ++row) {
            for (int k = 0; k < outputs; ++k) all.back().scores[row * outputs + k] = scores.at(k, row);
        }
    }
    return all;
}

}  // namespace

bool train(std::span<const Problem> problems, int threads, TrainingMonitor& monitor, TreeArrays trees, const Rounds& rounds) {
    std::deque<TrainingContext> contexts;
    std::vector<Member> members;
    std::int64_t max_integer_weight = 0;
    for (const Problem& problem : problems) {
        const std::size_t first = contexts.size();
        for (const Rows& rows : problem.samples) {
            contexts.emplace_back(*rows.table, *rows.target, *problem.recipe, problem.evaluation.table,
                                  problem.evaluation.target);
            max_integer_weight = std::max(max_integer_weight, contexts.back().max_integer_weight());
        }
        for (std::size_t i = 0; i < problem.seeds.size(); ++i) {
            members.push_back({&contexts[first + i % problem.samples.size()], problem.seeds[i], {}, nullptr});
        }
    }
    const ChainRecipe& recipe = *problems[0].recipe;
    for (Member& member : members) member.layout = layout_for(recipe.outputs, max_integer_weight);
    for (std::size_t i = 0; i < members.size(); ++i) clear(trees, recipe, i);
    for (Round round{0, 0}; round.last < recipe.trees;) {
        round = {round.last, static_cast<int>(std::min<std::int64_t>(recipe.trees, std::int64_t{round.last} + rounds.trees))};
        train_members(members, round, std::max(threads, 1), monitor, trees);
        if (monitor.stopped()) return false;
        std::fill(trees.count.begin(), trees.count.end(), round.last);
        if (rounds.done && !rounds.done(round.last, evaluation_scores(members, round.last))) break;
    }
    return true;
}

}  // namespace epiboost
