// Runs CUDA kernels on the processor: the threads of a block are fibers, which switch where CUDA's threads wait for each other.
// A fiber is entered by swapcontext once, for its first kernel. From then on it switches by _setjmp and _longjmp, because swapcontext
// asks the system for the mask of signals each time.
//
// Blocks run one after the other, and the threads of a block between two barriers, both in ascending or in descending order: a missing
// barrier shows as a difference between the two. Shared memory begins with garbage. Only what the kernels use is here.
#pragma once

#define EPIBOOST_EMULATOR

#undef _FORTIFY_SOURCE  // else _longjmp refuses to go to another stack
#include <setjmp.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>  // not <functional> and <memory>: the tests compile this file many times

#include "core/standard.hpp"

#define EPIBOOST_KERNEL static void
#define __launch_bounds__(...)
#define __shared__ static
#define EXPORTED __attribute__((visibility("default")))

namespace emulator {

struct Dimensions {
    unsigned x = 1;
    unsigned y = 1;
};

struct Barrier {
    unsigned arrived = 0;
    unsigned phase = 0;
};

constexpr unsigned lanes_per_warp = 32;
constexpr std::size_t stack_bytes = 256 * 1024;

struct Fiber {
    jmp_buf place;
    std::vector<char> stack;  // reserved and not filled: the system gives only the pages that are used
    Dimensions thread;
    bool done = true;
};

struct Machine {
    ucontext_t entering{};
    jmp_buf scheduler;
    std::vector<Fiber> fibers;
    std::vector<Barrier> warp_barriers;
    std::vector<unsigned> live_in_warp;
    std::vector<unsigned long long> exchanged;
    std::vector<unsigned char> shared;
    const void* kernel = nullptr;
    void (*call)(const void*) = nullptr;
    Barrier block_barrier;
    Fiber* running = nullptr;
    unsigned live = 0;
    unsigned progress = 0;  // counts barriers passed and threads ended
    Dimensions grid;
    Dimensions block;
    Dimensions block_index;
};

inline Machine machine;

inline void yield() {
    if (_setjmp(machine.running->place) == 0) _longjmp(machine.scheduler, 1);
}

// Runs the fiber `machine.running` until it yields.
inline void resume() {
    if (_setjmp(machine.scheduler) == 0) _longjmp(machine.running->place, 1);
}

inline void wait_at(Barrier& barrier, const unsigned& expected) {
    const unsigned phase = barrier.phase;
    ++barrier.arrived;
    while (barrier.phase == phase) {
        if (barrier.arrived >= expected) {
            barrier.arrived = 0;
            ++barrier.phase;
            ++machine.progress;
            return;
        }
        yield();
    }
}

inline unsigned warp() { return machine.running->thread.x / lanes_per_warp; }

inline void run_fiber() {
    for (;;) {
        yield();
        machine.call(machine.kernel);
        machine.running->done = true;
        --machine.live;
        --machine.live_in_warp[warp()];
        ++machine.progress;
    }
}

// Makes fibers that wait for their first kernel.
inline void make_fibers(std::size_t count) {
    Machine& m = machine;
    if (m.fibers.size() >= count) return;
    const std::size_t first = m.fibers.size();
    m.fibers.resize(count);
    for (std::size_t i = first; i < count; ++i) {
        Fiber& fiber = m.fibers[i];
        fiber.stack.reserve(stack_bytes);
        ucontext_t context{};
        getcontext(&context);
        context.uc_stack.ss_sp = fiber.stack.data();
        context.uc_stack.ss_size = stack_bytes;
        context.uc_link = nullptr;
        makecontext(&context, run_fiber, 0);
        m.running = &fiber;
        if (_setjmp(m.scheduler) == 0) swapcontext(&m.entering, &context);
    }
}

inline void run_block(unsigned threads, bool descending) {
    Machine& m = machine;
    make_fibers(threads);
    const unsigned warps = (threads + lanes_per_warp - 1) / lanes_per_warp;
    m.warp_barriers.assign(warps, {});
    m.live_in_warp.assign(warps, 0);
    m.exchanged.assign(warps * lanes_per_warp, 0);
    m.block_barrier = {};
    m.live = threads;
    std::memset(m.shared.data(), 0xa5, m.shared.size());
    for (unsigned i = 0; i < threads; ++i) {
        Fiber& fiber = m.fibers[i];
        fiber.thread.x = i;
        fiber.done = false;
        ++m.live_in_warp[i / lanes_per_warp];
    }
    while (m.live > 0) {
        const unsigned before = m.progress;
        for (unsigned i = 0; i < threads; ++i) {
            m.running = &m.fibers[descending ? threads - 1 - i : i];
            if (!m.running->done) resume();
        }
        if (m.progress == before) {
            std::fprintf(stderr, "the threads of a block wait at different barriers\n");
            std::abort();
        }
    }
}

template <class Kernel>
void run_grid(Dimensions grid, unsigned threads, std::size_t shared_bytes, bool descending, const Kernel& kernel) {
    Machine& m = machine;
    m.grid = grid;
    m.block = {threads, 1};
    m.kernel = &kernel;
    m.call = [](const void* given) { (*static_cast<const Kernel*>(given))(); };
    m.shared.resize(shared_bytes);
    for (unsigned y = 0; y < grid.y; ++y) {
        for (unsigned x = 0; x < grid.x; ++x) {
            m.block_index = {descending ? grid.x - 1 - x : x, y};
            run_block(threads, descending);
        }
    }
}

}  // namespace emulator

#define threadIdx (emulator::machine.running->thread)
#define blockIdx (emulator::machine.block_index)
#define blockDim (emulator::machine.block)
#define gridDim (emulator::machine.grid)

inline void __syncthreads() { emulator::wait_at(emulator::machine.block_barrier, emulator::machine.live); }
inline void __syncwarp() {
    emulator::wait_at(emulator::machine.warp_barriers[emulator::warp()], emulator::machine.live_in_warp[emulator::warp()]);
}
inline void __threadfence() {}

template <class T>
T __shfl_sync(unsigned, T value, int lane) {
    auto* of_warp = emulator::machine.exchanged.data() + emulator::warp() * emulator::lanes_per_warp;
    std::memcpy(of_warp + threadIdx.x % emulator::lanes_per_warp, &value, sizeof(T));
    __syncwarp();
    T found;
    std::memcpy(&found, of_warp + static_cast<unsigned>(lane) % emulator::lanes_per_warp, sizeof(T));
    __syncwarp();
    return found;
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned distance) {
    const unsigned lane = threadIdx.x % emulator::lanes_per_warp;
    return __shfl_sync(mask, value, static_cast<int>(lane >= distance ? lane - distance : lane));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned distance) {
    const unsigned lane = threadIdx.x % emulator::lanes_per_warp;
    return __shfl_sync(mask, value, static_cast<int>(lane + distance < emulator::lanes_per_warp ? lane + distance : lane));
}

inline unsigned __ballot_sync(unsigned, bool set) {
    auto* of_warp = emulator::machine.exchanged.data() + emulator::warp() * emulator::lanes_per_warp;
    of_warp[threadIdx.x % emulator::lanes_per_warp] = set ? 1 : 0;
    __syncwarp();
    unsigned bits = 0;
    for (unsigned lane = 0; lane < emulator::lanes_per_warp; ++lane) bits |= static_cast<unsigned>(of_warp[lane]) << lane;
    __syncwarp();
    return bits;
}

template <class T, class U>
T atomicAdd(T* address, U value) {
    const T old = *address;
    *address = static_cast<T>(old + static_cast<T>(value));
    return old;
}
template <class T, class U>
T atomicMax(T* address, U value) {
    const T old = *address;
    if (static_cast<T>(value) > old) *address = static_cast<T>(value);
    return old;
}
template <class T, class U>
T atomicMin(T* address, U value) {
    const T old = *address;
    if (static_cast<T>(value) < old) *address = static_cast<T>(value);
    return old;
}
template <class T, class U>
T atomicExch(T* address, U value) {
    const T old = *address;
    *address = static_cast<T>(value);
    return old;
}

namespace epiboost::cuda {
inline unsigned char* shared_memory() { return emulator::machine.shared.data(); }
}  // namespace epiboost::cuda
