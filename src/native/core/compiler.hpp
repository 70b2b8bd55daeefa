// What compilers spell differently: GCC and Clang on one side, MSVC on the other, NVRTC for kernels. Only attributes need macros.
#pragma once

#if defined(__CUDACC_RTC__)
#define EPIBOOST_ALWAYS_INLINE __forceinline__
#elif defined(_MSC_VER)
#include <intrin.h>
#define EPIBOOST_ALWAYS_INLINE __forceinline
#define EPIBOOST_NOINLINE __declspec(noinline)
#define EPIBOOST_UNROLL_2
#else
#define EPIBOOST_ALWAYS_INLINE inline __attribute__((always_inline))
#define EPIBOOST_NOINLINE __attribute__((noinline))
#define EPIBOOST_UNROLL_2 _Pragma("GCC unroll 2")
#endif

// Functions that a GPU runs too; NVRTC compiles all functions for the device.
#define EPIBOOST_DEVICE_INLINE EPIBOOST_ALWAYS_INLINE

#if !defined(__CUDACC_RTC__)
namespace epiboost {

// Asks the processor to load the cache line of an address that will be read soon.
EPIBOOST_ALWAYS_INLINE void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
#elif defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
#else
    __prefetch(address);
#endif
}

// Tells the processor that this thread waits in a loop, so that it saves power and leaves resources to the core's other thread.
EPIBOOST_ALWAYS_INLINE void pause_in_spin() {
#if defined(_MSC_VER) && defined(_M_X64)
    _mm_pause();
#elif defined(_MSC_VER)
    __yield();
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

}  // namespace epiboost
#endif
