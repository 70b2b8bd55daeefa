// What losses are made of, in double precision to about 1e-14: like core/elementary.hpp without library calls, so that all processors
// and the GPU compute the same losses, and stop training at the same tree.
#pragma once

#include "core/elementary.hpp"

namespace epiboost {

constexpr double pi = 3.14159265358979323846;
constexpr double half_log_two_pi = 0.91893853320467274;

inline double smaller(double a, double b) { return b < a ? b : a; }
inline double larger(double a, double b) { return a < b ? b : a; }
inline double magnitude(double x) { return x < 0.0 ? -x : x; }

// The nearest integer, of two the even one.
inline double nearest_integer(double x) {
    constexpr double rounder = 0x1.8p52;  // adding and subtracting it rounds; larger numbers are integers, or as good as
    return magnitude(x) < 0x1p51 ? (x + rounder) - rounder : x;
}

// log(1 + x) for x above -1. The ratio makes good what the sum 1 + x has lost of x.
inline double log_one_plus(double x) {
    const double above = 1.0 + x;
    const double kept = above - 1.0;
    if (kept == 0.0) return x;
    return magnitude(x) < 0x1p53 ? logarithm(above) * (x / kept) : logarithm(above);
}

// exp(x) - 1. Near 0 the ratio makes good what the power has lost of x.
inline double exponential_less_one(double x) {
    const double power = exponential(x);
    const double rest = power - 1.0;
    if (rest == 0.0) return x;
    return power > 0.25 && power < 4.0 ? rest * (x / logarithm(power)) : rest;
}

// Logarithm of the gamma function of a positive number.
inline double log_gamma(double x) {
    double shift = 0.0;
    for (; x < 15.0; x += 1.0) shift -= logarithm(x);
    const double i = 1.0 / x;
    const double i2 = i * i;
    const double series = i * (1.0 / 12.0 - i2 * (1.0 / 360.0 - i2 * (1.0 / 1260.0 - i2 * (1.0 / 1680.0 - i2 / 1188.0))));
    return shift + (x - 0.5) * logarithm(x) - x + half_log_two_pi + series;
}

// log(1 - Phi(z)) of a standard Normal: near 0 by the power series of Phi, further out by the continued fraction of the Mills ratio.
inline double log_normal_tail(double z) {
    constexpr double series_to = 2.5;
    constexpr int last_odd = 71;  // of the series: the next term would be below 1e-16
    constexpr int depth = 60;     // of the continued fraction: enough for 1e-15 where it begins
    const double size = magnitude(z);
    const double log_density = -0.5 * (size * size) - half_log_two_pi;
    if (size < series_to) {
        double term = z;
        double sum = z;
        for (int odd = 3; odd <= last_odd; odd += 2) {
            term *= z * z / odd;
            sum += term;
        }
        return logarithm(0.5 - exponential(log_density) * sum);
    }
    double fraction = size;
    for (int k = depth; k > 0; --k) fraction = size + k / fraction;
    const double log_tail = log_density - logarithm(fraction);
    return z > 0.0 ? log_tail : log_one_plus(-exponential(log_tail));
}

}  // namespace epiboost
