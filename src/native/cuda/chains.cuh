// What the kernels work on: arrays of all chains, as pointers. The host reads these structures from this file (layout.py), so a
// member is one line: a type, a name and a semicolon.
#pragma once

#include "core/constants.hpp"
#include "families/families.hpp"
#include "core/standard.hpp"

namespace epiboost::cuda {

using std::int32_t;
using std::int64_t;
using std::int8_t;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

// The same for all chains; set when the kernels are compiled.
constexpr auto objective = static_cast<Objective>(EPIBOOST_OBJECTIVE);
constexpr int outputs = EPIBOOST_OUTPUTS;
using CompiledFamily = FamilyOf<objective>;  // any for the Normal and for classes
constexpr int lanes = outputs + 1;                        // of a histogram's cell: gradients, and the weight last
constexpr int score_lanes = EPIBOOST_SCORE_LANES;         // in which the CPU sums a score; 1 if one output after the other
constexpr bool packs = outputs == 2 && score_lanes == 1;  // a cell is one word of 64 bits, as in PackedTwo
constexpr int planes = packs ? 2 : lanes;                 // of a histogram: arrays of 32-bit numbers, one per cell
constexpr int columns_at_once = EPIBOOST_COLUMNS;         // whose histograms one block sums
constexpr bool counts_squares = EPIBOOST_COUNTS_SQUARES;  // whether scores or their noise need the sums of squared gradients
constexpr bool is_monotone = EPIBOOST_MONOTONE;           // whether a chain has monotone constraints
constexpr bool is_leaf_wise = EPIBOOST_LEAF_WISE;         // whether trees grow leaf by leaf, and not level by level
constexpr int sum_lanes = lanes + (is_monotone ? 1 : 0);  // of the sums of a leaf: noise in the gradients of the first output last

// Factors of one tree, which the host computes.
struct Step {
    float decay;        // of the stored scores before the tree
    float scale;        // from leaf values to the units of the stored scores
    float decay_after;  // of the stored scores after the tree
    float factor;       // by which the stored scores are multiplied before the tree; 1 almost always
    float score_noise;  // standard deviation of the noise on scores, in root mean square gradients
};

// One chain. Arrays with one entry per row have `stride` entries per column or output, a multiple of 64. Null pointers stand for
// what is not needed, or the same for all rows.
struct Member {
    uint64_t seed;
    uint64_t rows;
    uint64_t stride;
    const uint8_t* bins;  // (columns, stride)
    const int32_t* lowest;  // (columns): the bins that occur
    const int32_t* highest;  // (columns)
    const float* y;  // (targets, stride)
    const float* weight;  // null: 1
    const float* offset;  // (outputs, stride)
    const float* neighbour_weight;
    const uint32_t* key;  // null: the number of the row
    const int32_t* integer_weight;  // null: 1
    const int32_t* draws;  // null: 1
    const Step* steps;  // (trees)
    const float* start;  // (outputs)
    const float* constants;  // of the family
    const uint32_t* groups;  // (columns, group_words): the groups of interacting columns that a column is in; null: no restriction
    const int32_t* monotone;  // (columns): 1 or -1 for columns along which the first output must increase or decrease; null: none
    float* scores;  // (outputs, stride), as F / c^t and without the start
    float* leave_one_out;  // (stride); null without variance guard
    float* own_gradient;  // (stride): of the first output, without weight and noise; null for the Normal and without variance guard
    float* gradients;  // (outputs, stride)
    float* gradient_noise;  // (stride): noise in the gradients of the first output, with monotone constraints
    float* drawn_weight;  // (stride), with subsampling
    int32_t* drawn_integer_weight;  // (stride), with subsampling
    uint8_t* leaf;  // (stride): leaf of each row in the finished tree
    uint8_t* sample_bins;  // (columns, sample_stride): of the rows that choose the splits; `bins` if all rows do
    int8_t* integers;  // (outputs, sample_stride): rounded gradients; packed: (sample_stride, 4), with the weight of 16 bits
    int32_t* sample_weight;  // (sample_stride): integer weights; null: 1
    uint8_t* sample_leaf;  // (2, sample_stride): of a growing tree, at even and odd levels
    uint64_t sample_stride;
    uint64_t sample_capacity;
    uint64_t* drawn;  // number of rows in the sample
    int32_t* largest;  // (2, outputs): bits of the largest gradients of even and odd trees
    int64_t* squares;  // (outputs): sums of squared integer gradients
    uint64_t* best;  // (depth): the best split of each level, see splits.cuh
    uint32_t* histograms;  // (columns, leaves, planes, cells) of the blocks that share a column; null if there is only one
    uint32_t* parents;  // (2, columns, leaves / 4, planes, cells): prefix sums of even and odd levels; null without subtraction
    uint8_t* right_is_lighter;  // (2, columns, leaves / 2): of the two sides of each leaf at the column's best split
    uint32_t* arrived;  // (columns + 2): blocks that have finished a column, the leaf sums, and the losses
    int64_t* sums;  // (2, leaves, sum_lanes): leaf sums of even and odd trees
    float* leaf_steps;  // (outputs, leaves): leaf values in the units of the stored scores
    float* leaf_totals;  // (leaves, 2): see LeafTotals
    float* leaf_changes;  // (3, leaves): see MonotoneLeaves; null without monotone constraints
    int32_t* own_values;  // whether the values of a given tree are those of these rows
    uint16_t* feature;  // (trees, depth)
    uint8_t* threshold;  // (trees, depth)
    float* value;  // (trees, leaves, outputs)
    const uint8_t* evaluation_bins;  // (columns, evaluation_stride); null without evaluation rows
    const float* evaluation_y;  // (targets, evaluation_stride)
    const float* evaluation_weight;
    const float* evaluation_offset;  // (outputs, evaluation_stride)
    float* evaluation_scores;  // (outputs, evaluation_stride)
    double* block_losses;  // (evaluation_stride / 64)
    double* losses;  // (trees)
    uint64_t evaluation_rows;
    uint64_t evaluation_stride;
    double learning_rate;
    double l2;
    double evaluation_total_weight;
    double rows_for_noise;  // number of rows that a root mean square is of
    double column_share;
    float step_rate;  // learning_rate in single precision
    float split_l2;  // l2 for the rows that choose the splits
    float weight_unit;
    float weight_scale;  // fixed point of weights
    float largest_weight;
    float largest_level;  // of the integer gradients
    float noise;
    float variance_guard;
    float neighbour_share;
    uint32_t draw_limit;  // of subsampling, for 32 random bits
    uint32_t structure_limit;  // of the rows that choose the splits
    int32_t subsamples;
    int32_t samples_structure;
    int32_t spare_bits;  // in fixed point
    int32_t noise_bits;  // the same for noise
    int32_t columns;
    int32_t usable_columns;
    int32_t least_weight;  // of a leaf, in integer weights; 0 for any
};

struct Growth;  // of leaf-wise trees, see leafwise/growth.cuh

// What all chains of a launch share.
struct Chains {
    const Member* members;
    int32_t* upcoming;  // number of the tree that begins next
    int32_t* current;  // number of the tree that is being grown
    uint32_t* histograms;  // (blocks, leaves_per_pass, planes, cells): where they do not fit shared memory; otherwise null
    int32_t depth;
    int32_t cells;  // per feature in a histogram, a multiple of four
    int32_t subtracts;  // whether of two sibling leaves only the lighter one is summed
    int32_t leaves_per_pass;  // of a level, that fit the memory of a block
    int32_t row_tiles;  // blocks that share the rows of a column
    int32_t column_groups;  // of columns that one block takes
    int32_t given;  // number of trees that are not grown
    int32_t sum_copies;  // of the leaf sums in shared memory; 0 if they do not fit
    int32_t group_words;
    const Growth* growths;  // one per chain; null for symmetric trees
    int32_t leaves;  // of a leaf-wise tree
    int32_t tile_rows;  // that a block of a leaf-wise tree sums at least, if others can take the rest
};

// Leaves and splits of a tree.
inline int leaves_of(const Chains& chains) { return is_leaf_wise ? chains.leaves : 1 << chains.depth; }
inline int splits_of(const Chains& chains) { return is_leaf_wise ? chains.leaves - 1 : chains.depth; }

}  // namespace epiboost::cuda
