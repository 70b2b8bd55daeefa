// Progress of a training run, and the caller's request to stop it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

namespace epiboost {

// Counts finished trees and regularly passes their number to a callback, which returns false to stop training. Only the
// calling thread runs the callback (`poll`).
class TrainingMonitor {
  public:
    explicit TrainingMonitor(std::function<bool(std::int64_t)> callback) : callback_(std::move(callback)) {}

    void tree_done() { done_.fetch_add(1, std::memory_order_relaxed); }
    bool stopped() const { return stop_.load(std::memory_order_relaxed); }
    std::int64_t done() const { return done_.load(std::memory_order_relaxed); }

    void poll() {
        const auto now = std::chrono::steady_clock::now();
        if (stopped() || now - last_ < interval) return;
        last_ = now;
        if (!callback_(done())) stop_.store(true, std::memory_order_relaxed);
    }

  private:
    static constexpr std::chrono::milliseconds interval{50};  // prompt for a person, rare enough to cost nothing

    std::function<bool(std::int64_t)> callback_;
    std::atomic<std::int64_t> done_{0};
    std::atomic<bool> stop_{false};
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace epiboost
