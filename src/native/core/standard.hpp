// What the formulas use of the standard library, which NVRTC does not have: integers, the bits of numbers, square roots.
#pragma once

#if defined(__CUDACC_RTC__)

namespace std {

using size_t = decltype(sizeof(0));
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;

template <class To, class From>
constexpr To bit_cast(const From& value) {
    return __builtin_bit_cast(To, value);
}

inline float sqrt(float x) { return ::sqrtf(x); }  // rounded as IEEE 754 says: NVRTC's options are its defaults
inline double sqrt(double x) { return ::sqrt(x); }

}  // namespace std

#else

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#endif
