// Bins of a table of numbers, or of bins, in the layout that trees read.
//
// Bins are bytes, ordered by column, then by row; the number of rows is padded to a multiple of 512 with zeros. A block stages
// 128 rows of at most 32 columns in shared memory: the table is read and the bins are written in the order of their addresses.
//
// EPIBOOST_NUMBER is the type of the table: double, float or unsigned char, which is a bin already.
#include "cuda/device.cuh"

namespace epiboost::cuda {

constexpr int staged_rows = 128;
constexpr int staged_columns = 32;
constexpr int staged_pitch = staged_rows + 4;  // bytes of a column in shared memory: consecutive columns are in different banks

// Bin of a value: 0 if it is missing, else one plus the number of ascending borders below it.
inline unsigned bin_of(double value, const double* borders, std::int64_t size) {
    if (value != value) return 0;
    std::int64_t below = 0;
    while (size > 0) {
        const std::int64_t half = (size + 1) / 2;
        below += borders[below + half - 1] < value ? half : 0;
        size -= half;
    }
    return static_cast<unsigned>(below + 1);
}

}  // namespace epiboost::cuda

EPIBOOST_KERNEL find_bins(const EPIBOOST_NUMBER* table, std::int64_t rows, int columns, std::int64_t row_stride,
                          std::int64_t column_stride, const double* borders, const std::int64_t* offsets, std::uint8_t* bins,
                          std::int64_t padded_rows) {
    using namespace epiboost::cuda;
    __shared__ std::uint32_t staged_words[staged_columns * staged_pitch / 4];
    auto* staged = reinterpret_cast<std::uint8_t*>(staged_words);
    const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * staged_rows;
    const int first_column = static_cast<int>(blockIdx.y) * staged_columns;
    const int width = columns - first_column < staged_columns ? columns - first_column : staged_columns;
    const bool is_by_row = row_stride >= column_stride;
    for (int i = static_cast<int>(threadIdx.x); i < staged_rows * width; i += static_cast<int>(blockDim.x)) {
        const int r = is_by_row ? i / width : i % staged_rows;
        const int c = is_by_row ? i % width : i / staged_rows;
        const std::int64_t row = first_row + r;
        const int column = first_column + c;
        unsigned bin = 0;
        if (row < rows) {
            const EPIBOOST_NUMBER value = table[row * row_stride + column * column_stride];
            if constexpr (sizeof(EPIBOOST_NUMBER) == 1) {
                bin = value;
            } else {
                bin = bin_of(static_cast<double>(value), borders + offsets[column], offsets[column + 1] - offsets[column]);
            }
        }
        staged[c * staged_pitch + r] = static_cast<std::uint8_t>(bin);
    }
    __syncthreads();
    const int words = staged_rows / 4;
    for (int i = static_cast<int>(threadIdx.x); i < words * width; i += static_cast<int>(blockDim.x)) {
        const int c = i / words;
        const int word = i % words;
        std::uint32_t* column = reinterpret_cast<std::uint32_t*>(bins + (first_column + c) * padded_rows + first_row);
        column[word] = staged_words[c * (staged_pitch / 4) + word];
    }
}
