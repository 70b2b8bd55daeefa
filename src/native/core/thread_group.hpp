// The threads that train one chain together, and their barrier.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/compiler.hpp"

namespace epiboost {

// A barrier that spins first, because the threads of a chain arrive within microseconds of each other, and then sleeps, so
// that on a busy machine the late threads get the core.
class Barrier {
  public:
    struct Broken {};  // thrown to threads that wait for a thread that has failed

    explicit Barrier(int size) : size_(size) {}

    void wait() {
        pass();
        if (broken_.load(std::memory_order_acquire)) throw Broken{};
    }

    // Releases all waiting threads, because one thread of the group has failed and will not arrive.
    void abandon() {
        broken_.store(true, std::memory_order_release);
        phase_.fetch_add(1, std::memory_order_acq_rel);
        phase_.notify_all();
    }

  private:
    static constexpr int spins = 2000;  // some microseconds: longer than the usual wait, shorter than going to sleep

    void pass() {
        if (broken_.load(std::memory_order_acquire)) return;
        const unsigned phase = phase_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.fetch_add(1, std::memory_order_acq_rel);
            phase_.notify_all();
            return;
        }
        for (int spin = 0; spin < spins; ++spin) {
            if (phase_.load(std::memory_order_acquire) != phase) return;
            pause_in_spin();
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

    int size_;
    std::atomic<bool> broken_{false};
    std::atomic<int> arrived_{0};
    std::atomic<unsigned> phase_{0};
};

// One thread's place in the group of threads that train a chain. All threads run the same function. A group of one thread
// needs no barrier.
struct ThreadGroup {
    int rank = 0;
    int size = 1;
    Barrier* shared_barrier = nullptr;

    void barrier() const {
        if (size > 1) shared_barrier->wait();
    }

    // This thread's share of [0, count).
    std::size_t begin(std::size_t count) const { return count * rank / size; }
    std::size_t end(std::size_t count) const { return count * (rank + 1) / size; }
};

}  // namespace epiboost
