"""The regressor: a Normal for every row, from every member."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from epiboost._boosting.recipe import EnsembleKind
from epiboost._estimators.base import BaseEpiBoost
from epiboost._estimators.calibrated import CalibratedRegressor
from epiboost._inputs.table import Dataset, check_regression_target
from epiboost._typing import AnyArray, Floats
from epiboost.distributed.scoring import lazily
from epiboost.engines.base import Engine


class EpiBoostRegressor(RegressorMixin, BaseEpiBoost):  # type: ignore[misc]  # scikit-learn has no types
    """Predict a number, and say how sure that is: noise in the data and gaps in the knowledge, told apart.

    An ensemble of gradient-boosted trees, each member of which predicts the mean and the variance of a Normal. The
    spread of the members' means is knowledge uncertainty, the mean of their variances is data uncertainty.

    Parameters
    ----------
    ensemble : {"sglb", "sgb", "virtual", "single"}, default="sglb"
        ``"sglb"``: independent chains with Langevin noise, samples of a posterior. ``"sgb"``: independent chains whose
        trees see random halves of the rows. ``"virtual"``: truncations of one chain, a tenth of the price of ten.
        ``"single"``: one model, no knowledge uncertainty.
    n_members : int, default=10
        Members of the ensemble. For ``"virtual"`` at most the trees in the second half of the chain.
    n_estimators : int, default=1000
        Trees a chain.
    learning_rate : float, default=0.1
        How much of each tree is added; above 0, at most 1.
    max_depth : int, default=6
        Levels of a tree, from 1 to 8. All leaves of a level ask the same question.
    subsample : float, optional
        Share of the rows that each tree sees. None is 0.5 for ``"sgb"`` and 1 for all others.
    l2 : float, default=3.0
        Rows of zero gradient added to every leaf.
    max_bins : int, default=255
        Bins a column, from 2 to 255; missing values have one more.
    temperature : float, default=1.0
        Multiplies the variance of the Langevin noise; 1 is the paper's.
    variance_guard : float, default=1.0
        Keeps the variance of small tables from being learned by heart. The log standard deviation learns from residuals
        that are freed of the row's own influence, and of n rows, its leaves get ``1000 * min(1, (450 / n)²)`` and those
        of the mean ``60 * min(1, (450 / n)³)`` times ``variance_guard`` more rows of zero gradient. What it adds
        vanishes as rows become plenty. 0 switches all of it off, as in the paper.
    structure_rows : int or None, default=62000
        Rows on which each tree chooses its splits: a fresh random sample of a larger table, all of a smaller one. Leaf
        values always come from all rows. None takes all rows for the splits too.
    early_stopping_rounds : int, optional
        Stop a chain after so many trees without a better loss on ``eval_set``, and keep it as it was at its best.
    engine : {"native", "catboost", "lightgbm", "xgboost", "forest"}, other name or Engine, default="native"
        What trains the trees. A parameter that an engine cannot honour must be left at its default.
    engine_params : dict, optional
        Options that only the engine knows.
    categorical_features : "auto", None or list of str and int, default="auto"
        Columns that hold categories, by name or position. "auto" takes those that are not numbers. A list takes its
        place: every column of text must be in it. None takes none. A missing value is a category of its own, and one
        that training has not seen raises knowledge uncertainty with the native engine; others take it for a missing one
        or guess.
    n_jobs : int or "dask", optional
        Threads; None is all cores. ``"dask"`` trains members on the workers of the cluster that is in use (native
        engine). The result does not depend on it, but for the last digits of XGBoost's in memory.
    random_state : int, RandomState or None
        Same number, same bits.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : array of shape (features,)
        Only if the columns had names.
    n_trees_ : array of shape (chains,)
        Trees that each chain has.
    evaluation_loss_ : array of shape (chains, trees) or None
        Negative log-likelihood on ``eval_set`` after each tree.
    vocabularies_ : tuple
        The values of each column of categories, None for a column of numbers; empty if there are only such.
    forest_ : Forest
        The trained engine's model.
    prefixes_ : tuple of int or None
        Tree counts of the members of a virtual ensemble.
    training_ : Training or None
        Seconds, rows and versions of the training; None if the file that the model is from does not tell.
    ground_ : Ground or None
        Between which values each column lay in training; None for a Dask collection, and if the file does not tell.

    References
    ----------
    Malinin, Prokhorenkova, Ustimenko: Uncertainty in Gradient Boosting via Ensembles. ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 2))
    >>> y = X[:, 0] + rng.normal(scale=0.1, size=500)
    >>> model = EpiBoostRegressor(n_members=5, n_estimators=200, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[0.5, 0.0]], return_std=True)
    >>> bool(abs(mean[0] - 0.5) < 2 * std[0])
    True
    """

    _family = "normal"

    def __init__(
        self,
        *,
        ensemble: EnsembleKind = "sglb",
        n_members: int = 10,
        n_estimators: int = 1000,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        subsample: float | None = None,
        l2: float = 3.0,
        max_bins: int = 255,
        temperature: float = 1.0,
        variance_guard: float = 1.0,
        structure_rows: int | None = 62_000,
        early_stopping_rounds: int | None = None,
        engine: str | Engine = "native",
        engine_params: Mapping[str, Any] | None = None,
        categorical_features: str | Sequence[str | int] | None = "auto",
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
            subsample=subsample,
            l2=l2,
            max_bins=max_bins,
            temperature=temperature,
            structure_rows=structure_rows,
            early_stopping_rounds=early_stopping_rounds,
            engine=engine,
            engine_params=engine_params,
            categorical_features=categorical_features,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.variance_guard = variance_guard

    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Self:  # noqa: ANN401
        """Learn from a table.

        Parameters
        ----------
        X : table of shape (n, features)
            Numbers and categories, as an array or a pandas, polars or Arrow frame. NaN and null are missing values.
            The engines ``"native"`` and ``"xgboost"`` take Dask arrays and frames of numbers too.
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What each row counts for: on a table of numbers weight two is the same as the row twice, beside categories
            it is in a table of counts. Weights of less than one on average are scaled up to an average of one.
        eval_set : (X, y) or (X, y, sample_weight), optional
            Rows on which the loss is measured after every tree.

        Returns
        -------
        self
        """
        return self._train(X, y, sample_weight, eval_set)

    @overload
    def predict(self, X: Any, *, return_std: Literal[False] = False) -> Floats: ...  # noqa: ANN401
    @overload
    def predict(self, X: Any, *, return_std: Literal[True]) -> tuple[Floats, Floats]: ...  # noqa: ANN401
    @lazily
    def predict(self, X: Any, *, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict the mean of the posterior.

        Parameters
        ----------
        X : table of shape (n, features)
        return_std : bool, default=False
            Whether to return the square root of the total variance as well.

        Returns
        -------
        mean : array of shape (n,)
        std : array of shape (n,)
            Only if ``return_std``.
        """
        posterior = self.predict_posterior(X)
        return (posterior.mean, posterior.std) if return_std else posterior.mean

    @lazily
    def predict_interval(self, X: Any, coverage: float | npt.ArrayLike = 0.9) -> Floats:  # noqa: ANN401
        """Predict the central interval that holds the target with the given probability.

        Parameters
        ----------
        X : table of shape (n, features)
        coverage : float or sequence of shape (k,), default=0.9
            Between 0 and 1.

        Returns
        -------
        array of shape (n, 2), or (n, k, 2) for k coverages
            Lower and upper end: exact quantiles of the members' mixture, never crossing. They carry no guarantee;
            those of the model that `calibrate` returns do.
        """
        return self.predict_posterior(X).interval(coverage)

    @lazily
    def predict_quantile(self, X: Any, q: npt.ArrayLike) -> Floats:  # noqa: ANN401 (anything a user may pass)
        """Predict quantiles of the members' mixture.

        Parameters
        ----------
        X : table of shape (n, features)
        q : float or array of shape (k,)
            Between 0 and 1.

        Returns
        -------
        array of shape (n,) for one q, (n, k) for k
            Never crossing.
        """
        return self.predict_posterior(X).quantile(q)

    def calibrate(self, X_cal: Any, y_cal: Any, *, random_state: int | None = 0) -> CalibratedRegressor:  # noqa: ANN401
        """Return a calibrated model, whose intervals are guaranteed to hold the target as often as they say.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            Rows that the model has not been trained or early-stopped on: the guarantee rests on it. At least 4.
        y_cal : array of shape (n,)
        random_state : int or None, default=0
            The seed of the split of these rows: a part says how to scale the uncertainties, the rest guarantees.

        Returns
        -------
        CalibratedRegressor

        Raises
        ------
        ValueError
            For fewer than 4 rows, tables of different lengths, targets that are not finite.
        """
        return CalibratedRegressor(self, random_state=random_state).fit(X_cal, y_cal)

    @property
    def _n_outputs(self) -> int:
        return 2

    def _check_target(self, y: Any) -> AnyArray:  # noqa: ANN401 (anything a user may pass)
        return check_regression_target(y)

    def _read_target(self, X: AnyArray, y: AnyArray, weight: Floats) -> Dataset:
        return Dataset(X, y, weight, n_classes=0)
