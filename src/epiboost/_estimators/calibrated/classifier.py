"""The calibrated classifier: temperature scaling and conformal prediction sets."""

from dataclasses import replace
from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.conformal import fit_temperature, temper
from epiboost._estimators.predictions import ClassPredictions
from epiboost._estimators.uncertainty_model import takes_dask
from epiboost._inputs.labels import label_codes
from epiboost._inputs.target import Classes
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Column, Floats, Table


class CalibratedClassifier(ClassifierMixin, ClassPredictions, BaseCalibrated):  # type: ignore[misc]  # scikit-learn has no types
    """Classifier with calibrated probabilities and prediction sets of guaranteed coverage.

    One part of the calibration rows fits a temperature by maximum likelihood. The other part gives the conformal
    quantile of one minus the probability of the true class: classes of a smaller score belong to the set. The most
    probable class always does. `EpiBoostClassifier.calibrate` returns such a model.

    Parameters
    ----------
    estimator : EpiBoostClassifier
        A fitted model. `fit` keeps a copy: a later fit of the model does not change the calibrated one.
    scale_share : float, default=0.25
        Approximate share of the calibration rows that fit the temperature. The number of the other rows is rounded so
        that coverages of 0.5, 0.8, 0.9 and 0.95 are met exactly. Coverage is higher where the most probable class,
        which always belongs to the set, is right more often than that.
    random_state : int or None, default=0
        Seed of the split of the calibration rows; None gives another split each time.

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

    @property
    def classes_(self) -> AnyArray:
        """Labels, in the order of the probabilities."""
        classes: AnyArray = self._known_estimator.classes_
        return classes

    def fit(self, X: Table, y: Column) -> Self:
        """Calibrate on rows that were not used for training or early stopping.

        Parameters
        ----------
        X : table of shape (n, features)
            At least 4 rows. A coverage of 0.9 needs 9 rows beside those that fit the temperature, one of 0.99 needs 99.
        y : array of shape (n,)
            Labels that the model knows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For fewer than 4 rows, tables of different lengths, labels that the model does not know, a
            ``scale_share`` that is not between 0 and 1, and a model of another kind.
        """
        labels, posterior = self._rows(X, y)
        codes, parameters = label_codes(labels, self.classes_, name="y"), posterior.parameters
        for_scales, for_guarantee = self._split_calibration_rows(len(codes))
        self.temperature_: float = fit_temperature(parameters[:, for_scales], codes[for_scales])
        probability = temper(parameters, self.temperature_).mean(axis=0)
        self.scores_: Floats = np.sort(1.0 - probability[for_guarantee, codes[for_guarantee]])
        return self

    @takes_dask
    def predict_set(self, X: Table, coverage: float | npt.ArrayLike = 0.9) -> npt.NDArray[np.bool_]:
        """Predict sets of classes that contain the true class with at least the given probability.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1. A set of a larger coverage contains those of smaller ones.

        Returns
        -------
        array of bool, of shape (n, classes), or (n, k, classes) for k coverages
            Which classes belong to the set, in the order of ``classes_``; at least the most probable one.

        Raises
        ------
        ValueError
            If there are too few calibration rows to guarantee a coverage.
        """
        quantile = self._quantiles(coverage)
        probability = self.predict_proba(X)
        if quantile.ndim:
            probability = probability[:, np.newaxis, :]
        most_probable = probability == probability.max(axis=-1, keepdims=True)
        belongs: npt.NDArray[np.bool_] = (1.0 - probability <= quantile[..., np.newaxis]) | most_probable
        return belongs

    def predict_posterior(self, X: Table) -> Posterior:
        """Return the posterior at the fitted temperature; see `EpiBoostClassifier.predict_posterior`."""
        check_is_fitted(self, "scores_")
        posterior = self.estimator_.predict_posterior(X)
        return replace(posterior, parameters=temper(posterior.parameters, self.temperature_))

    def _calibration_to_file(self) -> dict[str, AnyArray]:
        return {"calibration_scores": self.scores_, "calibration_temperature": np.array(self.temperature_)}

    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        temperature = float(arrays["calibration_temperature"])
        if not (np.isfinite(temperature) and temperature > 0.0):
            message = f"the temperature must be a positive number, got {temperature}"
            raise ValueError(message)
        self.temperature_ = temperature
