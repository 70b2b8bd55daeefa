"""Other models of counts and amounts: NGBoost, GLMs of scikit-learn, and LightGBM's poisson, gamma and tweedie.

All of them choose on training rows alone: the penalty of a GLM by cross-validation, the number of trees of LightGBM on
a fifth of the training rows, which also give the dispersion of its Gamma.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from family_tables import RealTable
from lightgbm import LGBMRegressor, early_stopping
from ngboost import NGBRegressor, distns
from scipy import stats
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

THREADS = 2
Figures = dict[str, float]
"""Mean deviance and, for a distribution, mean negative log-likelihood of test rows."""


def deviance(kind: str, y: np.ndarray, mean: np.ndarray) -> float:
    """Return the mean Poisson deviance of counts, or the mean Gamma deviance of amounts."""
    mean = np.maximum(mean, 1e-9)
    ratio = np.where(y > 0.0, y / mean, 1.0)
    if kind == "count":
        return float(2.0 * np.mean(np.where(y > 0.0, y * np.log(ratio), 0.0) - y + mean))
    return float(2.0 * np.mean(y / mean - 1.0 - np.log(ratio)))


def poisson_nll(y: np.ndarray, mean: np.ndarray) -> float:
    """Return the mean negative log-likelihood of counts."""
    return float(-stats.poisson(np.maximum(mean, 1e-9)).logpmf(y).mean())


def gamma_nll(y: np.ndarray, mean: np.ndarray, dispersion: float) -> float:
    """Return the mean negative log-likelihood of amounts whose squared coefficient of variation is the same for all."""
    return float(-stats.gamma(1.0 / dispersion, scale=mean * dispersion).logpdf(y).mean())


def glm(table: RealTable, kind: str) -> Figures:
    """Fit a GLM with a logarithmic link; its penalty is chosen by cross-validation."""
    numbers = make_column_selector(dtype_include="number")
    texts = make_column_selector(dtype_exclude="number")
    columns = make_column_transformer(
        (StandardScaler(), numbers),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=10), texts),
        sparse_threshold=0.0,
    )
    model = (PoissonRegressor if kind == "count" else GammaRegressor)(max_iter=2000, solver="newton-cholesky")
    name = type(model).__name__.lower()
    search = GridSearchCV(make_pipeline(columns, model), {f"{name}__alpha": [1e-4, 1e-2, 1e-1, 1.0]}, cv=3)
    search.fit(table.X_train, table.y_train)
    mean = search.predict(table.X_test)
    figures = {"deviance": deviance(kind, table.y_test, mean)}
    if kind == "count":
        return {**figures, "nll": poisson_nll(table.y_test, mean)}
    fitted = search.predict(table.X_train)
    dispersion = float(np.mean(np.square(table.y_train / fitted - 1.0)))
    return {**figures, "nll": gamma_nll(table.y_test, mean, dispersion)}


def lightgbm(objective: str) -> Callable[..., Figures]:
    """Return a function that trains LightGBM with a loss of its own."""

    def train(table: RealTable, kind: str) -> Figures:
        X = {
            "train": _with_categories(table.X_train, table.X_train),
            "test": _with_categories(table.X_test, table.X_train),
        }
        rows = train_test_split(np.arange(len(table.y_train)), test_size=0.2, random_state=0)
        fit, valid = ((X["train"].iloc[part], table.y_train[part]) for part in rows)
        model = LGBMRegressor(objective=objective, n_estimators=3000, learning_rate=0.03, n_jobs=THREADS, verbose=-1)
        model.fit(*fit, eval_set=[valid], callbacks=[early_stopping(100, verbose=False)])
        mean = model.predict(X["test"])
        figures = {"deviance": deviance(kind, table.y_test, mean)}
        if objective == "poisson":
            return {**figures, "nll": poisson_nll(table.y_test, mean)}
        if objective == "gamma":
            dispersion = float(np.mean(np.square(valid[1] / model.predict(valid[0]) - 1.0)))
            return {**figures, "nll": gamma_nll(table.y_test, mean, dispersion)}
        return figures

    return train


def _with_categories(X: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    texts = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    return X.assign(**{name: pd.Categorical(X[name], categories=sorted(set(known[name]))) for name in texts})


def real_peers(kind: str) -> Mapping[str, Callable[..., Figures]]:
    """Return the peers of a kind of target."""
    if kind == "count":
        return {"Poisson GLM": glm, "LightGBM poisson": lightgbm("poisson"), "LightGBM tweedie": lightgbm("tweedie")}
    return {"Gamma GLM": glm, "LightGBM gamma": lightgbm("gamma"), "LightGBM tweedie": lightgbm("tweedie")}


def ngboost_families() -> dict[str, type]:
    """Return NGBoost's distributions by the names of our families."""
    named = {
        "normal": "Normal",
        "lognormal": "LogNormal",
        "student": "TFixedDf",  # with three degrees of freedom, which are the true ones
        "laplace": "Laplace",
        "gamma": "Gamma",
        "weibull": "Weibull",
        "poisson": "Poisson",
        "beta": "Beta",
    }
    return {family: getattr(distns, name) for family, name in named.items() if hasattr(distns, name)}


def ngboost_model(family: str, X: np.ndarray, y: np.ndarray) -> NGBRegressor:
    """Train NGBoost with its defaults, 500 trees."""
    return NGBRegressor(Dist=ngboost_families()[family], verbose=False, random_state=0).fit(X, y)
