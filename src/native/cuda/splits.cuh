// The best split of a level or of a leaf, as one number: a larger one is better, so that a maximum over blocks finds it. Order of preference:
// score, then the lower feature, then the lower threshold. Zero stands for no split.
#pragma once

#include "cuda/chains.cuh"

namespace epiboost::cuda {

inline std::uint64_t pack_split(float score, int feature, int threshold) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(score + 0.0f);  // no negative zero
    const std::uint32_t ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
    const auto preference = static_cast<std::uint64_t>(65535 - feature) << 8 | static_cast<std::uint64_t>(255 - threshold);
    return static_cast<std::uint64_t>(ordered) << 24 | preference;
}

// The score of a split.
inline float unpack_score(std::uint64_t best) {
    const auto ordered = static_cast<std::uint32_t>(best >> 24);
    return std::bit_cast<float>(ordered >> 31 ? ordered & 0x7fffffffu : ~ordered);
}

struct FoundSplit {
    int feature;
    int threshold;
};

inline FoundSplit unpack_split(std::uint64_t best) {
    if (best == 0) return {0, 255};  // no bin is above 255: all rows go to the left
    return {65535 - static_cast<int>(best >> 8 & 0xffff), 255 - static_cast<int>(best & 0xff)};
}

// The split of a level of the current tree.
inline FoundSplit split_of(const Chains& chains, const Member& member, int tree, int level) {
    if (tree >= chains.given) return unpack_split(member.best[level]);
    const int at = tree * chains.depth + level;
    return {member.feature[at], member.threshold[at]};
}

}  // namespace epiboost::cuda
