"""Targets of regressions: which are learned, and which are refused."""

import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from tests.support.models import every_ensemble, every_estimator, small_estimator, small_regressor
from tests.support.tables import TARGETS, X, Y, with_first


@pytest.mark.parametrize(("value", "fault"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_a_target_that_is_not_finite_is_refused(value, fault):
    with pytest.raises(ValueError, match=f"Input y contains {fault}"):
        small_regressor().fit(X, with_first(Y, value))


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([pd.NA, *Y[1:]], dtype="Float64"),
        pl.Series([None, *Y[1:]]),
        pl.Series([None, *range(59)]),
        np.array([None, *Y[1:]], dtype=object),
    ],
    ids=["pandas", "polars", "polars integers", "objects"],
)
def test_a_missing_target_is_refused(y):
    with pytest.raises(ValueError, match="Input y contains NaN"):
        small_regressor().fit(X, y)


@every_ensemble
@pytest.mark.parametrize("constant", [0.0, 5.0, -3e6, 1e-20, 1e30])
def test_a_constant_target_is_predicted_with_almost_no_uncertainty(ensemble, constant):
    model = small_regressor(ensemble=ensemble).fit(X, np.full(60, constant))
    size = abs(constant) or 1.0
    np.testing.assert_allclose(model.predict(X), constant, rtol=1e-9, atol=1e-9 * size)
    mean, std = model.predict(10.0 * X, return_std=True)
    np.testing.assert_allclose(mean, constant, rtol=1e-9, atol=1e-9 * size)
    assert std.max() < 1e-8 * size
    assert model.predict_uncertainty(X).knowledge.max() < (1e-9 * size) ** 2


@pytest.mark.parametrize("constant", [1e149, -1e149, 5e-324])
def test_a_constant_target_of_any_size_is_predicted(constant):
    model = small_regressor().fit(X, np.full(60, constant))
    np.testing.assert_allclose(model.predict(X), constant, rtol=1e-9, atol=1e-300)
    assert np.isfinite(model.predict_uncertainty(X).total).all()


@pytest.mark.parametrize("y", [np.full(60, 1e200), np.full(60, -1e308), 1e160 + np.spacing(1e160) * np.arange(60)])
def test_a_target_whose_mean_cannot_be_squared_is_refused(y):
    with pytest.raises(ValueError, match=r"y has a mean of .* rescale y"):
        small_regressor().fit(X, y)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_a_target_whose_variance_overflows_or_underflows_is_refused(scale):
    with pytest.raises(ValueError, match=r"y has a standard deviation of 1\.\d+e[+-]200, .*rescale y"):
        small_regressor().fit(X, Y * scale)


@every_ensemble
@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1e10, 1e30])
def test_the_scale_of_a_target_does_not_change_what_is_learned(ensemble, scale):
    plain = small_regressor(ensemble=ensemble).fit(X, Y).predict_posterior(X).parameters
    scaled = small_regressor(ensemble=ensemble).fit(X, Y * scale).predict_posterior(X).parameters
    np.testing.assert_allclose(scaled[..., 0] / scale, plain[..., 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scaled[..., 1] / scale / scale, plain[..., 1], rtol=1e-4)


@pytest.mark.parametrize("dtype", [int, bool, np.int8, np.uint8, np.float16, np.float32])
def test_every_numeric_type_of_target_gives_the_same_predictions(dtype):
    y = (10.0 * Y).round().clip(0, 100).astype(dtype)
    plain = small_regressor().fit(X, y.astype(np.float64)).predict(X)
    np.testing.assert_array_equal(small_regressor().fit(X, y).predict(X), plain)


def test_fractions_are_accepted_as_a_target():
    y = [Fraction(1, 3 + i) for i in range(60)]
    np.testing.assert_array_equal(
        small_regressor().fit(X, y).predict(X), small_regressor().fit(X, np.array(y, float)).predict(X)
    )


@pytest.mark.parametrize(
    "y",
    [
        np.full(60, np.datetime64("2020-01-01")) + np.arange(60),
        np.array(["2020-01-01", "NaT"] * 30, dtype="datetime64[D]"),
        np.arange(60).astype("timedelta64[s]"),
        pd.Series(pd.date_range("2020", periods=60)),
        pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 30),
    ],
    ids=["days", "missing days", "seconds", "pandas", "polars"],
)
def test_dates_as_the_target_of_a_regression_are_refused(y):
    with pytest.raises((TypeError, ValueError), match=r"\by\b|datetime|timedelta|dates"):
        small_regressor().fit(X, y)


@pytest.mark.parametrize("y", [["a"] * 60, np.array(["1", "x"] * 30, dtype=object), pl.Series(["a"] * 60)])
def test_text_as_the_target_of_a_regression_is_refused(y):
    with pytest.raises(ValueError, match="y must hold numbers; could not convert string to float"):
        small_regressor().fit(X, y)


@every_estimator
def test_a_target_with_two_columns_is_refused(estimator):
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape \(60, 2\)"):
        small_estimator(estimator).fit(X, np.stack([TARGETS[estimator]] * 2, axis=1))


@every_estimator
def test_a_target_of_one_column_is_accepted_with_a_warning(estimator):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = small_estimator(estimator).fit(X, TARGETS[estimator][:, np.newaxis])
    np.testing.assert_array_equal(model.predict(X), small_estimator(estimator).fit(X, TARGETS[estimator]).predict(X))


@every_estimator
def test_fit_without_a_target_raises_an_error(estimator):
    with pytest.raises(ValueError, match="requires y to be passed"):
        small_estimator(estimator).fit(X, None)


@every_estimator
def test_a_target_of_another_length_is_refused(estimator):
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[60, 50"):
        small_estimator(estimator).fit(X, TARGETS[estimator][:50])


@every_estimator
def test_a_complex_target_is_refused(estimator):
    with pytest.raises(ValueError, match="Complex data not supported"):
        small_estimator(estimator).fit(X, TARGETS[estimator] + 1j)
