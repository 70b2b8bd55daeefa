#include "prediction/ready_trees.hpp"

#include <algorithm>
#include <cmath>

#include "prediction/walk.hpp"

namespace epiboost {
namespace {

std::vector<ReadyTrees::Point> points_of(const RawTrees& raw) {
    std::vector<ReadyTrees::Point> points(raw.feature.size());
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = {raw.feature[i], raw.threshold[i]};
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
}

// A power of two of which the largest value takes less than 2^23.
float unit_for(float largest) {
    if (!(largest > 0.0f)) return 1.0f;
    return std::ldexp(1.0f, std::max(std::ilogb(largest) + 2 - value_bits, -126));
}

std::int32_t whole(float value, float unit) {
    constexpr long most = (1l << (value_bits - 1)) - 1;
    return static_cast<std::int32_t>(std::clamp(std::lround(static_cast<double>(value) / unit), -most, most));
}

}  // namespace

ReadyTrees::ReadyTrees(const RawTrees& raw)
    : members(raw.members), parts_each(raw.parts), depth(raw.depth), outputs(raw.outputs), points(points_of(raw)) {
    for (std::size_t member = 0; member < raw.members; ++member) {
        std::size_t tree = 0;
        for (std::size_t part = 0; part < raw.parts; ++part) {
            const auto end = static_cast<std::size_t>(raw.end[member * raw.parts + part]);
            const std::size_t first_stretch = stretches.size();
            while (tree < end) {  // stretches of about the same length
                const std::size_t stretches_left = (end - tree + trees_at_once - 1) / trees_at_once;
                const std::size_t count = (end - tree + stretches_left - 1) / stretches_left;
                add_stretch(raw, member * raw.trees + tree, count);
                tree += count;
            }
            parts.push_back({first_stretch, stretches.size(), raw.carry[member * raw.parts + part]});
        }
    }
}

void ReadyTrees::add_stretch(const RawTrees& raw, std::size_t first, std::size_t trees) {
    const auto levels = static_cast<std::size_t>(depth);
    stretches.push_back({split.size() / levels, trees});
    for (std::size_t i = first * levels; i < (first + trees) * levels; ++i) {
        const Point point{raw.feature[i], raw.threshold[i]};
        split.push_back(static_cast<std::uint32_t>(std::lower_bound(points.begin(), points.end(), point) - points.begin()));
    }
    const auto width = static_cast<std::size_t>(outputs);
    const float* leaf = raw.leaf.data() + first * leaves() * width;
    std::vector<float> largest(width, 0.0f);
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) {
        largest[i % width] = std::max(largest[i % width], std::abs(leaf[i]));
    }
    for (const float most : largest) unit.push_back(unit_for(most));
    const float* units = unit.data() + unit.size() - width;
    const std::size_t start = value.size();
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) value.push_back(whole(leaf[i], units[i % width]));
    if (!walks_by_halves(depth)) return;
    halves.resize(halves.size() + trees * width);
    Halves* own = halves.data() + halves.size() - trees * width;
    for (std::size_t i = 0; i < trees * leaves() * width; ++i) {
        Halves& table = own[i / (leaves() * width) * width + i % width];
        const std::size_t leaf_number = i / width % leaves();
        table.upper[leaf_number] = static_cast<std::int16_t>(value[start + i] >> half_bits);
        table.lower[leaf_number] = static_cast<std::int16_t>(value[start + i] & ((1 << half_bits) - 1));
    }
}

}  // namespace epiboost
