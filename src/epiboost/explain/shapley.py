"""Shapley values of uncertainties, by the `shap` package over our predictor.

The Shapley value of a feature is what it adds to the measure, averaged over all orders in which the features of a row
may become known. The features that are not known yet take the values of background rows (see `game`). The values of a
row add up to its measure less the mean over the background, exactly.

`shap` has several estimators. Ours is its KernelExplainer, a weighted least-squares fit to the values of coalitions:
with as many predictions it was closer to the truth than the walk through permutations, it is exact where all coalitions
can be played (up to nine features by default), and nothing is compiled while you wait. It is asked once for all rows: a
coalition's value is a vector with an entry for each row, and our predictor is given the rows of all of them together.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

from epiboost._inputs.raw_values import cells, names_of
from epiboost._optional import require
from epiboost._posterior.unwrap import UnwrappedModel, unwrap
from epiboost._progress import Progress, progress_bar
from epiboost._typing import AnyArray, Floats
from epiboost.explain.attribution import Attribution, Unit
from epiboost.explain.game import Explained, Game, check_explained, numbers_of, reader_of_numbers

_FEWEST_COALITIONS = 512
_COALITIONS_A_FEATURE = 20
_TWO_CLASSES = 2
_ROWS_TOGETHER = 1000
"""Rows whose coalitions are kept at once: a few megabytes."""
_ONE_AT_A_TIME = Lock()


def attribute(
    model: Any,  # noqa: ANN401 (any model that has a posterior)
    X: Any,  # noqa: ANN401 (anything the model reads)
    of: Explained = "knowledge",
    *,
    background: Any = None,  # noqa: ANN401 (anything the model reads)
    label: Any = None,  # noqa: ANN401 (any label)
    n_background: int = 50,
    n_coalitions: int | None = None,
    random_state: int | None = 0,
    verbose: int = 0,
) -> Attribution:
    """Say which features make the model unsure of each row.

    Parameters
    ----------
    model : fitted model
        One of this package, calibrated or not, on its own, at the end of a pipeline or inside a search. The features
        are those that the model itself is given, after the steps of a pipeline.
    X : table of shape (n, features)
        The rows to be explained.
    of : {"knowledge", "data", "total", "mean"}, default="knowledge"
        What is to be explained: why rows are unfamiliar, why they are noisy, both together, or the prediction itself.
    background : table of shape (m, features), optional
        Rows that stand for what is usual: training rows, say. The values tell how a row differs from them. By default
        the rows of ``X``, which then must be two at least: they are compared with one another, and what all of them
        share, such as a category that none of the training rows had, counts nothing.
    label : object, optional
        For ``of="mean"`` and a classifier, the class whose probability is explained; of two classes, by default, the
        second.
    n_background : int, default=50
        Background rows that are used, drawn at random if there are more.
    n_coalitions : int, optional
        Coalitions of features that are played: the more, the closer to the exact values. By default 512, or 20 a
        feature if that is more. All of them are played where that is no more, and the values are exact.
    random_state : int or None, default=0
        The seed of the draws; None draws others each time.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    Attribution
        ``base + values.sum(axis=1)`` is the measure of each row.

    Raises
    ------
    TypeError
        If the model does not know its uncertainty.
    ValueError
        For a measure that the model does not have, no background, and numbers that make no sense.
    ImportError
        If `shap` is not installed.

    References
    ----------
    S. Lundberg, S. Lee: A unified approach to interpreting model predictions. NeurIPS 2017.

    Examples
    --------
    The first feature is never above 1 in training; a row where it is 5 is unfamiliar, and we are told why:

    >>> import numpy as np
    >>> from epiboost import EpiBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 3))
    >>> y = X.sum(axis=1) + rng.normal(scale=0.1, size=500)
    >>> model = EpiBoostRegressor(n_members=5, n_estimators=100, random_state=0).fit(X, y)
    >>> found = attribute(model, [[5.0, 0.0, 0.0]], of="knowledge", background=X)
    >>> found.first(1)[0, 0]
    'x0'
    >>> bool(np.isclose(found.measure[0], model.predict_uncertainty([[5.0, 0.0, 0.0]]).knowledge[0]))
    True
    """
    check_explained(of)
    return attribute_all(
        model,
        X,
        (of,),
        background=background,
        label=label,
        n_background=n_background,
        n_coalitions=n_coalitions,
        random_state=random_state,
        verbose=verbose,
    )[0]


def attribute_all(
    model: Any,  # noqa: ANN401 (any model that has a posterior)
    X: Any,  # noqa: ANN401 (anything the model reads)
    measures: Sequence[Explained],
    *,
    background: Any = None,  # noqa: ANN401 (anything the model reads)
    label: Any = None,  # noqa: ANN401 (any label)
    n_background: int = 50,
    n_coalitions: int | None = None,
    random_state: int | None = 0,
    verbose: int = 0,
) -> tuple[Attribution, ...]:
    """Explain several measures for the price of one; see `attribute`.

    Returns
    -------
    tuple of Attribution
        One a measure.
    """
    asked = unwrap(model, "predict_posterior")
    given = asked.transform(X)
    rows = numbers_of(asked.estimator, given)
    if background is None and len(rows) < 2:  # noqa: PLR2004 (what is one row unlike?)
        message = "one row alone is not unlike any other; give a background, a table of usual rows"
        raise ValueError(message)
    _check_known(asked, rows[:1], measures)
    usual = rows if background is None else numbers_of(asked.estimator, asked.transform(background))
    usual = _drawn(usual, _whole("n_background", n_background, 1), random_state)
    n_features = rows.shape[1]
    n_played = max(_FEWEST_COALITIONS, _COALITIONS_A_FEATURE * n_features)
    if n_coalitions is not None:
        n_played = _whole("n_coalitions", n_coalitions, 2 * n_features)
    outcome = _outcome(asked, label, measures)
    with progress_bar("Explaining", enabled=bool(verbose), unit="coalitions") as progress:
        game = Game(reader_of_numbers(asked.estimator), rows, usual, tuple(measures), outcome)
        values, base = _shapley(game, n_played, random_state, progress)
    names = names_of(asked.estimator, n_features)
    shown = cells(given, names if hasattr(asked.estimator, "feature_names_in_") else None)
    units = [_unit(measure, asked) for measure in measures]
    return tuple(
        Attribution(values[:, :, place], float(base[place]), names, shown, measure, unit, _label(asked, outcome, unit))
        for place, (measure, unit) in enumerate(zip(measures, units, strict=True))
    )


def _check_known(asked: UnwrappedModel, row: AnyArray, measures: Sequence[Explained]) -> None:
    """Raise an error if the model does not know what is to be explained."""
    posterior = reader_of_numbers(asked.estimator)(row)
    if "knowledge" in measures and posterior.n_members == 1:
        message = (
            "one member alone has no knowledge uncertainty, so there is nothing to explain; of='data' explains noise"
        )
        raise ValueError(message)
    for measure in {"data", "total"} & set(measures):
        getattr(posterior.uncertainty(), measure)  # says so itself if it is not known


def import_shap() -> ModuleType:
    """Return the package `shap`; what it warns of while it is imported is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return require("shap", extra="explain", purpose="explaining uncertainty")


def _shapley(game: Game, n_played: int, seed: int | None, progress: Progress) -> tuple[Floats, Floats]:
    """Return the values, shape (n, features, measures), and their base, shape (measures,)."""
    n_rows, n_features = game.rows.shape
    starts = range(0, n_rows, _ROWS_TOGETHER)
    n_expected = min(n_played, 2 ** min(n_features, 60) - 2) + 2
    parts = []
    for number, start in enumerate(starts):
        played = _after(progress, number * n_expected, n_expected, len(starts) * n_expected)
        part = game.with_rows(game.rows[start : start + _ROWS_TOGETHER], played)
        parts.append(_explained(part, n_played, seed))
    base = game(np.zeros((1, n_features)))[0, : len(game.measures)]
    return np.concatenate(parts), base


def _after(progress: Progress, before: int, most: int, total: int) -> Callable[[int], None]:
    """Return who is told of this part and tells of the whole."""
    return lambda done: progress(before + min(done, most), total)


def _explained(game: Game, n_played: int, seed: int | None) -> Floats:
    n_rows, n_features = game.rows.shape
    with _ONE_AT_A_TIME:  # shap draws from NumPy's global generator, which threads share
        before = np.random.get_state()  # noqa: NPY002
        np.random.seed(seed)  # noqa: NPY002
        try:
            explainer = _kernel_explainer()(game, np.zeros((1, n_features)))
            values = explainer.shap_values(np.ones(n_features), nsamples=n_played, l1_reg=False, silent=True)
        finally:
            np.random.set_state(before)  # noqa: NPY002
    return np.asarray(values).reshape(n_features, n_rows, -1).transpose(1, 0, 2)


@cache
def _kernel_explainer() -> Any:  # noqa: ANN401 (a class of shap, which is optional)
    """Return shap's KernelExplainer, which solves its equation for all outputs at once.

    The coalitions that it draws and their weights are the same for all rows. By itself it solves the equation anew for
    each output, prints to a log as it goes, and takes values below 1e-10 for zero, which uncertainties may well be.
    """

    class AllAtOnce(import_shap().KernelExplainer):  # type: ignore[misc]  # shap has no types
        def solve(self, fraction_evaluated: float, dim: int) -> tuple[Floats, Floats]:  # noqa: ARG002 (as shap calls it)
            if dim == 0:
                self.solved = _solved(self.maskMatrix, self.kernelWeights, self.ey - self.fnull, self.fx - self.fnull)
            return self.solved[:, dim], np.ones(self.M)

    return AllAtOnce


def _solved(coalitions: Floats, weights: Floats, values: Floats, sums: Floats) -> Floats:
    """Fit values that add up to the sums: the last feature takes what the others leave.

    Parameters
    ----------
    coalitions : array of shape (k, features)
    weights : array of shape (k,)
    values : array of shape (k, outputs)
        What the coalitions are worth beyond the empty one.
    sums : array of shape (outputs,)
        What all features together are worth.

    Returns
    -------
    array of shape (features, outputs)

    Examples
    --------
    >>> _solved(np.eye(2), np.ones(2), np.array([[1.0], [2.0]]), np.array([4.0])).ravel()
    array([1.5, 2.5])
    """
    last = coalitions[:, -1:]
    design = coalitions[:, :-1] - last
    weighted = weights[:, np.newaxis] * design
    normal, right = design.T @ weighted, weighted.T @ (values - last * sums)
    try:
        others = np.linalg.solve(normal, right)
    except np.linalg.LinAlgError:  # few coalitions may leave features that always go together
        others = np.linalg.lstsq(normal, right, rcond=None)[0]
    return np.vstack([others, sums - others.sum(axis=0)])


def _drawn(table: AnyArray, n: int, seed: int | None) -> AnyArray:
    if len(table) <= n:
        return table
    chosen = np.random.default_rng(seed).choice(len(table), n, replace=False)
    return table[np.sort(chosen)]


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        message = f"{name} must be a whole number of at least {least}; got {value!r}"
        raise ValueError(message)
    return int(value)


def _outcome(asked: UnwrappedModel, label: Any, measures: Sequence[str]) -> int:  # noqa: ANN401 (any label)
    """Return the position of the class whose probability is explained."""
    classes = None if asked.classes is None else asked.classes.tolist()
    if classes is None or "mean" not in measures:
        if label is not None:
            message = f"label names a class whose probability is explained, of='mean' of a classifier; got {label!r}"
            raise ValueError(message)
        return 0
    if label is None and len(classes) == _TWO_CLASSES:
        return 1
    if label not in classes:
        message = f"of='mean' explains the probability of one class: label must be one of {classes}; got {label!r}"
        raise ValueError(message)
    return int(classes.index(label))


def _unit(measure: Explained, asked: UnwrappedModel) -> Unit:
    if measure == "mean":
        return "target" if asked.classes is None else "probability"
    return "variance" if asked.classes is None else "nats"


def _label(asked: UnwrappedModel, outcome: int, unit: Unit) -> Any:  # noqa: ANN401 (any label)
    return asked.classes[outcome] if unit == "probability" and asked.classes is not None else None
