// Integer leaf values in the layouts that the instruction sets look up.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace epiboost {

constexpr std::size_t trees_per_batch = 16;  // sums of 16 twelve-bit halves, or of 16 bytes, fit 16 bits
constexpr int value_bits = 24;               // of an integer leaf value, including its sign: as exact as single precision
constexpr int half_bits = value_bits / 2;
constexpr std::size_t max_table_leaves = 64;  // of trees whose leaf values are looked up in registers

// Values of one output of a tree with at most 64 leaves: halves of twelve bits for AVX-512.
struct alignas(64) HalfTable {
    std::int16_t upper[max_table_leaves] = {};
    std::int16_t lower[max_table_leaves] = {};

    void set(std::size_t leaf, std::int32_t value) {
        upper[leaf] = static_cast<std::int16_t>(value >> half_bits);
        lower[leaf] = static_cast<std::int16_t>(value & ((1 << half_bits) - 1));
    }
};

// The same as bytes, for AVX2 and NEON. The highest byte is signed, or with AVX2, which adds bytes without signs, the value has a bias.
struct alignas(64) ByteTable {
#if defined(__AVX2__)
    static constexpr std::int32_t bias = std::int32_t{1} << (value_bits - 1);
#else
    static constexpr std::int32_t bias = 0;
#endif
    std::uint8_t plane[3][max_table_leaves] = {};

    void set(std::size_t leaf, std::int32_t value) {
        for (int p = 0; p < 3; ++p) plane[p][leaf] = static_cast<std::uint8_t>((value + bias) >> (8 * p));
    }
};

#if defined(__AVX512BW__)
using LeafTable = HalfTable;
constexpr bool has_leaf_tables = true;
constexpr int max_table_outputs = max_outputs;
#elif defined(__AVX2__)
using LeafTable = ByteTable;
constexpr bool has_leaf_tables = true;
constexpr int max_table_outputs = 1;
#elif defined(__aarch64__)  // MSVC does not define it, and uses the portable sums
using LeafTable = ByteTable;
constexpr bool has_leaf_tables = true;
constexpr int max_table_outputs = 2;  // more are faster as lanes
#else
using LeafTable = ByteTable;
constexpr bool has_leaf_tables = false;
constexpr int max_table_outputs = 0;
#endif

// Values of both outputs of a leaf in one word, whose sums are the sums of both.
inline std::int64_t packed_word(std::int32_t first, std::int32_t second) {
    return static_cast<std::int64_t>(second) * (std::int64_t{1} << 32) + first;
}

// The halves of a word, lowest first: compilers take many apart with few instructions.
struct WordHalves {
    std::int32_t low;
    std::int32_t high;

    static WordHalves of(std::int64_t word) { return std::bit_cast<WordHalves>(word); }
    std::int32_t first() const { return low; }
    std::int32_t second() const { return high - (low >> 31); }  // a negative first output has borrowed one
};

}  // namespace epiboost
