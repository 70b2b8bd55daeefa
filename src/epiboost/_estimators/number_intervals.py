"""Intervals and quantiles of a regressor."""

import numpy as np
import numpy.typing as npt

from epiboost._estimators.out_of_fold.probability_levels import ProbabilityLevels
from epiboost._estimators.out_of_fold.residual_shape import ResidualShape
from epiboost._estimators.staged_predictions import StagedNumbers
from epiboost._estimators.uncertainty_model import takes_remote_tables
from epiboost._inputs.device_arrays import like
from epiboost._posterior.levels import check_quantiles, interval_ends
from epiboost._posterior.posterior import Posterior
from epiboost._typing import Column, Floats, Table


class NumberIntervals(StagedNumbers):
    """Intervals and quantiles of a regressor, beside its staged predictions."""

    @takes_remote_tables
    def predict_interval(
        self, X: Table, coverage: float | npt.ArrayLike = 0.9, *, guarantee: bool = False, offset: Column = None
    ) -> Floats:
        """Predict the central interval that contains the target with the given probability.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Between 0 and 1.
        guarantee : bool, default=False
            Whether the intervals shall be those of CV+, which the out-of-fold chains alone make. For rows of the same
            distribution they contain the target with a probability of at least ``1 - 2 * (1 - coverage)``, less a term
            that vanishes with the number of rows; in practice it is about the coverage. Needs ``keep_folds=True``.
        offset : number or array of shape (n,), optional
            For a model that was trained with one.

        Returns
        -------
        array of shape (n, 2), or (n, k, 2) for k coverages
            Lower and upper end, which never cross. With out-of-fold chains the ends are `predict_quantile`; otherwise
            they are quantiles of the mixture of the members. Neither has a proof: see ``guarantee`` and `calibrate`.
        """
        ends = interval_ends(coverage)
        if guarantee:
            self._require_fitted()
            chains, table = self._measured.kept_chains, self.schema_.transform(X)
            intervals = [chains.interval(table, float(level)) for level in np.atleast_1d(coverage)]
            known = self._known_offset(offset, len(table))
            if known is not None:
                intervals = [interval + known[:, np.newaxis] for interval in intervals]
            return intervals[0] if ends.ndim == 1 else np.stack(intervals, axis=1)
        return self.predict_quantile(X, ends.ravel(), offset=offset).reshape(-1, *ends.shape)

    @takes_remote_tables
    def predict_quantile(self, X: Table, q: npt.ArrayLike, *, offset: Column = None) -> Floats:
        """Predict quantiles of the target.

        With out-of-fold chains the quantile is the mean plus the standard deviation of the row times the quantile of
        the standardised out-of-fold residuals, so that the shape of the distribution is that of the table. Of another
        distribution than a Normal it is the quantile of the mixture at the level below which that share of the
        out-of-fold targets lies. Without them it is that of the mixture of the members.

        Parameters
        ----------
        X : table of shape (n, features)
        q : float or array of shape (k,)
            Between 0 and 1.
        offset : number or array of shape (n,), optional
            For a model that was trained with one.

        Returns
        -------
        array of shape (n,) for one q, (n, k) for k
            Quantiles never cross.
        """
        if self.out_of_fold_ is None or self.out_of_fold_.recalibration is None:
            return self.predict_posterior(X, offset=offset).quantile(q)
        posterior = self._summary(X, offset)
        if isinstance(posterior, Posterior) and posterior.distribution is not None:
            levels = ProbabilityLevels(self.out_of_fold_.scores).at(check_quantiles(q))
            return posterior.quantile(levels)
        ratios = ResidualShape(self.out_of_fold_.scores).quantile(check_quantiles(q))
        mean, std = (part.reshape(-1, *[1] * ratios.ndim) for part in (posterior.mean, posterior.std))
        quantiles: Floats = mean + std * like(std, ratios)
        return quantiles
