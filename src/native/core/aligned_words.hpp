// An array of words that begins at a cache line, so that no vector of them lies across two lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epiboost {

class AlignedWords {
  public:
    AlignedWords() = default;
    explicit AlignedWords(std::size_t size) { fill_zeros(size); }

    void fill_zeros(std::size_t size) { lines_.assign(size / words_per_line + 1, {}); }

    std::int64_t* data() { return lines_.data()->word; }
    const std::int64_t* data() const { return lines_.data()->word; }

  private:
    static constexpr std::size_t words_per_line = 8;
    struct alignas(64) Line {
        std::int64_t word[words_per_line] = {};
    };

    std::vector<Line> lines_;
};

}  // namespace epiboost
