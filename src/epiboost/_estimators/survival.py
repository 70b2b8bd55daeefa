"""The regressor of censored durations: every member predicts a lognormal or Weibull distribution per row."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags

from epiboost._boosting.capacity import Auto
from epiboost._boosting.objectives import Distribution
from epiboost._boosting.recipe import EnsembleKind
from epiboost._estimators.number_intervals import NumberIntervals
from epiboost._inputs.constraints import InteractionConstraints, MonotonicConstraints
from epiboost._inputs.durations import Durations
from epiboost._inputs.sparse_table import SparseZeros
from epiboost._inputs.weights import check_weights
from epiboost._posterior.survival_curves import SurvivalCurves, check_times
from epiboost._survival.concordance import concordance
from epiboost._typing import Column, Device, Floats, LibraryObject, Table
from epiboost.engines.base import Engine

_TINY = float(np.finfo(np.float64).tiny)


class EpiBoostSurvivalRegressor(NumberIntervals):
    """Gradient-boosted survival analysis with data and knowledge uncertainty.

    An accelerated failure time model: each member predicts a distribution of the duration of each row, whose location
    and scale both depend on the columns. It learns from observed durations and from bounds.

    Parameters
    ----------
    distribution : {"lognormal", "weibull"}, default="lognormal"
        Family of the distribution of the duration.
    ensemble, n_members, n_estimators, learning_rate, max_depth, max_leaves, subsample, l2, max_bins
        As in `EpiBoostRegressor`.
    temperature, variance_guard, random_strength, structure_rows, min_samples_leaf, max_features
        As in `EpiBoostRegressor`.
    monotonic_constraints : dict or array of shape (features,), optional
        1 for columns along which durations never get shorter at equal scale, -1 for those along which they never get
        longer.
    interaction_constraints, early_stopping, early_stopping_rounds, validation_fraction, refit, out_of_fold
        As in `EpiBoostRegressor`; losses are negative logarithms of the censored likelihood.
    reference_rows, engine, engine_params, device, categorical_features, sparse_zeros, warm_start
        As in `EpiBoostRegressor`.
    n_jobs, random_state, verbose
        As in `EpiBoostRegressor`.

    Attributes
    ----------
    oof_score_ : float
        Concordance index of the training rows by chains that have not seen them.
    oof_loss_ : float
        Their mean negative log-likelihood: a log density if observed, a log probability otherwise.

    See Also
    --------
    EpiBoostRegressor : Has the same parameters, and other fitted attributes that this class has, too.
    epiboost.metrics.concordance_score : The metric of `score`.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostSurvivalRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(400, 2))
    >>> duration, censoring = np.exp(X[:, 0] + 0.3 * rng.normal(size=400)), rng.exponential(4.0, size=400)
    >>> y = np.empty(400, dtype=[("event", bool), ("time", float)])
    >>> y["event"], y["time"] = duration < censoring, np.minimum(duration, censoring)
    >>> model = EpiBoostSurvivalRegressor(n_members=5, n_estimators=100, random_state=0).fit(X, y)
    >>> bool(model.predict([[0.5, 0.0]])[0] > model.predict([[-0.5, 0.0]])[0])
    True
    >>> model.predict_survival_function([[0.5, 0.0]], times=[0.5, 2.0, 8.0]).round(1)
    array([[1. , 0.2, 0. ]])
    """

    _target_type = Durations

    def __init__(
        self,
        *,
        distribution: Literal["lognormal", "weibull"] = "lognormal",
        ensemble: EnsembleKind = "sglb",
        n_members: int = 10,
        n_estimators: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        max_depth: int | Auto | None = "auto",
        max_leaves: int | Auto | None = "auto",
        subsample: float | None = None,
        l2: float = 3.0,
        max_bins: int = 255,
        temperature: float = 1.0,
        random_strength: float = 1.0,
        variance_guard: float = 1.0,
        structure_rows: int | Auto | None = "auto",
        min_samples_leaf: int = 1,
        max_features: float = 1.0,
        monotonic_constraints: MonotonicConstraints = None,
        interaction_constraints: InteractionConstraints = None,
        early_stopping: bool | Auto = "auto",
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        refit: bool = False,
        out_of_fold: str | int | LibraryObject = "auto",
        reference_rows: int = 4000,
        engine: str | Engine = "native",
        engine_params: Mapping[str, Any] | None = None,
        device: Device = "cpu",
        categorical_features: str | Sequence[str | int] | None = "auto",
        sparse_zeros: SparseZeros = "values",
        warm_start: bool = False,
        n_jobs: int | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            ensemble=ensemble,
            n_members=n_members,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaves=max_leaves,
            subsample=subsample,
            l2=l2,
            max_bins=max_bins,
            temperature=temperature,
            random_strength=random_strength,
            structure_rows=structure_rows,
            min_samples_leaf=min_samples_leaf,
            max_features=max_features,
            monotonic_constraints=monotonic_constraints,
            interaction_constraints=interaction_constraints,
            early_stopping=early_stopping,
            early_stopping_rounds=early_stopping_rounds,
            validation_fraction=validation_fraction,
            refit=refit,
            out_of_fold=out_of_fold,
            reference_rows=reference_rows,
            engine=engine,
            engine_params=engine_params,
            device=device,
            categorical_features=categorical_features,
            sparse_zeros=sparse_zeros,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.distribution = distribution
        self.variance_guard = variance_guard

    def predict(self, X: Table, *, offset: Column = None) -> Floats:
        """Predict the median duration of each row, in the units of y.

        Parameters
        ----------
        X : table of shape (n, features)
        offset : None
            Durations take none.

        Returns
        -------
        array of shape (n,)
        """
        return self.predict_posterior(X, offset=offset).quantile(0.5)

    def predict_survival_function(self, X: Table, times: npt.ArrayLike) -> Floats:
        """Predict the probability of lasting longer than each time.

        Parameters
        ----------
        X : table of shape (n, features)
        times : array of shape (k,)
            In ascending order.

        Returns
        -------
        array of shape (n, k)
        """
        return self.predict_survival_curves(X, times).survival

    def predict_survival_curves(self, X: Table, times: npt.ArrayLike) -> SurvivalCurves:
        """Predict the survival function of each member: their differences are knowledge uncertainty.

        Parameters
        ----------
        X : table of shape (n, features)
        times : array of shape (k,)
            In ascending order.

        Returns
        -------
        SurvivalCurves
            ``survival``, ``knowledge`` and ``band(coverage)``.
        """
        parameters = self.predict_posterior(X).parameters
        return SurvivalCurves.of(self._family, parameters, times)

    def predict_cumulative_hazard_function(self, X: Table, times: npt.ArrayLike) -> Floats:
        """Predict minus the logarithm of the survival function, shape (n, k); see `predict_survival_function`."""
        survival = self.predict_survival_function(X, times)
        return np.asarray(-np.log(np.maximum(survival, _TINY)))

    def predict_hazard_function(self, X: Table, times: npt.ArrayLike) -> Floats:
        """Predict the rate at which rows that have lasted so long end, shape (n, k).

        Parameters
        ----------
        X : table of shape (n, features)
        times : array of shape (k,)
            Above 0, in ascending order.
        """
        checked = check_times(times)
        if not checked[0] > 0.0:
            message = f"times of a hazard must be above 0, got {checked[0]:g}"
            raise ValueError(message)
        parameters = self.predict_posterior(X).parameters
        density = np.mean([np.exp(self._family.logpdf(one[:, np.newaxis], checked)) for one in parameters], axis=0)
        survival = SurvivalCurves.of(self._family, parameters, checked).survival
        return np.asarray(density / np.maximum(survival, _TINY))

    def score(self, X: Table, y: Column, sample_weight: Column = None) -> float:
        """Return the concordance index: the share of pairs whose durations are predicted in the right order.

        Parameters
        ----------
        X : table of shape (n, features)
        y : array of shape (n,) or (n, 2)
            As `fit` takes it.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        float
            0.5 is chance.
        """
        bounds, predicted = Durations.check(y), self.predict(X)
        if len(bounds) != len(predicted):
            message = f"X has {len(predicted)} rows and y has {len(bounds)}; give one target per row"
            raise ValueError(message)
        weight = np.ones(len(bounds)) if sample_weight is None else check_weights(sample_weight, len(bounds))
        return concordance(bounds, predicted, weight)

    @property
    def _family(self) -> Distribution:
        self._require_fitted()
        if self._distribution is None:
            message = "members predict no distribution"
            raise TypeError(message)
        return self._distribution

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that a target is needed."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
