// The instruction sets of the processor that runs this. AVX needs the operating system too, which saves the registers.
#pragma once

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace epiboost {

#if defined(_MSC_VER) && defined(_M_X64)

// A register of the answer to CPUID: 0 is EAX, 1 EBX, 2 ECX, 3 EDX.
inline bool cpuid_has(int leaf, int number, unsigned bits) {
    int registers[4];
    __cpuidex(registers, 0, 0);
    if (registers[0] < leaf) return false;
    __cpuidex(registers, leaf, 0);
    return (static_cast<unsigned>(registers[number]) & bits) == bits;
}

inline bool system_saves(unsigned states) {
    constexpr unsigned osxsave = 1u << 27;
    return cpuid_has(1, 2, osxsave) && (_xgetbv(0) & states) == states;
}

inline bool has_sse42() { return cpuid_has(1, 2, 1u << 20); }

inline bool has_avx2() {
    constexpr unsigned fma = 1u << 12;
    constexpr unsigned avx2_bmi2 = 1u << 5 | 1u << 8;
    return system_saves(0x06) && cpuid_has(1, 2, fma) && cpuid_has(7, 1, avx2_bmi2);
}

inline bool has_avx512() {
    constexpr unsigned f_dq_cd_bw_vl = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    return system_saves(0xe6) && has_avx2() && cpuid_has(7, 1, f_dq_cd_bw_vl);
}

#elif defined(__x86_64__)

inline bool has_sse42() { return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"); }

inline bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}

inline bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

#else

inline bool has_sse42() { return false; }
inline bool has_avx2() { return false; }
inline bool has_avx512() { return false; }

#endif

}  // namespace epiboost
