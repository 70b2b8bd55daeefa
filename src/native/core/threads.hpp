// Threads that live for one call. They are started for it and joined at its end, so a forked process inherits none of them
// and no setting of a thread library limits them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace epiboost {

// Threads that are joined at the end of the scope. (Not every standard library has std::jthread.)
class JoinedThreads {
  public:
    explicit JoinedThreads(std::size_t most) { threads_.reserve(most); }
    ~JoinedThreads() {
        for (std::thread& thread : threads_) thread.join();
    }
    JoinedThreads(const JoinedThreads&) = delete;
    JoinedThreads& operator=(const JoinedThreads&) = delete;

    template <class Work>
    void start(Work&& work) {
        threads_.emplace_back(std::forward<Work>(work));
    }

  private:
    std::vector<std::thread> threads_;
};

// Runs work(rank) for every rank below `threads`, rank 0 on the calling thread, and waits for all of them. Rethrows the
// first exception. No rank begins before all threads have started: if one cannot be started, the others end without work,
// because a rank may wait for all others at a barrier.
template <class Work>
void run_on_threads(int threads, const Work& work) {
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto guarded = [&](int rank) {
        try {
            work(rank);
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            if (!failure) failure = std::current_exception();
        }
    };
    enum Gate : int { closed, open, cancelled };
    std::atomic<int> gate{closed};
    {
        JoinedThreads others(static_cast<std::size_t>(std::max(threads, 1)));
        const auto set_gate = [&](Gate state) {
            gate.store(state, std::memory_order_release);
            gate.notify_all();
        };
        try {
            for (int rank = 1; rank < threads; ++rank) {
                others.start([&, rank] {
                    // Makes the C library allocate this thread's exception state now. It ends the process if it cannot,
                    // as when the thread's first exception is std::bad_alloc.
                    static_cast<void>(std::current_exception());
                    gate.wait(closed, std::memory_order_acquire);
                    if (gate.load(std::memory_order_acquire) == open) guarded(rank);
                });
            }
        } catch (const std::system_error& error) {
            set_gate(cancelled);
            throw std::runtime_error("cannot start " + std::to_string(threads) + " threads: " + error.code().message() +
                                     "; set n_jobs to a smaller number");
        } catch (...) {
            set_gate(cancelled);
            throw;
        }
        set_gate(open);
        guarded(0);
    }
    if (failure) std::rethrow_exception(failure);
}

// Called on the calling thread after each of its chunks. Throws to stop the work.
using Poll = std::function<void()>;

// How many rows of so many cells a chunk has: few enough that a poll is a matter of milliseconds.
inline std::size_t chunk_rows(std::size_t cells) {
    constexpr std::size_t most_rows = 8192;
    constexpr std::size_t most_cells = std::size_t{1} << 20;
    return std::clamp(most_cells / std::max<std::size_t>(cells, 1), std::size_t{1}, most_rows);
}

// Runs work(begin, end) on chunks of [0, count); a thread that is free takes the next chunk. After an exception no thread
// takes another one.
template <class Work>
void parallel_for(std::size_t count, std::size_t chunk, int threads, const Poll& poll, const Work& work) {
    std::atomic<std::size_t> next{0};
    const std::size_t chunks = (count + chunk - 1) / chunk;
    run_on_threads(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), chunks)), [&](int rank) {
        try {
            for (std::size_t begin; (begin = next.fetch_add(chunk)) < count;) {
                work(begin, std::min(begin + chunk, count));
                if (rank == 0) poll();
            }
        } catch (...) {
            next.store(count);
            throw;
        }
    });
}

}  // namespace epiboost
