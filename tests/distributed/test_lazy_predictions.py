"""Predictions for Dask collections are lazy and the same as for a table in memory."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from epiboost._inputs.dask_collections import dask_kind
from tests.support.dask_tables import da, dd, frame_with_missing, in_partitions, pd
from tests.support.models import SMALL, small_classifier, small_regressor
from tests.support.tables import three_grades

ROWS = 900


@pytest.fixture(scope="module")
def table():
    return frame_with_missing(ROWS)


@pytest.fixture(scope="module")
def regressor(table):
    return small_regressor().fit(*table)


@pytest.fixture(scope="module")
def classifier(table):
    X, y = table
    return small_classifier().fit(X, three_grades(y, [0, 1]))


METHODS = {
    "predict": ("regressor", {}),
    "predict_quantile": ("regressor", {"q": [0.1, 0.5]}),
    "predict_interval": ("regressor", {"coverage": 0.8}),
    "predict_proba": ("classifier", {}),
    "predict_log_proba": ("classifier", {}),
}


@pytest.mark.parametrize("method", METHODS)
def test_predictions_for_a_lazy_frame_are_lazy_and_keep_index_and_divisions(request, table, method):
    fixture, options = METHODS[method]
    model = request.getfixturevalue(fixture)
    X, _ = in_partitions(table)
    lazy = getattr(model, method)(X, **options)
    assert dask_kind(lazy) in {"frame", "series"}
    assert lazy.divisions == X.divisions
    computed = lazy.compute()
    np.testing.assert_array_equal(computed.to_numpy(), getattr(model, method)(table[0], **options))
    pd.testing.assert_index_equal(computed.index, table[0].index)
    compare = pd.testing.assert_series_equal if computed.ndim == 1 else pd.testing.assert_frame_equal
    compare(lazy._meta, computed.iloc[:0])


@pytest.mark.parametrize("method", METHODS)
def test_predictions_for_lazy_arrays_are_lazy_arrays(request, table, method):
    fixture, options = METHODS[method]
    model = request.getfixturevalue(fixture)
    X = table[0].to_numpy()
    without_names = type(model)(**SMALL).fit(X, model.predict(table[0]))
    lazy = getattr(without_names, method)(da.from_array(X, chunks=(250, 2)), **options)
    expected = getattr(without_names, method)(X, **options)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(lazy.compute(), expected)


def test_column_names_of_predictions_are_text(table, regressor):
    X, y = table
    quantiles = regressor.predict_quantile(in_partitions(table)[0], [0.1, 0.5])
    assert quantiles.columns.tolist() == ["quantile_0.1", "quantile_0.5"]
    numbers = small_classifier().fit(X, (y > 1).astype(int))
    assert numbers.predict_proba(in_partitions(table)[0]).columns.tolist() == ["0", "1"]


def test_predicted_labels_have_the_declared_type(table, classifier):
    lazy = classifier.predict(in_partitions(table)[0])
    assert lazy.dtype == lazy.compute().dtype
    assert lazy.compute().tolist() == classifier.predict(table[0]).tolist()


@pytest.mark.parametrize("fixture", ["regressor", "classifier"])
def test_uncertainty_is_a_lazy_frame_of_total_data_and_knowledge(request, table, fixture):
    model = request.getfixturevalue(fixture)
    X, _ = in_partitions(table)
    lazy = model.predict_uncertainty(X)
    assert lazy.columns.tolist() == ["total", "data", "knowledge"]
    assert lazy.divisions == X.divisions
    expected = model.predict_uncertainty(table[0]).to_frame().set_axis(table[0].index)
    pd.testing.assert_frame_equal(lazy.compute(), expected)
    pd.testing.assert_frame_equal(lazy._meta, expected.iloc[:0])


def test_uncertainty_for_a_lazy_array_is_a_lazy_frame(table):
    X, y = table[0].to_numpy(), table[1]
    model = small_regressor().fit(X, y)
    lazy = model.predict_uncertainty(da.from_array(X, chunks=(250, 3)))
    pd.testing.assert_frame_equal(lazy.compute(), model.predict_uncertainty(X).to_frame())


def test_mean_and_standard_deviation_are_two_lazy_series(table, regressor):
    lazy = regressor.predict(in_partitions(table)[0], return_std=True)
    for one, expected in zip(lazy, regressor.predict(table[0], return_std=True), strict=True):
        np.testing.assert_array_equal(one.compute(), expected)


def test_several_coverages_give_two_columns_each(table, regressor):
    lazy = regressor.predict_interval(in_partitions(table)[0], [0.5, 0.9])
    assert lazy.columns.tolist() == ["lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    np.testing.assert_array_equal(lazy.compute(), regressor.predict_interval(table[0], [0.5, 0.9]).reshape(ROWS, 4))


def test_calibrated_models_predict_lazily(table, regressor, classifier):
    X, _ = in_partitions(table)
    calibrated = regressor.calibrate(*table)
    np.testing.assert_array_equal(calibrated.predict_interval(X).compute(), calibrated.predict_interval(table[0]))
    sets = classifier.calibrate(table[0], classifier.predict(table[0]))
    lazy = sets.predict_set(X)
    assert lazy.columns.tolist() == classifier.classes_.tolist()
    np.testing.assert_array_equal(lazy.compute(), sets.predict_set(table[0]))


def test_groups_that_are_a_column_are_found_in_every_partition(table):
    frame, y = table[0].assign(side=np.where(table[1] > 0.0, 7.0, 8.0)), table[1]
    X = dd.from_pandas(frame, npartitions=3)
    calibrated = small_regressor().fit(frame, y).calibrate(frame, y, groups="side")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lazy = calibrated.predict_interval(X, 0.5)
    np.testing.assert_array_equal(lazy.compute(), calibrated.predict_interval(frame, 0.5))
    with pytest.raises(ValueError, match="calibrate with groups that are a column of X"):
        calibrated.predict_interval(X, 0.5, groups=np.zeros(ROWS))


def test_partitions_without_rows_have_predictions_without_rows(table, regressor):
    X, _ = in_partitions(table, 20)
    few = X[X["a"] > 2]
    assert 0 in few.map_partitions(len).compute().tolist()
    pd.testing.assert_index_equal(regressor.predict_uncertainty(few).compute().index, few.compute().index)


def test_categories_in_partitions_are_predicted_as_in_memory(table):
    X, y = table
    X = X.assign(town=np.where(X["a"] > 0, "Oslo", "Lima"))
    model = small_regressor().fit(X, y)
    lazy = model.predict(dd.from_pandas(X, npartitions=3))
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))


def test_a_later_fit_does_not_change_lazy_predictions(table):
    X, y = table
    model = small_regressor().fit(X, y)
    expected = model.predict(X)
    lazy = model.predict(in_partitions(table)[0])
    model.fit(X, -y)
    np.testing.assert_array_equal(lazy.compute(), expected)


# Errors


def test_missing_columns_raise_an_error_before_anything_is_computed(table, regressor):
    with pytest.raises(ValueError, match="feature names"):
        regressor.predict(in_partitions(table)[0][["a", "b"]])


def test_a_posterior_of_a_lazy_frame_is_refused(table, regressor):
    with pytest.raises(TypeError, match="X is a Dask frame, which need not fit into memory"):
        regressor.predict_posterior(in_partitions(table)[0])


def test_lazy_prediction_before_fit_raises_not_fitted_error(table):
    with pytest.raises(NotFittedError):
        small_regressor().predict(in_partitions(table)[0])
