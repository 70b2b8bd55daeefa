"""Random forests and their virtual ensembles, as in the appendix of the paper."""

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.recipe import EnsembleKind
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats
from epiboost.paper.methods.boosted import Model, parameters_of
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.methods.inputs import EVALUATION, MethodInputs, MethodOutputs
from epiboost.paper.problem import Fold

_NOISE = 0.3
"""Standard deviation of the noise factor of training encodings; without it they would reveal a row's own target."""


def forest(inputs: MethodInputs) -> MethodOutputs:
    """Train one forest; evaluate it as a single model and, in parts, as a virtual ensemble."""
    X, X_test, X_ood = _encode_categories(inputs.fold, inputs.seed)
    with inputs.timer("vrf"):
        model = _unfitted(inputs, "virtual").fit(X, inputs.fold.y)
    with inputs.timer(EVALUATION):
        posterior = model.predict_posterior(X_test)
        posterior_ood = None if X_ood is None else model.predict_posterior(X_ood)
        single_ood = None if posterior_ood is None else _mean_member(posterior_ood)
        results = {
            "vrf": evaluate(posterior, posterior_ood, inputs.fold),
            "rf_single": evaluate(_mean_member(posterior), single_ood, inputs.fold),
        }
    return {"chosen": _chosen(inputs), "parameters": {"vrf": parameters_of(model)}, "results": results}


def forests(inputs: MethodInputs) -> MethodOutputs:
    """Train and evaluate an ensemble of independent forests."""
    X, X_test, X_ood = _encode_categories(inputs.fold, inputs.seed)
    with inputs.timer("rf_ensemble"):
        model = _unfitted(inputs, "sgb").fit(X, inputs.fold.y)
    with inputs.timer(EVALUATION):
        posterior_ood = None if X_ood is None else model.predict_posterior(X_ood)
        results = {"rf_ensemble": evaluate(model.predict_posterior(X_test), posterior_ood, inputs.fold)}
    return {"chosen": _chosen(inputs), "parameters": {"rf_ensemble": parameters_of(model)}, "results": results}


def leave_one_out(codes: AnyArray, y: AnyArray, *others: AnyArray, seed: int) -> list[Floats]:
    """Encode each category by the mean target of the other training rows that have it.

    For training rows that mean is multiplied by a random factor of mean 1 and standard deviation 0.3. Other rows get
    the mean of all training rows that have the category. A category with fewer than two training rows gets the overall
    mean.

    Parameters
    ----------
    codes : array of shape (n_train,)
        Category codes of the training rows.
    y : array of shape (n_train,)
        Target of the training rows.
    others : arrays of category codes
        Category codes of other rows, such as test rows.
    seed : int

    Returns
    -------
    list of arrays
        Encodings of the training rows, then of each of the others.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = leave_one_out(np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1]), np.array([0, 1, 2]), seed=0)
    >>> test.round(2)
    array([0.67, 0.75, 0.75])
    """
    known, index = np.unique(codes, return_inverse=True)
    sums, counts = np.bincount(index, y), np.bincount(index)
    overall = float(np.mean(y))
    with np.errstate(invalid="ignore", divide="ignore"):
        train = np.where(counts[index] > 1, (sums[index] - y) / (counts[index] - 1), overall)
        means = np.where(counts > 1, sums / counts, overall)
    train = train * np.random.default_rng(seed).normal(1.0, _NOISE, size=len(train))
    encoded = []
    for other in others:
        position = np.minimum(np.searchsorted(known, other), len(known) - 1)
        encoded.append(np.where(known[position] == other, means[position], overall))
    return [train, *encoded]


def _unfitted(inputs: MethodInputs, ensemble: EnsembleKind) -> Model:
    estimator = EpiBoostRegressor if inputs.fold.task == "regression" else EpiBoostClassifier
    return estimator(
        ensemble=ensemble,
        engine="forest",
        engine_params=_chosen(inputs),
        n_estimators=inputs.protocol.n_estimators,
        n_members=inputs.protocol.n_members,
        categorical_features=None,
        n_jobs=inputs.n_jobs,
        random_state=inputs.seed,
    )


def _chosen(inputs: MethodInputs) -> dict[str, int]:
    return {"max_depth": inputs.protocol.forest_depth}


def _encode_categories(fold: Fold, seed: int) -> tuple[Floats, Floats, Floats | None]:
    """Return training, test and out-of-domain rows as numbers; missing numbers become 0, as in the paper's code."""
    tables = [fold.X.copy(), fold.X_test.copy(), *([] if fold.X_ood is None else [fold.X_ood.copy()])]
    for column in fold.categorical:
        codes, *others = (table[:, column] for table in tables)
        encoded = leave_one_out(codes, fold.y, *others, seed=seed + column)
        for table, values in zip(tables, encoded, strict=True):
            table[:, column] = values
    X, X_test, *X_ood = (np.nan_to_num(table) for table in tables)
    return X, X_test, (X_ood[0] if X_ood else None)


def _mean_member(posterior: Posterior) -> Posterior:
    """Return the mean of the members as one member: parts of equal size average to the whole forest."""
    return Posterior(posterior.parameters.mean(axis=0, keepdims=True), posterior.family)
