// The projection of one pair of leaf values onto their order, see monotone.hpp. Kernels for GPUs are compiled from this file too.
#pragma once

namespace epiboost {

constexpr int max_sweeps = 100;        // most trees are in order after a few
constexpr double min_movement = 1e-6;  // of the largest value, at which the sweeps end

// Moves two values so that the lower one is not above the upper one, and takes the pair's last projection back first: `push` is how
// far it has been pushed, times weight. `inverse_lower` and `inverse_upper` are the inverse weights. Returns the larger movement.
inline double project_pair(double& lower, double& upper, double inverse_lower, double inverse_upper, double& push) {
    const double difference = lower - upper;
    if (difference <= 0.0 && push == 0.0) return 0.0;
    const double wanted = difference / (inverse_lower + inverse_upper);
    const double change = wanted < -push ? -push : wanted;
    lower -= change * inverse_lower;
    upper += change * inverse_upper;
    push += change;
    return (change < 0.0 ? -change : change) * (inverse_lower < inverse_upper ? inverse_upper : inverse_lower);
}

}  // namespace epiboost
