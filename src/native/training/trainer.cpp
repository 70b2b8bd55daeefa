#include "training/trainer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
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

// A chain to train.
struct Member {
    const TrainingContext* context;
    std::uint64_t seed;
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

// Destination of a member's trees. Trees that are not grown because of early stopping have no splits and values of zero.
ChainOutput output_of(const TreeArrays& trees, const ChainRecipe& recipe, std::size_t member) {
    const std::size_t first = member * recipe.trees;
    const auto splits = static_cast<std::size_t>(recipe.splits());
    const auto leaf_values = static_cast<std::size_t>(recipe.leaf_count()) * recipe.outputs;
    std::fill_n(trees.feature.data() + first * splits, recipe.trees * splits, std::uint16_t{0});
    std::fill_n(trees.threshold.data() + first * splits, recipe.trees * splits, std::uint8_t{255});
    std::fill_n(trees.leaf.data() + first * leaf_values, recipe.trees * leaf_values, 0.0f);
    std::uint8_t* parent = recipe.is_symmetric() ? nullptr : trees.parent.data() + first * splits;
    if (parent != nullptr) std::fill_n(parent, recipe.trees * splits, no_leaf);
    return {trees.feature.data() + first * splits,
            trees.threshold.data() + first * splits,
            parent,
            trees.leaf.data() + first * leaf_values,
            trees.count.data() + member,
            trees.evaluation.data() + first};
}

// Trains members in parallel with one thread each. The calling thread polls the monitor until the last one is done.
template <class Layout>
void train_in_parallel(std::span<const Member> members, int threads, TrainingMonitor& monitor, const TreeArrays& trees) {
    std::atomic<std::size_t> next{0};
    std::atomic<int> busy{threads};
    run_on_threads(threads, [&](int rank) {
        const bool polls = rank == 0;
        {
            const BusyGuard guard{busy};
            for (std::size_t i; !monitor.stopped() && (i = next++) < members.size();) {
                const TrainingContext& context = *members[i].context;
                Chain<Layout> chain(context, members[i].seed, 1, output_of(trees, context.recipe, i));
                chain.run(ThreadGroup{}, monitor, polls);
            }
        }
        if (polls) poll_until_done(monitor, busy);
    });
}

// Trains members in parallel with a group of threads each. `first` is the index of the first of these members.
template <class Layout>
void train_in_groups(std::span<const Member> members, std::size_t first, int group_size, TrainingMonitor& monitor,
                     const TreeArrays& trees) {
    std::deque<Chain<Layout>> chains;
    std::deque<Barrier> barriers;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const TrainingContext& context = *members[i].context;
        chains.emplace_back(context, members[i].seed, group_size, output_of(trees, context.recipe, first + i));
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
                chains[rank / group_size].run(ThreadGroup{rank % group_size, group_size, &barrier}, monitor, polls);
            } catch (const Barrier::Broken&) {  // the failed thread reports the error
            } catch (...) {
                barrier.abandon();
                throw;
            }
        }
        if (polls) poll_until_done(monitor, busy);
    });
}

// Trains one member per thread; members that remain share the threads in groups. Members of a huge table are trained one
// after the other.
template <class Layout>
void train_members(std::span<const Member> members, int threads, TrainingMonitor& monitor, const TreeArrays& trees) {
    const TrainingContext& context = *members[0].context;
    if (threads > 1 && context.table.rows * static_cast<std::size_t>(context.recipe.outputs) > max_parallel_gradients) {
        for (std::size_t i = 0; i < members.size() && !monitor.stopped(); ++i) {
            train_in_groups<Layout>(members.subspan(i, 1), i, threads, monitor, trees);
        }
        return;
    }
    const std::size_t remaining = members.size() % static_cast<std::size_t>(threads);
    const std::size_t max_group = context.table.rows / min_rows_per_thread + 1;
    const int group_size = remaining > 0 ? static_cast<int>(std::min<std::size_t>(threads / remaining, max_group)) : 1;
    const std::size_t in_parallel = group_size > 1 ? members.size() - remaining : members.size();
    if (in_parallel > 0) {
        const int used = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), in_parallel));
        train_in_parallel<Layout>(members.first(in_parallel), used, monitor, trees);
    }
    if (in_parallel < members.size() && !monitor.stopped()) {
        train_in_groups<Layout>(members.subspan(in_parallel), in_parallel, group_size, monitor, trees);
    }
}

}  // namespace

bool train(std::span<const Problem> problems, int threads, TrainingMonitor& monitor, TreeArrays trees) {
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
            members.push_back({&contexts[first + i % problem.samples.size()], problem.seeds[i]});
        }
    }
    const int outputs = problems[0].recipe->outputs;
    const int workers = std::max(threads, 1);
    if (outputs == 1) {
        train_members<PackedOne>(members, workers, monitor, trees);
    } else if (outputs == 2 && max_integer_weight <= PackedTwo::capacity) {
        train_members<PackedTwo>(members, workers, monitor, trees);
    } else if (outputs <= 3) {
        train_members<Lanes<4>>(members, workers, monitor, trees);
    } else if (outputs <= 7) {
        train_members<Lanes<8>>(members, workers, monitor, trees);
    } else if (outputs <= 15) {
        train_members<Lanes<16>>(members, workers, monitor, trees);
    } else {
        train_members<Lanes<0>>(members, workers, monitor, trees);
    }
    return !monitor.stopped();
}

}  // namespace epiboost
