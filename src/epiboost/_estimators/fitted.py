"""Fitted attributes of an estimator, and properties derived from them."""

import numpy as np

from epiboost._boosting.capacity import Capacity
from epiboost._boosting.objectives import DISTRIBUTIONS, Distribution, distribution_named
from epiboost._estimators.out_of_fold.measurement import OutOfFold
from epiboost._estimators.provenance import Provenance
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.training.history import TrainingHistory
from epiboost._estimators.warm_start import Beginning
from epiboost._inputs.feature_ranges import FeatureRanges
from epiboost._inputs.offset import known_offset
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.target import Target
from epiboost._typing import AnyArray, Column, Floats
from epiboost.engines.base import Forest


class FittedAttributes:
    """Fitted attributes of an estimator, and properties derived from them."""

    schema_: ColumnSchema
    target_: Target
    forest_: Forest
    capacity_: Capacity
    prefixes_: tuple[int, ...] | None
    provenance_: Provenance | None
    history_: TrainingHistory | None = None
    beginning_: Beginning | None
    trained_with_offset_: bool
    out_of_fold_: OutOfFold | None = None
    reference_rows_: ReferenceRows | None = None

    n_features_in_: int
    feature_names_in_: AnyArray

    def _known_offset(self, offset: Column, n_rows: int) -> Floats | None:
        """Return the checked offset of a prediction; None for a model that was trained without."""
        with_offset = self.trained_with_offset_
        return known_offset(offset, n_rows, self.target_.n_classes, trained_with_offset=with_offset)

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
        """Number of trees in use per chain, shape (chains,)."""
        return self.forest_.n_trees if self.prefixes_ is None else np.minimum(self.forest_.n_trees, self.prefixes_[-1])

    @property
    def oof_prediction_(self) -> Floats:
        """Prediction of each training row by a chain that has not seen it; NaN for rows that every chain has seen.

        Shape (n,) for a regressor, (n, classes) for a classifier.
        """
        predicted = self._measured.predicted
        if self.forest_.family == "categorical":
            return predicted
        return predicted[:, 0] if self._distribution is None else self._distribution.mean(predicted)

    @property
    def _distribution(self) -> Distribution | None:
        """What can be computed of a member's prediction; None for Normals, means and classes."""
        family = self.forest_.family
        return distribution_named(family, self.target_.settings) if family in DISTRIBUTIONS else None

    @property
    def oof_score_(self) -> float:
        """R² of `oof_prediction_`, or its accuracy."""
        return self._measured.score

    @property
    def oof_loss_(self) -> float:
        """Mean negative log-likelihood of the training rows by chains that have not seen them."""
        return self._measured.loss

    @property
    def _measured(self) -> OutOfFold:
        if self.out_of_fold_ is None:
            message = (
                "this model was trained without out-of-fold chains; set out_of_fold to a number of folds before fit"
            )
            raise AttributeError(message)
        return self.out_of_fold_

    @property
    def evaluation_loss_(self) -> Floats | None:
        """Negative log-likelihood on ``eval_set`` after each tree, shape (chains, trees); None without one."""
        return self.forest_.evaluation if self.forest_.evaluation.size else None
