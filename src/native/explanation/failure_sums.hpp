// Sums over the background rows that do not fail where a row fails, for all sets of players at once.
//
// The share of orders n! k! / (n + k + 1)! is the integral of t^n (1 - t)^k from 0 to 1. So the sums over background rows whose
// set G is disjoint from F are integrals of
//     z_t(U) = sum over G inside U of count(G) t^|G|,   U the players outside F,
// which one pass over the players gives for all U (the zeta transform). Gauss-Legendre nodes make the integrals exact.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace epiboost {

// Sets of players on a path, one bit each. Callers make sure that no path has more than 64 players.
using PlayerSet = std::uint64_t;

constexpr std::size_t dense_players = 12;  // arrays over all sets of so many players fit the cache

// Nodes and weights of the Gauss-Legendre quadrature on [0, 1], exact for polynomials of degree 2 * nodes - 1.
template <std::size_t nodes>
struct Quadrature {
    std::array<double, nodes> at{};
    std::array<double, nodes> weight{};

    Quadrature() {
        for (std::size_t i = 0; i < nodes; ++i) {
            double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(nodes) + 0.5));
            double slope = 1.0;
            for (int step = 0; step < 8; ++step) {  // Newton's method
                double before = 1.0;
                double here = x;
                for (std::size_t n = 2; n <= nodes; ++n) {
                    const auto degree = static_cast<double>(n);
                    const double after = ((2.0 * degree - 1.0) * x * here - (degree - 1.0) * before) / degree;
                    before = here;
                    here = after;
                }
                slope = static_cast<double>(nodes) * (x * here - before) / (x * x - 1.0);
                x -= here / slope;
            }
            at[i] = 0.5 * (1.0 + x);
            weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }
};

// For paths of at most 2 * nodes players.
template <std::size_t nodes>
class FailureSums {
  public:
    // Counts the background rows of each set and sums over subsets; returns the number of rows that fail for no player.
    double prepare(const std::vector<PlayerSet>& failed, std::size_t players) {
        players_ = players;
        const std::size_t sets = std::size_t{1} << players;
        sums_.assign(sets, Lanes{});
        for (const PlayerSet set : failed) sums_[set][0] += 1.0;
        const double in_leaf = sums_[0][0];
        for (std::size_t set = 0; set < sets; ++set) {
            const double count = sums_[set][0];
            if (count == 0.0) continue;
            const auto size = static_cast<std::size_t>(std::popcount(set));
            for (std::size_t i = 0; i < nodes; ++i) sums_[set][i] = count * power_[size][i];
        }
        for (std::size_t bit = 1; bit < sets; bit *= 2) {
            for (std::size_t high = bit; high < sets; high += 2 * bit) {
                for (std::size_t set = high; set < high + bit; ++set) {
                    for (std::size_t i = 0; i < nodes; ++i) sums_[set][i] += sums_[set - bit][i];
                }
            }
        }
        return in_leaf;
    }

    // Adds the values of the players on the path for a row that fails for a set of them; returns false if all are zero.
    bool add_values(PlayerSet row_fails, double value, double* added) const {
        const PlayerSet others = ~row_fails & ((PlayerSet{1} << players_) - 1);
        const Lanes& all = sums_[others];
        if (all[0] == 0.0) return false;
        const auto n_row = static_cast<std::size_t>(std::popcount(row_fails));
        const Lanes& factor = gained_[n_row];
        for (PlayerSet left = others; left; left &= left - 1) {
            const auto player = static_cast<std::size_t>(std::countr_zero(left));
            const Lanes& without = sums_[others & ~(PlayerSet{1} << player)];
            double gained = 0.0;
            for (std::size_t i = 0; i < nodes; ++i) gained += factor[i] * (all[i] - without[i]);
            added[player] += value * gained;
        }
        if (n_row == 0) return true;
        double taken = 0.0;
        for (std::size_t i = 0; i < nodes; ++i) taken += taken_[n_row][i] * all[i];
        for (PlayerSet left = row_fails; left; left &= left - 1) added[std::countr_zero(left)] -= value * taken;
        return true;
    }

    FailureSums() {
        const Quadrature<nodes> quadrature;
        for (std::size_t i = 0; i < nodes; ++i) {
            const double t = quadrature.at[i];
            double power = 1.0;
            double rest = quadrature.weight[i];
            for (std::size_t n = 0; n <= 2 * nodes; ++n) {
                power_[n][i] = power;
                gained_[n][i] = rest / t;
                if (n < 2 * nodes) taken_[n + 1][i] = rest;
                power *= t;
                rest *= 1.0 - t;
            }
        }
    }

  private:
    using Lanes = std::array<double, nodes>;

    std::size_t players_ = 0;
    std::vector<Lanes> sums_;                     // (sets of players)
    std::array<Lanes, 2 * nodes + 1> power_{};    // t^n
    std::array<Lanes, 2 * nodes + 1> gained_{};   // weight (1 - t)^n / t
    std::array<Lanes, 2 * nodes + 1> taken_{};    // weight (1 - t)^(n - 1)
};

}  // namespace epiboost
