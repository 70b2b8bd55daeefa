// The threads that work on one chain, and the watch that lets the caller stop them.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace epiboost {

// Where threads wait for each other: awake for some microseconds, since the others are rarely late, then asleep, so that on
// a busy machine those who are late get the core.
class Barrier {
  public:
    struct Broken {};  // thrown to those who wait for a thread that has failed

    explicit Barrier(int size) : size_(size) {}

    void wait() {
        pass();
        if (broken_.load(std::memory_order_acquire)) throw Broken{};
    }

    // Lets everyone go: a thread of the team cannot come any more.
    void give_up() {
        broken_.store(true, std::memory_order_release);
        phase_.fetch_add(1, std::memory_order_acq_rel);
        phase_.notify_all();
    }

  private:
    void pass() {
        if (broken_.load(std::memory_order_acquire)) return;
        const unsigned phase = phase_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.fetch_add(1, std::memory_order_acq_rel);
            phase_.notify_all();
            return;
        }
        for (int spin = 0; spin < 2000; ++spin) {
            if (phase_.load(std::memory_order_acquire) != phase) return;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
        phase_.wait(phase, std::memory_order_acquire);
    }

    int size_;
    std::atomic<bool> broken_{false};
    std::atomic<int> arrived_{0};
    std::atomic<unsigned> phase_{0};
};

// Threads of one chain, all running the same function; a team of one needs no barrier.
struct Team {
    int rank = 0;
    int size = 1;
    Barrier* meeting = nullptr;

    void barrier() const {
        if (size > 1) meeting->wait();
    }

    // This thread's share of [0, count).
    std::size_t begin(std::size_t count) const { return count * rank / size; }
    std::size_t end(std::size_t count) const { return count * (rank + 1) / size; }
};

// Counts trees and asks the caller now and then whether to go on. Only the calling thread asks (`Watch::look`).
class Watch {
  public:
    explicit Watch(std::function<bool(long)> ask) : ask_(std::move(ask)) {}

    void tree_done() { done_.fetch_add(1, std::memory_order_relaxed); }
    bool stopped() const { return stop_.load(std::memory_order_relaxed); }
    long done() const { return done_.load(std::memory_order_relaxed); }

    void look() {
        const auto now = std::chrono::steady_clock::now();
        if (stopped() || now - last_ < std::chrono::milliseconds(50)) return;
        last_ = now;
        if (!ask_(done())) stop_.store(true, std::memory_order_relaxed);
    }

  private:
    std::function<bool(long)> ask_;
    std::atomic<long> done_{0};
    std::atomic<bool> stop_{false};
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace epiboost
