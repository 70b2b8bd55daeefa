"""The calibrated regressor: conformal prediction intervals."""

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.conformal import Scales, fit_scales
from epiboost._estimators.predictions import NumberPredictions
from epiboost._estimators.uncertainty_model import takes_dask
from epiboost._inputs.target import Numbers
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Floats, Table

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

    Uncertainties, the posterior and standard deviations are scaled in the same way. The guarantee is for the intervals:
    the likelihood of the scaled posterior may be worse than that of the model.

    Parameters
    ----------
    estimator : EpiBoostRegressor
        A fitted model. `fit` keeps a copy: a later fit of the model does not change the calibrated one.
    scale_share : float, default=0.25
        Approximate share of the calibration rows that fit the scales. The number of the other rows is rounded so that
        coverages of 0.5, 0.8, 0.9 and 0.95 are met exactly.
    random_state : int or None, default=0
        Seed of the split of the calibration rows; None gives another split each time.

    Attributes
    ----------
    estimator_ : EpiBoostRegressor
        The model as it was at `fit`.
    scales_ : Scales
        ``constant``, and the factors of ``data`` and ``knowledge`` uncertainty in the calibrated variance.
    scores_ : array of shape (n,)
        Conformity scores: scaled absolute residuals of the other rows, ascending.

    References
    ----------
    J. Lei, M. G'Sell, A. Rinaldo, R. Tibshirani, L. Wasserman: Distribution-free predictive inference for regression.
    Journal of the American Statistical Association, 2018.

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

    _target_type = Numbers

    def fit(self, X: Table, y: Column) -> Self:
        """Calibrate on rows that were not used for training or early stopping.

        Parameters
        ----------
        X : table of shape (n, features)
            At least 4 rows. A coverage of 0.9 needs 9 rows beside those that fit the scales, one of 0.99 needs 99.
        y : array of shape (n,)

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For fewer than 4 rows, tables of different lengths, targets that are not finite or too large to be squared,
            a ``scale_share`` that is not between 0 and 1, and a model of another kind.
        """
        target, posterior = self._rows(X, y)
        residual, uncertainty = target - posterior.mean, posterior.uncertainty()
        for_scales, for_guarantee = self._split_calibration_rows(len(target))
        self.scales_: Scales = fit_scales(
            residual[for_scales], uncertainty.data[for_scales], uncertainty.knowledge[for_scales]
        )
        scale = _interval_scale(self.scales_.variance(uncertainty.data, uncertainty.knowledge))
        self.scores_: Floats = np.sort(np.abs(residual[for_guarantee]) / scale[for_guarantee])
        return self

    @takes_dask
    def predict_interval(self, X: Table, coverage: float | npt.ArrayLike = 0.9) -> Floats:
        """Predict intervals that contain the target with at least the given probability.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1. An interval of a larger coverage contains those of smaller ones.

        Returns
        -------
        array of shape (n, 2), or (n, k, 2) for k coverages
            Lower and upper ends; the prediction is in the middle.

        Raises
        ------
        ValueError
            If there are too few calibration rows to guarantee a coverage.
        """
        quantile = self._quantiles(coverage) * _ROUNDING_MARGIN
        posterior = self.estimator_.predict_posterior(X)
        uncertainty = posterior.uncertainty()
        scale = _interval_scale(self.scales_.variance(uncertainty.data, uncertainty.knowledge))
        width = np.multiply.outer(scale, quantile)
        center = posterior.mean.reshape(-1, *[1] * quantile.ndim)
        return np.stack([center - width, center + width], axis=-1)

    @takes_dask
    def predict_quantile(self, X: Table, q: npt.ArrayLike) -> Floats:
        """Predict the ends of the calibrated intervals: 0.05 and 0.95 are the ends of the interval of coverage 0.9.

        Parameters
        ----------
        X : table of shape (n, features)
        q : float or array of shape (k,)
            Strictly between 0 and 1; 0.5 is the prediction.

        Returns
        -------
        array of shape (n,) for one q, (n, k) for k
            Quantiles never cross. The guarantee is for the share of targets between two ends, not for the share below
            one of them.

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
        ends = self.predict_interval(X, np.where(middle, _TINY_COVERAGE, coverage))
        center = ends.mean(axis=2)
        quantiles = np.where(middle, center, np.where(upper, ends[:, :, 1], ends[:, :, 0]))
        return quantiles.reshape(-1, *levels.shape)

    def predict_posterior(self, X: Table) -> Posterior:
        """Return the posterior with calibrated variances; see `EpiBoostRegressor.predict_posterior`.

        Its mean is that of the model. Data uncertainty is ``constant + a * data``, knowledge uncertainty is
        ``b * knowledge``. Only the intervals of `predict_interval` have a guarantee.
        """
        check_is_fitted(self, "scores_")
        posterior = self.estimator_.predict_posterior(X)
        mean, variance = posterior.parameters[:, :, 0], posterior.parameters[:, :, 1]
        spread = posterior.mean + np.sqrt(self.scales_.knowledge) * (mean - posterior.mean)
        scaled = np.stack([spread, self.scales_.constant + self.scales_.data * variance], axis=2)
        return Posterior(scaled, "normal", index=posterior.index)

    def _calibration_to_file(self) -> dict[str, AnyArray]:
        scales = [self.scales_.constant, self.scales_.data, self.scales_.knowledge]
        return {"calibration_scores": self.scores_, "calibration_scales": np.array(scales)}

    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        scales = arrays["calibration_scales"]
        if scales.dtype != np.float64 or scales.shape != (3,) or not np.isfinite(scales).all() or (scales < 0.0).any():
            message = "scales must be three finite numbers, none of them negative"
            raise ValueError(message)
        self.scales_ = Scales(*scales.tolist())


def _interval_scale(variance: Floats) -> Floats:
    """Return the scale of each interval: positive, so that residuals can be divided by it."""
    return np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))
