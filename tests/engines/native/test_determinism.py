"""The same seed gives the same bits for any number of threads and any instruction set."""

from copy import deepcopy
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor, _native
from epiboost._native import VARIABLE, available_instruction_sets, instruction_set, native

INSTRUCTION_SETS = available_instruction_sets()
ROWS = 6500  # enough for four threads to share one chain
MANY_ROWS = 70_000  # more than the 65,535 whose weights fit the narrow histogram


@cache
def table(n, classes=0, features=5):
    """Return a table with columns of many and of few values, and a target of so many classes (0: regression)."""
    random = np.random.default_rng(n + classes)
    X = random.normal(size=(n, features))
    X[:, -1] = X[:, -1].round()
    y = X[:, 0] * X[:, 1] + np.sin(3.0 * X[:, 2]) + 0.3 * X[:, -1] + random.normal(scale=0.5, size=n)
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    return X, y


def with_missing_values(X):
    incomplete = X.copy()
    incomplete[np.random.default_rng(1).uniform(size=X.shape) < 0.15] = np.nan
    return incomplete


def weights():
    return np.random.default_rng(2).uniform(0.1, 4.0, size=ROWS)


def stopped_early(**options):
    X, y = table(ROWS)
    trees = {"n_estimators": 60, "learning_rate": 1.0, "l2": 0.0, "variance_guard": 0.0, "early_stopping_rounds": 2}
    model = EpiBoostRegressor(**{**options, **trees})
    return model.fit(X[:2500], y[:2500], eval_set=(X[2500:], y[2500:], weights()[2500:]))


def regressor(rows=ROWS, **own):
    return lambda **options: EpiBoostRegressor(**{**options, **own}).fit(*table(rows))


def classifier(classes):
    return lambda **options: EpiBoostClassifier(**options).fit(*table(ROWS, classes))


# Each case takes a different path through the native core.
CASES = {
    "sglb": regressor(),
    "sgb": regressor(ensemble="sgb"),
    "virtual": regressor(ensemble="virtual", n_members=3),
    "single": regressor(ensemble="single"),
    "no guard": regressor(variance_guard=0.0),
    "many rows, sglb": regressor(MANY_ROWS, n_members=3),
    "many rows, all for the splits": regressor(MANY_ROWS, n_members=3, structure_rows=None),
    "few rows for the splits": regressor(structure_rows=500),
    "few rows for the splits, sgb": regressor(structure_rows=500, ensemble="sgb"),
    "many rows, sgb": regressor(MANY_ROWS, n_members=3, ensemble="sgb"),
    "many rows, virtual": regressor(MANY_ROWS, n_members=3, ensemble="virtual"),
    **{f"{classes} classes": classifier(classes) for classes in (2, 3, 6, 12, 20)},
    "weights": lambda **options: EpiBoostRegressor(**options).fit(*table(ROWS), sample_weight=weights()),
    "weights, sgb": lambda **options: EpiBoostRegressor(**options, ensemble="sgb").fit(
        *table(ROWS), sample_weight=weights()
    ),
    "missing values": lambda **options: EpiBoostRegressor(**options).fit(
        with_missing_values(table(ROWS)[0]), table(ROWS)[1]
    ),
    "single precision": lambda **options: EpiBoostRegressor(**options).fit(
        table(ROWS)[0].astype(np.float32), table(ROWS)[1]
    ),
    "leaf-wise": regressor(max_depth=None, max_leaves=40),
    "leaf-wise, many rows": regressor(MANY_ROWS, n_members=3, max_depth=None, max_leaves=40),
    "leaf-wise, sgb": regressor(max_depth=5, max_leaves=12, ensemble="sgb"),
    "leaf-wise, 6 classes": lambda **options: EpiBoostClassifier(
        **{**options, "max_depth": None, "max_leaves": 40}
    ).fit(*table(ROWS, 6)),
    "many columns": lambda **options: EpiBoostRegressor(**options).fit(*table(300, features=70)),
    "early stopping": stopped_early,
}


def fit_case(case, n_jobs):
    """Train the model of a case; five members do not divide evenly among two or four threads."""
    return CASES[case](n_members=5, n_estimators=5, learning_rate=0.1, max_depth=4, n_jobs=n_jobs, random_state=3)


def bits_of(case, model):
    """Return the bytes of all learned arrays and of predictions."""
    forest = model.forest_
    X = with_missing_values(table(3000, features=model.n_features_in_)[0])  # several strips of rows
    return {
        "borders": forest.bins.borders.tobytes(),
        "feature": forest.feature.tobytes(),
        "threshold": forest.threshold.tobytes(),
        "leaf": forest.leaf.tobytes(),
        "count": forest.count.tobytes(),
        "evaluation": forest.evaluation.tobytes(),
        "parameters": model.predict_posterior(X).parameters.tobytes(),
        "single precision": model.predict_posterior(X.astype(np.float32)).parameters.tobytes(),
        "case": case,
    }


@cache
def bits_on_one_thread(case):
    """Return the bytes of the portable build on one thread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "portable")
        native.cache_clear()
        bits = bits_of(case, fit_case(case, n_jobs=1))
    native.cache_clear()
    return bits


def differing(one, other):
    return [name for name, bits in one.items() if bits != other[name]]


# Every number of threads with the best instruction set, and every instruction set with two threads.
@pytest.mark.parametrize(
    ("n_jobs", "instructions"),
    [(n_jobs, INSTRUCTION_SETS[0]) for n_jobs in (1, 2, 4)] + [(2, other) for other in INSTRUCTION_SETS[1:]],
)
@pytest.mark.parametrize("case", CASES)
def test_threads_and_instruction_sets_do_not_change_a_bit(case, n_jobs, instructions, use_instructions):
    expected = bits_on_one_thread(case)
    use_instructions(instructions)
    assert instruction_set() == instructions
    assert native().__name__.endswith(instructions)
    assert differing(bits_of(case, fit_case(case, n_jobs)), expected) == []


def test_the_case_of_early_stopping_stops_early():
    model = fit_case("early stopping", n_jobs=1)
    assert model.forest_.count.min() < 60


@pytest.mark.parametrize("case", ["sglb", "sgb", "virtual", "20 classes"])
def test_every_instruction_set_predicts_the_same_bits_from_one_model(case, use_instructions):
    model = fit_case(case, n_jobs=2)
    X = table(5000)[0]
    expected = model.predict_posterior(X).parameters
    for instructions in INSTRUCTION_SETS:
        use_instructions(instructions)
        copy = deepcopy(model)  # without the compiled trees of the instruction set before
        np.testing.assert_array_equal(copy.predict_posterior(X).parameters, expected)


@pytest.mark.parametrize("kind", ["sgb", "sglb", "virtual"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_different_seeds_give_different_models(kind, classes):
    X, y = table(300, classes)
    estimator = EpiBoostClassifier if classes else EpiBoostRegressor
    options = {"ensemble": kind, "n_members": 2, "n_estimators": 10, "n_jobs": 1}
    one, other = (estimator(**options, random_state=seed).fit(X, y).predict_posterior(X).parameters for seed in (0, 1))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("estimator", [EpiBoostRegressor, EpiBoostClassifier])
def test_fits_without_a_seed_differ(estimator):
    X, y = table(300, 0 if estimator is EpiBoostRegressor else 3)
    model = estimator(n_members=2, n_estimators=10, n_jobs=1)
    one = model.fit(X, y).predict_posterior(X).parameters
    assert not np.array_equal(model.fit(X, y).predict_posterior(X).parameters, one)


@pytest.mark.parametrize("estimator", [EpiBoostRegressor, EpiBoostClassifier])
def test_a_random_generator_is_used_and_advanced(estimator):
    X, y = table(300, 0 if estimator is EpiBoostRegressor else 3)
    options = {"n_members": 2, "n_estimators": 10, "n_jobs": 1}

    def fit_twice(random_state):
        model = estimator(**options, random_state=random_state)
        return [model.fit(X, y).predict_posterior(X).parameters for _ in range(2)]

    first, second = fit_twice(np.random.RandomState(9))
    assert not np.array_equal(first, second)
    for one, other in zip((first, second), fit_twice(np.random.RandomState(9)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_seed_may_be_of_any_integer_type():
    X, y = table(300)
    options = {"n_members": 2, "n_estimators": 5, "n_jobs": 1}
    plain = EpiBoostRegressor(**options, random_state=11).fit(X, y).predict(X)
    np.testing.assert_array_equal(EpiBoostRegressor(**options, random_state=np.int64(11)).fit(X, y).predict(X), plain)


def test_an_unavailable_instruction_set_is_an_error_that_names_the_available_ones(use_instructions):
    use_instructions("abacus")
    with pytest.raises(ValueError, match=rf"{VARIABLE} is 'abacus'; on this machine this install has .*portable"):
        EpiBoostRegressor(n_estimators=2).fit(*table(300))


def test_an_instruction_set_of_the_machine_without_a_module_is_not_available(monkeypatch):
    monkeypatch.setattr(_native, "_processor", SimpleNamespace(instruction_sets=lambda: ["abacus", "portable"]))
    assert available_instruction_sets() == ("portable",)


def test_modules_for_another_processor_are_an_error_that_says_so(monkeypatch):
    monkeypatch.setattr(_native, "_processor", SimpleNamespace(instruction_sets=lambda: ["abacus"]))
    with pytest.raises(ImportError, match="compiled for another processor"):
        instruction_set()
