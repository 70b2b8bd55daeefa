"""Methods that find foreign rows, each with the settings that its users would choose.

All but those of the model see numbers on a standard scale, with missing values replaced by the median and marked, and
categories as indicators.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from shift_tables import Rows
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.decisions import DomainDetector

Scores = Mapping[str, tuple[np.ndarray, np.ndarray]]

COMBINED, NOVELTY, KNOWLEDGE = "combined", "novelty", "knowledge"


def isolation_forest(train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return scikit-learn's isolation forest."""
    return IsolationForest(random_state=0).fit(train).score_samples


def five_neighbours(train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return minus the mean distance to the five nearest training rows."""
    index = NearestNeighbors(n_neighbors=5).fit(train)
    return lambda rows: -index.kneighbors(rows)[0].mean(axis=1)


def local_outlier_factor(train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return scikit-learn's local outlier factor."""
    return LocalOutlierFactor(novelty=True).fit(train).score_samples


def one_class_svm(train: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return scikit-learn's one-class support vector machine."""
    return OneClassSVM(nu=0.05).fit(train).score_samples


PEERS = {
    "isolation forest": isolation_forest,
    "5-NN distance": five_neighbours,
    "local outlier factor": local_outlier_factor,
    "one-class SVM": one_class_svm,
}
METHODS = (COMBINED, NOVELTY, KNOWLEDGE, *PEERS, "maximum probability")


def fit_model(rows: Rows, seed: int, threads: int) -> EpiBoostClassifier | EpiBoostRegressor:
    """Train the default model."""
    estimator = EpiBoostClassifier if rows.is_classification else EpiBoostRegressor
    return estimator(random_state=seed, n_jobs=threads).fit(rows.X_train, rows.y_train)


def scores_of(model: EpiBoostClassifier | EpiBoostRegressor, rows: Rows) -> Scores:
    """Return for each method how foreign it finds the rows of the domain, and the foreign ones."""
    found = {}
    for measure in (COMBINED, NOVELTY):
        detector = DomainDetector(model, measure=measure).fit()
        found[measure] = tuple(-detector.score_samples(X) for X in (rows.X_in, rows.X_out))
    found[KNOWLEDGE] = tuple(model.predict_uncertainty(X).knowledge for X in (rows.X_in, rows.X_out))
    train, *others = _numbers(rows)
    for name, fit in PEERS.items():
        score = fit(train)
        found[name] = tuple(-score(X) for X in others)
    if rows.is_classification:
        found["maximum probability"] = tuple(-model.predict_proba(X).max(axis=1) for X in (rows.X_in, rows.X_out))
    return found


def _numbers(rows: Rows) -> list[np.ndarray]:
    """Return training rows, rows of the domain and foreign rows as numbers."""
    numeric = list(rows.X_train.select_dtypes("number").columns)
    other = [column for column in rows.X_train.columns if column not in numeric]
    imputed = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    transformer = make_column_transformer((imputed, numeric), (encoder, other))

    def plain(X: pd.DataFrame) -> pd.DataFrame:
        return X.astype(dict.fromkeys(other, object))

    return [
        transformer.fit_transform(plain(rows.X_train)),
        *(transformer.transform(plain(X)) for X in (rows.X_in, rows.X_out)),
    ]
