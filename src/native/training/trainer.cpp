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

constexpr std::size_t rows_worth_a_thread = 2048;  // with fewer rows, threads wait for each other more than they work
constexpr std::size_t numbers_of_one_chain = std::size_t{1} << 23;  // with more gradients a chain has all threads: several
                                                                    // at a time would take several times the memory

// One task a sample.
struct Tasks {
    std::deque<Task> all;

    const Task& of(std::size_t member) const { return all[member % all.size()]; }
};

struct Leaving {  // counts a thread out, whichever way it goes
    std::atomic<int>& busy;
    ~Leaving() { --busy; }
};

// What the calling thread does until the last of the others is done.
void keep_looking(Watch& watch, const std::atomic<int>& busy) {
    while (busy > 0) {
        watch.look();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Where a member's trees go; trees that are never grown stay empty.
ChainOutput output_of(const Trees& trees, const Recipe& recipe, std::size_t member) {
    const std::size_t first = member * recipe.trees;
    const std::size_t leaf_values = (std::size_t{1} << recipe.depth) * recipe.outputs;
    std::fill_n(trees.feature.data() + first * recipe.depth, recipe.trees * recipe.depth, std::uint16_t{0});
    std::fill_n(trees.threshold.data() + first * recipe.depth, recipe.trees * recipe.depth, std::uint8_t{255});
    std::fill_n(trees.leaf.data() + first * leaf_values, recipe.trees * leaf_values, 0.0f);
    return {trees.feature.data() + first * recipe.depth, trees.threshold.data() + first * recipe.depth,
            trees.leaf.data() + first * leaf_values, trees.count.data() + member, trees.evaluation.data() + first};
}

// Members side by side, one thread each; the calling thread asks the watch until the last one is done.
template <class Layout>
void train_side_by_side(const Tasks& tasks, std::span<const std::uint64_t> seeds, int threads, Watch& watch, const Trees& trees) {
    std::atomic<std::size_t> next{0};
    std::atomic<int> busy{threads};
    run_together(threads, [&](int rank) {
        const bool asks = rank == 0;
        {
            const Leaving leaving{busy};
            for (std::size_t member; !watch.stopped() && (member = next++) < seeds.size();) {
                const Task& task = tasks.of(member);
                Chain<Layout> chain(task, seeds[member], 1, output_of(trees, task.recipe, member));
                chain.run(Team{}, watch, asks);
            }
        }
        if (asks) keep_looking(watch, busy);
    });
}

// Every member with a team of threads of its own, all at once. `first` is the number of the first of these members.
template <class Layout>
void train_in_teams(const Tasks& tasks, std::span<const std::uint64_t> seeds, std::size_t first, int team, Watch& watch,
                    const Trees& trees) {
    std::deque<Chain<Layout>> chains;
    std::deque<Barrier> barriers;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        const Task& task = tasks.of(first + i);
        chains.emplace_back(task, seeds[i], team, output_of(trees, task.recipe, first + i));
        barriers.emplace_back(team);
    }
    const int threads = team * static_cast<int>(seeds.size());
    std::atomic<int> busy{threads};
    run_together(threads, [&](int rank) {
        const bool asks = rank == 0;
        Barrier& barrier = barriers[rank / team];
        {
            const Leaving leaving{busy};
            try {
                chains[rank / team].run(Team{rank % team, team, &barrier}, watch, asks);
            } catch (const Barrier::Broken&) {  // the one that failed says why
            } catch (...) {
                barrier.give_up();
                throw;
            }
        }
        if (asks) keep_looking(watch, busy);
    });
}

// As many members as there are threads at a time; those left over share the threads among them. Of a huge table, one member
// after the other.
template <class Layout>
void train_members(const Tasks& tasks, std::span<const std::uint64_t> seeds, int threads, Watch& watch, const Trees& trees) {
    const Task& task = tasks.of(0);
    if (threads > 1 && task.table.rows * static_cast<std::size_t>(task.recipe.outputs) > numbers_of_one_chain) {
        for (std::size_t member = 0; member < seeds.size() && !watch.stopped(); ++member) {
            train_in_teams<Layout>(tasks, seeds.subspan(member, 1), member, threads, watch, trees);
        }
        return;
    }
    const std::size_t rest = seeds.size() % static_cast<std::size_t>(threads);
    const std::size_t worth = task.table.rows / rows_worth_a_thread + 1;
    const int team = rest > 0 ? static_cast<int>(std::min<std::size_t>(threads / rest, worth)) : 1;
    const std::size_t whole = team > 1 ? seeds.size() - rest : seeds.size();
    if (whole > 0) {
        const int used = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), whole));
        train_side_by_side<Layout>(tasks, seeds.first(whole), used, watch, trees);
    }
    if (whole < seeds.size() && !watch.stopped()) {
        train_in_teams<Layout>(tasks, seeds.subspan(whole), whole, team, watch, trees);
    }
}

}  // namespace

bool train(std::span<const Rows> samples, Rows evaluation, const Recipe& recipe, std::span<const std::uint64_t> seeds,
           int threads, Watch& watch, Trees trees) {
    Tasks tasks;
    for (const Rows& own : samples) {
        tasks.all.emplace_back(*own.table, *own.target, recipe, evaluation.table, evaluation.target);
    }
    const int team = std::max(threads, 1);
    if (recipe.outputs == 1) {
        train_members<PackedOne>(tasks, seeds, team, watch, trees);
    } else if (recipe.outputs == 2 && tasks.of(0).most_whole_weight() <= PackedTwo::capacity) {
        train_members<PackedTwo>(tasks, seeds, team, watch, trees);
    } else if (recipe.outputs <= 3) {
        train_members<Lanes<4>>(tasks, seeds, team, watch, trees);
    } else if (recipe.outputs <= 7) {
        train_members<Lanes<8>>(tasks, seeds, team, watch, trees);
    } else if (recipe.outputs <= 15) {
        train_members<Lanes<16>>(tasks, seeds, team, watch, trees);
    } else {
        train_members<Lanes<0>>(tasks, seeds, team, watch, trees);
    }
    return !watch.stopped();
}

}  // namespace epiboost
