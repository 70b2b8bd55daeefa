// The table of families. A family is a file in this folder and one entry here; the entries are numbered from `first_family`.
#pragma once

#include "core/problem.hpp"
#include "families/poisson.hpp"
#include "families/student.hpp"

namespace epiboost {

template <class... Members>
struct FamilyList {};

using Families = FamilyList<Student, Poisson>;

constexpr int first_family = 3;  // after the Normal and the classes, see `Objective`

constexpr bool is_family(Objective objective) { return static_cast<int>(objective) >= first_family; }

// Calls `use` with a value of the family of an objective; does nothing for other objectives.
template <class Use, class... Members>
EPIBOOST_DEVICE_INLINE void with_family(Objective objective, const Use& use, FamilyList<Members...>) {
    int code = first_family;
    (void)((static_cast<int>(objective) == code++ ? (use(Members{}), true) : false) || ...);
}

template <class Use>
EPIBOOST_DEVICE_INLINE void with_family(Objective objective, const Use& use) {
    with_family(objective, use, Families{});
}

template <class... Members>
constexpr int count_families(FamilyList<Members...>) {
    return static_cast<int>(sizeof...(Members));
}

constexpr int family_count = count_families(Families{});

}  // namespace epiboost
