// Radix sort of numbers by bytes. For long columns it is several times as fast as a comparison sort.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace epiboost {

// Unsigned integers of the size of a number.
template <class Number>
using KeyOf = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;

// Sorts ascending. The numbers, of single or double precision, must not contain NaN.
template <class Number>
void radix_sort(std::vector<Number>& numbers) {
    constexpr std::size_t min_size = 2048;  // below, the histograms cost more than they save
    if (numbers.size() < min_size) return std::sort(numbers.begin(), numbers.end());
    using Key = KeyOf<Number>;
    constexpr int digits = sizeof(Key);
    constexpr Key sign = Key{1} << (8 * digits - 1);
    std::vector<Key> keys(numbers.size());  // integers in the order of the numbers
    std::vector<Key> spare(numbers.size());
    std::array<std::array<std::size_t, 256>, digits> count{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto bits = std::bit_cast<Key>(numbers[i]);
        keys[i] = bits ^ (bits & sign ? static_cast<Key>(~Key{0}) : sign);
        for (int digit = 0; digit < digits; ++digit) ++count[digit][keys[i] >> (8 * digit) & 255];
    }
    for (int digit = 0; digit < digits; ++digit) {
        auto& position = count[digit];
        if (*std::max_element(position.begin(), position.end()) == keys.size()) continue;  // all keys share this digit
        std::size_t next = 0;
        for (std::size_t& first : position) next += std::exchange(first, next);
        for (const Key key : keys) spare[position[key >> (8 * digit) & 255]++] = key;
        keys.swap(spare);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
        numbers[i] = std::bit_cast<Number>(static_cast<Key>(keys[i] ^ (keys[i] & sign ? sign : static_cast<Key>(~Key{0}))));
    }
}

}  // namespace epiboost
