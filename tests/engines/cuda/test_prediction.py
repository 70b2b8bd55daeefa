"""Prediction on a GPU has the bits of the CPU: an emulator runs the kernels, and a GPU where there is one."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._inputs.device_arrays import is_on_device, on_host
from epiboost.engines.cuda import device
from tests.support import emulated_cupy
from tests.support.emulated_gpu import COMPILER

TREES, ROWS = 37, 700
SIZES = [(1, None), (3, None), (6, None), (8, None), (None, 2), (None, 40), (5, 255)]

on_gpu = pytest.param(
    "gpu",
    marks=[pytest.mark.cuda, pytest.mark.skipif(not device.is_available(), reason="needs CuPy and an NVIDIA GPU")],
)
emulated = pytest.param("emulator", marks=pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"))


@pytest.fixture(params=[emulated, on_gpu])
def gpu(request, monkeypatch):
    """A GPU: what copies an array to it."""
    if request.param == "gpu":
        return device.cupy().asarray
    emulated_cupy.pretend_a_gpu(monkeypatch)
    return emulated_cupy.to_device


def table(columns=5, rows=ROWS):
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(rows, columns))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) - 2.0 * np.nan_to_num(X[:, columns // 4]) + np.nan_to_num(X[:, 0] * X[:, -1])
    return X, signal


def fitted(classes=0, depth=4, leaves=None, columns=5, **options):
    X, signal = table(columns)
    estimator = EpiBoostClassifier if classes else EpiBoostRegressor
    y = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes)) if classes else 1e3 * signal
    options = {"n_members": 2, "n_estimators": TREES, "random_state": 0, "n_jobs": 1, **options}
    return estimator(max_depth=depth, max_leaves=leaves, **options).fit(X, y), X


@pytest.mark.parametrize("classes", [0, 2, 3, 4])
@pytest.mark.parametrize(("depth", "leaves"), SIZES)
@pytest.mark.usefixtures("gpu")
def test_parameters_have_the_bits_of_the_cpu(depth, leaves, classes):
    model, X = fitted(classes, depth, leaves)
    for prefixes in (None, (5, 16, 17, TREES)):
        expected = model.forest_.predict(X, prefixes=prefixes)
        found = model.forest_.on("cuda").predict(X, prefixes=prefixes)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("family", ["lognormal", "student", "poisson", "histogram"])
@pytest.mark.usefixtures("gpu")
def test_parameters_of_families_have_the_bits_of_the_cpu(family):
    X, signal = table()
    y = np.round(np.exp(1.0 + 0.5 * signal)) + (family == "lognormal")
    model = EpiBoostRegressor(distribution=family, n_members=3, n_estimators=TREES, random_state=0).fit(X, y)
    expected, spread = model.predict_posterior(X).parameters, model.predict_uncertainty(X)
    model.set_params(device="cuda")
    np.testing.assert_array_equal(model.forest_.on("cuda").predict(X), model.forest_.on("cpu").predict(X))
    np.testing.assert_array_equal(model.predict_posterior(X).parameters, expected)
    np.testing.assert_array_equal(model.predict_uncertainty(X).knowledge, spread.knowledge)


@pytest.mark.parametrize("family", ["gamma", "lognormal"])
def test_predictions_of_families_are_where_the_table_is(gpu, family):
    X, signal = table()
    model = EpiBoostRegressor(distribution=family, n_members=3, n_estimators=TREES, random_state=0)
    model.fit(X, np.exp(0.5 * signal))
    expected, mean = model.predict_uncertainty(X), model.predict(X)
    model.set_params(device="cuda")
    found, found_mean = model.predict_uncertainty(gpu(X)), model.predict(gpu(X))
    assert is_on_device(found.data)
    assert is_on_device(found_mean)
    np.testing.assert_allclose(on_host(found.data), expected.data, rtol=1e-12)
    np.testing.assert_allclose(on_host(found_mean), mean, rtol=1e-12)


@pytest.mark.parametrize("columns", [1, 33, 260])
@pytest.mark.parametrize("leaves", [None, 9])
@pytest.mark.usefixtures("gpu")
def test_sanitized_bins_of_narrow_and_wide_tables_agree(columns, leaves):
    model, X = fitted(depth=5, leaves=leaves, columns=columns)
    forest = model.forest_
    for given in (X, X.astype(np.float32), np.asfortranarray(X), X[:1], X[:513]):
        np.testing.assert_array_equal(forest.on("cuda").predict(given), forest.predict(given))


@pytest.mark.usefixtures("gpu")
def test_categories_are_encoded_on_the_host_and_predicted_on_the_gpu():
    X, signal = table()
    mixed = X.astype(object)
    mixed[:, 2] = np.where(np.arange(ROWS) % 3 == 0, "a", "b")
    model = EpiBoostRegressor(n_members=3, n_estimators=20, random_state=0).fit(mixed, signal)
    mixed[5, 2] = "unseen"
    expected = model.predict_posterior(mixed).parameters
    np.testing.assert_array_equal(model.set_params(device="cuda").predict_posterior(mixed).parameters, expected)


@pytest.mark.parametrize("options", [{"out_of_fold": 0}, {"out_of_fold": 3}, {"ensemble": "virtual"}])
@pytest.mark.usefixtures("gpu")
def test_predictions_of_a_regressor_agree_with_those_of_the_cpu(options):
    model, X = fitted(**{"n_members": 5, **options})
    expected = [model.predict(X, return_std=True), model.predict_uncertainty(X), model.predict_interval(X, [0.5, 0.9])]
    model.set_params(device="cuda")
    found = [model.predict(X, return_std=True), model.predict_uncertainty(X), model.predict_interval(X, [0.5, 0.9])]
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
    np.testing.assert_array_equal(found[1].data, expected[1].data)
    np.testing.assert_array_equal(found[1].knowledge, expected[1].knowledge)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-12)


@pytest.mark.parametrize("device_name", ["cpu", "cuda", "auto"])
@pytest.mark.parametrize("classes", [0, 2, 3])
def test_arrays_on_a_gpu_give_arrays_on_the_gpu(gpu, classes, device_name):
    model, X = fitted(classes, n_members=5)
    expected = model.predict_uncertainty(X)
    mean = model.predict_proba(X) if classes else model.predict(X)
    model.set_params(device=device_name)
    on_device = gpu(X)
    found = model.predict_uncertainty(on_device)
    found_mean = model.predict_proba(on_device) if classes else model.predict(on_device)
    assert all(is_on_device(part) for part in (found.total, found.data, found.knowledge, found_mean))
    np.testing.assert_allclose(on_host(found.knowledge), expected.knowledge, rtol=1e-12)
    np.testing.assert_allclose(on_host(found_mean), mean, rtol=1e-14)
    labels = model.predict(on_device)
    np.testing.assert_allclose(on_host(labels), model.set_params(device="cpu").predict(X), rtol=1e-14)
    assert "samples" in repr(found)


@pytest.mark.parametrize("quantity", ["interval", "quantile"])
def test_intervals_of_a_table_on_the_gpu_are_there_too(gpu, quantity):
    model, X = fitted(n_members=5)
    level = [0.5, 0.9]
    expected = getattr(model, f"predict_{quantity}")(X, level)
    found = getattr(model.set_params(device="cuda"), f"predict_{quantity}")(gpu(X), level)
    assert is_on_device(found)
    np.testing.assert_allclose(on_host(found), expected, rtol=1e-12)


def test_a_table_on_the_gpu_is_checked_as_one_on_the_host(gpu):
    model, X = fitted()
    model.set_params(device="cuda")
    with pytest.raises(ValueError, match="expecting 5 features"):
        model.predict(gpu(X[:, :3]))
    X[7, 1] = np.inf
    with pytest.raises(ValueError, match="column 1 in row 7"):
        model.predict(gpu(X))


def test_training_takes_arrays_on_a_gpu(gpu):
    X, signal = table()
    options = {"n_members": 2, "n_estimators": 10, "random_state": 0}
    expected = EpiBoostRegressor(**options).fit(X, signal, sample_weight=np.ones(ROWS))
    found = EpiBoostRegressor(**options).fit(gpu(X), gpu(signal), sample_weight=gpu(np.ones(ROWS)))
    np.testing.assert_array_equal(found.forest_.leaf, expected.forest_.leaf)


def test_little_memory_makes_small_chunks_and_too_little_an_error(monkeypatch):
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    model, X = fitted()
    expected = model.forest_.predict(X)
    emulated_cupy.pretend_a_gpu(monkeypatch, free=600_000)
    np.testing.assert_array_equal(model.forest_.on("cuda").predict(X), expected)
    np.testing.assert_array_equal(model.set_params(device="cuda").predict(X), model.set_params(device="cpu").predict(X))
    emulated_cupy.pretend_a_gpu(monkeypatch, free=1000)
    with pytest.raises(device.DeviceError, match=r"512 rows at a time need .* GB of GPU memory, and 0.00 GB are free"):
        model.forest_.on("cuda").predict(X)
