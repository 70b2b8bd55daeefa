// Where keys stand in a list of keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace epiboost {

// Finds keys that are none of them negative, each of them once in the list. Where they leave few numbers out, every number
// has a slot of its own; else a key lies in the slot of its hash, or in the first free one after it.
class Keys {
  public:
    explicit Keys(std::span<const std::int64_t> keys) : count_(static_cast<std::int64_t>(keys.size())) {
        if (keys.empty()) throw std::invalid_argument("there must be keys");
        const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
        if (*least < 0) throw std::invalid_argument("keys must not be negative");
        is_dense_ = *most < 4 * count_;
        if (!is_dense_) shift_ = 64 - std::bit_width(2 * keys.size());
        slots_.assign(is_dense_ ? static_cast<std::size_t>(*most) + 1 : std::size_t{1} << (64 - shift_), Slot{none, count_});
        for (std::size_t place = 0; place < keys.size(); ++place) {
            slots_[slot_of(keys[place])] = {keys[place], static_cast<std::int64_t>(place)};
        }
    }

    // The place of each key; the number of keys for one that is not there.
    void find(std::span<const std::int64_t> wanted, std::span<std::int64_t> places) const {
        for (std::size_t i = 0; i < wanted.size(); ++i) places[i] = place_of(wanted[i]);
    }

    std::int64_t place_of(std::int64_t key) const {
        if (key < 0 || (is_dense_ && static_cast<std::size_t>(key) >= slots_.size())) return count_;
        return slots_[slot_of(key)].place;
    }

    // Asks for what finding a key will need.
    void prepare(std::int64_t key) const {
        if (key >= 0 && (!is_dense_ || static_cast<std::size_t>(key) < slots_.size())) __builtin_prefetch(&slots_[hashed(key)]);
    }

    std::int64_t count() const { return count_; }

  private:
    static constexpr std::int64_t none = -1;

    struct Slot {
        std::int64_t key;
        std::int64_t place;
    };

    // The slot that holds a key or, if there is none, where it would be put.
    std::size_t slot_of(std::int64_t key) const {
        std::size_t slot = hashed(key);
        if (is_dense_) return slot;
        while (slots_[slot].key != key && slots_[slot].key != none) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    std::size_t hashed(std::int64_t key) const {
        return is_dense_ ? static_cast<std::size_t>(key) : (static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15u) >> shift_;
    }

    std::int64_t count_;
    bool is_dense_ = true;
    int shift_ = 0;
    std::vector<Slot> slots_;
};

}  // namespace epiboost
