#include "trainer.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "chain.hpp"
#include "threads.hpp"

namespace epiboost {
namespace {

constexpr std::size_t rows_worth_a_thread = 2048;  // with fewer rows, threads wait for each other more than they work

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

// As many members as threads at a time, one thread each; those left over one by one, with all threads on each.
template <class Layout>
void train_members(const Task& task, std::span<const std::uint64_t> seeds, int threads, Watch& watch, const Trees& trees) {
    const std::size_t side_by_side = threads > 1 ? seeds.size() / threads * threads : seeds.size();
    std::atomic<std::size_t> next{0};
    std::atomic<int> busy{threads};
    std::exception_ptr failure;
    if (side_by_side > 0) {
#pragma omp parallel num_threads(threads)
        {
            const bool asks = thread_rank() == 0;
            try {
                for (std::size_t member; !watch.stopped() && (member = next++) < side_by_side;) {
                    Chain<Layout> chain(task, seeds[member], 1, output_of(trees, task.recipe, member));
                    chain.run(Team{}, watch, asks);
                }
            } catch (...) {
#pragma omp critical
                failure = std::current_exception();
            }
            --busy;
            while (asks && busy > 0) {  // the calling thread goes on asking until the last one is done
                watch.look();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    }
    if (failure) std::rethrow_exception(failure);
    const int team = std::min(threads, static_cast<int>(task.table.rows / rows_worth_a_thread) + 1);
    for (std::size_t member = side_by_side; member < seeds.size() && !watch.stopped(); ++member) {
        Chain<Layout> chain(task, seeds[member], team, output_of(trees, task.recipe, member));
        Barrier barrier(team);
#pragma omp parallel num_threads(team)
        chain.run(Team{thread_rank(), team, &barrier}, watch, thread_rank() == 0);
    }
}

}  // namespace

bool train(const Table& table, const Target& target, const Recipe& recipe, const Table* evaluation_table,
           const Target* evaluation_target, std::span<const std::uint64_t> seeds, int threads, Watch& watch, Trees trees) {
    const Task task(table, target, recipe, evaluation_table, evaluation_target);
    const int team = available_threads(threads);
    if (recipe.outputs == 1) {
        train_members<PackedOne>(task, seeds, team, watch, trees);
    } else if (recipe.outputs == 2 && task.most_whole_weight() <= PackedTwo::capacity) {
        train_members<PackedTwo>(task, seeds, team, watch, trees);
    } else if (recipe.outputs <= 3) {
        train_members<Lanes<4>>(task, seeds, team, watch, trees);
    } else if (recipe.outputs <= 7) {
        train_members<Lanes<8>>(task, seeds, team, watch, trees);
    } else if (recipe.outputs <= 15) {
        train_members<Lanes<16>>(task, seeds, team, watch, trees);
    } else {
        train_members<Lanes<0>>(task, seeds, team, watch, trees);
    }
    return !watch.stopped();
}

}  // namespace epiboost
