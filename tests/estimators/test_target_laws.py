"""Units of targets and features, names of labels, and the sum of the uncertainties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.compare import parameters_of
from tests.support.laws import law, law_model, tables
from tests.support.models import every_ensemble, every_task
from tests.support.tables import target_for

# Units of the target


@every_ensemble
@law
@given(tables(), st.integers(-40, 40))
def test_scaling_a_target_by_a_power_of_two_scales_predictions_exactly(ensemble, rows, exponent):
    X, y = rows
    c = 2.0**exponent
    plain = parameters_of(law_model("regression", ensemble).fit(X, y), X)
    scaled = parameters_of(law_model("regression", ensemble).fit(X, c * y), X)
    np.testing.assert_array_equal(scaled[..., 0], c * plain[..., 0])
    np.testing.assert_array_equal(scaled[..., 1], c**2 * plain[..., 1])


@every_ensemble
@law
@given(tables(), st.floats(1e-6, 1e6))
def test_scaling_a_target_scales_means_and_variances(ensemble, rows, c):
    X, y = rows
    plain = parameters_of(law_model("regression", ensemble).fit(X, y), X)
    scaled = parameters_of(law_model("regression", ensemble).fit(X, c * y), X)
    np.testing.assert_allclose(scaled[..., 0] / c, plain[..., 0], atol=1e-4 * y.std())
    np.testing.assert_allclose(scaled[..., 1] / c**2, plain[..., 1], rtol=1e-4)


@every_ensemble
@law
@given(tables(), st.floats(-100.0, 100.0))
def test_shifting_a_target_shifts_means_and_keeps_variances(ensemble, rows, shift):
    X, y = rows
    plain = parameters_of(law_model("regression", ensemble).fit(X, y), X)
    shifted = parameters_of(law_model("regression", ensemble).fit(X, y + shift), X)
    np.testing.assert_allclose(shifted[..., 0] - shift, plain[..., 0], atol=1e-4 * y.std())
    np.testing.assert_allclose(shifted[..., 1], plain[..., 1], rtol=1e-4)


@pytest.mark.parametrize("ensemble", ["sglb", "virtual"])
def test_the_names_of_labels_do_not_change_the_model(ensemble):
    random = np.random.default_rng(5)
    X = random.normal(size=(100, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    numbers = law_model("multiclass", ensemble).fit(X, y)
    words = law_model("multiclass", ensemble).fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(numbers.predict_proba(X), words.predict_proba(X))
    np.testing.assert_array_equal(words.predict(X), words.classes_[numbers.predict(X)])


# Features


@every_task
@every_ensemble
@pytest.mark.parametrize(
    "transform", [np.exp, lambda x: x**3, lambda x: 1e6 * x - 3.0, lambda x: np.sign(x) * np.sqrt(np.abs(x))]
)
def test_monotone_transforms_of_a_feature_keep_predictions_for_training_rows(task, ensemble, transform):
    random = np.random.default_rng(3)
    X = random.normal(size=(600, 3))  # more distinct values than bins
    X[random.uniform(size=X.shape) < 0.05] = np.nan
    y = target_for(task, np.where(np.isnan(X[:, 0]), 0.0, X[:, 0]) + random.normal(scale=0.2, size=600))
    other = X.copy()
    other[:, 0] = transform(X[:, 0])
    model, twin = law_model(task, ensemble).fit(X, y), law_model(task, ensemble).fit(other, y)
    np.testing.assert_array_equal(parameters_of(twin, other), parameters_of(model, X))


# Uncertainty


@every_task
@every_ensemble
@law
@given(rows=tables())
def test_total_uncertainty_is_data_plus_knowledge_and_no_part_is_negative(task, ensemble, rows):
    X, y = rows[0], target_for(task, rows[1])
    model = law_model(task, ensemble).fit(X, y)
    uncertainty = model.predict_uncertainty(np.concatenate([X, 3.0 * X]))
    np.testing.assert_allclose(uncertainty.total, uncertainty.data + uncertainty.knowledge, rtol=1e-12, atol=1e-12)
    assert uncertainty.knowledge.min() >= -1e-12
    assert uncertainty.data.min() >= 0.0
    if ensemble == "single":
        assert not uncertainty.knowledge.any()
    else:
        assert uncertainty.knowledge.max() > 0.0
