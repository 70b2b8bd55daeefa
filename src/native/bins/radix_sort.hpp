// Radix sort of numbers by bytes. For long columns it is several times as fast as a comparison sort.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace epiboost {

// Sorts ascending. The numbers must not contain NaN.
inline void radix_sort(std::vector<double>& numbers) {
    constexpr std::size_t min_size = 2048;  // below, the histograms cost more than they save
    if (numbers.size() < min_size) return std::sort(numbers.begin(), numbers.end());
    constexpr int digits = 8;
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    std::vector<std::uint64_t> keys(numbers.size());  // integers in the order of the numbers
    std::vector<std::uint64_t> spare(numbers.size());
    std::array<std::array<std::size_t, 256>, digits> count{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto bits = std::bit_cast<std::uint64_t>(numbers[i]);
        keys[i] = bits ^ (bits & sign ? ~std::uint64_t{0} : sign);
        for (int digit = 0; digit < digits; ++digit) ++count[digit][keys[i] >> (8 * digit) & 255];
    }
    for (int digit = 0; digit < digits; ++digit) {
        auto& position = count[digit];
        if (*std::max_element(position.begin(), position.end()) == keys.size()) continue;  // all keys share this digit
        std::size_t next = 0;
        for (std::size_t& first : position) next += std::exchange(first, next);
        for (const std::uint64_t key : keys) spare[position[key >> (8 * digit) & 255]++] = key;
        keys.swap(spare);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        numbers[i] = std::bit_cast<double>(keys[i] ^ (keys[i] & sign ? sign : ~std::uint64_t{0}));
    }
}

}  // namespace epiboost
