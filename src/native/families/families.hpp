// The table of families. A family is a file in this folder and one entry here; the entries are numbered from `first_family`. Kernels
// for GPUs are compiled from these files too.
#pragma once

#include "core/constants.hpp"
#include "families/beta.hpp"
#include "families/censored_lognormal.hpp"
#include "families/censored_weibull.hpp"
#include "families/gamma.hpp"
#include "families/laplace.hpp"
#include "families/negative_binomial.hpp"
#include "families/poisson.hpp"
#include "families/student.hpp"
#include "families/weibull.hpp"

namespace epiboost {

template <class... Members>
struct FamilyList {};

using Families =
    FamilyList<Student, Laplace, Gamma, Weibull, Poisson, NegativeBinomial, Beta, CensoredLogNormal, CensoredWeibull>;

constexpr int first_family = 3;  // after the Normal and the classes, see `Objective`

constexpr bool is_family(Objective objective) { return static_cast<int>(objective) >= first_family; }

template <int number, class First, class... Rest>
struct NumberedFamily {
    using Type = typename NumberedFamily<number - 1, Rest...>::Type;
};
template <class First, class... Rest>
struct NumberedFamily<0, First, Rest...> {
    using Type = First;
};
template <Objective objective, class... Members>
typename NumberedFamily<is_family(objective) ? static_cast<int>(objective) - first_family : 0, Members...>::Type family_in(
    FamilyList<Members...>);

// The family of an objective that is known when this is compiled; any for other objectives.
template <Objective objective>
using FamilyOf = decltype(family_in<objective>(Families{}));

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
