"""A regressor of a transformed target, whose predictions are of the target itself."""

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.calibrated import CalibratedRegressor
from epiboost._estimators.predictions import NumberPredictions
from epiboost._estimators.regressor import EpiBoostRegressor
from epiboost._estimators.saving import model_from_file
from epiboost._estimators.training_rows import is_collection
from epiboost._estimators.uncertainty_model import takes_remote_tables
from epiboost._inputs.dask_collections import require_in_memory
from epiboost._inputs.schema import CheckedTable, ColumnSchema
from epiboost._inputs.target import Numbers
from epiboost._inputs.weights import check_weights
from epiboost._posterior.levels import check_quantiles, interval_ends
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.transformed.distribution import TransformedNormal
from epiboost._posterior.transformed.transforms import Function, Transform
from epiboost._typing import AnyArray, Column, Floats, LibraryObject, Table


class TransformedTarget(RegressorMixin, NumberPredictions):  # type: ignore[misc]  # scikit-learn has no types
    """Regressor that is trained on a transform of the target and predicts the target, uncertainty included.

    Where scikit-learn's ``TransformedTargetRegressor`` transforms ``predict`` alone, this model has the distribution of
    y: its mean, which is not the transform of the mean, its variance split into data and knowledge, quantiles,
    intervals, densities with the Jacobian, and draws.

    Parameters
    ----------
    regressor : EpiBoostRegressor, optional
        Of ``distribution="normal"``, which is that of the transform of y. None is one with default parameters.
    function : {"log", "box-cox", "yeo-johnson"} or pair (function, inverse), default="yeo-johnson"
        The transform. ``"log"`` and ``"box-cox"`` are for numbers above 0, ``"yeo-johnson"`` for any. Exponents of the
        last two are the most likely ones between 0 and 2; outside, the mean of y would be infinite. Functions take and
        return arrays and are strictly monotone; `fit` checks that on the values of y, and that the second is the
        inverse of the first. With ``(np.log1p, np.expm1)``, predictions are not below 0 if no value of y is.

    Attributes
    ----------
    regressor_ : EpiBoostRegressor or CalibratedRegressor
        The model of the transformed target.
    transform_ : Transform
        With ``name``, ``exponent`` and ``increasing``.
    n_features_in_ : int
    feature_names_in_ : array of shape (features,)
        Only if the columns had names.

    Notes
    -----
    Quantiles, intervals, distribution function, density and draws are exact, and so are mean and variance for
    ``"log"``. Those of other transforms are quadratures. For Box–Cox and Yeo–Johnson the relative error of the mean is
    below 1e-5; where Box–Cox has an exponent above 1 and y is near 0, below half a percent. The mean of a function of
    the user is as good as the function is smooth; one that is infinite, as of the reciprocal, is not recognised.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor, TransformedTarget
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 2, size=(1500, 1))
    >>> y = np.exp(X[:, 0] + 0.7 * rng.normal(size=1500))
    >>> small = EpiBoostRegressor(n_members=3, n_estimators=50, random_state=0)
    >>> model = TransformedTarget(small, function="log").fit(X, y)
    >>> mean, std = model.predict([[1.0]], return_std=True)
    >>> bool(abs(mean[0] - np.exp(1.0 + 0.7**2 / 2)) < 0.4)
    True
    """

    regressor_: EpiBoostRegressor | CalibratedRegressor
    transform_: Transform

    def __init__(
        self,
        regressor: EpiBoostRegressor | None = None,
        *,
        function: str | tuple[Function, Function] = "yeo-johnson",
    ) -> None:
        self.regressor = regressor
        self.function = function

    def fit(self, X: Table, y: Column, sample_weight: Column = None, **options: LibraryObject) -> Self:
        """Train a clone of the regressor on the transformed target.

        Parameters
        ----------
        X : table of shape (n, features)
        y : array of shape (n,)
            Numbers that the transform can take.
        sample_weight : array of shape (n,), optional
        **options
            As in `EpiBoostRegressor.fit`; targets of ``eval_set`` are those of y, an ``offset`` is in units of the
            transform.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For targets that the transform cannot take, functions that are not monotone or not inverse to each other,
            and a regressor of another distribution.
        """
        self.__dict__.pop("regressor_", None)
        regressor = EpiBoostRegressor() if self.regressor is None else self.regressor
        _check_regressor(regressor)
        if y is None:
            message = f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            raise ValueError(message)
        if is_collection(X) or is_collection(y):
            require_in_memory(X, "X", "a transform needs the target in memory; transform it before the training")
        values = Numbers.check(y)
        weight = np.ones(len(values)) if sample_weight is None else check_weights(sample_weight, len(values))
        transform = Transform.fit(self.function, values, weight)
        z = transform.forward(values)
        if options.get("eval_set") is not None:
            table, target, *rest = options["eval_set"]
            options["eval_set"] = (table, transform.forward(Numbers.check(target)), *rest)
        fitted = clone(regressor).fit(X, z, sample_weight, **options)
        if fitted.forest_.family != "normal":
            message = (
                f"TransformedTarget needs members that predict a variance, and engine={regressor.engine!r} predicts "
                "means alone; use engine='native'"
            )
            raise ValueError(message)
        self.transform_, self.regressor_ = transform, fitted
        return self

    def predict_posterior(self, X: Table, *, offset: Column = None) -> Posterior:
        """Return the predictive distribution of y of every member for every row.

        Its ``parameters`` are mean and variance of the transform; its methods are in units of y.
        """
        check_is_fitted(self, "regressor_")
        found = self.regressor_.predict_posterior(X, offset=offset)
        distribution = TransformedNormal(self.transform_)
        return Posterior(found.parameters, distribution.name, index=found.index, distribution=distribution)

    @takes_remote_tables
    def predict_interval(self, X: Table, coverage: float | npt.ArrayLike = 0.9, **options: LibraryObject) -> Floats:
        """Predict the interval that contains the target with the given probability.

        Its ends are those of the regressor, taken back: coverage and guarantees are the same.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
        **options
            As in `EpiBoostRegressor.predict_interval`, or after `calibrate` in `CalibratedRegressor.predict_interval`.

        Returns
        -------
        array of shape (n, 2), or (n, k, 2) for k coverages
        """
        check_is_fitted(self, "regressor_")
        interval_ends(coverage)
        ends = self.transform_.inverse(self.regressor_.predict_interval(X, coverage, **options))
        return ends if self.transform_.increasing else ends[..., ::-1]

    @takes_remote_tables
    def predict_quantile(self, X: Table, q: npt.ArrayLike, **options: LibraryObject) -> Floats:
        """Predict quantiles of the target: those of the regressor, taken back.

        Parameters
        ----------
        X : table of shape (n, features)
        q : float or array of shape (k,)
        **options
            As in `EpiBoostRegressor.predict_quantile`.

        Returns
        -------
        array of shape (n,) for one q, (n, k) for k
        """
        check_is_fitted(self, "regressor_")
        levels = check_quantiles(q)
        levels = levels if self.transform_.increasing else 1.0 - levels
        return self.transform_.inverse(self.regressor_.predict_quantile(X, levels, **options))

    def calibrate(self, X_cal: Table, y_cal: Column, sample_weight: Column = None, **options: LibraryObject) -> Self:
        """Return a model whose intervals have guaranteed coverage; see `EpiBoostRegressor.calibrate`.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            Rows that were not used for training.
        y_cal : array of shape (n,)
        sample_weight : array of shape (n,), optional
        **options
            As in `EpiBoostRegressor.calibrate`.
        """
        check_is_fitted(self, "regressor_")
        calibrated = copy.copy(self)
        z = self.transform_.forward(Numbers.check(y_cal))
        calibrated.regressor_ = self.regressor_.calibrate(X_cal, z, sample_weight, **options)
        return calibrated

    @property
    def schema_(self) -> ColumnSchema:
        """Schema of the training table."""
        return self._fitted.schema_

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training table."""
        return int(self._fitted.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns of the training table, if they had any."""
        return np.asarray(self._fitted.feature_names_in_)

    @property
    def feature_importances_(self) -> Floats:
        """Importance of each column for the mean of the transformed target, shape (features,); the sum is one."""
        return self._fitted.feature_importances_

    @property
    def trained_with_offset_(self) -> bool:  # type: ignore[override]  # that of the regressor
        """Whether predictions need an offset."""
        return bool(self._fitted.trained_with_offset_)

    def _offset_of_uncertainty(self, offset: Column) -> Column:
        """Return the offset itself: after a transform back, the variance depends on it."""
        return offset

    @property
    def _fitted(self) -> EpiBoostRegressor | CalibratedRegressor:
        if "regressor_" not in self.__dict__:
            message = f"this {type(self).__name__} is not fitted yet; call fit before"
            raise AttributeError(message)
        return self.regressor_

    def _read(self, X: Table) -> CheckedTable:
        check_is_fitted(self, "regressor_")
        return self.schema_.read(X)

    def _novelty(self, X: Table) -> Floats:
        return self.regressor_._novelty(X)  # noqa: SLF001 (of this package)

    def _to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        check_is_fitted(self, "regressor_")
        header, arrays = self.regressor_._to_file()  # noqa: SLF001 (of this package)
        return {"estimator": type(self).__name__, "transform": self.transform_.to_header(), "model": header}, arrays

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        model, transform = model_from_file(header["model"], arrays), Transform.from_header(header["transform"])
        regressor = getattr(model, "estimator", model)
        if not isinstance(regressor, EpiBoostRegressor) or regressor.forest_.family != "normal":
            message = "a transformed target needs a regressor of Normals"
            raise ValueError(message)
        loaded = cls(clone(regressor), function=transform.functions or transform.name)
        loaded.transform_, loaded.regressor_ = transform, model  # type: ignore[assignment]  # checked above
        return loaded


def _check_regressor(regressor: object) -> None:
    if not isinstance(regressor, EpiBoostRegressor):
        message = f"TransformedTarget wraps an EpiBoostRegressor, got {regressor!r}; calibrate it afterwards"
        raise TypeError(message)
    if regressor.distribution != "normal":
        message = (
            f"TransformedTarget needs distribution='normal' for the transformed target, got "
            f"{regressor.distribution!r}: with other tails, y may have no mean"
        )
        raise ValueError(message)
