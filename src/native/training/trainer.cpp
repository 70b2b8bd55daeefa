#include "training/trainer.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "core/threads.hpp"
#include "training/chain.hpp"

namespace epiboost {
namespace {

constexpr std::size_t min_rows_per_thread = 2048;  // with fewer rows, threads wait at barriers longer than they work

// With more gradients than this, members are trained one after the other with all threads: several at once would need
// several times the memory.
constexpr std::size_t max_parallel_gradients = std::size_t{1} << 23;

// One context per encoding of the rows.
struct TrainingContexts {
    std::deque<TrainingContext> all;

    const TrainingContext& of(std::size_t member) const { return all[member % all.size()]; }
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
    const std::size_t leaf_values = (std::size_t{1} << recipe.depth) * recipe.outputs;
    std::fill_n(trees.feature.data() + first * recipe.depth, recipe.trees * recipe.depth, std::uint16_t{0});
    std::fill_n(trees.threshold.data() + first * recipe.depth, recipe.trees * recipe.depth, std::uint8_t{255});
    std::fill_n(trees.leaf.data() + first * leaf_values, recipe.trees * leaf_values, 0.0f);
    return {trees.feature.data() + first * recipe.depth, trees.threshold.data() + first * recipe.depth,
            trees.leaf.data() + first * leaf_values, trees.count.data() + member, trees.evaluation.data() + first};
}

// Trains members in parallel with one thread each. The calling thread polls the monitor until the last one is done.
template <class Layout>
void train_in_parallel(const TrainingContexts& contexts, std::span<const std::uint64_t> seeds, int threads,
                       TrainingMonitor& monitor, const TreeArrays& trees) {
    std::atomic<std::size_t> next{0};
    std::atomic<int> busy{threads};
    run_on_threads(threads, [&](int rank) {
        const bool polls = rank == 0;
        {
            const BusyGuard guard{busy};
            for (std::size_t member; !monitor.stopped() && (member = next++) < seeds.size();) {
                const TrainingContext& context = contexts.of(member);
                Chain<Layout> chain(context, seeds[member], 1, output_of(trees, context.recipe, member));
                chain.run(ThreadGroup{}, monitor, polls);
            }
        }
        if (polls) poll_until_done(monitor, busy);
    });
}

// Trains members in parallel with a group of threads each. `first` is the index of the first of these members.
template <class Layout>
void train_in_groups(const TrainingContexts& contexts, std::span<const std::uint64_t> seeds, std::size_t first, int group_size,
                     TrainingMonitor& monitor, const TreeArrays& trees) {
    std::deque<Chain<Layout>> chains;
    std::deque<Barrier> barriers;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        const TrainingContext& context = contexts.of(first + i);
        chains.emplace_back(context, seeds[i], group_size, output_of(trees, context.recipe, first + i));
        barriers.emplace_back(group_size);
    }
    const int threads = group_size * static_cast<int>(seeds.size());
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
void train_members(const TrainingContexts& contexts, std::span<const std::uint64_t> seeds, int threads,
                   TrainingMonitor& monitor, const TreeArrays& trees) {
    const TrainingContext& context = contexts.of(0);
    if (threads > 1 && context.table.rows * static_cast<std::size_t>(context.recipe.outputs) > max_parallel_gradients) {
        for (std::size_t member = 0; member < seeds.size() && !monitor.stopped(); ++member) {
            train_in_groups<Layout>(contexts, seeds.subspan(member, 1), member, threads, monitor, trees);
        }
        return;
    }
    const std::size_t remaining = seeds.size() % static_cast<std::size_t>(threads);
    const std::size_t max_group = context.table.rows / min_rows_per_thread + 1;
    const int group_size = remaining > 0 ? static_cast<int>(std::min<std::size_t>(threads / remaining, max_group)) : 1;
    const std::size_t in_parallel = group_size > 1 ? seeds.size() - remaining : seeds.size();
    if (in_parallel > 0) {
        const int used = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), in_parallel));
        train_in_parallel<Layout>(contexts, seeds.first(in_parallel), used, monitor, trees);
    }
    if (in_parallel < seeds.size() && !monitor.stopped()) {
        train_in_groups<Layout>(contexts, seeds.subspan(in_parallel), in_parallel, group_size, monitor, trees);
    }
}

}  // namespace

bool train(std::span<const Rows> samples, Rows evaluation, const ChainRecipe& recipe, std::span<const std::uint64_t> seeds,
           int threads, TrainingMonitor& monitor, TreeArrays trees) {
    TrainingContexts contexts;
    for (const Rows& rows : samples) {
        contexts.all.emplace_back(*rows.table, *rows.target, recipe, evaluation.table, evaluation.target);
    }
    const int workers = std::max(threads, 1);
    if (recipe.outputs == 1) {
        train_members<PackedOne>(contexts, seeds, workers, monitor, trees);
    } else if (recipe.outputs == 2 && contexts.of(0).max_integer_weight() <= PackedTwo::capacity) {
        train_members<PackedTwo>(contexts, seeds, workers, monitor, trees);
    } else if (recipe.outputs <= 3) {
        train_members<Lanes<4>>(contexts, seeds, workers, monitor, trees);
    } else if (recipe.outputs <= 7) {
        train_members<Lanes<8>>(contexts, seeds, workers, monitor, trees);
    } else if (recipe.outputs <= 15) {
        train_members<Lanes<16>>(contexts, seeds, workers, monitor, trees);
    } else {
        train_members<Lanes<0>>(contexts, seeds, workers, monitor, trees);
    }
    return !monitor.stopped();
}

}  // namespace epiboost
