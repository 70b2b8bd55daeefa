"""Explanation of a fitted estimator: which features make it uncertain about each row."""

import warnings
from collections.abc import Sequence

import numpy as np

from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.unwrap import UnwrappedModel, unwrap
from epiboost._inputs.schema import row_index
from epiboost._inputs.user_table import fitted_feature_names, original_values
from epiboost._progress import progress_bar
from epiboost._typing import AnyArray, Estimator, Floats, Table
from epiboost.explain.attribution import Attribution, Unit
from epiboost.explain.game import Explained, Game, check_explained, numeric_predictor, numeric_rows
from epiboost.explain.players import Groups, Players
from epiboost.explain.sampling import Sampling
from epiboost.explain.scores import Scores
from epiboost.explain.shapley import shapley_values

_MIN_ROWS = 2  # rows are compared with each other
_TWO_CLASSES = 2
_TRAINING = "training"
_OF_CLASS = frozenset({"mean", "score"})  # measures of one class of a classifier


def attribute(
    estimator: Estimator,
    X: Table,
    measure: Explained = "knowledge",
    *,
    background: Table | None = None,
    label: object = None,
    groups: Groups | None = None,
    n_background: int | None = None,
    n_coalitions: int | None = None,
    random_state: int | None = 0,
    verbose: int = 0,
) -> Attribution:
    """Explain the uncertainty or the prediction of each row by Shapley values of its features.

    The prediction of a regressor (``"mean"``) and the score of a class (``"score"``) are sums of trees. Their values
    are exact for trees of the native engine, unless these have feature crosses of categories. All other values are
    estimated from ``n_coalitions``.

    Parameters
    ----------
    estimator : fitted estimator
        An estimator of this package, calibrated or not, alone, at the end of a pipeline or inside a search. The
        features are those after the transformers of a pipeline.
    X : table of shape (n, features)
        The rows to explain.
    measure : {"knowledge", "data", "total", "mean", "score"}, default="knowledge"
        What to explain: a part of the uncertainty, or the prediction: the mean of a regressor, the probability of a
        class. ``"score"`` is the raw score of a class: the log-odds of two classes, or the logarithm of the probability
        less its mean over the classes; the mean over members, before any recalibration.
    background : table of shape (m, features) or "training", optional
        Typical rows, such as training rows; the values explain how a row differs from them. ``"training"`` takes the
        training rows that the model keeps. By default the rows of ``X``, at least two. They are then compared with one
        another, and what all of them have in common, such as a category that is not in the training table, has no
        effect.
    label : object, optional
        The class that is explained, for ``measure="mean"`` and ``"score"`` of a classifier. By default the second of
        two classes.
    groups : "correlated", list of lists, or dict of lists, optional
        Features that are explained together, given by name or position: a group becomes known at once and has one
        value. ``"correlated"`` groups features whose rank correlation in the background is at least 0.7. Features in no
        group stay alone.
    n_background : int, optional
        Number of background rows that are used, drawn at random if there are more. By default 50, or 1,000 for exact
        values.
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
        If `shap` is not installed, and the values are not exact.

    Warns
    -----
    UserWarning
        If values of many rows are far larger than the number they explain; see `Attribution.cancellation`.

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
    (found,) = attribute_all(
        estimator, X, (measure,), background=background, label=label, groups=groups, sampling=sampling, verbose=verbose
    )
    if found.caution:
        warnings.warn(found.caution, UserWarning, stacklevel=2)
    return found


def attribute_all(
    estimator: Estimator,
    X: Table,
    measures: Sequence[Explained],
    *,
    background: Table | None = None,
    label: object = None,
    groups: Groups | None = None,
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
    typical = _background(found, rows, background)
    _check_has(found, rows[:1], measures)
    names = fitted_feature_names(found.estimator, rows.shape[1])
    players = Players.of(groups, names, typical, _n_codes(found.estimator, rows.shape[1]))
    outcome = _outcome(found, label, measures)
    scores = Scores.of(found.estimator, outcome)
    values: dict[Explained, tuple[Floats, float]] = {}
    for measure in measures:
        if scores is not None and (trees := scores.trees_of(measure, players)) is not None:
            values[measure] = scores.shapley_values(trees, rows, sampling.background(typical, exact=True), players)
    n_coalitions = sampling.coalitions(len(players))
    sampled = tuple(measure for measure in measures if measure not in values)
    if sampled:
        predict, used = numeric_predictor(found.estimator), sampling.background(typical)
        game = Game(predict, rows, used, sampled, players.of_feature, outcome, scores)
        with progress_bar("Explaining", enabled=bool(verbose), unit="coalitions") as progress:
            estimated, base = shapley_values(game, n_coalitions, sampling.random_state, progress)
        values |= {measure: (estimated[:, :, at], float(base[at])) for at, measure in enumerate(sampled)}
    data = players.data(original_values(given, names if hasattr(found.estimator, "feature_names_in_") else None))
    label = None if found.classes is None else found.classes[outcome]
    return tuple(
        Attribution(
            values=values[measure][0],
            base_values=np.full(len(rows), values[measure][1]),
            data=data,
            feature_names=players.names,
            measure=measure,
            unit=_unit(measure, found),
            index=row_index(X),
            label=label if measure in _OF_CLASS else None,
            groups=None if groups is None else tuple(tuple(names[at] for at in part) for part in players.columns),
        )
        for measure in measures
    )


def _background(estimator: UnwrappedModel, rows: AnyArray, background: Table | None) -> AnyArray:
    """Return the background rows, as the trees read them."""
    if background is None:
        if len(rows) < _MIN_ROWS:
            message = (
                f"X must have at least two rows to compare, got {len(rows)}; or give a background, a table of typical "
                "rows, or 'training' for the training rows that the model keeps"
            )
            raise ValueError(message)
        return rows
    if not isinstance(background, str):
        return numeric_rows(estimator.estimator, estimator.transform(background))
    if background != _TRAINING:
        message = f"background must be a table or 'training'; got {background!r}"
        raise ValueError(message)
    kept: ReferenceRows | None = getattr(estimator.estimator, "reference_rows_", None)
    if kept is None:
        message = "this model keeps no training rows; give a table of typical rows as background"
        raise ValueError(message)
    return kept.table


def _n_codes(estimator: Estimator, n_features: int) -> Sequence[int]:
    """Return the number of codes per column; 0 for numbers."""
    schema = getattr(estimator, "schema_", None)
    return (0,) * n_features if schema is None or not schema.n_codes else schema.n_codes


def _check_has(estimator: UnwrappedModel, row: AnyArray, measures: Sequence[Explained]) -> None:
    """Raise an error if the estimator does not have one of the measures."""
    posterior = numeric_predictor(estimator.estimator)(row)
    if "knowledge" in measures and posterior.n_members == 1:
        message = "a single member has no knowledge uncertainty to explain; measure='data' explains its noise"
        raise ValueError(message)
    if "score" in measures and posterior.family != "categorical":
        message = "measure='score' is for classifiers; measure='mean' explains the prediction of a regressor"
        raise ValueError(message)
    for measure in {"data", "total"} & set(measures):
        getattr(posterior.uncertainty(), measure)  # raises an error if it is not known


def _outcome(estimator: UnwrappedModel, label: object, measures: Sequence[str]) -> int:
    """Return the position of the class whose probability or score is explained."""
    classes = None if estimator.classes is None else estimator.classes.tolist()
    of_class = [measure for measure in measures if measure in _OF_CLASS]
    if classes is None or not of_class:
        if label is not None:
            message = f"label is for measure='mean' of a classifier, whose probability is explained; got {label!r}"
            raise ValueError(message)
        return 0
    if label is None and len(classes) == _TWO_CLASSES:
        return 1
    if label not in classes:
        what = {"mean": "probability", "score": "score"}[of_class[0]]
        message = (
            f"measure={of_class[0]!r} explains the {what} of one class: label must be one of {classes}; got {label!r}"
        )
        raise ValueError(message)
    return int(classes.index(label))


def _unit(measure: Explained, estimator: UnwrappedModel) -> Unit:
    if measure == "score":
        return (
            "log-odds"
            if estimator.classes is not None and len(estimator.classes) == _TWO_CLASSES
            else "log-probability"
        )
    if measure == "mean":
        return "target" if estimator.classes is None else "probability"
    return "variance" if estimator.classes is None else "nats"
