// Limits and codes that all parts of training share.
#pragma once

#include "core/standard.hpp"

namespace epiboost {

// Rows are processed in blocks: 64 bins are one AVX-512 register and 64 comparisons fit a 64-bit mask. Arrays with one
// entry per row are padded to whole blocks.
constexpr std::size_t block = 64;
constexpr int max_depth = 8;     // of symmetric trees: a leaf index fits one byte
constexpr int max_leaves = 255;  // of leaf-wise trees: the last byte marks rows in no leaf, and splits that are not made
constexpr int max_splits = max_leaves - 1;
constexpr std::uint8_t no_leaf = 255;
constexpr int max_outputs = 1024;

// Families of distributions other than these follow, see families/families.hpp.
enum class Objective : int { normal = 0, bernoulli = 1, categorical = 2 };

constexpr bool is_of_classes(Objective objective) { return objective == Objective::bernoulli || objective == Objective::categorical; }

}  // namespace epiboost
