"""Summaries of an ensemble of Normals have the bits of its posterior, whose parameters they do not write."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from epiboost import EpiBoostRegressor
from epiboost._encoding.binned import BinnedEncoding
from epiboost._inputs import sparse_table

ROWS = (1, 3, 4, 300, 5003)
SETTINGS = {"n_members": 10, "n_estimators": 40, "random_state": 0, "n_jobs": 2}


def numbers(rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def cities(rows, names, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"city": rng.choice(names, size=rows), "size": rng.normal(size=rows)})


def check(model, X, **options):
    posterior = model.predict_posterior(X, **options)
    uncertainty = model.predict_uncertainty(X, **options)
    expected = posterior.uncertainty()
    np.testing.assert_array_equal(uncertainty.data, expected.data)
    np.testing.assert_array_equal(uncertainty.knowledge, expected.knowledge)
    np.testing.assert_array_equal(uncertainty.total, expected.total)
    mean, std = model.predict(X, return_std=True, **options)
    np.testing.assert_array_equal(mean, posterior.mean)
    np.testing.assert_array_equal(std, posterior.std)


@pytest.fixture(scope="module", params=["recalibrated", "plain", "virtual"])
def model(request):
    X = numbers(400)
    y = np.nan_to_num(X[:, 0]) * 50 + np.random.default_rng(1).normal(size=400) * np.exp(np.nan_to_num(X[:, 1]))
    options = {"plain": {"out_of_fold": 0}, "virtual": {"ensemble": "virtual"}}.get(request.param, {})
    fitted = EpiBoostRegressor(**{**SETTINGS, **options}).fit(X, y)
    assert (fitted.out_of_fold_ is not None) == (request.param == "recalibrated")
    return fitted


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.usefixtures("core")
def test_of_tables_of_numbers(model, rows):
    X = numbers(rows, seed=2)
    for table in (X, np.asfortranarray(X), X.astype(np.float32), X[::-1]):
        check(model, table)


def test_of_more_rows_than_are_ordered_at_once(model):
    X = np.random.default_rng(3).normal(size=(140_000, 4))
    uncertainty = model.predict_uncertainty(X)
    for rows in (slice(0, 300), slice(131_000, 131_300), slice(139_800, 140_000)):
        np.testing.assert_array_equal(uncertainty.total[rows], model.predict_uncertainty(X[rows]).total)


@pytest.mark.parametrize("names", [["Oslo", "Rome"], ["Oslo", "Rome", "Lima"]], ids=["known", "one of them unseen"])
@pytest.mark.parametrize("rows", ROWS)
def test_of_tables_with_categories(names, rows):
    train = cities(400, ["Oslo", "Rome"])
    fitted = EpiBoostRegressor(**SETTINGS).fit(train, train["size"] + (train["city"] == "Oslo"))
    table = cities(rows, names, seed=1).set_index(np.arange(rows) + 7)
    check(fitted, table)
    assert list(fitted.predict_uncertainty(table).to_frame().index) == list(table.index)


def test_a_table_with_a_new_category_is_binned_once(monkeypatch):
    train = cities(400, ["Oslo", "Rome"])
    fitted = EpiBoostRegressor(**SETTINGS).fit(train, train["size"] + (train["city"] == "Oslo"))
    binned, transform = [], BinnedEncoding.transform

    def counted(encoding, X, **options):
        binned.append(len(X))
        return transform(encoding, X, **options)

    monkeypatch.setattr(BinnedEncoding, "transform", counted)
    fitted.predict(cities(300, ["Oslo", "Rome", "Lima"], seed=1))
    assert binned == [300]


def test_with_an_offset():
    X = numbers(400)
    offset = np.arange(400) / 7
    fitted = EpiBoostRegressor(**SETTINGS).fit(X, np.nan_to_num(X[:, 0]) + offset, offset=offset)
    check(fitted, X, offset=offset)


def test_of_sparse_tables_that_are_never_dense(monkeypatch):
    X = np.nan_to_num(numbers(400))
    fitted = EpiBoostRegressor(**SETTINGS).fit(scipy.sparse.csr_array(X), X[:, 0])
    monkeypatch.setattr(sparse_table, "MAX_DENSE_BYTES", 40 * 4 * 8)
    check(fitted, scipy.sparse.csr_array(X))


def test_parameters_that_are_not_finite_are_an_error():
    X = numbers(100)
    fitted = EpiBoostRegressor(**SETTINGS).fit(X, np.nan_to_num(X[:, 0]))
    leaf = fitted.forest_.leaf.copy()
    leaf[0] = 3e38
    fitted.forest_ = replace(fitted.forest_, leaf=leaf, _predictors={})
    for predict in (fitted.predict, fitted.predict_uncertainty):
        with pytest.raises(ValueError, match="parameters must be finite"):
            predict(X)


@pytest.mark.parametrize("rows", [1, 7])
def test_a_row_has_the_mean_that_it_has_in_a_table(model, rows):
    X = numbers(300, seed=4)
    expected = model.predict(X)
    posterior = model.predict_posterior(X).mean
    for first in range(0, 70, rows):
        some = slice(first, first + rows)
        np.testing.assert_array_equal(model.predict(X[some]), expected[some])
        np.testing.assert_array_equal(model.predict_posterior(X[some]).mean, posterior[some])


def test_families_other_than_the_normal_have_none():
    X = numbers(100)
    fitted = EpiBoostRegressor(**SETTINGS, distribution="gamma").fit(X, np.exp(np.nan_to_num(X[:, 0])))
    assert fitted.forest_.normal_summary(X, None, None) is None
    check(fitted, X)
    with pytest.raises(ValueError, match="only an ensemble of Normals has a summary"):
        fitted.forest_._predictor(None).summarize(X, None, 1)


def test_a_table_of_another_width_is_refused(model):
    with pytest.raises(ValueError, match="4 columns"):
        model.forest_.normal_summary(np.zeros((2, 3)), None, None)
    train = cities(60, ["Oslo", "Rome"])
    with pytest.raises(ValueError, match="2 columns"):
        EpiBoostRegressor(**SETTINGS).fit(train, train["size"]).forest_.normal_summary(np.zeros((2, 3)), None, None)
