// Radix sort of numbers by digits of eleven bits. For long columns it is several times as fast as a comparison sort.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace epiboost {

// Sorts keys by the 32 bits from `shift` on. `spare` has the same size.
template <class Key>
void sort_by_half(std::span<Key> keys, std::span<Key> spare, int shift) {
    constexpr int bits = 11;
    constexpr int digits = 3;
    constexpr std::size_t values = std::size_t{1} << bits;
    const auto digit_of = [shift](Key key, int digit) {
        return static_cast<std::size_t>(static_cast<std::uint32_t>(key >> shift) >> bits * digit) & (values - 1);
    };
    std::array<std::array<std::size_t, values>, digits> count{};
    for (const Key key : keys) {
        for (int digit = 0; digit < digits; ++digit) ++count[digit][digit_of(key, digit)];
    }
    bool is_swapped = false;
    for (int digit = 0; digit < digits; ++digit) {
        auto& position = count[digit];
        if (position[digit_of(keys.front(), digit)] == keys.size()) continue;  // all keys share this digit
        std::size_t next = 0;
        for (std::size_t& first : position) next += std::exchange(first, next);
        for (const Key key : keys) spare[position[digit_of(key, digit)]++] = key;
        std::swap(keys, spare);
        is_swapped = !is_swapped;
    }
    if (is_swapped) std::copy(keys.begin(), keys.end(), spare.begin());
}

// Sorts numbers of single or double precision ascending, one vector after the other in the same memory. They must not contain NaN.
// The upper halves of numbers in double precision mostly tell them apart: only runs of equal ones are sorted by the lower halves.
template <class Number>
class RadixSort {
  public:
    void operator()(std::vector<Number>& numbers) {
        if (numbers.size() < min_size) return std::sort(numbers.begin(), numbers.end());
        keys_.resize(numbers.size());
        spare_.resize(numbers.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const auto bits = std::bit_cast<Key>(numbers[i]);
            keys_[i] = bits ^ (bits & sign ? static_cast<Key>(~Key{0}) : sign);
        }
        sort_by_half<Key>(keys_, spare_, upper);
        if constexpr (upper > 0) sort_runs();
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            numbers[i] = std::bit_cast<Number>(static_cast<Key>(keys_[i] ^ (keys_[i] & sign ? sign : static_cast<Key>(~Key{0}))));
        }
    }

  private:
    using Key = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;  // integers in the order of the numbers
    static constexpr std::size_t min_size = 2048;  // below, the histograms cost more than they save
    static constexpr int upper = 8 * sizeof(Key) - 32;
    static constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);

    // Sorts runs of keys whose upper halves are the same.
    void sort_runs() {
        const auto half = [&](std::size_t i) { return keys_[i] >> upper; };
        for (std::size_t first = 0, last = 0; first < keys_.size(); first = last) {
            bool is_sorted = true;
            for (last = first + 1; last < keys_.size() && half(last) == half(first); ++last) {
                is_sorted &= keys_[last - 1] <= keys_[last];
            }
            if (is_sorted) continue;
            const auto run = std::span(keys_).subspan(first, last - first);
            if (run.size() < min_size) {
                std::sort(run.begin(), run.end());
            } else {
                sort_by_half(run, std::span(spare_).subspan(first, last - first), 0);
            }
        }
    }

    std::vector<Key> keys_;
    std::vector<Key> spare_;
};

}  // namespace epiboost
