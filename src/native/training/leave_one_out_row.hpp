// The leave-one-out step of one row, see leave_one_out.hpp. Kernels for GPUs are compiled from this file too.
#pragma once

namespace epiboost {

// A leaf as its rows see it: the sum of the gradients of the first output, and the weight with l2.
struct LeafTotals {
    float gradient;
    float size;
};

// How far the leave-one-out score goes down. `weight` is that of the row in this tree, `gradient` the difference of score and
// target, `rate` the learning rate in the units of the stored scores.
inline float leave_one_out_step(LeafTotals leaf, float weight, float gradient, float towards_row, float rate) {
    const float one_copy = weight < 1.0f ? weight : 1.0f;
    const float own_gradient = one_copy * gradient;
    const float others = leaf.size - one_copy;
    const float value = rate * (leaf.gradient - own_gradient + towards_row) / (others > 1e-20f ? others : 1.0f);
    return others > 1e-20f ? value : 0.0f;
}

}  // namespace epiboost
