"""Base class of calibrated models: training, split of the calibration rows, conformal quantiles, model files."""

import copy
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.base import BaseEpiBoost
from epiboost._estimators.calibrated.groups import RowGroups, by_group
from epiboost._estimators.calibrated.rows import CalibrationRows, require_rows, split_rows
from epiboost._estimators.calibrated.scores import ConformityScores
from epiboost._estimators.conformal import check_share
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.saving import model_from_file
from epiboost._estimators.training_rows import is_collection
from epiboost._estimators.uncertainty_model import UncertaintyModel
from epiboost._inputs.dask_collections import require_in_memory
from epiboost._inputs.schema import CheckedTable, ColumnSchema
from epiboost._inputs.target import Classes, Target
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Estimator, Floats, Integers, Table
from epiboost.distributed.cluster import require_data

_TO_CALLER = 5  # frames from a warning to the user's call: two helpers, the prediction, its wrapper for Dask


class BaseCalibrated(UncertaintyModel):
    """Base class of calibrated models: training, split of the calibration rows, conformal quantiles, model files."""

    def __init__(
        self,
        estimator: Estimator,
        *,
        scale_share: float = 0.25,
        calibration_share: float = 0.25,
        random_state: int | None = 0,
    ) -> None:
        self.estimator = estimator
        self.scale_share = scale_share
        self.calibration_share = calibration_share
        self.random_state = random_state

    def fit(self, X: Table, y: Column, sample_weight: Column = None, groups: Column = None) -> Self:
        """Calibrate a fitted model; train and calibrate a model that is not fitted.

        Parameters
        ----------
        X : table of shape (n, features)
            For a fitted model: at least 4 rows that were not used for training or early stopping. A coverage of 0.9
            needs 9 rows beside those that fit the scales, one of 0.99 needs 99. A model that is not fitted is trained
            on a random part of the rows and calibrated on the others, see ``calibration_share``.
        y : array of shape (n,)
            Numbers, or labels that the model knows.
        sample_weight : array of shape (n,), optional
            How many rows each row stands for: in the scales and in conformal quantiles weight two is the same as the
            row twice, weight zero as no row. Weights that are below one on average are scaled to an average of one.
            Coverage is then that of new rows drawn in proportion to the weights. It is guaranteed if the weights are
            counts of rows from the same source, and approximate if they correct for a shift.
        groups : str, int or array of shape (n,), optional
            Column of X, by name or position, or one label per row: the coverage is guaranteed for each group. See the
            prediction for groups with few calibration rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For too few rows, arrays of different lengths, targets that are not finite or too large to be squared,
            labels that the model does not know, shares that are not between 0 and 1, and a model of another kind.
        """
        for name in ("conformity_", "row_groups_", "estimator_"):  # if calibration fails, the model is not fitted
            self.__dict__.pop(name, None)
        self._check_parameters()
        if y is None:
            message = f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            raise ValueError(message)
        require_in_memory(X, "X", "compute it first: calibration needs some thousands of rows")
        require_data(*(part for part in (y, sample_weight) if is_collection(part)))
        rows = CalibrationRows.read(X, self._target_type.check(y), sample_weight, groups)
        random = np.random.default_rng(self.random_state)
        self.estimator_, rows = self._trained_model(rows, random)
        table = self.estimator_.schema_.transform(rows.X)
        posterior = self.estimator_.predict_posterior(CheckedTable(table))
        for_scales, for_guarantee = split_rows(len(rows.y), self.scale_share, random)
        self.row_groups_, codes = self._fit_groups(rows, table)
        codes = None if codes is None else codes[for_guarantee]
        scores = self._fit_scores(rows, posterior, for_scales)[for_guarantee]
        self.conformity_ = ConformityScores.of(scores, rows.counts[for_guarantee], codes, self._n_groups)
        return self

    def calibrate(
        self,
        X_cal: Table,
        y_cal: Column,
        sample_weight: Column = None,
        *,
        groups: Column = None,
        random_state: int | None = 0,
    ) -> Self:
        """Calibrate the same model on other rows; the present calibration is not used.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            Rows that were not used for training or early stopping.
        y_cal : array of shape (n,)
        sample_weight : array of shape (n,), optional
        groups : str, int or array of shape (n,), optional
        random_state : int or None, default=0
            Seed of the split of these rows.

        Returns
        -------
        a new calibrated model
        """
        check_is_fitted(self, "scores_")
        parameters = {**self.get_params(deep=False), "estimator": self.estimator_, "random_state": random_state}
        return type(self)(**parameters).fit(X_cal, y_cal, sample_weight, groups)

    @property
    def scores_(self) -> Floats:
        """Conformity scores of the rows that give the guarantee, ascending."""
        return self.conformity_.values

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training table."""
        return int(self._known_estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns of the training table, if they had any."""
        return np.asarray(self._known_estimator.feature_names_in_)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each column for the prediction of the model, shape (features,); the sum is one."""
        return self._known_estimator.feature_importances_

    @property
    def target_(self) -> Target:
        """Target of the model."""
        return self.estimator_.target_

    @property
    def schema_(self) -> ColumnSchema:
        """Schema of the training table."""
        return self.estimator_.schema_

    @property
    def reference_rows_(self) -> ReferenceRows | None:
        """Training rows that the model keeps."""
        return self.estimator_.reference_rows_

    def _read(self, X: Table) -> CheckedTable:
        check_is_fitted(self, "scores_")
        return self.schema_.read(X)

    def _novelty(self, X: Table) -> Floats:
        return self.estimator_._novelty(X)  # of this package

    def _to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        check_is_fitted(self, "scores_")
        header, arrays = self.estimator_._to_file()
        parameters = self.get_params(deep=False)
        del parameters["estimator"]
        if not isinstance(self.random_state, int | np.integer):
            parameters["random_state"] = None
        own_header: dict[str, Any] = {
            "estimator": type(self).__name__,
            "parameters": {name: np.asarray(value).item() for name, value in parameters.items()},
            "model": header,
        }
        labels: dict[str, AnyArray] = {}
        if self.row_groups_ is not None:
            own_header["groups"], labels = self.row_groups_.to_file()
        return own_header, {**arrays, **self.conformity_.to_file(), **labels, **self._calibration_to_file()}

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        calibrated = cls(model_from_file(header["model"], arrays), **header["parameters"])
        calibrated._check_parameters()
        calibrated.estimator_ = copy.copy(calibrated.estimator)
        groups = header.get("groups")
        n_features = calibrated.estimator_.schema_.n_features
        calibrated.row_groups_ = None if groups is None else RowGroups.from_file(groups, arrays, n_features)
        calibrated.conformity_ = ConformityScores.from_file(
            arrays, n_groups=calibrated._n_groups, signed=calibrated._has_signed_scores
        )
        calibrated._calibration_from_file(arrays)
        return calibrated

    def _check_parameters(self) -> None:
        """Raise a ValueError if a parameter is not valid."""
        check_share(self.scale_share, "scale_share")
        check_share(self.calibration_share, "calibration_share")
        if not isinstance(self.estimator, BaseEpiBoost) or self.estimator._target_type is not self._target_type:
            kind = "EpiBoostClassifier" if self._target_type.has_classes else "EpiBoostRegressor"
            message = f"{type(self).__name__} calibrates an {kind}, got {self.estimator!r}"
            raise ValueError(message)
        if self.estimator.trained_with_offset_:
            message = "a model trained with an offset cannot be calibrated; a regressor can on y - offset, without one"
            raise ValueError(message)

    def _trained_model(
        self, rows: CalibrationRows, random: np.random.Generator
    ) -> tuple[BaseEpiBoost, CalibrationRows]:
        """Return the fitted model and the rows that are left to calibrate it.

        A fitted model is copied: a later fit of it does not change the copy. Clones have a model that is not fitted and
        train it here, so that in cross-validation it never sees the rows that it is judged on.
        """
        if hasattr(self.estimator, "forest_"):
            return copy.copy(self.estimator), rows
        self._target_type.fit(rows.y)  # refuses targets that no model can be trained on
        training, held_out = rows.split(self.calibration_share, random, every_label=self._target_type is Classes)
        model: BaseEpiBoost = clone(self.estimator)
        return model.fit(
            training.X, training.y, sample_weight=None if (training.weight == 1.0).all() else training.weight
        ), held_out

    def _fit_groups(self, rows: CalibrationRows, table: AnyArray) -> tuple[RowGroups | None, Integers | None]:
        """Return the groups of the calibration rows and the code of each row; None without groups."""
        if rows.groups is None:
            return None, None
        return RowGroups.fit(rows.groups, table, self.estimator_.schema_)

    @property
    def _n_groups(self) -> int:
        return 0 if self.row_groups_ is None else len(self.row_groups_.labels)

    def _quantiles(self, levels: Floats, coverages: Floats, *, lower: bool = False) -> Floats:
        """Return the conformal quantile of each group, and of all rows in the last row; shape (groups + 1, levels).

        Parameters
        ----------
        levels : array of shape (k,)
            Levels of the quantiles.
        coverages : array of shape (k,)
            Coverages that need them, for errors.
        lower : bool
            Whether quantiles of the negated scores are asked for.
        """
        for level, coverage in zip(levels.tolist(), coverages.tolist(), strict=True):
            require_rows(self.conformity_.total_weight, level, coverage, self.scale_share)
        return (self.conformity_.negated() if lower else self.conformity_).quantiles(levels)

    def _per_row(self, quantiles: Floats, groups: Column, table: AnyArray) -> Floats:
        """Return the quantiles of each row's group, (n, ...) of (groups + 1, ...); those of all rows without groups."""
        self._refuse_unused(groups)
        if self.row_groups_ is None or (groups is None and self.row_groups_.column is None):
            return np.broadcast_to(quantiles[-1], (len(table), *quantiles.shape[1:]))
        codes = self.row_groups_.codes(groups, table)
        return by_group(quantiles, codes, whose="rows are of groups that have", stacklevel=_TO_CALLER)

    def _refuse_unused(self, groups: Column) -> None:
        """Raise a ValueError if groups are given to a model that has none."""
        if self.row_groups_ is None and groups is not None:
            message = "groups are for models that were calibrated with groups: calibrate(X_cal, y_cal, groups=...)"
            raise ValueError(message)

    @property
    def _known_estimator(self) -> BaseEpiBoost:
        return self.estimator_ if hasattr(self, "estimator_") else self.estimator

    estimator_: BaseEpiBoost
    conformity_: ConformityScores
    row_groups_: RowGroups | None

    _target_type: ClassVar[type[Target]]

    @property
    def _has_signed_scores(self) -> bool:
        """Whether scores may be negative."""
        return False

    @abstractmethod
    def _fit_scores(self, rows: CalibrationRows, posterior: Posterior, for_scales: Integers) -> Floats:
        """Fit the scales to some of the rows, and return the conformity scores of all rows, shape (n,)."""

    @abstractmethod
    def _calibration_to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of the calibration, beside the scores."""

    @abstractmethod
    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        """Check the arrays that `_calibration_to_file` returned, and set the fitted attributes."""
