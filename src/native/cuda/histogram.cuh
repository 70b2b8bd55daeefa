// Histograms of integer gradients of one column, for some leaves of a level, in the memory of one block.
//
// The histogram of a leaf has several planes of 32-bit numbers, one number per cell: one plane per output and a last one for the
// weights, or, packed, the lower and the upper halves of the words of PackedTwo (training/histogram.hpp). Additions to shared memory
// take most of the time of training; packed words need two of them per row and column instead of three.
#pragma once

#include "cuda/chains.cuh"
#include "cuda/device.cuh"

namespace epiboost::cuda {

// The rows of one block, and the slots that its histograms have.
struct HistogramPart {
    int first_leaf;
    int slots;
    std::size_t first_row;
    std::size_t end_row;
};

// The split of the level before, which the rows have not followed yet. Without one `column` is null.
struct LastSplit {
    const std::uint8_t* column;
    int threshold;
    int added;  // to the leaf of rows above the threshold
};

// Rows are read four at a time, because bins and leaves are bytes.
constexpr unsigned rows_at_once = 4;

struct alignas(16) FourWords {
    std::uint32_t word[4];
};

inline int byte_of(std::uint32_t four, unsigned index) { return static_cast<int>(four >> 8 * index & 255u); }
inline std::uint32_t load_four(const std::uint8_t* bytes) { return *reinterpret_cast<const std::uint32_t*>(bytes); }

// Adds to a sum of 64 bits in two halves. The upper half seldom changes.
inline void add_in_halves(std::uint32_t* lower, std::uint32_t* upper, std::uint32_t value_lower, std::uint32_t value_upper) {
    const std::uint32_t before = atomicAdd(lower, value_lower);
    const std::uint32_t carried = value_upper + (before + value_lower < before ? 1u : 0u);
    if (carried != 0) atomicAdd(upper, carried);
}

// Adds the packed integers of one row to a cell.
inline void add_packed(std::uint32_t integers, int cells, std::uint32_t* cell) {
    const std::int32_t first = static_cast<std::int8_t>(integers & 255u);
    const std::int32_t second = static_cast<std::int8_t>(integers >> 8 & 255u);
    const std::int32_t low = second * 65536 + static_cast<std::int32_t>(integers >> 16);
    add_in_halves(cell, cell + cells, static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(first * 256 + (low < 0 ? -1 : 0)));
}

// Four rows of the sample.
struct FourRows {
    std::uint32_t integers[packs ? 4 : (outputs <= 4 ? outputs : 1)];

    FourRows(const Member& member, std::size_t row) {
        if constexpr (packs) {
            const auto four = *reinterpret_cast<const FourWords*>(member.integers + 4 * row);
            for (unsigned i = 0; i < rows_at_once; ++i) integers[i] = four.word[i];
        } else if constexpr (outputs <= 4) {
            for (int k = 0; k < outputs; ++k) {
                integers[k] = load_four(reinterpret_cast<const std::uint8_t*>(member.integers + k * member.sample_stride + row));
            }
        }
    }

    // Adds row i to the cell of a leaf's histogram.
    void add(const Member& member, std::size_t row, unsigned i, int cells, std::uint32_t* cell) const {
        if constexpr (packs) {
            add_packed(integers[i], cells, cell);
        } else {
            for (int k = 0; k < outputs; ++k) {
                std::int32_t gradient;
                if constexpr (outputs <= 4) {
                    gradient = static_cast<std::int8_t>(byte_of(integers[k], i));
                } else {
                    gradient = member.integers[k * member.sample_stride + row + i];
                }
                if (gradient != 0) atomicAdd(cell + k * cells, static_cast<std::uint32_t>(gradient));
            }
            atomicAdd(cell + outputs * cells, member.sample_weight ? static_cast<std::uint32_t>(member.sample_weight[row + i]) : 1u);
        }
    }
};

// The columns of one block; null for those that the tree may not split.
struct BlockColumns {
    const std::uint8_t* bins[columns_at_once];
};

// Adds the rows of a part. `leaves` are those of the level before. With `Subtracts` only the lighter child of each leaf is summed, in
// the slot of its parent; otherwise every leaf has a slot. Histograms have the shape (columns, slots, planes, cells).
template <bool Subtracts>
void add_rows(const Member& member, const BlockColumns& columns, const std::uint8_t* leaves, const LastSplit& split,
              const std::uint8_t* right_is_lighter, const HistogramPart& part, int cells, std::uint32_t* histogram) {
    const int leaf_size = planes * cells;
    const int column_size = part.slots * leaf_size;
    for (std::size_t row = part.first_row + rows_at_once * threadIdx.x; row < part.end_row; row += rows_at_once * blockDim.x) {
        const std::uint32_t four_leaves = load_four(leaves + row);
        const std::uint32_t four_splits = split.column ? load_four(split.column + row) : 0;
        std::uint32_t four_bins[columns_at_once];
        for (int c = 0; c < columns_at_once; ++c) four_bins[c] = columns.bins[c] ? load_four(columns.bins[c] + row) : 0;
        const FourRows rows(member, row);
        for (unsigned i = 0; i < rows_at_once; ++i) {
            int slot = byte_of(four_leaves, i);
            if (slot == no_leaf || row + i >= part.end_row) continue;
            const bool above = split.column && byte_of(four_splits, i) > split.threshold;
            if constexpr (Subtracts) {
                if (above != (right_is_lighter[slot] != 0)) continue;
            } else {
                slot += (above ? split.added : 0) - part.first_leaf;
                if (slot < 0 || slot >= part.slots) continue;
            }
            std::uint32_t* of_leaf = histogram + slot * leaf_size;
            for (int c = 0; c < columns_at_once; ++c) {
                if (columns.bins[c]) rows.add(member, row, i, cells, of_leaf + c * column_size + byte_of(four_bins[c], i));
            }
        }
    }
}

// Moves rows of the sample to the leaves of the next level.
inline void move_rows(const std::uint8_t* leaves, const LastSplit& split, const HistogramPart& part, std::uint8_t* moved) {
    for (std::size_t row = part.first_row + rows_at_once * threadIdx.x; row < part.end_row; row += rows_at_once * blockDim.x) {
        const std::uint32_t before = load_four(leaves + row);
        const std::uint32_t bins = load_four(split.column + row);
        std::uint32_t after = 0;
        for (unsigned i = 0; i < rows_at_once; ++i) {
            const int leaf = byte_of(before, i);
            const bool moves = leaf != no_leaf && byte_of(bins, i) > split.threshold;
            after |= static_cast<std::uint32_t>(moves ? leaf + split.added : leaf) << 8 * i;
        }
        *reinterpret_cast<std::uint32_t*>(moved + row) = after;
    }
}

// A number of a histogram: both halves of a packed word, or a number of a plane.
template <bool Packed>
struct Sum {
    using Number = std::uint32_t;
    static constexpr int half = 0;  // bits of the lower half, if there are two
};
template <>
struct Sum<true> {
    using Number = unsigned long long;
    static constexpr int half = 32;
};

// Replaces a plane, or two packed ones, by the prefix sums over the cells. One warp does it, four cells per thread.
inline void scan_plane(std::uint32_t* plane, int cells) {
    using Number = Sum<packs>::Number;
    const int lane = static_cast<int>(threadIdx.x % warp_size);
    Number before = 0;
    for (int first = 0; first < cells; first += 4 * static_cast<int>(warp_size)) {
        const int at = first + 4 * lane;
        Number sums[4] = {};
        if (at < cells) {
            const auto lower = *reinterpret_cast<const FourWords*>(plane + at);
            for (int i = 0; i < 4; ++i) sums[i] = lower.word[i];
            if constexpr (packs) {
                const auto upper = *reinterpret_cast<const FourWords*>(plane + cells + at);
                for (int i = 0; i < 4; ++i) sums[i] |= static_cast<Number>(upper.word[i]) << Sum<packs>::half;
            }
        }
        for (int i = 1; i < 4; ++i) sums[i] += sums[i - 1];
        Number through = sums[3];
        for (int distance = 1; distance < static_cast<int>(warp_size); distance *= 2) {
            const Number other = __shfl_up_sync(all_lanes, through, static_cast<unsigned>(distance));
            if (lane >= distance) through += other;
        }
        const Number offset = before + through - sums[3];
        if (at < cells) {
            FourWords lower;
            for (int i = 0; i < 4; ++i) lower.word[i] = static_cast<std::uint32_t>(sums[i] + offset);
            *reinterpret_cast<FourWords*>(plane + at) = lower;
            if constexpr (packs) {
                FourWords upper;
                for (int i = 0; i < 4; ++i) upper.word[i] = static_cast<std::uint32_t>((sums[i] + offset) >> Sum<packs>::half);
                *reinterpret_cast<FourWords*>(plane + cells + at) = upper;
            }
        }
        before += __shfl_sync(all_lanes, through, static_cast<int>(warp_size) - 1);
    }
}

inline void scan(std::uint32_t* histogram, int slots, int cells) {
    constexpr int step = packs ? 2 : 1;  // planes of one sum
    const int lines = slots * planes / step;
    for (int line = static_cast<int>(threadIdx.x / warp_size); line < lines; line += static_cast<int>(blockDim.x / warp_size)) {
        scan_plane(histogram + line * step * cells, cells);
    }
}

// The prefix sums of a leaf: its own, or those of its parent without its sibling's.
struct LeafSums {
    const std::uint32_t* own;     // of this leaf, or of its lighter sibling
    const std::uint32_t* parent;  // null if no sibling is left out
    bool is_rest;                 // what the sibling leaves of the parent
};

// The sums of a leaf up to one cell.
class SumsAt {
  public:
    SumsAt(const LeafSums& sums, int cells, int cell) : sums_(sums), cells_(cells), cell_(cell) {
        if constexpr (packs) {
            lower_ = sums.own[cell];
            upper_ = sums.own[cells + cell];
            if (sums.parent) {  // read in any case: a branch would keep loads of several leaves from running side by side
                const std::uint32_t whole = sums.parent[cell];
                const std::uint32_t rest = sums.parent[cells + cell] - upper_ - (whole < lower_ ? 1u : 0u);
                upper_ = sums.is_rest ? rest : upper_;
                lower_ = sums.is_rest ? whole - lower_ : lower_;
            }
        }
    }
    SumsAt(const LeafSums& sums, int cells, int cell, std::uint32_t lower, std::uint32_t upper)
        : sums_(sums), cells_(cells), cell_(cell), lower_(lower), upper_(upper) {}

    std::uint32_t lower() const { return lower_; }
    std::uint32_t upper() const { return upper_; }

    std::int32_t gradient(int output) const {
        if constexpr (packs) {  // as in PackedTwo
            const std::int32_t second = static_cast<std::int32_t>(upper_ << 24 | (lower_ >> 16) << 8) >> 8;
            return output == 1 ? second : (static_cast<std::int32_t>(upper_) - (second >> 16)) >> 8;
        } else {
            return number(output);
        }
    }
    std::int32_t weight() const {
        if constexpr (packs) {
            return static_cast<std::int32_t>(lower_ & 0xffffu);
        } else {
            return number(outputs);
        }
    }

    // Writes the sums to the planes of another histogram.
    void store(std::uint32_t* histogram) const {
        if constexpr (packs) {
            histogram[cell_] = lower_;
            histogram[cells_ + cell_] = upper_;
        } else {
            for (int plane = 0; plane < planes; ++plane) histogram[plane * cells_ + cell_] = static_cast<std::uint32_t>(number(plane));
        }
    }

  private:
    std::int32_t number(int plane) const {
        const std::uint32_t own = sums_.own[plane * cells_ + cell_];
        if (!sums_.parent) return static_cast<std::int32_t>(own);
        const std::uint32_t rest = sums_.parent[plane * cells_ + cell_] - own;
        return static_cast<std::int32_t>(sums_.is_rest ? rest : own);
    }

    LeafSums sums_;
    int cells_;
    int cell_;
    std::uint32_t lower_ = 0;
    std::uint32_t upper_ = 0;
};

// The sums of all rows of each leaf; packed ones are read once per block.
struct LeafTotalsOfLevel {
    static constexpr int most = 1 << (max_depth - 1);
    std::uint32_t lower[packs ? most : 1];
    std::uint32_t upper[packs ? most : 1];

    template <class SumsOf>
    void read(const SumsOf& sums_of, int leaf_count, int cells, int last) {
        if constexpr (packs) {
            for (int leaf = static_cast<int>(threadIdx.x); leaf < leaf_count; leaf += static_cast<int>(blockDim.x)) {
                const SumsAt all(sums_of(leaf), cells, last);
                lower[leaf] = all.lower();
                upper[leaf] = all.upper();
            }
        }
    }

    SumsAt of(const LeafSums& sums, int leaf, int cells, int last) const {
        if constexpr (packs) {
            return {sums, cells, last, lower[leaf], upper[leaf]};
        } else {
            return {sums, cells, last};
        }
    }
};

}  // namespace epiboost::cuda
