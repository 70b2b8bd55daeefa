// Threads for the length of one call: they are started for it and gone after it, so that nothing is left to a forked process
// and no setting of a thread library can take some of them away.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace epiboost {

// Runs work(rank) for every rank below `threads`, rank 0 on the calling thread, and waits for all of them. The first
// exception is thrown again here. Nobody begins before all threads are there: where one cannot be started, those that are
// there go home, instead of waiting for it.
template <class Work>
void run_together(int threads, const Work& work) {
    std::exception_ptr failure;
    std::mutex failing;
    const auto guarded = [&](int rank) {
        try {
            work(rank);
        } catch (...) {
            const std::lock_guard lock(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    enum Gate : int { shut, open, gone };
    std::atomic<int> gate{shut};
    {
        std::vector<std::jthread> others;
        others.reserve(static_cast<std::size_t>(std::max(threads, 1)));
        const auto decide = [&](Gate decision) {
            gate.store(decision, std::memory_order_release);
            gate.notify_all();
        };
        try {
            for (int rank = 1; rank < threads; ++rank) {
                others.emplace_back([&, rank] {
                    gate.wait(shut, std::memory_order_acquire);
                    if (gate.load(std::memory_order_acquire) == open) guarded(rank);
                });
            }
        } catch (...) {
            decide(gone);
            throw;
        }
        decide(open);
        guarded(0);
    }
    if (failure) std::rethrow_exception(failure);
}

// Runs work(begin, end) on stretches of [0, count) until all are done; whoever is free takes the next.
template <class Work>
void share_out(std::size_t count, std::size_t stretch, int threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    const std::size_t stretches = (count + stretch - 1) / stretch;
    run_together(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), stretches)), [&](int) {
        for (std::size_t begin; (begin = next.fetch_add(stretch)) < count;) work(begin, std::min(begin + stretch, count));
    });
}

}  // namespace epiboost
