"""The calibrated regressor: conformal prediction intervals."""

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.calibrated.rows import CalibrationRows
from epiboost._estimators.calibrated.scales import NO_CHANGE, Scales, fit_posterior_scales, fit_scales, scale_posterior
from epiboost._estimators.conformal import check_coverages, check_flag
from epiboost._estimators.distributional import ends_of, scores_of
from epiboost._estimators.predictions import NumberPredictions
from epiboost._estimators.uncertainty_model import takes_dask
from epiboost._inputs.schema import CheckedTable
from epiboost._inputs.target import Numbers
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Estimator, Floats, Integers, Table

_TINY_COVERAGE = 1e-9
"""Coverage of the interval whose middle is the median; so small that any number of rows guarantees it."""

_ROUNDING_MARGIN = 1.0 + 4.0 * float(np.finfo(np.float64).eps)
"""Factor on interval widths: despite rounding, the row whose score is the quantile lies inside its interval."""


class CalibratedRegressor(RegressorMixin, NumberPredictions, BaseCalibrated):  # type: ignore[misc]  # scikit-learn has no types
    """Regressor with prediction intervals of guaranteed coverage, for any distribution.

    The half-width of an interval is ``q * sqrt(constant + a * data + b * knowledge)``. The constant and the two scales
    are computed from one part of the calibration rows by a robust, regularised fit (see `fit_scales`). q is the
    conformal quantile of the scaled absolute residuals on the other part. `EpiBoostRegressor.calibrate` returns such a
    model.

    Of another distribution than a Normal, the score of a row is its distance from the median on the scale of its own
    predicted distribution, and the ends of an interval are quantiles of that distribution (distributional conformal
    prediction): intervals are as skewed as the family, and those of counts end at counts. No rows are needed for
    scales.

    The posterior, uncertainties and standard deviations have scales of their own, from all calibration rows, as they
    have no guarantee. These are shrunk towards no change as far as the gain could be chance.

    Parameters
    ----------
    estimator : EpiBoostRegressor
        A fitted model, which `fit` calibrates; a later fit of the model does not change the calibrated one. A model
        that is not fitted is trained by `fit`. A clone of a calibrated model has a model that is not fitted, so that
        cross-validation trains it on the rows of each fold.
    symmetric : bool, default=True
        Whether intervals reach equally far to both sides. If not, each end has a conformal quantile of its own, and
        misses at most half of the rows that the interval may miss: for skewed targets. It needs twice as many rows.
    scale_share : float, default=0.25
        Approximate share of the calibration rows that fit the scales. The number of the other rows is rounded so that
        coverages of 0.5, 0.8, 0.9 and 0.95 are met exactly.
    calibration_share : float, default=0.25
        Share of the rows that `fit` keeps for calibration if it trains the model.
    random_state : int or None, default=0
        Seed of the split of the rows; None gives another split each time.

    Attributes
    ----------
    estimator_ : EpiBoostRegressor
        The model as it was at `fit`.
    scales_ : Scales
        ``constant``, and the factors of ``data`` and ``knowledge`` uncertainty in the width of intervals.
    posterior_scales_ : Scales
        The same in the posterior; 0, 1 and 1 is no change.
    scores_ : array of shape (n,)
        Conformity scores: scaled absolute residuals of the other rows, ascending; with their sign if not ``symmetric``.
    max_coverage_ : float

    References
    ----------
    J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman: Distribution-free predictive inference for regression.
    Journal of the American Statistical Association, 2018. V. Vovk: Conditional validity of inductive conformal
    predictors. Machine Learning, 2013 (groups).

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(900, 1))
    >>> y = X[:, 0] + np.where(X[:, 0] > 0, 0.5, 0.1) * rng.normal(size=900)
    >>> model = EpiBoostRegressor(n_members=3, n_estimators=50, random_state=0).fit(X[:300], y[:300])
    >>> calibrated = model.calibrate(X[300:600], y[300:600])
    >>> interval = calibrated.predict_interval(X[600:], [0.5, 0.9])
    >>> interval.shape
    (300, 2, 2)
    >>> inside = (interval[:, 1, 0] <= y[600:]) & (y[600:] <= interval[:, 1, 1])
    >>> bool(abs(inside.mean() - 0.9) < 0.05)
    True
    """

    scales_: Scales
    posterior_scales_: Scales

    _target_type = Numbers

    def __init__(
        self,
        estimator: Estimator,
        *,
        symmetric: bool = True,
        scale_share: float = 0.25,
        calibration_share: float = 0.25,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            estimator, scale_share=scale_share, calibration_share=calibration_share, random_state=random_state
        )
        self.symmetric = symmetric

    @property
    def max_coverage_(self) -> float:
        """Largest coverage that the calibration rows can guarantee."""
        return self.conformity_.max_coverage if self.symmetric else 2.0 * self.conformity_.max_coverage - 1.0

    @takes_dask
    def predict_interval(self, X: Table, coverage: float | npt.ArrayLike = 0.9, *, groups: Column = None) -> Floats:
        """Predict intervals that contain the target with at least the given probability.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1. An interval of a larger coverage contains those of smaller ones.
        groups : array of shape (n,), optional
            Groups of the rows, if the model was calibrated with one label per row. Without them the coverage is
            guaranteed over all rows, not per group. Groups that are a column of X are found there.

        Returns
        -------
        array of shape (n, 2), or (n, k, 2) for k coverages
            Lower and upper ends. If the model is ``symmetric``, the prediction is in the middle; of another
            distribution than a Normal, both tails of the distribution are equally large.

        Raises
        ------
        ValueError
            If there are too few calibration rows to guarantee a coverage.

        Warns
        -----
        UserWarning
            If a group has too few calibration rows for the coverage, or none. The interval of such a row is that of
            all rows: its coverage is guaranteed over all rows, not for its group.
        """
        check_is_fitted(self, "scores_")
        coverages = check_coverages(coverage)
        factors = self._interval_factors(np.atleast_1d(coverages))
        table = self.schema_.transform(X)
        posterior = self.estimator_.predict_posterior(CheckedTable(table))
        if posterior.distribution is not None:
            scores = self._per_row(factors, groups, table).reshape(len(table), -1)
            quantiles = ends_of(posterior.distribution, posterior.parameters, scores)
            return quantiles.reshape(-1, *coverages.shape, 2)
        uncertainty = posterior.uncertainty()
        scale = _interval_scale(self.scales_.variance(uncertainty.data, uncertainty.knowledge))
        deviation = scale[:, np.newaxis, np.newaxis] * self._per_row(factors, groups, table)
        ends: Floats = posterior.mean[:, np.newaxis, np.newaxis] + deviation
        return ends.reshape(-1, *coverages.shape, 2)

    @takes_dask
    def predict_quantile(self, X: Table, q: npt.ArrayLike, *, groups: Column = None) -> Floats:
        """Predict the ends of the calibrated intervals: 0.05 and 0.95 are the ends of the interval of coverage 0.9.

        Parameters
        ----------
        X : table of shape (n, features)
        q : float or array of shape (k,)
            Strictly between 0 and 1; 0.5 is the prediction, or the middle of the narrowest interval if the model is
            not ``symmetric``.
        groups : array of shape (n,), optional
            As in `predict_interval`.

        Returns
        -------
        array of shape (n,) for one q, (n, k) for k
            Quantiles never cross. If the model is ``symmetric``, the guarantee is for the share of targets between two
            ends, not for the share below one of them. Otherwise it is for both: at most a share of q is below the
            quantile if q is below 0.5, at most 1 - q is above it if q is above 0.5.

        Raises
        ------
        ValueError
            If there are too few calibration rows to guarantee the interval that ends at a quantile.
        """
        check_is_fitted(self, "scores_")
        levels = np.asarray(q, dtype=np.float64)
        if levels.ndim > 1 or not levels.size or not ((levels > 0.0) & (levels < 1.0)).all():
            message = f"q must be a number, or a sequence of them, strictly between 0 and 1, got {q!r}"
            raise ValueError(message)
        flat = np.atleast_1d(levels)
        upper, middle = flat > 0.5, flat == 0.5  # noqa: PLR2004 (the middle)
        coverage = np.abs(2.0 * flat - 1.0)
        ends = self.predict_interval(X, np.where(middle, _TINY_COVERAGE, coverage), groups=groups)
        center = ends.mean(axis=2)
        quantiles = np.where(middle, center, np.where(upper, ends[:, :, 1], ends[:, :, 0]))
        return quantiles.reshape(-1, *levels.shape)

    def predict_posterior(self, X: Table, *, offset: Column = None) -> Posterior:
        """Return the posterior with calibrated variances; see `EpiBoostRegressor.predict_posterior`.

        Its mean is that of the model. Data uncertainty is ``constant + a * data``, knowledge uncertainty is
        ``b * knowledge``. Other distributions than Normals are left as they are. Only the intervals of
        `predict_interval` have a guarantee.
        """
        check_is_fitted(self, "scores_")
        posterior = self.estimator_.predict_posterior(X, offset=offset)
        return posterior if posterior.distribution is not None else scale_posterior(posterior, self.posterior_scales_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(self.symmetric, "symmetric")

    @property
    def _share_of_scales(self) -> float:
        return self.scale_share if self.estimator_._distribution is None else 0.0

    @property
    def _has_signed_scores(self) -> bool:
        return not self.symmetric

    def _fit_scores(self, rows: CalibrationRows, posterior: Posterior, for_scales: Integers) -> Floats:
        if posterior.distribution is not None:
            self.scales_ = self.posterior_scales_ = NO_CHANGE
            scores = scores_of(posterior.distribution, posterior.parameters, rows.y)
            return np.abs(scores) if self.symmetric else scores
        residual, uncertainty = rows.y - posterior.mean, posterior.uncertainty()
        data, knowledge = uncertainty.data, uncertainty.knowledge
        self.scales_ = fit_scales(
            residual[for_scales], data[for_scales], knowledge[for_scales], rows.counts[for_scales]
        )
        self.posterior_scales_ = fit_posterior_scales(posterior, rows.y, rows.counts)
        ratio: Floats = residual / _interval_scale(self.scales_.variance(data, knowledge))
        return np.abs(ratio) if self.symmetric else ratio

    def _interval_factors(self, coverages: Floats) -> Floats:
        """Return the ends of intervals of scale one around zero, by group and over all rows: (groups + 1, k, 2)."""
        if self.symmetric:
            upper = lower = self._quantiles(coverages, coverages)
        else:
            levels = 0.5 + 0.5 * coverages  # each end misses at most half of the rows that may be missed
            upper, lower = (self._quantiles(levels, coverages, lower=lower) for lower in (False, True))
        return np.stack([-_rounded_up(lower), _rounded_up(upper)], axis=-1)

    def _calibration_to_file(self) -> dict[str, AnyArray]:
        return {
            "calibration_scales": self.scales_.values,
            "calibration_posterior_scales": self.posterior_scales_.values,
        }

    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        self.scales_ = _checked_scales(arrays["calibration_scales"])
        of_posterior = arrays.get("calibration_posterior_scales")  # earlier files have one set of scales for both
        self.posterior_scales_ = self.scales_ if of_posterior is None else _checked_scales(of_posterior)


def _checked_scales(scales: AnyArray) -> Scales:
    """Return the scales of a file; a ValueError if they are not valid."""
    if scales.dtype != np.float64 or scales.shape != (3,) or not np.isfinite(scales).all() or (scales < 0.0).any():
        message = "scales must be three finite numbers, none of them negative"
        raise ValueError(message)
    return Scales(*scales.tolist())


def _interval_scale(variance: Floats) -> Floats:
    """Return the scale of each interval: positive, so that residuals can be divided by it."""
    return np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))


def _rounded_up(quantile: Floats) -> Floats:
    """Return quantiles that rounding cannot bring below the score that they are."""
    return np.where(quantile > 0.0, quantile * _ROUNDING_MARGIN, quantile / _ROUNDING_MARGIN)
