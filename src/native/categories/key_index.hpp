// A hash table from keys to their positions in a list.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/compiler.hpp"

namespace epiboost {

// Finds the positions of distinct, non-negative keys. Dense keys are a direct table with one slot per number; other keys are
// hashed with linear probing.
class KeyIndex {
  public:
    explicit KeyIndex(std::span<const std::int64_t> keys) : count_(static_cast<std::int64_t>(keys.size())) {
        if (keys.empty()) throw std::invalid_argument("at least one key is needed");
        const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
        if (*least < 0) throw std::invalid_argument("keys must not be negative");
        is_dense_ = *most < max_slots_per_key * count_;
        if (!is_dense_) shift_ = 64 - std::bit_width(2 * keys.size());
        slots_.assign(is_dense_ ? static_cast<std::size_t>(*most) + 1 : std::size_t{1} << (64 - shift_), Slot{none, count_});
        for (std::size_t i = 0; i < keys.size(); ++i) {
            slots_[slot_of(keys[i])] = {keys[i], static_cast<std::int64_t>(i)};
        }
    }

    // Writes the position of each key; the number of keys for keys that are not in the list.
    void find(std::span<const std::int64_t> wanted, std::span<std::int64_t> positions) const {
        for (std::size_t i = 0; i < wanted.size(); ++i) positions[i] = position_of(wanted[i]);
    }

    std::int64_t position_of(std::int64_t key) const {
        if (key < 0 || (is_dense_ && static_cast<std::size_t>(key) >= slots_.size())) return count_;
        return slots_[slot_of(key)].position;
    }

    // Prefetches the slot of a key.
    void prefetch(std::int64_t key) const {
        const bool has_slot = key >= 0 && (!is_dense_ || static_cast<std::size_t>(key) < slots_.size());
        if (has_slot) epiboost::prefetch(&slots_[hash_of(key)]);
    }

    std::int64_t count() const { return count_; }

  private:
    static constexpr std::int64_t none = -1;
    static constexpr std::int64_t max_slots_per_key = 4;  // the hash table has two to four slots per key

    struct Slot {
        std::int64_t key;
        std::int64_t position;
    };

    // The slot that holds a key, or the free slot where it would be inserted.
    std::size_t slot_of(std::int64_t key) const {
        std::size_t slot = hash_of(key);
        if (is_dense_) return slot;
        while (slots_[slot].key != key && slots_[slot].key != none) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    std::size_t hash_of(std::int64_t key) const {
        return is_dense_ ? static_cast<std::size_t>(key) : (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> shift_;
    }

    std::int64_t count_;
    bool is_dense_ = true;
    int shift_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace epiboost
