"""Ensembles: from the parameters of an estimator to the specs of its chains (section 3 of the paper).

========= =========================== =================================================
ensemble  members                     source of their diversity, beside random structures
========= =========================== =================================================
single    one chain                   none: there is only one
sgb       independent chains          each tree is trained on a random half of the rows
sglb      independent chains          Langevin noise on every gradient
virtual   truncations of one chain    Langevin noise, and the position in the chain
bootstrap independent chains          each chain is trained on a bootstrap sample of the rows
========= =========================== =================================================

>>> Recipe(ensemble="virtual", n_members=4, n_estimators=100).prefixes
(62, 75, 87, 100)
"""

import numbers
import os
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import joblib
import numpy as np
from sklearn.utils import check_random_state

from epiboost._binning.bins import MAX_BINS
from epiboost._boosting.capacity import AUTO, MAX_DEPTH, MAX_LEAVES, Auto, Capacity
from epiboost._boosting.parameter_checks import is_auto, require_integer, require_number
from epiboost._boosting.truncation import virtual_prefixes
from epiboost._inputs.constraints import NO_CONSTRAINTS, Constraints

EnsembleKind = Literal["single", "sgb", "sglb", "virtual", "bootstrap"]
ON_CLUSTER = "dask"
"""The ``n_jobs`` that trains members on a Dask cluster."""
_MAX_THREADS = 2048  # more would wait for each other; models do not depend on the number
_MAX_MEMBERS = 100_000
_MAX_TREES = 10**9  # of all chains; they take half a terabyte
_MAX_VIRTUAL = 1000  # members of one chain; where categories are unseen, each takes a pass through all its trees


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """The parameters of one chain: everything that an engine needs to train it, except the data.

    Attributes
    ----------
    seed : int
        Seed of the chain's random numbers.
    n_estimators : int
        Number of trees.
    learning_rate : float
        Learning rate, before `step_sizes` divides it by the curvature of the loss.
    max_depth : int or None
        Levels of a symmetric tree, bound on those of a leaf-wise tree; None for no bound.
    max_leaves : int or None
        Leaves of a leaf-wise tree; None for symmetric trees.
    l2 : float
        L2 regularisation of leaf values.
    max_bins : int
        Bins per column.
    subsample : float
        Share of the rows that each tree is trained on.
    temperature : float or None
        None for boosting without noise and shrinkage. Otherwise the variance of the noise on each gradient is
        ``temperature * 2 / (N * learning_rate)`` and each step shrinks the model by ``1 - learning_rate / (2 N)``,
        where N is the weight of all rows.
    variance_guard : float
        Strength of the variance guard; 0 for none.
    structure_rows : int, None or "auto"
        Number of rows on which each tree chooses its splits; None for all, "auto" if the engine chooses.
    bootstrap : bool
        Whether the chain is trained on a bootstrap sample of the rows.
    random_strength : float
        Strength of the noise on the scores of candidate splits; 0 for none.
    min_samples_leaf : int
        Least weight of the rows of a leaf; 1 for any.
    max_features : float
        Share of the columns that each tree may split on.
    constraints : Constraints
        Columns along which predictions are monotone, and columns that may interact.
    """

    seed: int
    n_estimators: int
    learning_rate: float
    max_depth: int | None
    max_leaves: int | None
    l2: float
    max_bins: int
    subsample: float
    temperature: float | None
    variance_guard: float
    structure_rows: int | Auto | None
    bootstrap: bool
    random_strength: float
    min_samples_leaf: int
    max_features: float
    constraints: Constraints


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """An ensemble as the user specifies it; its parameters are checked on construction."""

    ensemble: EnsembleKind = "sglb"
    n_members: int = 10
    n_estimators: int | Auto = AUTO
    learning_rate: float | Auto = AUTO
    max_depth: int | Auto | None = AUTO
    max_leaves: int | Auto | None = AUTO
    subsample: float | None = None
    l2: float = 3.0
    max_bins: int = 255
    temperature: float = 1.0
    variance_guard: float = 0.0
    structure_rows: int | Auto | None = AUTO
    random_strength: float = 1.0
    early_stopping_rounds: int | None = None
    min_samples_leaf: int = 1
    max_features: float = 1.0
    constraints: Constraints = NO_CONSTRAINTS

    def __post_init__(self) -> None:
        """Check every parameter; a ValueError says what was got and what is allowed."""
        if self.ensemble not in get_args(EnsembleKind):
            message = f"ensemble must be one of {', '.join(map(repr, get_args(EnsembleKind)))}; got {self.ensemble!r}"
            raise ValueError(message)
        require_integer("n_members", self.n_members, 1, _MAX_MEMBERS)
        self._check_capacity()
        require_integer("max_bins", self.max_bins, 2, MAX_BINS)
        require_number("l2", self.l2, at_least=0.0)
        require_number("temperature", self.temperature, at_least=0.0)
        require_number("random_strength", self.random_strength, at_least=0.0)
        require_number("variance_guard", self.variance_guard, at_least=0.0)
        require_integer("min_samples_leaf", self.min_samples_leaf, 1)
        require_number("max_features", self.max_features, above=0.0, at_most=1.0)
        if self.subsample is not None:
            require_number("subsample", self.subsample, above=0.0, at_most=1.0)
        if self.structure_rows is not None and not is_auto(self.structure_rows):
            require_integer("structure_rows", self.structure_rows, 1, also="'auto', None or ")
        if self.early_stopping_rounds is not None:
            require_integer("early_stopping_rounds", self.early_stopping_rounds, 1)
        if self.ensemble == "virtual":
            self._check_virtual()

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> "Recipe":
        """Return the recipe in an estimator's parameters; parameters of other parts are ignored."""
        return cls(**{field.name: parameters[field.name] for field in fields(cls) if field.name in parameters})

    def with_capacity(self, capacity: Capacity) -> "Recipe":
        """Return the recipe with numbers in place of "auto"."""
        return replace(self, **capacity.to_header())

    @property
    def n_chains(self) -> int:
        """Number of chains to train."""
        return 1 if self.ensemble in {"single", "virtual"} else self.n_members

    @property
    def n_posterior_members(self) -> int:
        """Number of members of the posterior."""
        return 1 if self.ensemble == "single" else self.n_members

    @property
    def prefixes(self) -> tuple[int, ...] | None:
        """Tree counts of the members of a virtual ensemble; None if members are complete chains."""
        return virtual_prefixes(int(self.n_estimators), self.n_members) if self.ensemble == "virtual" else None

    def specs(self, seed: int) -> tuple[MemberSpec, ...]:
        """Return one spec per chain; the first chains do not depend on the number of members."""
        return self._specs(np.random.SeedSequence(seed), self.n_chains)

    def out_of_fold_specs(self, seed: int, n_chains: int) -> tuple[MemberSpec, ...]:
        """Return the specs of chains beside the members, with seeds of their own."""
        return self._specs(np.random.SeedSequence([seed, 1]), n_chains)

    def short_specs(self, seed: int, n_chains: int) -> tuple[MemberSpec, ...]:
        """Return the specs of chains that compare sizes of trees, with seeds of their own."""
        return self._specs(np.random.SeedSequence([seed, 2]), n_chains)

    def _specs(self, seeds: np.random.SeedSequence, n_chains: int) -> tuple[MemberSpec, ...]:
        noisy = self.ensemble in {"sglb", "virtual"}
        default_subsample = 0.5 if self.ensemble == "sgb" else 1.0
        return tuple(
            MemberSpec(
                seed=int(chain_seed),
                n_estimators=int(self.n_estimators),
                learning_rate=float(self.learning_rate),
                max_depth=None if self.max_depth is None else int(self.max_depth),
                max_leaves=None if self.max_leaves in {None, AUTO} else int(self.max_leaves),
                l2=float(self.l2),
                max_bins=int(self.max_bins),
                subsample=default_subsample if self.subsample is None else float(self.subsample),
                temperature=float(self.temperature) if noisy else None,
                variance_guard=float(self.variance_guard),
                structure_rows=self.structure_rows,
                bootstrap=self.ensemble == "bootstrap",
                random_strength=float(self.random_strength),
                min_samples_leaf=int(self.min_samples_leaf),
                max_features=float(self.max_features),
                constraints=self.constraints,
            )
            for chain_seed in seeds.generate_state(n_chains, np.uint64)
        )

    def _check_capacity(self) -> None:
        is_leaf_wise = not (self.max_leaves is None or is_auto(self.max_leaves))
        if not is_auto(self.n_estimators):
            require_integer("n_estimators", self.n_estimators, 1, _MAX_TREES // self.n_chains, also="'auto' or ")
        if not is_auto(self.learning_rate):
            require_number("learning_rate", self.learning_rate, above=0.0, at_most=1.0, also="'auto' or ")
        if is_leaf_wise:
            require_integer("max_leaves", self.max_leaves, 2, MAX_LEAVES, also="'auto', None or ")
        if not is_auto(self.max_depth) and not (is_leaf_wise and self.max_depth is None):
            most, also = (MAX_LEAVES, "'auto', None or ") if is_leaf_wise else (MAX_DEPTH, "'auto' or ")
            hint = "" if is_leaf_wise else " (deeper trees, or None, need max_leaves)"
            require_integer("max_depth", self.max_depth, 1, most, also=also, hint=hint)

    def _check_virtual(self) -> None:
        require_integer("n_members of ensemble='virtual'", self.n_members, 1, _MAX_VIRTUAL)
        if self.n_estimators == AUTO:
            return
        second_half = self.n_estimators - self.n_estimators // 2
        if self.n_members > second_half:
            message = (
                f"ensemble='virtual' takes its members from the second half of the chain, which has {second_half} "
                f"trees; n_members={self.n_members} is more than that"
            )
            raise ValueError(message)


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed of an ensemble from scikit-learn's ``random_state``."""
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError as error:
        message = f"random_state must be None, a number from 0 to 2^32 - 1 or a RandomState; got {random_state!r}"
        raise ValueError(message) from error


def thread_count(n_jobs: int | str | None) -> int:
    """Return the number of threads for scikit-learn's ``n_jobs``: None or -1 is all cores, -2 all but one, and so on.

    All cores are those that this process may use; ``OMP_NUM_THREADS`` lowers them further, as it does for scikit-learn.
    Work that does not go to a cluster, where ``n_jobs="dask"``, uses all cores too.

    >>> thread_count(3)
    3
    """
    if isinstance(n_jobs, str) and n_jobs == ON_CLUSTER:
        n_jobs = None
    if n_jobs is not None and (not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        message = f"n_jobs must be None or a whole number other than 0, or 'dask'; got {n_jobs!r}"
        raise ValueError(message)
    if n_jobs is not None and n_jobs > 0:
        return min(int(n_jobs), _MAX_THREADS)
    cores = int(joblib.cpu_count())
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if limit.isdigit() and int(limit) > 0:
        cores = min(cores, int(limit))
    return max(1, cores + 1 + int(-1 if n_jobs is None else n_jobs))
