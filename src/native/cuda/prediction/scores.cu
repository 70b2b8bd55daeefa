// Raw scores: sums of the values of the leaves that rows fall into, with the bits of the CPU (see compiled_trees.py).
//
// A block evaluates the trees of one chain, batch by batch, for a tile of rows and one or two outputs. Values of leaves are
// integers, whose sums are exact; the sum of a batch is added to a float, in the order of the batches.
//
// The macros are constants of a forest: EPIBOOST_LEVELS of its symmetric trees, 0 for leaf-wise trees; EPIBOOST_SPLITS and EPIBOOST_LEAVES
// of a tree; EPIBOOST_PLANES, the number of outputs that are summed at once, 1 or 2; and EPIBOOST_STAGED, whether the bins of a tile fit
// shared memory.
#include "cuda/device.cuh"

namespace epiboost::cuda {

constexpr int levels = EPIBOOST_LEVELS;
constexpr int splits = EPIBOOST_SPLITS;
constexpr int leaves = EPIBOOST_LEAVES;
constexpr int planes = EPIBOOST_PLANES;
constexpr bool is_staged = EPIBOOST_STAGED;
constexpr int trees_per_batch = 16;  // at most
constexpr int score_threads = 128;   // of a block
constexpr int rows_per_thread = levels > 0 ? 4 : 1;
constexpr int tile_rows = score_threads * rows_per_thread;

// A split of a symmetric tree has a column in the lower half of the first number, and a threshold above it. That of a leaf-wise tree has
// two children of 16 bits in the second: further splits, or leaves, then the complement of the leaf.
struct alignas(8) Split {
    std::uint32_t first;
    std::uint32_t second;
};

struct alignas(8) Range {
    std::int32_t first;
    std::int32_t second;
};

// A batch of trees in shared memory.
struct Batch {
    std::int32_t leaf[trees_per_batch * planes * leaves];
    Split split[trees_per_batch * splits];
};

// Where the bins of a tile are: in shared memory, or where the binning has left them.
struct Tile {
    const std::uint8_t* bins;
    std::int64_t pitch;  // bytes from column to column
};

inline Tile tile_of(const std::uint8_t* bins, std::int64_t padded_rows, int columns, std::uint8_t* staged) {
    const std::uint8_t* of_tile = bins + static_cast<std::int64_t>(blockIdx.x) * tile_rows;
    if constexpr (!is_staged) return {of_tile, padded_rows};
    constexpr int words = tile_rows / 4;
    for (int i = static_cast<int>(threadIdx.x); i < columns * words; i += score_threads) {
        const auto* column = reinterpret_cast<const std::uint32_t*>(of_tile + i / words * padded_rows);
        reinterpret_cast<std::uint32_t*>(staged)[i] = column[i % words];
    }
    return {staged, tile_rows};
}

inline void load_leaves(const std::int32_t* leaf, const Range& trees, int outputs, int plane, int output, Batch& batch) {
    for (int i = static_cast<int>(threadIdx.x); i < trees.second * leaves; i += score_threads) {
        const int tree = i / leaves;
        batch.leaf[(tree * planes + plane) * leaves + i % leaves] =
            leaf[(static_cast<std::int64_t>(trees.first + tree) * outputs + output) * leaves + i % leaves];
    }
}

// In shared memory, a split of a symmetric tree has the offset of its column's bins in the tile, and the complement of its threshold in
// each byte.
inline void load_splits(const Split* split, const Range& trees, std::int64_t pitch, Batch& batch) {
    for (int i = static_cast<int>(threadIdx.x); i < trees.second * splits; i += score_threads) {
        const Split given = split[static_cast<std::int64_t>(trees.first) * splits + i];
        if constexpr (levels > 0) {
            const auto offset = static_cast<std::uint32_t>((given.first & 0xffffu) * pitch);
            batch.split[i] = {offset, ~((given.first >> 16) * 0x01010101u)};
        } else {
            batch.split[i] = given;
        }
    }
}

// For each of four bytes whether it is above a limit, in the highest bit; `not_limit` is the complement of the limit in each byte. The mean
// of a and 255 - b is 128 or more where a is above b.
inline std::uint32_t above(std::uint32_t four, std::uint32_t not_limit) {
    return ((four ^ not_limit) >> 1 & 0x7f7f7f7fu) + (four & not_limit);
}

using Integers = std::int32_t[planes][rows_per_thread];

// Adds the integers of a batch of symmetric trees for four rows. `bins` are theirs in the first column. The index of a leaf grows from its
// highest bit: the new bit is put in front of the others.
inline void add_symmetric(const Batch& batch, int trees, const std::uint8_t* bins, Integers& sums) {
    for (int tree = 0; tree < trees; ++tree) {
        std::uint32_t index = 0;
#pragma unroll
        for (int level = 0; level < levels; ++level) {
            const Split split = batch.split[tree * levels + level];
            const std::uint32_t is_above = above(*reinterpret_cast<const std::uint32_t*>(bins + split.first), split.second);
            index = (is_above & 0x80808080u) | (index >> 1 & 0x7f7f7f7fu);
        }
#pragma unroll
        for (int row = 0; row < rows_per_thread; ++row) {
            const std::uint32_t leaf = index >> (row * 8 + 8 - levels) & (leaves - 1);
#pragma unroll
            for (int plane = 0; plane < planes; ++plane) sums[plane][row] += batch.leaf[(tree * planes + plane) * leaves + leaf];
        }
    }
}

// The same for one row and leaf-wise trees.
inline void add_leaf_wise(const Batch& batch, int trees, const std::uint8_t* bins, std::int64_t pitch, Integers& sums) {
    for (int tree = 0; tree < trees; ++tree) {
        int at = 0;
        while (at >= 0) {
            const Split split = batch.split[tree * splits + at];
            const bool is_above = bins[(split.first & 0xffffu) * pitch] > split.first >> 16;
            at = static_cast<short>(is_above ? split.second >> 16 : split.second & 0xffffu);
        }
        for (int plane = 0; plane < planes; ++plane) sums[plane][0] += batch.leaf[(tree * planes + plane) * leaves + ~at];
    }
}

}  // namespace epiboost::cuda

// split: (trees, splits); leaf: (trees, outputs, leaves); batches: (batches): first tree and number of trees; unit: (batches, outputs);
// segments: (chains, segments): first batch and the one after the last; decay: (chains, segments); scores: (chains, segments, outputs,
// padded rows). The grid has one row of blocks per chain and group of outputs.
EPIBOOST_KERNEL add_leaf_values(const std::uint8_t* bins, std::int64_t padded_rows, int columns, const epiboost::cuda::Split* split,
                                const std::int32_t* leaf, int outputs, const epiboost::cuda::Range* batches, const float* unit,
                                const epiboost::cuda::Range* segments, const double* decay, int n_segments, double* scores) {
    using namespace epiboost::cuda;
    Batch& batch = *reinterpret_cast<Batch*>(shared_memory());
    const Tile tile = tile_of(bins, padded_rows, columns, shared_memory() + sizeof(Batch));
    const std::uint8_t* own_bins = tile.bins + threadIdx.x * rows_per_thread;
    const int groups = (outputs + planes - 1) / planes;
    const int chain = static_cast<int>(blockIdx.y) / groups;
    const int output = static_cast<int>(blockIdx.y) % groups * planes;
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * tile_rows + threadIdx.x * rows_per_thread;
    double score[planes][rows_per_thread] = {};
    for (int s = 0; s < n_segments; ++s) {
        const std::int64_t segment = static_cast<std::int64_t>(chain) * n_segments + s;
        float sums[planes][rows_per_thread] = {};
        for (int b = segments[segment].first; b < segments[segment].second; ++b) {
            const Range trees = batches[b];
            __syncthreads();  // the batch before is not read any more
            load_splits(split, trees, tile.pitch, batch);
            for (int plane = 0; plane < planes; ++plane) {
                load_leaves(leaf, trees, outputs, plane, output + plane < outputs ? output + plane : output, batch);
            }
            __syncthreads();
            Integers integers = {};
            if constexpr (levels > 0) {
                add_symmetric(batch, trees.second, own_bins, integers);
            } else {
                add_leaf_wise(batch, trees.second, own_bins, tile.pitch, integers);
            }
            for (int plane = 0; plane < planes && output + plane < outputs; ++plane) {
                const float of_batch = unit[static_cast<std::int64_t>(b) * outputs + output + plane];
                for (int row = 0; row < rows_per_thread; ++row) {
                    sums[plane][row] += static_cast<float>(integers[plane][row]) * of_batch;
                }
            }
        }
        for (int plane = 0; plane < planes && output + plane < outputs; ++plane) {
            double* of_output = scores + (segment * outputs + output + plane) * padded_rows + first_row;
            for (int row = 0; row < rows_per_thread; ++row) {
                score[plane][row] = decay[segment] * score[plane][row] + static_cast<double>(sums[plane][row]);
                of_output[row] = score[plane][row];
            }
        }
    }
}
