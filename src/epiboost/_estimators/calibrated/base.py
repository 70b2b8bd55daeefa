"""Base class of calibrated models: split of the calibration rows, conformal quantiles, model files."""

import copy
import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.base import BaseEpiBoost
from epiboost._estimators.conformal import check_share, conformal_quantile, min_rows_for_coverage
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.saving import model_from_file
from epiboost._estimators.uncertainty_model import UncertaintyModel
from epiboost._inputs.schema import CheckedTable, ColumnSchema
from epiboost._inputs.target import Target
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Estimator, Floats, Integers, Table

_MIN_ROWS = 4  # at the default share, three for the guarantee and one for the scales
_STEPS = 20  # coverages that are multiples of 1 / 20 are met exactly
_LEEWAY = 0.15  # how far the share of rows may differ from the requested one to achieve that


class BaseCalibrated(UncertaintyModel):
    """Base class of calibrated models: split of the calibration rows, conformal quantiles, model files."""

    def __init__(self, estimator: Estimator, *, scale_share: float = 0.25, random_state: int | None = 0) -> None:
        self.estimator = estimator
        self.scale_share = scale_share
        self.random_state = random_state

    def calibrate(self, X_cal: Table, y_cal: Column, *, random_state: int | None = 0) -> Self:
        """Calibrate the same model on other rows; the present calibration is not used.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            Rows that were not used for training or early stopping.
        y_cal : array of shape (n,)
        random_state : int or None, default=0
            Seed of the split of these rows.

        Returns
        -------
        a new calibrated model
        """
        check_is_fitted(self, "scores_")
        copied = type(self)(self.estimator_, scale_share=self.scale_share, random_state=random_state)
        calibrated: Self = copied.fit(X_cal, y_cal)
        return calibrated

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training table."""
        return int(self._known_estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns of the training table, if they had any."""
        names: AnyArray = self._known_estimator.feature_names_in_
        return names

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
        seed = int(self.random_state) if isinstance(self.random_state, int | np.integer) else None
        own_header: dict[str, Any] = {
            "estimator": type(self).__name__,
            "parameters": {"scale_share": float(self.scale_share), "random_state": seed},
            "model": header,
        }
        return own_header, {**arrays, **self._calibration_to_file()}

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        calibrated = cls(model_from_file(header["model"], arrays), **header["parameters"])
        calibrated._keep_estimator()
        scores = arrays["calibration_scores"]
        if scores.dtype != np.float64 or scores.ndim != 1 or not scores.size or (np.diff(scores) < 0.0).any():
            message = "scores must be numbers in order"
            raise ValueError(message)
        if not np.isfinite(scores).all() or scores[0] < 0.0:
            message = "scores must be finite and not negative"
            raise ValueError(message)
        calibrated.scores_ = scores
        calibrated._calibration_from_file(arrays)
        return calibrated

    def __sklearn_clone__(self) -> Self:
        """Keep the fitted model: it is not trained here."""
        return type(self)(self.estimator, scale_share=self.scale_share, random_state=self.random_state)

    def _split_calibration_rows(self, n_samples: int) -> tuple[Integers, Integers]:
        """Split the calibration rows at random: rows that fit the scales, and rows that give the guarantee."""
        check_share(self.scale_share, "scale_share")
        if n_samples < _MIN_ROWS:
            message = f"calibration needs at least {_MIN_ROWS} rows, got {n_samples}"
            raise ValueError(message)
        n_guarantee = _n_guarantee_rows(n_samples, 1.0 - self.scale_share)
        order: Integers = np.random.default_rng(self.random_state).permutation(n_samples)
        return order[n_guarantee:], order[:n_guarantee]

    def _quantiles(self, coverage: float | npt.ArrayLike) -> Floats:
        """Return the conformal quantile of each coverage, in the shape of the coverages."""
        check_is_fitted(self, "scores_")
        levels = np.asarray(coverage, dtype=np.float64)
        if levels.ndim > 1 or not levels.size:
            message = f"coverage must be a number or a sequence of numbers, got the shape {levels.shape}"
            raise ValueError(message)
        quantiles = [self._quantile(float(level)) for level in np.atleast_1d(levels)]
        return np.array(quantiles).reshape(levels.shape)

    def _quantile(self, coverage: float) -> float:
        check_share(coverage, "coverage")
        needed = min_rows_for_coverage(coverage)
        if needed > len(self.scores_):
            message = (
                f"a coverage of {coverage} cannot be guaranteed: it needs {needed} rows beside those that fit the "
                f"scales, and there are {len(self.scores_)}; calibrate with "
                f"{_n_calibration_rows(needed, 1.0 - self.scale_share)} rows in all"
            )
            raise ValueError(message)
        return conformal_quantile(self.scores_, coverage)

    def _rows(self, X: Table, y: Column) -> tuple[AnyArray, Posterior]:
        """Return the targets of the calibration rows, and their posterior."""
        self._keep_estimator()
        target, posterior = self._target_type.check(y), self.estimator_.predict_posterior(X)
        if posterior.n_samples != len(target):
            message = f"X and y must have the same number of rows, got {posterior.n_samples} and {len(target)}"
            raise ValueError(message)
        return target, posterior

    @property
    def _known_estimator(self) -> BaseEpiBoost:
        return self.estimator_ if hasattr(self, "estimator_") else self.estimator

    def _keep_estimator(self) -> None:
        """Keep a copy of the model as it is now: a later fit of the model does not change the copy."""
        family = self._target_type.family
        if not isinstance(self.estimator, BaseEpiBoost) or self.estimator._target_type.family != family:
            kind = "EpiBoostRegressor" if family == "normal" else "EpiBoostClassifier"
            message = f"{type(self).__name__} calibrates a fitted {kind}, got {self.estimator!r}"
            raise ValueError(message)
        self.estimator._require_fitted()
        self.estimator_ = copy.copy(self.estimator)

    estimator_: BaseEpiBoost
    scores_: Floats

    _target_type: ClassVar[type[Target]]

    @abstractmethod
    def _calibration_to_file(self) -> dict[str, AnyArray]:
        """Return the arrays of the calibration."""

    @abstractmethod
    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        """Check the arrays that `_calibration_to_file` returned, and set the fitted attributes."""


def _n_guarantee_rows(n_samples: int, share: float) -> int:
    """Return the number of rows that give the guarantee: about a share, one less than a multiple of 20 if possible.

    With n rows, a coverage is rounded up to a multiple of 1 / (n + 1), which widens the intervals. If n + 1 is a
    multiple of 20, the usual coverages 0.5, 0.8, 0.9 and 0.95 are met exactly.

    >>> _n_guarantee_rows(69, 0.75), _n_guarantee_rows(10, 0.75), _n_guarantee_rows(1000, 0.75)
    (59, 8, 759)
    """
    wanted = min(max(round(share * n_samples), 1), n_samples - 1)
    below = (wanted + 1) // _STEPS * _STEPS - 1
    near = [n for n in (below, below + _STEPS) if abs(n / n_samples - share) <= _LEEWAY and 0 < n < n_samples]
    return min(near, key=lambda n: abs(n - wanted), default=wanted)


def _n_calibration_rows(needed: int, share: float) -> int:
    """Return how many calibration rows are needed so that ``needed`` of them give the guarantee.

    >>> _n_calibration_rows(9, 0.75), _n_calibration_rows(99, 0.75)
    (12, 132)
    """
    n_samples = max(math.ceil(needed / share), needed + 1)
    while _n_guarantee_rows(n_samples, share) < needed:
        n_samples += 1
    return n_samples
