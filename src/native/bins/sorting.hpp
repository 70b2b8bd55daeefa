// Numbers in ascending order, digit by digit: for the long columns that borders are found in, several times as fast as by
// comparisons.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace epiboost {

// None of them may be NaN.
inline void sort_numbers(std::vector<double>& numbers) {
    constexpr std::size_t few = 2048;
    if (numbers.size() < few) return std::sort(numbers.begin(), numbers.end());
    constexpr int digits = 8;
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    std::vector<std::uint64_t> keys(numbers.size());  // ordered as the numbers are
    std::vector<std::uint64_t> spare(numbers.size());
    std::array<std::array<std::size_t, 256>, digits> count{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(numbers[i]);
        keys[i] = bits ^ (bits & sign ? ~std::uint64_t{0} : sign);
        for (int digit = 0; digit < digits; ++digit) ++count[digit][keys[i] >> (8 * digit) & 255];
    }
    for (int digit = 0; digit < digits; ++digit) {
        auto& own = count[digit];
        if (*std::max_element(own.begin(), own.end()) == keys.size()) continue;  // all have the same
        std::size_t next = 0;
        for (std::size_t& place : own) next += std::exchange(place, next);
        for (const std::uint64_t key : keys) spare[own[key >> (8 * digit) & 255]++] = key;
        keys.swap(spare);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        numbers[i] = std::bit_cast<double>(keys[i] ^ (keys[i] & sign ? sign : ~std::uint64_t{0}));
    }
}

}  // namespace epiboost
