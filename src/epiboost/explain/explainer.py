"""Explanation of a fitted estimator: which features make it uncertain about each row."""

from collections.abc import Sequence

import numpy as np

from epiboost._estimators.unwrap import UnwrappedModel, unwrap
from epiboost._inputs.schema import row_index
from epiboost._inputs.user_table import fitted_feature_names, original_values
from epiboost._progress import progress_bar
from epiboost._typing import AnyArray, Estimator, Table
from epiboost.explain.attribution import Attribution, Unit
from epiboost.explain.game import Explained, Game, check_explained, numeric_predictor, numeric_rows
from epiboost.explain.sampling import Sampling
from epiboost.explain.shapley import shapley_values

_MIN_ROWS = 2  # rows are compared with each other
_TWO_CLASSES = 2


def attribute(
    estimator: Estimator,
    X: Table,
    measure: Explained = "knowledge",
    *,
    background: Table | None = None,
    label: object = None,
    n_background: int = 50,
    n_coalitions: int | None = None,
    random_state: int | None = 0,
    verbose: int = 0,
) -> Attribution:
    """Explain the uncertainty of each row by Shapley values of its features.

    Parameters
    ----------
    estimator : fitted estimator
        An estimator of this package, calibrated or not, alone, at the end of a pipeline or inside a search. The
        features are those after the transformers of a pipeline.
    X : table of shape (n, features)
        The rows to explain.
    measure : {"knowledge", "data", "total", "mean"}, default="knowledge"
        What to explain: a part of the uncertainty, or the prediction.
    background : table of shape (m, features), optional
        Typical rows, such as training rows; the values explain how a row differs from them. By default the rows of
        ``X``, at least two. They are then compared with one another, and what all of them have in common, such as a
        category that is not in the training table, has no effect.
    label : object, optional
        The class whose probability is explained, for ``measure="mean"`` of a classifier. By default the second of two
        classes.
    n_background : int, default=50
        Number of background rows that are used, drawn at random if there are more.
    n_coalitions : int, optional
        Number of coalitions of features that are evaluated: the more, the closer to the exact values. By default 512,
        or 20 per feature if that is more. If that is enough for all coalitions, the values are exact.
    random_state : int or None, default=0
        Seed of the draws; None gives different draws each time.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    Attribution
        Its ``output``, ``base_values + values.sum(axis=1)``, is the measure of each row.

    Raises
    ------
    TypeError
        If the estimator has no posterior.
    ValueError
        If the estimator does not have the measure, there is no background, or a number is not allowed.
    ImportError
        If `shap` is not installed.

    References
    ----------
    S. Lundberg, S. Lee: A unified approach to interpreting model predictions. NeurIPS 2017.

    Examples
    --------
    The noise grows with the first feature, which explains why a row where it is large is uncertain:

    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 3))
    >>> y = X.sum(axis=1) + np.exp(X[:, 0]) * rng.normal(size=500)
    >>> model = EpiBoostRegressor(n_members=3, n_estimators=100, random_state=0).fit(X, y)
    >>> found = attribute(model, [[0.9, 0.0, 0.0]], measure="data", background=X)
    >>> found.first(1)[0, 0]
    'x0'
    >>> bool(np.isclose(found.output[0], model.predict_uncertainty([[0.9, 0.0, 0.0]]).data[0]))
    True
    """
    check_explained(measure)
    sampling = Sampling(n_background, n_coalitions, random_state)
    return attribute_all(
        estimator, X, (measure,), background=background, label=label, sampling=sampling, verbose=verbose
    )[0]


def attribute_all(
    estimator: Estimator,
    X: Table,
    measures: Sequence[Explained],
    *,
    background: Table | None = None,
    label: object = None,
    sampling: Sampling = Sampling(),  # noqa: B008 (a frozen value)
    verbose: int = 0,
) -> tuple[Attribution, ...]:
    """Explain several measures from the same predictions; see `attribute`.

    Returns
    -------
    tuple of Attribution
        One per measure.
    """
    found = unwrap(estimator, "predict_posterior")
    given = found.transform(X)
    rows = numeric_rows(found.estimator, given)
    if background is None and len(rows) < _MIN_ROWS:
        message = (
            f"X must have at least two rows to compare, got {len(rows)}; or give a background, a table of typical rows"
        )
        raise ValueError(message)
    _check_has(found, rows[:1], measures)
    typical = rows if background is None else numeric_rows(found.estimator, found.transform(background))
    typical = sampling.background(typical)
    n_features = rows.shape[1]
    n_coalitions = sampling.coalitions(n_features)
    outcome = _outcome(found, label, measures)
    with progress_bar("Explaining", enabled=bool(verbose), unit="coalitions") as progress:
        game = Game(numeric_predictor(found.estimator), rows, typical, tuple(measures), outcome)
        values, base = shapley_values(game, n_coalitions, sampling.random_state, progress)
    names = fitted_feature_names(found.estimator, n_features)
    data = original_values(given, names if hasattr(found.estimator, "feature_names_in_") else None)
    return tuple(
        Attribution(
            values=values[:, :, place],
            base_values=np.full(len(rows), base[place]),
            data=data,
            feature_names=names,
            measure=measure,
            unit=_unit(measure, found),
            label=found.classes[outcome] if measure == "mean" and found.classes is not None else None,
            index=row_index(X),
        )
        for place, measure in enumerate(measures)
    )


def _check_has(estimator: UnwrappedModel, row: AnyArray, measures: Sequence[Explained]) -> None:
    """Raise an error if the estimator does not have one of the measures."""
    posterior = numeric_predictor(estimator.estimator)(row)
    if "knowledge" in measures and posterior.n_members == 1:
        message = "a single member has no knowledge uncertainty to explain; measure='data' explains its noise"
        raise ValueError(message)
    for measure in {"data", "total"} & set(measures):
        getattr(posterior.uncertainty(), measure)  # raises an error if it is not known


def _outcome(estimator: UnwrappedModel, label: object, measures: Sequence[str]) -> int:
    """Return the position of the class whose probability is explained."""
    classes = None if estimator.classes is None else estimator.classes.tolist()
    if classes is None or "mean" not in measures:
        if label is not None:
            message = f"label is for measure='mean' of a classifier, whose probability is explained; got {label!r}"
            raise ValueError(message)
        return 0
    if label is None and len(classes) == _TWO_CLASSES:
        return 1
    if label not in classes:
        message = f"measure='mean' explains the probability of one class: label must be one of {classes}; got {label!r}"
        raise ValueError(message)
    return int(classes.index(label))


def _unit(measure: Explained, estimator: UnwrappedModel) -> Unit:
    if measure == "mean":
        return "target" if estimator.classes is None else "probability"
    return "variance" if estimator.classes is None else "nats"
