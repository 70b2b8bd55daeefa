// Raw scores: sums of the values of the leaves that rows fall into, with the bits of the CPU (see compiled_trees.py).
//
// A block evaluates the trees of one chain, batch by batch, for a tile of rows and one or two outputs. Values of leaves are
// integers, whose sums are exact; the sum of a batch is added to a float, in the order of the batches.
//
// The macros are constants of a forest: LEVELS of its symmetric trees, or SPLITS of its leaf-wise trees; LEAVES; PLANES, the number of
// outputs that are summed at once, 1 or 2; and STAGED, whether the bins of a tile fit shared memory.

#define TREES 16     // per batch, at most
#define THREADS 128  // per block
#ifdef LEVELS
#define SPLITS LEVELS
#define TILE 512  // rows of a block: four per thread
#else
#define TILE 128
#endif

// A batch of trees in shared memory.
struct Batch {
    int leaf[TREES * PLANES * LEAVES];
    uint2 split[TREES * SPLITS];
};

// Where the bins of a tile are: in shared memory, or where the binning has left them.
struct Tile {
    const unsigned char* bins;
    long long pitch;  // bytes from column to column
};

__device__ inline Tile tile_of(const unsigned char* bins, long long padded_rows, int columns, unsigned char* staged) {
    const unsigned char* of_tile = bins + static_cast<long long>(blockIdx.x) * TILE;
    if (!STAGED) return {of_tile, padded_rows};
    const int words = TILE / 4;
    for (int i = static_cast<int>(threadIdx.x); i < columns * words; i += THREADS) {
        const int column = i / words;
        reinterpret_cast<unsigned*>(staged)[i] = reinterpret_cast<const unsigned*>(of_tile + column * padded_rows)[i % words];
    }
    return {staged, TILE};
}

__device__ inline void load_leaves(const int* leaf, int first, int count, int outputs, int plane, int output, Batch& batch) {
    for (int i = static_cast<int>(threadIdx.x); i < count * LEAVES; i += THREADS) {
        const int tree = i / LEAVES;
        batch.leaf[(tree * PLANES + plane) * LEAVES + i % LEAVES] =
            leaf[(static_cast<long long>(first + tree) * outputs + output) * LEAVES + i % LEAVES];
    }
}

#ifdef LEVELS

// For each of four bytes whether the first is above a limit, in the highest bit; `not_limit` is the complement of the limit in each
// byte. The mean of a and 255 - b is 128 or more where a is above b.
__device__ inline unsigned above(unsigned four, unsigned not_limit) {
    return ((four ^ not_limit) >> 1 & 0x7f7f7f7fu) + (four & not_limit);
}

// A split in shared memory: the offset of its column's bins in the tile, and the complement of its threshold in each byte.
__device__ inline uint2 prepared(unsigned split, long long pitch) {
    return make_uint2((split & 0xffffu) * static_cast<unsigned>(pitch), ~((split >> 16) * 0x01010101u));
}

struct Rows {
    static const int count = 4;
    const unsigned char* bins;  // of the four rows, in the first column

    __device__ Rows(const Tile& tile) : bins(tile.bins + threadIdx.x * 4) {}

    // Adds the integers of one batch. The index of a leaf grows from its highest bit: the new bit is put in front of the others.
    __device__ void add(const Batch& batch, int trees, int (&sums)[PLANES][count]) const {
        for (int tree = 0; tree < trees; ++tree) {
            unsigned index = 0;
#pragma unroll
            for (int level = 0; level < LEVELS; ++level) {
                const uint2 split = batch.split[tree * LEVELS + level];
                const unsigned is_above = above(*reinterpret_cast<const unsigned*>(bins + split.x), split.y);
                index = (is_above & 0x80808080u) | (index >> 1 & 0x7f7f7f7fu);
            }
#pragma unroll
            for (int row = 0; row < count; ++row) {
                const unsigned leaf = index >> (row * 8 + 8 - LEVELS) & (LEAVES - 1);
#pragma unroll
                for (int plane = 0; plane < PLANES; ++plane) {
                    sums[plane][row] += batch.leaf[(tree * PLANES + plane) * LEAVES + leaf];
                }
            }
        }
    }
};

#else

// A split of a leaf-wise tree in shared memory is as in global memory: column and threshold, and two children of 16 bits, which are
// further splits, or leaves, then the complement of the leaf.
struct Rows {
    static const int count = 1;
    const unsigned char* bins;  // of the row, in the first column
    long long pitch;

    __device__ Rows(const Tile& tile) : bins(tile.bins + threadIdx.x), pitch(tile.pitch) {}

    __device__ void add(const Batch& batch, int trees, int (&sums)[PLANES][count]) const {
        for (int tree = 0; tree < trees; ++tree) {
            int at = 0;
            while (at >= 0) {
                const uint2 split = batch.split[tree * SPLITS + at];
                const bool is_above = bins[(split.x & 0xffffu) * pitch] > split.x >> 16;
                at = static_cast<short>(is_above ? split.y >> 16 : split.y & 0xffffu);
            }
            for (int plane = 0; plane < PLANES; ++plane) sums[plane][0] += batch.leaf[(tree * PLANES + plane) * LEAVES + ~at];
        }
    }
};

#endif

__device__ inline void load_splits(const uint2* split, int first, int count, long long pitch, Batch& batch) {
    for (int i = static_cast<int>(threadIdx.x); i < count * SPLITS; i += THREADS) {
        const uint2 given = split[static_cast<long long>(first) * SPLITS + i];
#ifdef LEVELS
        batch.split[i] = prepared(given.x, pitch);
#else
        batch.split[i] = given;
#endif
    }
}

// split: (trees, SPLITS); leaf: (trees, outputs, LEAVES); batches: (batches): first tree and number of trees; unit: (batches, outputs);
// segments: (chains, segments): first batch and the one after the last; decay: (chains, segments); scores: (chains, segments, outputs,
// padded rows).
extern "C" __global__ void __launch_bounds__(THREADS)
    sum_leaves(const unsigned char* bins, long long padded_rows, int columns, const uint2* split, const int* leaf, int outputs,
               const int2* batches, const float* unit, const int2* segments, const double* decay, int n_segments, double* scores) {
    extern __shared__ uint4 memory[];
    Batch& batch = *reinterpret_cast<Batch*>(memory);
    const Tile tile = tile_of(bins, padded_rows, columns, reinterpret_cast<unsigned char*>(memory) + sizeof(Batch));
    const Rows rows(tile);
    const int output = static_cast<int>(blockIdx.z) * PLANES;
    const long long first_row = static_cast<long long>(blockIdx.x) * TILE + threadIdx.x * Rows::count;
    double score[PLANES][Rows::count] = {};
    for (int s = 0; s < n_segments; ++s) {
        const long long segment = static_cast<long long>(blockIdx.y) * n_segments + s;
        const int2 range = segments[segment];
        float sums[PLANES][Rows::count] = {};
        for (int b = range.x; b < range.y; ++b) {
            const int2 trees = batches[b];
            __syncthreads();  // the batch before is not read any more
            load_splits(split, trees.x, trees.y, tile.pitch, batch);
            for (int plane = 0; plane < PLANES; ++plane) {
                load_leaves(leaf, trees.x, trees.y, outputs, plane, min(output + plane, outputs - 1), batch);
            }
            __syncthreads();
            int integers[PLANES][Rows::count] = {};
            rows.add(batch, trees.y, integers);
            for (int plane = 0; plane < PLANES; ++plane) {
                const float of_batch = unit[static_cast<long long>(b) * outputs + min(output + plane, outputs - 1)];
                for (int row = 0; row < Rows::count; ++row) sums[plane][row] += static_cast<float>(integers[plane][row]) * of_batch;
            }
        }
        for (int plane = 0; plane < PLANES && output + plane < outputs; ++plane) {
            double* of_output = scores + (segment * outputs + output + plane) * padded_rows + first_row;
            for (int row = 0; row < Rows::count; ++row) {
                score[plane][row] = decay[segment] * score[plane][row] + static_cast<double>(sums[plane][row]);
                of_output[row] = score[plane][row];
            }
        }
    }
}
