// A vector of integers that stays in registers. Compilers turn loops over so few numbers into scalar code.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace epiboost {

#if defined(__AVX2__)
constexpr std::size_t register_bytes = 32;  // with AVX-512 too: two of 32 bytes are stored faster than one of 64
#else
constexpr std::size_t register_bytes = 16;
#endif

// As few registers as hold `Count` integers: 12 of 32 bits are 8 and 4 with AVX2. Compilers would keep longer ones in memory.
template <class Integer, int Count>
class IntegerVector {
#if defined(__GNUC__) || defined(__clang__)
    static constexpr int most_lanes = register_bytes / sizeof(Integer);
    static constexpr int lanes = std::min(most_lanes, static_cast<int>(std::bit_floor(static_cast<unsigned>(Count))));
    typedef Integer Register __attribute__((vector_size(sizeof(Integer) * lanes)));
    Register register_ = {};
#else
    static constexpr int lanes = Count;
    Integer register_[lanes] = {};
#endif
    static_assert(Count * sizeof(Integer) % 16 == 0, "the registers of every instruction set have 16 bytes or a multiple");

  public:
    void load(const Integer* from) {
        std::memcpy(&register_, from, sizeof register_);
        if constexpr (Count > lanes) rest_.load(from + lanes);
    }
    // Loads integers of half the width.
    template <class Narrow>
    void load_narrow(const Narrow* from) {
#if defined(__GNUC__) || defined(__clang__)
        typedef Narrow Half __attribute__((vector_size(sizeof(Narrow) * lanes)));
        Half half;
        std::memcpy(&half, from, sizeof half);
        register_ = __builtin_convertvector(half, Register);
#else
        for (int k = 0; k < lanes; ++k) register_[k] = from[k];
#endif
        if constexpr (Count > lanes) rest_.load_narrow(from + lanes);
    }
    void store(Integer* to) const {
        std::memcpy(to, &register_, sizeof register_);
        if constexpr (Count > lanes) rest_.store(to + lanes);
    }
    void add(const IntegerVector& other) {
#if defined(__GNUC__) || defined(__clang__)
        register_ += other.register_;
#else
        for (int k = 0; k < lanes; ++k) register_[k] += other.register_[k];
#endif
        if constexpr (Count > lanes) rest_.add(other.rest_);
    }
    void add(const Integer* values) {
        IntegerVector other;
        other.load(values);
        add(other);
    }

  private:
    struct Nothing {};
    template <int Others, bool HasOthers>
    struct Rest {
        using type = Nothing;
    };
    template <int Others>
    struct Rest<Others, true> {
        using type = IntegerVector<Integer, Others>;
    };
    typename Rest<Count - lanes, (Count > lanes)>::type rest_;
};

}  // namespace epiboost
