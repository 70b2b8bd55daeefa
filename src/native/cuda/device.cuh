// What kernels ask of the device: dynamic shared memory, and reductions over the threads of a block.
#pragma once

#include "core/standard.hpp"

#if !defined(EPIBOOST_EMULATOR)
#define EPIBOOST_KERNEL extern "C" __global__ void
#endif

// Most threads of a block, and how many blocks a multiprocessor should hold: the compiler limits the registers to that.
#if !defined(EPIBOOST_ROW_BLOCKS)
#define EPIBOOST_ROW_BLOCKS 6
#endif
#if !defined(EPIBOOST_LEVEL_THREADS)
#define EPIBOOST_LEVEL_THREADS 512
#endif
#if !defined(EPIBOOST_LEVEL_BLOCKS)
#define EPIBOOST_LEVEL_BLOCKS 2
#endif

namespace epiboost::cuda {

constexpr unsigned warp_size = 32;
constexpr unsigned all_lanes = 0xffffffffu;
constexpr unsigned max_warps = 32;

#if !defined(EPIBOOST_EMULATOR)
inline unsigned char* shared_memory() {
    extern __shared__ __align__(16) unsigned char memory[];
    return memory;
}
#endif

inline std::size_t first_row() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
inline std::size_t row_step() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

// Sets an array of the block to zero. The caller synchronises.
template <class T>
void clear(T* array, std::size_t count) {
    for (std::size_t i = threadIdx.x; i < count; i += blockDim.x) array[i] = T{0};
}

// The sum of one number of each thread, in thread 0.
inline long long block_sum(long long own) {
    __shared__ long long of_warp[max_warps];
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) own += __shfl_down_sync(all_lanes, own, distance);
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = own;
    __syncthreads();
    long long sum = 0;
    if (threadIdx.x == 0) {
        for (unsigned warp = 0; warp < blockDim.x / warp_size; ++warp) sum += of_warp[warp];
    }
    __syncthreads();
    return sum;
}

// The largest of one number of each thread, in thread 0.
inline unsigned long long block_max(unsigned long long own) {
    __shared__ unsigned long long of_warp[max_warps];
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
        const unsigned long long other = __shfl_down_sync(all_lanes, own, distance);
        own = other > own ? other : own;
    }
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned warp = 1; warp < blockDim.x / warp_size; ++warp) own = of_warp[warp] > own ? of_warp[warp] : own;
    }
    __syncthreads();
    return own;
}

// Whether this block is the last of `count` to arrive; all that the others have written is visible then. The counter is zero
// again afterwards.
inline bool is_last_block(std::uint32_t* arrived, std::uint32_t count) {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd(arrived, 1u) + 1 == count;
        if (is_last) *arrived = 0;
    }
    __syncthreads();
    __threadfence();
    return is_last;
}

// Adds to a 64-bit sum in global memory. The sums are of integers, so their order does not matter.
inline void add_to(std::int64_t* sum, long long value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

}  // namespace epiboost::cuda
