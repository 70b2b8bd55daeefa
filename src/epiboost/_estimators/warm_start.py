"""Continued training: an ensemble that is fitted again with more trees begins with those that it has.

On the same rows the result has the bits of an ensemble that was trained with all trees at once: noise depends on the
number of the tree, and the engine recovers the state of its chains from their trees. Chains that leave out a fold are
trained anew. On other rows the columns, classes, bins and units of the first training stay, and the new trees learn
what the earlier ones leave over.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from epiboost._binning.canonical_rows import hash_numbers
from epiboost._boosting.capacity import AUTO, Capacity
from epiboost._boosting.recipe import MemberSpec, Recipe
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.sparse_table import SparseTable
from epiboost._inputs.target import Target
from epiboost._progress import Progress
from epiboost.engines.base import Engine, Forest, WarmStartEngine

_SHARED_PARAMETERS = (
    "ensemble",
    "l2",
    "max_bins",
    "max_features",
    "min_samples_leaf",
    "random_strength",
    "structure_rows",
    "subsample",
    "temperature",
    "variance_guard",
)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What continued training must know of the training before, beside the trees.

    Attributes
    ----------
    seed : int
        Of the ensemble.
    rows : int or None
        Fingerprint of the training rows, see `fingerprint`; None for rows that were not in memory.
    parameters : dict
        Parameters that later trees share with the earlier ones, see `parameters_of_trees`.
    """

    seed: int
    rows: int | None
    parameters: Mapping[str, Any]

    def to_header(self) -> dict[str, Any]:
        """Return it as JSON values."""
        rows = None if self.rows is None else f"{self.rows:016x}"
        return {"seed": self.seed, "rows": rows, "parameters": dict(self.parameters)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any] | None) -> "Beginning | None":
        """Return what `to_header` gave; None for a file that has none."""
        if header is None:
            return None
        rows = None if header["rows"] is None else int(header["rows"], 16)
        return cls(int(header["seed"]), rows, dict(header["parameters"]))

    def check_parameters(self, recipe: Recipe) -> None:
        """Raise a ValueError if the trees to add would have other parameters than those that there are."""
        for name, value in parameters_of_trees(recipe).items():
            known = self.parameters.get(name, value)
            if value != known:
                raise _other_parameter(name, known, value)


@dataclass(frozen=True, slots=True, eq=False)
class EarlierFit:
    """A fitted model that is to be continued.

    Attributes
    ----------
    schema : ColumnSchema
    target : Target
    forest : Forest
    capacity : Capacity
    beginning : Beginning
    is_measured : bool
        Whether it has measurements of out-of-fold chains.
    same_rows : bool
        Whether it is continued on the rows of the earlier training.
    """

    schema: ColumnSchema
    target: Target
    forest: Forest
    capacity: Capacity
    beginning: Beginning
    is_measured: bool
    same_rows: bool = False

    @classmethod
    def of(cls, model: BaseEstimator, engine: Engine, recipe: Recipe) -> Self | None:
        """Return what a model continues with; None for a model that is not fitted, and an error if it cannot.

        Parameters
        ----------
        model : estimator with ``warm_start=True``
        engine : Engine
        recipe : Recipe
            Of the continued training.
        """
        if not isinstance(engine, WarmStartEngine):
            message = f"engine={model.engine!r} cannot continue training; use engine='native', or warm_start=False"
            raise ValueError(message)  # noqa: TRY004 (the type is that of a parameter's value)
        if not hasattr(model, "forest_"):
            return None
        if model.beginning_ is None:
            message = "the model's file is of an earlier version, which cannot be continued; set warm_start=False"
            raise ValueError(message)
        earlier = cls(
            model.schema_,
            model.target_,
            model.forest_,
            model.capacity_,
            model.beginning_,
            model.out_of_fold_ is not None,
        )
        earlier.continued_capacity(recipe)
        if recipe.n_chains != len(model.forest_.n_trees):
            found = len(model.forest_.n_trees)
            message = f"warm_start continues {found} chains; ensemble and n_members ask for {recipe.n_chains}"
            raise ValueError(message)
        return earlier

    def continued_capacity(self, recipe: Recipe) -> Capacity:
        """Return the capacity of the longer chains; a ValueError if they are shorter or have other trees."""
        given = {name: getattr(recipe, name) for name in self.capacity.to_header()}
        n_estimators, n_trees = given.pop("n_estimators"), int(self.forest.n_trees.max())
        if n_estimators == AUTO or n_estimators < n_trees:
            message = (
                f"warm_start continues chains of {n_trees} trees; n_estimators must be a whole number of at least "
                f"that, say {n_trees + 100}; got {n_estimators!r}"
            )
            raise ValueError(message)
        for name, value in given.items():
            known = getattr(self.capacity, name)
            if value not in {AUTO, None, known}:
                raise _other_parameter(name, known, value)
        return replace(self.capacity, n_estimators=int(n_estimators))

    @staticmethod
    def refuse_stopping(*, is_wanted: bool) -> None:
        """Raise an error if training is to stop early."""
        if is_wanted:
            message = (
                "warm_start adds as many trees as are asked for; to continue, leave early_stopping_rounds and "
                "validation_fraction at None, and early_stopping at 'auto' or False"
            )
            raise ValueError(message)

    def of_rows(self, beginning: Beginning) -> Self:
        """Return the same, to be continued on the given rows; warn if measurements are lost by that."""
        same_rows = beginning.rows is not None and beginning.rows == self.beginning.rows
        if not same_rows and self.is_measured:
            message = (
                "warm_start: X, y or sample_weight are not those of the training before. Its out-of-fold measurements "
                "do not hold for the continued model: out_of_fold_ is None, and uncertainties are not recalibrated"
            )
            warnings.warn(message, stacklevel=5)
        return replace(self, same_rows=same_rows)

    def continued(self, engine: Engine, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> Forest:
        """Return the forest with the trees that were added."""
        if not isinstance(engine, WarmStartEngine):
            message = f"{engine!r} cannot continue training"
            raise TypeError(message)
        return engine.continue_fit(data, specs, self.forest, progress, same_rows=self.same_rows)


def _other_parameter(name: str, known: object, value: object) -> ValueError:
    return ValueError(f"warm_start continues with {name}={known!r}; got {value!r}; leave it as it was")


def parameters_of_trees(recipe: Recipe) -> dict[str, Any]:
    """Return the parameters that all trees of a chain share, as JSON values."""
    parameters = {name: getattr(recipe, name) for name in _SHARED_PARAMETERS}
    constraints = recipe.constraints
    parameters["monotonic_constraints"] = [int(one) for one in constraints.monotone]
    parameters["interaction_constraints"] = [[int(one) for one in group] for group in constraints.groups]
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}


def fingerprint(data: Dataset, threads: int = 1) -> int | None:
    """Return a number that depends on the training rows, not on their order; None for rows that are not in memory.

    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.0, 1.0])
    >>> one = fingerprint(Dataset(X, y, np.ones(2), 0))
    >>> one == fingerprint(Dataset(X[::-1], y[::-1], np.ones(2), 0)), one == fingerprint(Dataset(X, -y, np.ones(2), 0))
    (True, False)
    """
    table = data.X
    if not isinstance(table, np.ndarray | SparseTable):
        return None
    beside = (data.y, data.weight) if data.offset is None else (data.y, data.weight, data.offset)
    return int(hash_numbers(table, *beside, threads=threads).sum(dtype=np.uint64))
