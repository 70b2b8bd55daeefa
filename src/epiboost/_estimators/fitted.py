"""Fitted attributes of an estimator, and properties derived from them."""

import numpy as np

from epiboost._estimators.provenance import Provenance
from epiboost._inputs.feature_ranges import FeatureRanges
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.target import Target
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Forest


class FittedAttributes:
    """Fitted attributes of an estimator, and properties derived from them."""

    schema_: ColumnSchema
    target_: Target
    forest_: Forest
    prefixes_: tuple[int, ...] | None
    provenance_: Provenance | None

    n_features_in_: int
    feature_names_in_: AnyArray

    @property
    def categories_(self) -> list[AnyArray | None]:
        """Categories of each column, in the order of their codes; None for a numeric column."""
        known = self.schema_.categories or (None,) * self.schema_.n_features
        return [None if column is None else np.array(column.values, dtype=object) for column in known]

    @property
    def feature_ranges_(self) -> FeatureRanges | None:
        """Range of each column in training; None for a Dask collection, and if the model's file has none."""
        return self.schema_.ranges

    @property
    def n_iter_(self) -> AnyArray:
        """Number of trees per chain, shape (chains,)."""
        return self.forest_.n_trees

    @property
    def evaluation_loss_(self) -> Floats | None:
        """Negative log-likelihood on ``eval_set`` after each tree, shape (chains, trees); None without one."""
        return self.forest_.evaluation if self.forest_.evaluation.size else None
