// Counter-based random numbers: every number is a hash of (seed, tree, purpose, row or split), not the next element of a
// stream. So a model has the same bits at any thread count, in any order of rows and on any instruction set. Noise is added to
// gradients in training/gradients.hpp, and to the scores of splits in training/random_strength.hpp.
#pragma once

#include "core/compiler.hpp"
#include "core/elementary.hpp"
#include "core/standard.hpp"

namespace epiboost {

enum class Purpose : std::uint64_t { langevin = 1, rounding = 2, subsample = 3, structure = 4, split_scores = 5, columns = 6 };

// The splitmix64 generator's step.
inline std::uint64_t splitmix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

// The finaliser of MurmurHash3. Always inlined, as what calls it: loops over rows vectorise only then.
EPIBOOST_ALWAYS_INLINE std::uint32_t murmur3_mix(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

// 32 random bits are below this limit with the given probability.
inline std::uint32_t limit_for_probability(double probability) {
    const double limit = probability * 0x1p32;
    return static_cast<std::uint32_t>(limit < 4294967295.0 ? limit : 4294967295.0);
}

// Key of the random numbers of one tree, for one purpose and one pair of outputs.
struct NoiseKey {
    std::uint32_t first;
    std::uint32_t second;

    NoiseKey(std::uint64_t seed, std::uint64_t tree, Purpose purpose, std::uint64_t pair) {
        const std::uint64_t step = splitmix64(splitmix64(seed) + tree);
        const std::uint64_t key = splitmix64(splitmix64(step + static_cast<std::uint64_t>(purpose)) + pair);
        first = static_cast<std::uint32_t>(key);
        second = static_cast<std::uint32_t>(key >> 32);
    }

    EPIBOOST_ALWAYS_INLINE std::uint32_t bits(std::uint32_t row) const {
        return murmur3_mix(murmur3_mix(row ^ first) + second);
    }

    EPIBOOST_ALWAYS_INLINE std::uint32_t more_bits(std::uint32_t bits) const {
        return murmur3_mix(bits + first) ^ second;
    }
};

// Two independent standard Normal numbers for one row, by the Box-Muller transform: a point at a random angle and distance. In
// steps, which `normal_pairs` takes for many rows at once.
inline float random_radius(std::uint32_t bits) {
    const float uniform = (static_cast<float>(static_cast<std::int32_t>(bits >> 8)) + 0.5f) * 0x1p-24f;
    return std::sqrt(-2.0f * logarithm(uniform));
}

// Sine and cosine of an angle between -pi / 4 and pi / 4.
inline void random_angle(std::uint32_t bits, float& sine, float& cosine) {
    const float turn = (static_cast<float>(static_cast<std::int32_t>((bits >> 8) & 0x3fffffu)) + 0.5f) * 0x1p-22f - 0.5f;
    sine_cosine(turn * 1.57079633f, sine, cosine);
}

// The point in the quadrant that the highest two bits choose: one swaps sine and cosine, both change signs.
inline void point_in_quadrant(std::uint32_t bits, float radius, float sine, float cosine, float& even, float& odd) {
    constexpr std::uint32_t sign = std::uint32_t{1} << 31;
    const std::uint32_t quarter = (bits << 1) & sign;
    const std::uint32_t s = std::bit_cast<std::uint32_t>(sine);
    const std::uint32_t c = std::bit_cast<std::uint32_t>(cosine);
    const std::uint32_t swap = (s ^ c) & static_cast<std::uint32_t>(static_cast<std::int32_t>(quarter) >> 31);
    const float signed_radius = std::bit_cast<float>(std::bit_cast<std::uint32_t>(radius) ^ (bits & sign));
    even = signed_radius * std::bit_cast<float>((c ^ swap) ^ quarter);
    odd = signed_radius * std::bit_cast<float>(s ^ swap);
}

inline void normal_pair(const NoiseKey& key, std::uint32_t row, float& even, float& odd) {
    const std::uint32_t a = key.bits(row);
    const std::uint32_t b = key.more_bits(a);
    float sine;
    float cosine;
    random_angle(b, sine, cosine);
    point_in_quadrant(b, random_radius(a), sine, cosine, even, odd);
}

// The same for many rows. Step by step: in one loop, each row would be a long chain of operations that wait for each other.
template <std::size_t Count>
inline void normal_pairs(const NoiseKey& key, const std::uint32_t* __restrict row, float* __restrict even, float* __restrict odd) {
    std::uint32_t a[Count];
    std::uint32_t b[Count];
    float radius[Count];
    float sine[Count];
    float cosine[Count];
    for (std::size_t i = 0; i < Count; ++i) a[i] = key.bits(row[i]);
    for (std::size_t i = 0; i < Count; ++i) b[i] = key.more_bits(a[i]);
    for (std::size_t i = 0; i < Count; ++i) radius[i] = random_radius(a[i]);
    for (std::size_t i = 0; i < Count; ++i) random_angle(b[i], sine[i], cosine[i]);
    for (std::size_t i = 0; i < Count; ++i) point_in_quadrant(b[i], radius[i], sine[i], cosine[i], even[i], odd[i]);
}

}  // namespace epiboost
