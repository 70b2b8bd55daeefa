// Sums leaf values in registers of NEON. The 64 bytes of a plane of leaf values fill four registers, in which one instruction (TBL)
// looks up sixteen rows. Sums of bytes fit 16 bits for a batch.
#pragma once

#include "prediction/compiled_trees.hpp"
#include "prediction/strip.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace epiboost {

// Sums of the three bytes of sixteen rows. The highest byte is signed.
struct ByteSums {
    uint16x8_t low[2] = {vdupq_n_u16(0), vdupq_n_u16(0)};
    uint16x8_t middle[2] = {vdupq_n_u16(0), vdupq_n_u16(0)};
    int16x8_t high[2] = {vdupq_n_s16(0), vdupq_n_s16(0)};

    void add_low(uint8x16_t bytes) {
        low[0] = vaddw_u8(low[0], vget_low_u8(bytes));
        low[1] = vaddw_high_u8(low[1], bytes);
    }
    void add_middle(uint8x16_t bytes) {
        middle[0] = vaddw_u8(middle[0], vget_low_u8(bytes));
        middle[1] = vaddw_high_u8(middle[1], bytes);
    }
    void add_high(int8x16_t bytes) {
        high[0] = vaddw_s8(high[0], vget_low_s8(bytes));
        high[1] = vaddw_high_s8(high[1], bytes);
    }

    // Adds the sums, in units of the batch, to those of the rows.
    void add_to(float unit, float* sums) const {
        for (int half = 0; half < 2; ++half, sums += 8) {
            add_four(vget_low_u16(low[half]), vget_low_u16(middle[half]), vget_low_s16(high[half]), unit, sums);
            add_four(vget_high_u16(low[half]), vget_high_u16(middle[half]), vget_high_s16(high[half]), unit, sums + 4);
        }
    }

  private:
    static void add_four(uint16x4_t low, uint16x4_t middle, int16x4_t high, float unit, float* sums) {
        const uint32x4_t lower = vaddq_u32(vmovl_u16(low), vshll_n_u16(middle, 8));
        const int32x4_t integers = vaddq_s32(vreinterpretq_s32_u32(lower), vshlq_n_s32(vmovl_s16(high), 16));
        vst1q_f32(sums, vaddq_f32(vld1q_f32(sums), vmulq_n_f32(vcvtq_f32_s32(integers), unit)));
    }
};

// Sums 32 rows for one output. `step` is the distance between the tables of two trees.
inline void add_32_rows(const ByteTable* table, std::size_t step, const std::uint8_t* leaf, std::size_t count, float unit,
                        float* sums) {
    ByteSums first;
    ByteSums second;
    for (std::size_t tree = 0; tree < count; ++tree, leaf += leaf_stride, table += step) {
        const uint8x16_t at = vld1q_u8(leaf);
        const uint8x16_t next = vld1q_u8(leaf + 16);
        const uint8x16x4_t low = vld1q_u8_x4(table->plane[0]);
        first.add_low(vqtbl4q_u8(low, at));
        second.add_low(vqtbl4q_u8(low, next));
        const uint8x16x4_t middle = vld1q_u8_x4(table->plane[1]);
        first.add_middle(vqtbl4q_u8(middle, at));
        second.add_middle(vqtbl4q_u8(middle, next));
        const uint8x16x4_t high = vld1q_u8_x4(table->plane[2]);
        first.add_high(vreinterpretq_s8_u8(vqtbl4q_u8(high, at)));
        second.add_high(vreinterpretq_s8_u8(vqtbl4q_u8(high, next)));
    }
    first.add_to(unit, sums);
    second.add_to(unit, sums + 16);
}

// Adds the values of one output of some trees to its sums.
inline void add_table_values(const ByteTable* table, std::size_t step, std::size_t trees, float unit, std::size_t output,
                             Strip& strip) {
    float* sums = strip.sums.data() + output * strip.stride();
    for (std::size_t row = 0; row < strip.blocks * block; row += 32) {
        add_32_rows(table, step, strip.leaves[0].of_row + row, trees, unit, sums + row);
    }
}

}  // namespace epiboost

#endif
