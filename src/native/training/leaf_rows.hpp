// The leaf of each row in a growing tree, and lists of the rows of a leaf.
//
// Leaf indices are one byte per row, in row order. A split compares many bins at once, and the rows of a leaf are found by
// comparing 64 bytes at once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compiler.hpp"
#include "core/problem.hpp"
#include "training/row_list.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace epiboost {

// Bit i is set if bytes[i] is the wanted byte.
inline std::uint64_t equal_bytes(const std::uint8_t* bytes, std::uint8_t wanted) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(static_cast<char>(wanted)));
#elif defined(__SSE2__) || defined(_M_X64)
    std::uint64_t equal = 0;
    for (int part = 0; part < 4; ++part) {
        const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + part * 16));
        const int bits = _mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_set1_epi8(static_cast<char>(wanted))));
        equal |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(bits)) << (part * 16);
    }
    return equal;
#else
    std::uint64_t equal = 0;
    for (int i = 0; i < 64; ++i) equal |= static_cast<std::uint64_t>(bytes[i] == wanted) << i;
    return equal;
#endif
}

constexpr std::size_t surplus_entries = 4;  // that `write_set_bits` may write behind the last one

// Writes base + i for every set bit i, ascending; returns the end. Entries are written several at a time without branches, and
// surplus ones are overwritten later.
inline std::uint32_t* write_set_bits(std::uint64_t bits, std::uint32_t base, std::uint32_t* write) {
    constexpr std::uint64_t top = std::uint64_t{1} << 63;  // a number is never zero with it, so no branch asks for zero
    std::uint32_t* const end = write + std::popcount(bits);
    do {
        for (std::size_t k = 0; k < surplus_entries; ++k) {
            *write++ = base + static_cast<std::uint32_t>(std::countr_zero(bits | top));
            bits &= bits - 1;
        }
    } while (bits != 0);
    return end;
}

// Sets a bit in the bytes of rows whose bin is above the threshold. This is a function so that __restrict applies: bytes may
// alias anything otherwise.
EPIBOOST_ALWAYS_INLINE void mark_above(const std::uint8_t* __restrict bins, std::size_t stride, std::uint8_t threshold,
                                       std::uint8_t bit, std::size_t count, std::uint8_t* __restrict bytes) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto above = static_cast<std::uint8_t>(-static_cast<int>(bins[i * stride] > threshold));  // all bits or none
        bytes[i] = static_cast<std::uint8_t>(bytes[i] | (above & bit));
    }
}

// Leaves of one thread's rows.
class LeafRows {
  public:
    // Puts all rows into leaf 0, except rows of weight zero, which are in no leaf. A null `weight` means that all have weight.
    void start(std::size_t first, std::size_t count, const float* weight) {
        first_ = first;
        count_ = count;
        leaf_.assign(padded(count), no_leaf);
        if (weight == nullptr) {
            std::fill_n(leaf_.begin(), count, std::uint8_t{0});
        } else {
            for (std::size_t i = 0; i < count; ++i) leaf_[i] = weight[first + i] > 0.0f ? 0 : no_leaf;
        }
        listed_.resize(padded(count) + surplus_entries);
    }

    // Moves rows whose bin is above the threshold to leaf + 2^level. The bin of row r is column[r * stride].
    void split(const std::uint8_t* column, std::size_t stride, std::uint8_t threshold, int level) {
        const auto bit = static_cast<std::uint8_t>(1 << level);
        if (stride == 1) {
            mark_above(column + first_, std::size_t{1}, threshold, bit, count_, leaf_.data());
        } else {
            mark_above(column + first_ * stride, stride, threshold, bit, count_, leaf_.data());
        }
    }

    void clear_lists() { used_ = 0; }

    // Rows of a leaf, ascending. The list is valid until lists are cleared; no row may be listed twice before.
    ListedRows list(int leaf) {
        std::uint32_t* const first = listed_.data() + used_;
        std::uint32_t* next = first;
        for (std::size_t i = 0; i < leaf_.size(); i += block) {
            const std::uint64_t in = equal_bytes(leaf_.data() + i, static_cast<std::uint8_t>(leaf));
            next = write_set_bits(in, static_cast<std::uint32_t>(first_ + i), next);
        }
        used_ += static_cast<std::size_t>(next - first);
        return {first, static_cast<std::size_t>(next - first)};
    }

  private:
    std::size_t first_ = 0;
    std::size_t count_ = 0;
    std::vector<std::uint8_t> leaf_;
    std::vector<std::uint32_t> listed_;
    std::size_t used_ = 0;  // of the lists
};

}  // namespace epiboost
