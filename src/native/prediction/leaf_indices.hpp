// Finds the leaves of all rows of a strip in a batch of trees.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/leaves.hpp"
#include "core/problem.hpp"
#include "prediction/compiled_trees.hpp"
#include "prediction/merged_trees.hpp"
#include "prediction/needed_splits.hpp"
#include "prediction/strip.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace epiboost {

// Leaf indices in a symmetric tree: bit d is set where the row's bin is above the threshold of level d.
template <int Depth>
void find_symmetric(const std::uint16_t* feature, const std::int8_t* limit, const Strip& strip, std::uint8_t* __restrict leaf) {
    const std::int8_t* column[Depth];
    for (int d = 0; d < Depth; ++d) column[d] = strip.column(0, feature[d]);
    const std::size_t block_bytes = strip.columns * block;
#if defined(__AVX512BW__)
    __m512i threshold[Depth];
    __m512i bit[Depth];
    for (int d = 0; d < Depth; ++d) {
        threshold[d] = _mm512_set1_epi8(limit[d]);
        bit[d] = _mm512_set1_epi8(static_cast<char>(1 << d));
    }
    for (std::size_t b = 0; b < strip.blocks; ++b) {
        __m512i bits = _mm512_setzero_si512();
        for (int d = 0; d < Depth; ++d) {
            const __mmask64 is_above = _mm512_cmpgt_epi8_mask(_mm512_load_si512(column[d] + b * block_bytes), threshold[d]);
            bits = _mm512_mask_add_epi8(bits, is_above, bits, bit[d]);
        }
        _mm512_store_si512(leaf + b * block, bits);
    }
#elif defined(__AVX2__)
    __m256i threshold[Depth];
    for (int d = 0; d < Depth; ++d) threshold[d] = _mm256_set1_epi8(limit[d]);
    // As find_leaves().
    for (std::size_t b = 0; b < strip.blocks; ++b) {
        __m256i bits[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (int d = 0; d < Depth; ++d) {
            const auto* bins = reinterpret_cast<const __m256i*>(column[d] + b * block_bytes);
            for (int half = 0; half < 2; ++half) {
                bits[half] = _mm256_avg_epu8(bits[half], _mm256_cmpgt_epi8(_mm256_load_si256(bins + half), threshold[d]));
            }
        }
        for (int half = 0; half < 2; ++half) {
            for (int d = Depth; d < max_depth; ++d) bits[half] = _mm256_avg_epu8(bits[half], _mm256_setzero_si256());
            _mm256_store_si256(reinterpret_cast<__m256i*>(leaf + b * block) + half, bits[half]);
        }
    }
#else
    for (std::size_t b = 0; b < strip.blocks; ++b) {
        find_leaves([&](int d) { return column[d] + b * block_bytes; }, limit, Depth, leaf + b * block);
    }
#endif
}

inline void find_in_symmetric(const std::uint16_t* feature, const std::int8_t* limit, int depth, const Strip& strip,
                              std::uint8_t* leaf) {
    switch (depth) {
        case 0: return static_cast<void>(std::fill_n(leaf, strip.blocks * block, std::uint8_t{0}));
        case 1: return find_symmetric<1>(feature, limit, strip, leaf);
        case 2: return find_symmetric<2>(feature, limit, strip, leaf);
        case 3: return find_symmetric<3>(feature, limit, strip, leaf);
        case 4: return find_symmetric<4>(feature, limit, strip, leaf);
        case 5: return find_symmetric<5>(feature, limit, strip, leaf);
        case 6: return find_symmetric<6>(feature, limit, strip, leaf);
        case 7: return find_symmetric<7>(feature, limit, strip, leaf);
        default: return find_symmetric<8>(feature, limit, strip, leaf);
    }
}

inline void find_leaf_indices(const CompiledTrees& trees, const CompiledTrees::TreeBatch& batch, Strip& strip) {
    for (std::size_t i = 0; i < batch.trees; ++i) {
        const std::size_t tree = batch.first + i;
        const std::size_t first = tree * static_cast<std::size_t>(trees.splits);
        std::uint8_t* leaf = strip.leaves[i].of_row;
        if (trees.is_symmetric()) {
            find_in_symmetric(trees.feature.data() + first, trees.threshold.data() + first, trees.splits, strip, leaf);
        } else if (strip.rows >= min_needed_rows) {
            follow_splits(NeededSplits(trees, tree, strip), strip, leaf);
        } else {
            const std::uint16_t* feature = trees.feature.data() + first;
            const auto column = [&](int s, std::size_t b) { return strip.column(b, feature[s]); };
            follow_splits(column, trees.threshold.data() + first, trees.parent.data() + first, trees.splits, strip.blocks, leaf);
        }
    }
}

inline void find_leaf_indices(const MergedTrees& merged, Strip& strip) {
    for (std::size_t number = 0; number < merged.count(); ++number) {
        const MergedTrees::Tree& tree = merged.tree(number);
        find_in_symmetric(tree.feature.data(), tree.threshold.data(), tree.levels, strip, strip.leaves[number].of_row);
    }
}

}  // namespace epiboost
