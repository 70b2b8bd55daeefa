// The score of a split with noise, see random_strength.hpp. Kernels for GPUs are compiled from this file too.
#pragma once

#include "core/standard.hpp"

namespace epiboost {

inline float noisy_score(float score, float deviation, float noise) { return std::sqrt(score) + deviation * noise; }

}  // namespace epiboost
