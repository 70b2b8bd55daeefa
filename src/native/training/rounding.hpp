// Gradients as integers: small ones for histograms, and fixed point for leaf values. Kernels for GPUs are compiled from this file
// too.
#pragma once

#include "core/constants.hpp"
#include "core/standard.hpp"

namespace epiboost {

// Unit of the integer gradients of an output; its inverse must be finite.
inline float gradient_unit(float largest, float largest_level) { return largest > 1e-30f ? largest / largest_level : 1.0f; }

// Stochastic rounding: floor(gradient / unit + u) with u uniform on (0, 1). `level` is 1 / unit; two outputs share 32 random bits.
inline std::int32_t round_gradient(float gradient, float level, std::uint32_t bits, int shift) {
    constexpr float offset = 256.0f;  // makes the number positive, so that truncation rounds down
    const std::int32_t half = static_cast<std::int32_t>((bits >> shift) & 0xffffu);
    const float uniform = (static_cast<float>(half) + 0.5f) * 0x1p-16f;
    return static_cast<std::int32_t>(gradient * level + uniform + offset) - 256;
}

template <class Integer>
Integer round_to_nearest(float x) {
    return static_cast<Integer>(x + (x < 0.0f ? -0.5f : 0.5f));
}

// The power of two that takes numbers up to `largest` below 2^(30 + spare bits).
inline float fixed_point(float largest, int spare_bits) {
    if (!(largest > 0.0f)) return 1.0f;
    const int exponent = static_cast<int>(std::bit_cast<std::uint32_t>(largest) >> 23) - 127;  // -127 if subnormal: the limit
    const int wanted = 29 + spare_bits - exponent;
    return std::bit_cast<float>(static_cast<std::uint32_t>((wanted < 120 ? wanted : 120) + 127) << 23);
}

}  // namespace epiboost
