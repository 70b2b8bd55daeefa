"""Parameters of the estimators: allowed ranges, and errors for everything else."""

import numpy as np
import pytest

from tests.support.models import every_ensemble, every_estimator, small_classifier, small_estimator, small_regressor
from tests.support.tables import LABELS, TARGETS, X, Y


@pytest.mark.parametrize(
    ("name", "values", "allowed"),
    [
        ("max_depth", [0, 9, -1, 2.0, "6", None, True], "a whole number from 1 to 8"),
        ("max_bins", [1, 256, 0, 2.5, None, True], "a whole number from 2 to 255"),
        ("n_members", [0, -1, 1.5, "3", None, True, 10**9], "a whole number from 1 to 100000"),
        ("n_estimators", [0, -5, 10.0, "9", None, True, 10**10], "a whole number from 1 to "),
        ("learning_rate", [0, -0.1, 1.1, np.nan, np.inf, "fast", None, True, 1j], "a number above 0 and at most 1"),
        ("l2", [-1, np.nan, np.inf, "a", None, True], "a number of at least 0"),
        ("temperature", [-1, np.nan, np.inf, "hot", None, True], "a number of at least 0"),
        ("subsample", [0, -0.5, 1.5, np.nan, "half", True], "a number above 0 and at most 1"),
        ("variance_guard", [-1, np.nan, np.inf, "on", None, True], "a number of at least 0"),
        ("random_strength", [-1.0, float("nan"), "a", True], "a number of at least 0"),
        ("structure_rows", [0, -1, 1.5, "a", True], "'auto', None or a whole number of at least 1"),
        ("early_stopping_rounds", [0, -1, 1.5, "a", True], "a whole number of at least 1"),
        ("n_jobs", [0, 1.5, "all", True], "None or a whole number other than 0"),
        ("ensemble", ["forest", None, 1, []], "one of 'single', 'sgb', 'sglb', 'virtual'"),
        ("engine", ["steam", None, 3, dict], "one of 'native'.* or an Engine"),
        ("categorical_features", ["a", 3, 1.5], "'auto', None or a list of names or positions"),
    ],
)  # fmt: skip
def test_a_parameter_out_of_range_is_named_with_its_value_and_the_allowed_range(name, values, allowed):
    for estimator in (small_regressor, small_classifier):
        for value in values:
            if name not in estimator().get_params():
                continue
            model = estimator(**{name: value})
            with pytest.raises(ValueError, match=f"{name} must be .*{allowed}.*; got ") as caught:
                model.fit(X, LABELS, eval_set=(X, LABELS))
            assert str(caught.value).endswith(f"got {value!r}")


def test_a_number_of_trees_beyond_64_bits_is_refused_by_name():
    with pytest.raises(ValueError, match="n_estimators"):
        small_regressor(n_estimators=10**30).fit(X, Y)


@pytest.mark.parametrize("random_state", ["a", -1, 1.5])
def test_an_invalid_seed_is_refused(random_state):
    with pytest.raises(ValueError, match="random_state must be None, a number"):
        small_regressor(random_state=random_state).fit(X, Y)


def test_numpy_numbers_are_accepted_as_parameters():
    plain = small_regressor(max_depth=3, n_members=2, learning_rate=0.25, n_jobs=2).fit(X, Y).predict(X)
    parameters = {
        "max_depth": np.int64(3),
        "n_members": np.int32(2),
        "learning_rate": np.float32(0.25),
        "n_jobs": np.int8(2),
    }
    np.testing.assert_array_equal(small_regressor(**parameters).fit(X, Y).predict(X), plain)


@every_ensemble
@every_estimator
@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 1},
        {"max_depth": 8},
        {"max_bins": 2},
        {"n_members": 1},
        {"n_estimators": 1, "n_members": 1},
        {"l2": 0.0},
        {"learning_rate": 1.0},
        {"temperature": 0.0},
        {"subsample": 1.0},
        {"subsample": 0.1},
        {"n_jobs": -1},
        {"n_jobs": -100},
        {"n_jobs": 20},
    ],
    ids=str,
)
def test_both_ends_of_the_allowed_ranges_are_accepted(ensemble, estimator, parameters):
    model = small_estimator(estimator, ensemble=ensemble, **parameters).fit(X, TARGETS[estimator])
    assert np.isfinite(model.predict_posterior(X).parameters).all()
    for name, dimension in {"max_depth": 2, "n_estimators": 1}.items():
        if name in parameters:
            assert model.forest_.feature.shape[dimension] == parameters[name]
    if "max_bins" in parameters:
        assert model.forest_.bins.counts.max() <= parameters["max_bins"] + 1


@every_ensemble
def test_predictions_are_finite_without_the_variance_guard(ensemble):
    model = small_regressor(ensemble=ensemble, variance_guard=0.0, l2=0.0, learning_rate=1.0, n_estimators=50).fit(X, Y)
    assert np.isfinite(model.predict_posterior(X).parameters).all()


@pytest.mark.parametrize("parameters", [{"temperature": 1e300}, {"learning_rate": 1e-300}])
def test_langevin_noise_that_overflows_is_refused_by_name(parameters):
    with pytest.raises(ValueError, match=r"temperature=.* and learning_rate=.* give noise of .*; at most"):
        small_regressor(**parameters).fit(X, Y)
