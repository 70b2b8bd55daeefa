// Trees as the predictor reads them.
//
// Splits are numbers of `points`: the few thousand different (feature, threshold) pairs of a forest are answered once for a
// row and then looked up. Leaf values are whole numbers of a unit that a stretch of trees shares, so that their sums are
// exact: neither the instruction set nor how many rows are taken at once can change them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.hpp"

namespace epiboost {

constexpr std::size_t trees_at_once = 16;  // in a stretch: sums of twelve-bit halves then fit sixteen bits
constexpr int value_bits = 24;             // of a leaf value, sign included
constexpr int half_bits = value_bits / 2;

// The values of one output of a tree of at most six levels: what registers hold for look-ups.
struct alignas(64) Halves {
    std::int16_t upper[64] = {};
    std::int16_t lower[64] = {};
};

// Arrays of a forest, as they were trained or read from a file. Leaf values hold the shrinkage within their part.
struct RawTrees {
    std::size_t members;
    std::size_t trees;   // room for so many trees a member
    std::size_t parts;   // a member
    int depth;
    int outputs;
    std::span<const std::uint16_t> feature;    // (members, trees, depth)
    std::span<const std::uint8_t> threshold;   // (members, trees, depth)
    std::span<const float> leaf;               // (members, trees, leaves, outputs)
    std::span<const std::int32_t> end;         // (members, parts): the tree after a part's last
    std::span<const double> carry;             // (members, parts)
};

// A member is read in parts; the scores after part p are one output of the prediction:
//     score(p) = carry(p) * score(p - 1) + sum of the leaf values of the trees in part p.
// With the shrinkage inside a part already in the leaf values, one pass gives every truncation of a chain.
struct ReadyTrees {
    struct Point {
        std::uint16_t feature;
        std::uint8_t threshold;
        auto operator<=>(const Point&) const = default;
    };
    struct Stretch {
        std::size_t first;  // tree
        std::size_t trees;
    };
    struct Part {
        std::size_t first;  // stretch
        std::size_t end;
        double carry;
    };

    explicit ReadyTrees(const RawTrees& raw);

    std::size_t leaves() const { return std::size_t{1} << depth; }

    std::size_t members;
    std::size_t parts_each;
    int depth;
    int outputs;
    std::vector<Point> points;          // sorted
    std::vector<Part> parts;            // (members, parts)
    std::vector<Stretch> stretches;
    std::vector<float> unit;            // (stretches, outputs)
    std::vector<std::uint32_t> split;   // (trees, depth): which point
    std::vector<std::int32_t> value;    // (trees, leaves, outputs)
    std::vector<Halves> halves;         // (trees, outputs), where registers are used for look-ups

  private:
    void add_stretch(const RawTrees& raw, std::size_t first, std::size_t trees);
};

}  // namespace epiboost
