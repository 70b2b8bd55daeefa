// Bins of a table of numbers, or of bins, in the layout that trees read.
//
// Bins are bytes, ordered by column, then by row; the number of rows is padded to a multiple of 512 with zeros. A block stages
// 128 rows of at most 32 columns in shared memory: the table is read and the bins are written in the order of their addresses.
//
// NUMBER is the type of the table: double, float or unsigned char, which is a bin already.

#define STAGED_ROWS 128
#define STAGED_COLUMNS 32
#define PITCH (STAGED_ROWS + 4)  // of a column in shared memory: consecutive columns are in different banks

// Bin of a value: 0 if it is missing, else one plus the number of ascending borders below it.
__device__ inline unsigned bin_of(double value, const double* borders, long long size) {
    if (value != value) return 0;
    long long below = 0;
    while (size > 0) {
        const long long half = (size + 1) / 2;
        below += borders[below + half - 1] < value ? half : 0;
        size -= half;
    }
    return static_cast<unsigned>(below + 1);
}

extern "C" __global__ void find_bins(const NUMBER* table, long long rows, int columns, long long row_stride,
                                     long long column_stride, const double* borders, const long long* offsets,
                                     unsigned char* bins, long long padded_rows) {
    __shared__ unsigned char staged[STAGED_COLUMNS * PITCH];
    const long long first_row = static_cast<long long>(blockIdx.x) * STAGED_ROWS;
    const int first_column = static_cast<int>(blockIdx.y) * STAGED_COLUMNS;
    const int width = min(STAGED_COLUMNS, columns - first_column);
    const bool is_by_row = row_stride >= column_stride;
    for (int i = static_cast<int>(threadIdx.x); i < STAGED_ROWS * width; i += static_cast<int>(blockDim.x)) {
        const int r = is_by_row ? i / width : i % STAGED_ROWS;
        const int c = is_by_row ? i % width : i / STAGED_ROWS;
        const long long row = first_row + r;
        const int column = first_column + c;
        unsigned bin = 0;
        if (row < rows) {
            const NUMBER value = table[row * row_stride + column * column_stride];
            if (sizeof(NUMBER) == 1) {
                bin = static_cast<unsigned>(value);
            } else {
                bin = bin_of(static_cast<double>(value), borders + offsets[column], offsets[column + 1] - offsets[column]);
            }
        }
        staged[c * PITCH + r] = static_cast<unsigned char>(bin);
    }
    __syncthreads();
    const int words = STAGED_ROWS / 4;
    for (int i = static_cast<int>(threadIdx.x); i < words * width; i += static_cast<int>(blockDim.x)) {
        const int c = i / words;
        const int word = i % words;
        unsigned* column = reinterpret_cast<unsigned*>(bins + (first_column + c) * padded_rows + first_row);
        column[word] = *reinterpret_cast<const unsigned*>(staged + c * PITCH + word * 4);
    }
}
