"""The calibrated classifier: temperature scaling and conformal prediction sets."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.calibrated.groups import RowGroups, by_group
from epiboost._estimators.calibrated.rows import CalibrationRows
from epiboost._estimators.calibrated.temperature import fit_temperature
from epiboost._estimators.conformal import check_coverages, check_flag, temper
from epiboost._estimators.predictions import ClassPredictions
from epiboost._estimators.uncertainty_model import takes_remote_tables
from epiboost._inputs.labels import label_codes
from epiboost._inputs.schema import CheckedTable
from epiboost._inputs.target import Classes
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Estimator, Floats, Integers, Table

_TO_CALLER = 4  # frames from a warning to the user's call: the helper, the prediction, its wrapper for Dask


class CalibratedClassifier(ClassifierMixin, ClassPredictions, BaseCalibrated):  # type: ignore[misc]  # scikit-learn has no types
    """Classifier with calibrated probabilities and prediction sets of guaranteed coverage.

    One part of the calibration rows fits a temperature by maximum likelihood. The other part gives the conformal
    quantile of one minus the probability of the true class: classes of a smaller score belong to the set. The most
    probable class always does. `EpiBoostClassifier.calibrate` returns such a model.

    Parameters
    ----------
    estimator : EpiBoostClassifier
        A fitted model, which `fit` calibrates; a later fit of the model does not change the calibrated one. A model
        that is not fitted is trained by `fit`. A clone of a calibrated model has a model that is not fitted, so that
        cross-validation trains it on the rows of each fold.
    per_class : bool, default=False
        Whether the coverage is guaranteed for the rows of each class. Sets are larger if some classes are harder.
    scale_share : float, default=0.25
        Approximate share of the calibration rows that fit the temperature. The number of the other rows is rounded so
        that coverages of 0.5, 0.8, 0.9 and 0.95 are met exactly. Coverage is higher where the most probable class,
        which always belongs to the set, is right more often than that.
    calibration_share : float, default=0.25
        Share of the rows that `fit` keeps for calibration if it trains the model. Of each class one row at least is for
        training.
    random_state : int or None, default=0
        Seed of the split of the rows; None gives another split each time.

    Attributes
    ----------
    estimator_ : EpiBoostClassifier
        The model as it was at `fit`.
    temperature_ : float
        Above 1 if the model was overconfident.
    scores_ : array of shape (n,)
        Conformity scores: one minus the probability of the true class of the other rows, ascending.
    classes_ : array of shape (classes,)

    References
    ----------
    M. Sadinle, J. Lei, L. Wasserman: Least ambiguous set-valued classifiers with bounded error levels. Journal of the
    American Statistical Association, 2019. C. Guo, G. Pleiss, Y. Sun, K. Weinberger: On calibration of modern neural
    networks. ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2))
    >>> y = np.where(X[:, 0] + rng.normal(size=900) > 0, "yes", "no")
    >>> model = EpiBoostClassifier(n_members=3, n_estimators=50, random_state=0).fit(X[:300], y[:300])
    >>> calibrated = model.calibrate(X[300:600], y[300:600])
    >>> calibrated.predict_set([[3.0, 0.0], [0.0, 0.0]], coverage=0.9)
    array([[False,  True],
           [ True,  True]])
    """

    _target_type = Classes

    def __init__(
        self,
        estimator: Estimator,
        *,
        per_class: bool = False,
        scale_share: float = 0.25,
        calibration_share: float = 0.25,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            estimator, scale_share=scale_share, calibration_share=calibration_share, random_state=random_state
        )
        self.per_class = per_class

    @property
    def classes_(self) -> AnyArray:
        """Labels, in the order of the probabilities."""
        classes: AnyArray = self._known_estimator.classes_
        return classes

    @takes_remote_tables
    def predict_set(
        self, X: Table, coverage: float | npt.ArrayLike = 0.9, *, groups: Column = None
    ) -> npt.NDArray[np.bool_]:
        """Predict sets of classes that contain the true class with at least the given probability.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1. A set of a larger coverage contains those of smaller ones.
        groups : array of shape (n,), optional
            Groups of the rows, if the model was calibrated with one label per row. Without them the coverage is
            guaranteed over all rows, not per group. Groups that are a column of X are found there.

        Returns
        -------
        array of bool, of shape (n, classes), or (n, k, classes) for k coverages
            Which classes belong to the set, in the order of ``classes_``; at least the most probable one.

        Raises
        ------
        ValueError
            If there are too few calibration rows to guarantee a coverage.

        Warns
        -----
        UserWarning
            If a group, or a class of a ``per_class`` model, has too few calibration rows for the coverage, or none.
            The quantile of all rows is used for it: its coverage is guaranteed over all rows only.
        """
        check_is_fitted(self, "scores_")
        coverages = check_coverages(coverage)
        levels = np.atleast_1d(coverages)
        quantiles = self._quantiles(levels, levels)
        table = self.schema_.transform(X)
        probability = self.predict_proba(CheckedTable(table))[:, np.newaxis, :]
        if self.per_class:
            codes = np.arange(len(self.classes_))
            self._refuse_unused(groups)
            limit = by_group(quantiles, codes, whose="classes have", stacklevel=_TO_CALLER).T
        else:
            limit = self._per_row(quantiles, groups, table)[:, :, np.newaxis]
        most_probable = probability == probability.max(axis=-1, keepdims=True)
        belongs: npt.NDArray[np.bool_] = (1.0 - probability <= limit) | most_probable
        return belongs.reshape(-1, *coverages.shape, len(self.classes_))

    def predict_posterior(self, X: Table, *, offset: Column = None) -> Posterior:
        """Return the posterior at the fitted temperature; see `EpiBoostClassifier.predict_posterior`."""
        check_is_fitted(self, "scores_")
        posterior = self.estimator_.predict_posterior(X, offset=offset)
        return replace(posterior, parameters=temper(posterior.parameters, self.temperature_))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(self.per_class, "per_class")

    @property
    def _n_groups(self) -> int:
        return len(self.classes_) if self.per_class else super()._n_groups

    def _fit_scores(self, rows: CalibrationRows, posterior: Posterior, for_scales: Integers) -> Floats:
        codes, parameters = label_codes(rows.y, self.classes_, name="y"), posterior.parameters
        self.temperature_: float = fit_temperature(
            parameters[:, for_scales], codes[for_scales], rows.counts[for_scales]
        )
        probability = temper(parameters, self.temperature_).mean(axis=0)
        scores: Floats = 1.0 - probability[np.arange(len(codes)), codes]
        return scores

    def _fit_groups(self, rows: CalibrationRows, table: AnyArray) -> tuple[RowGroups | None, Integers | None]:
        if not self.per_class:
            return super()._fit_groups(rows, table)
        if rows.groups is not None:
            message = "groups and per_class=True exclude each other: the groups of such a model are the classes"
            raise ValueError(message)
        return None, label_codes(rows.y, self.classes_, name="y")

    def _calibration_to_file(self) -> dict[str, AnyArray]:
        return {"calibration_temperature": np.array(self.temperature_)}

    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        temperature = float(arrays["calibration_temperature"])
        if not (np.isfinite(temperature) and temperature > 0.0):
            message = f"the temperature must be a positive number, got {temperature}"
            raise ValueError(message)
        self.temperature_ = temperature
