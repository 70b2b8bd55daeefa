// A vector of 32-bit integers that stays in registers. Compilers turn loops over so few numbers into scalar code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace epiboost {

// `Count` is a power of two, or the sum of two: 12 are 8 and 4.
template <int Count>
class IntegerVector {
#if defined(__GNUC__) || defined(__clang__)
    static constexpr int lanes_of(int count) { return count >= 16 ? 16 : count >= 8 ? 8 : 4; }
    static constexpr int lanes = lanes_of(Count);
    typedef std::int32_t Register __attribute__((vector_size(4 * lanes)));
    Register register_ = {};
#else
    static constexpr int lanes = Count;
    std::int32_t register_[lanes] = {};
#endif
    static_assert(Count % 4 == 0);

  public:
    void load(const std::int32_t* from) {
        std::memcpy(&register_, from, sizeof register_);
        if constexpr (Count > lanes) rest_.load(from + lanes);
    }
    void store(std::int32_t* to) const {
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
    void add(const std::int32_t* values) {
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
        using type = IntegerVector<Others>;
    };
    typename Rest<Count - lanes, (Count > lanes)>::type rest_;
};

}  // namespace epiboost
