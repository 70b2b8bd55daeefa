"""What an engine is: it turns data and specs into a forest, and a forest turns a table into member parameters."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from epiboost._boosting.recipe import MemberSpec
from epiboost._inputs.dataset import Dataset
from epiboost._progress import Progress
from epiboost._typing import AnyArray, Floats


@runtime_checkable
class Forest(Protocol):
    """A trained ensemble of an engine.

    What it predicts are the parameters of the family that its ``family`` names, if it has one; without, they are those
    of a Normal for regression and of classes for classification. It may have ``sizes``, how many codes each column of
    categories has (0 for numbers): a model file is then checked against them.
    """

    def predict(self, table: AnyArray, *, prefixes: Sequence[int] | None = None) -> Floats:
        """Return distribution parameters, shape (members, samples, outputs).

        Parameters
        ----------
        table : array of shape (samples, features)
            Checked numbers.
        prefixes : sequence of int, optional
            Tree counts: the members are then the truncations of one chain, each as that chain was when it had so many
            trees. It is the engine that cuts, because it knows how the chain shrinks.
        """

    @property
    def n_features(self) -> int:
        """How many columns a table must have."""

    @property
    def evaluation(self) -> Floats:
        """Losses on the evaluation rows, shape (members, trees); no columns without such rows."""

    @property
    def n_trees(self) -> AnyArray:
        """How many trees each chain has, shape (members,)."""

    def to_file(self) -> tuple[dict[str, Any], Mapping[str, AnyArray]]:
        """Return what a model file must hold: a JSON header and arrays."""


@runtime_checkable
class Engine(Protocol):
    """Something that trains forests.

    It may say what it cannot do, and users who ask for that get an error that names it:

    - ``cannot``: names of parameters of the estimators that must stay at their defaults;
    - ``ensembles``: the kinds it has, if not all.

    And what it can do more:

    - ``takes_partitions``: how it takes Dask collections, ``"bins"`` for a `BinnedTable` or ``"rows"`` for
      `PartitionedRows` as the table of its dataset;
    - ``trains_on_cluster``: whether ``n_jobs="dask"`` trains its members on a cluster.
    """

    def fit(self, data: Dataset, specs: Sequence[MemberSpec], progress: Progress) -> Forest:
        """Train one chain a spec."""
