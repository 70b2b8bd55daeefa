"""The engine contract: an engine trains forests, a forest predicts distribution parameters.

Everything that an engine or a forest may declare is in these protocols. The contract tests check every declaration on
every engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from epiboost._binning.bins import Bins
from epiboost._boosting.recipe import EnsembleKind, MemberSpec
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.sparse_table import SparseTable
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Bytes, Device, Family, Floats, Integers, LibraryObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an engine can do. Unsupported parameters raise an error.

    Attributes
    ----------
    ensembles : tuple of str
        Values of ``ensemble`` that the engine can train.
    unsupported : tuple of str
        Parameters of the estimators that must stay at their defaults.
    categories : bool
        Whether categorical columns are supported.
    sample_weight : bool
        Whether weights other than one are supported.
    evaluation_set : bool
        Whether the loss on evaluation rows is computed after each tree.
    partitions : {"bins", "rows"} or None
        How the engine takes Dask collections: as a `BinnedTable` in memory (it is then a `BinnedEngine`), as
        `PartitionedRows` that stay on their workers, or not at all.
    cluster : bool
        Whether ``n_jobs="dask"`` trains members on the workers of a Dask cluster.
    prefixes : bool
        Whether virtual members are truncations of one chain. Those of a random forest are disjoint parts of it.
    class_offset : bool
        Whether classifiers take an offset. Regressors of every engine do.
    sparse : bool
        Whether the engine takes a `SparseTable` as the table of its dataset. Other engines get small sparse tables as
        dense arrays, and large ones are refused.
    variance : bool
        Whether members of a regression predict a variance; otherwise their forest has the family "mean".
    device : bool
        Whether the engine is called with ``device`` too, and its forest is a `DeviceForest`.
    distributions : bool
        Whether members of a regression can predict any family of distributions, not a Normal alone.
    compiled_families : bool
        Whether families need formulas in the native core; other engines take the gradient of Python.

    Examples
    --------
    >>> Capabilities(ensembles=("sgb", "single"), evaluation_set=False).ensembles
    ('sgb', 'single')
    """

    ensembles: tuple[EnsembleKind, ...] = ("sglb", "sgb", "virtual", "bootstrap", "single")
    unsupported: tuple[str, ...] = ()
    categories: bool = True
    sample_weight: bool = True
    evaluation_set: bool = True
    partitions: Literal["bins", "rows"] | None = None
    cluster: bool = False
    prefixes: bool = True
    class_offset: bool = False
    sparse: bool = False
    variance: bool = True
    device: bool = False
    distributions: bool = True
    compiled_families: bool = False


@runtime_checkable
class Forest(Protocol):
    """A trained ensemble of an engine."""

    @property
    def family(self) -> Family:
        """Which distribution the outputs of `predict` are parameters of."""

    @property
    def n_features(self) -> int:
        """Number of columns that a table must have."""

    @property
    def n_codes(self) -> tuple[int, ...]:
        """Number of codes per column, that of missing values included; 0 for a numeric column."""

    @property
    def n_trees(self) -> AnyArray:
        """Number of trees of each chain, shape (members,)."""

    @property
    def evaluation(self) -> Floats:
        """Losses on the evaluation rows, shape (members, trees); (members, 0) without such rows."""

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs).

        Parameters
        ----------
        table : array of shape (samples, features)
            Checked numbers; categorical columns hold codes, see `Dataset`. It has no rows when a model file is read,
            which compares the shape with what the file says.
        prefixes : sequence of int, optional
            Tree counts in ascending order. The members are then the truncations of each chain: the chain as it was
            after so many trees. The engine truncates, because it knows how the chain shrinks. A chain that is shorter
            than others stays as it is at its end.
        """

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return a JSON header and the arrays that a model file must hold."""


@runtime_checkable
class LeafForest(Forest, Protocol):
    """A forest that tells which leaves rows fall into."""

    def leaf_indices(self, table: AnyArray, n_trees: int) -> Bytes:
        """Return the leaf of each row in at most ``n_trees`` trees, shape (n, trees)."""


@runtime_checkable
class DeviceForest(Forest, Protocol):
    """A forest that can predict on a GPU, and summarise its members there or on the host."""

    def on(self, device: Device) -> Forest:
        """Return the forest that predicts on a device; one that is no `DeviceForest` is asked for `predict` alone."""

    def normal_summary(
        self, table: LibraryObject, prefixes: tuple[int, ...] | None, recalibration: Sequence[float] | None
    ) -> tuple[LibraryObject, LibraryObject, LibraryObject] | None:
        """Return mean, data and knowledge uncertainty of each row, as arrays where the table is.

        None if `predict` shall do it. The numbers of a recalibration are those of the native core's.
        """

    def mean_probabilities(self, table: LibraryObject, prefixes: tuple[int, ...] | None) -> LibraryObject | None:
        """Return the average probabilities, shape (n, classes), as an array where the table is, or None as above."""


@runtime_checkable
class GainForest(Forest, Protocol):
    """A forest that knows how much each column has gained in training."""

    def gains(self) -> Floats:
        """Return the gain of each column, of any unit, shape (members, features)."""


@runtime_checkable
class Engine(Protocol):
    """A trainer of forests."""

    @property
    def capabilities(self) -> Capabilities:
        """What the engine can do; a class attribute will do."""

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> Forest:
        """Train one chain per spec.

        Parameters
        ----------
        data : Dataset
            Checked training rows. Nothing is in it that the `capabilities` exclude.
        specs : sequence of MemberSpec
            One per chain; they differ in their seeds alone.
        progress : callable
            Called with the number of trees that are trained and the number of all trees.
        """


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Chains that see a part of the rows.

    Attributes
    ----------
    rows : array of int
        Rows that they are trained on.
    specs : tuple of MemberSpec
        One per chain; they differ in their seeds alone.
    evaluation : array of int or None
        Rows to predict after each round, see `Rounds`.
    """

    rows: Integers
    specs: tuple[MemberSpec, ...]
    evaluation: Integers | None = None


@runtime_checkable
class SubsetEngine(Engine, Protocol):
    """An engine that trains chains on parts of the rows beside those on all rows, faster than one after the other."""

    def fit_subsets(
        self, data: Dataset, specs: Sequence[MemberSpec], subsets: Sequence[Subset], progress: Progress
    ) -> Sequence[Forest]:
        """Train one chain per spec on all rows, and the chains of each subset on its rows.

        Parameters
        ----------
        data : Dataset
        specs : sequence of MemberSpec
            May be empty: then no chain sees all rows.
        subsets : sequence of Subset
        progress : callable

        Returns
        -------
        sequence of Forest
            That of all rows, if there are specs, then those of the subsets, each the same as `Engine.fit` would return
            for these rows.
        """


def fit_subsets(
    engine: Engine, data: Dataset, specs: Sequence[MemberSpec], subsets: Sequence[Subset], progress: Progress
) -> Sequence[Forest]:
    """Train chains on all rows and on subsets of them by any engine; see `SubsetEngine`."""
    if isinstance(engine, SubsetEngine):
        return engine.fit_subsets(data, specs, subsets, progress)
    tasks = [(subset.rows, subset.specs) for subset in subsets]
    total = sum(spec.n_estimators for part in (specs, *(of_task for _, of_task in tasks)) for spec in part)
    before = 0

    def report(done: int, _total: int, /) -> None:
        progress(before + done, total)

    forests = []
    if specs:
        forests.append(engine.fit(data, specs, report))
        before += len(specs) * specs[0].n_estimators
    for rows, of_task in tasks:
        forests.append(engine.fit(data.take(rows), of_task, report))
        before += len(of_task) * of_task[0].n_estimators
    return forests


@runtime_checkable
class WarmStartEngine(Engine, Protocol):
    """An engine that adds trees to the chains of a forest."""

    def continue_fit(
        self, data: Dataset, specs: Sequence[MemberSpec], forest: Forest, progress: Progress, *, same_rows: bool
    ) -> Forest:
        """Add trees to the chains of a forest.

        Parameters
        ----------
        data : Dataset
            With the columns, codes and classes of the earlier training.
        specs : sequence of MemberSpec
            One per chain, with the seeds of the earlier training and the number of all trees.
        forest : Forest
            Of this engine.
        progress : callable
        same_rows : bool
            Whether the rows are those of the earlier training. Then the result is that of training all trees at once.
        """


@runtime_checkable
class BinnedEngine(Engine, Protocol):
    """An engine with ``partitions="bins"``, which takes a `BinnedTable` as the table of its dataset."""

    def given_bins(self, max_bins: int) -> Bins | None:
        """Return bins that the user has given, or None if bins are to be fitted to the rows."""


def predict_table(forest: Forest, table: AnyArray | SparseTable, *, prefixes: Sequence[int] | None = None) -> Floats:
    """Return what the forest predicts, shape (members, samples, outputs); a sparse table is predicted in blocks."""
    if not isinstance(table, SparseTable):
        return forest.predict(table, prefixes=prefixes)
    return np.concatenate([forest.predict(block, prefixes=prefixes) for block in table.blocks()], axis=1)


def check_width(table: AnyArray, n_features: int) -> None:
    """Refuse a table that does not have the columns of the training table."""
    if table.ndim != 2 or table.shape[1] != n_features:  # noqa: PLR2004 (rows and columns)
        message = f"the table must have {n_features} columns; got shape {table.shape}"
        raise ValueError(message)
