"""What works for a Normal works for the other families: a count and an amount stand for all."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from epiboost import EpiBoostRegressor, load
from epiboost.datasets import make_family

SMALL = {"n_members": 5, "n_estimators": 30, "learning_rate": 0.2, "max_depth": 4, "random_state": 0}
FAMILIES = ("poisson", "gamma")
TABLES = {family: make_family(240, distribution=family, random_state=0) for family in FAMILIES}

pytestmark = pytest.mark.parametrize("family", FAMILIES)


def model_of(family, **parameters):
    return EpiBoostRegressor(distribution=family, **{**SMALL, **parameters})


def fitted(family, **parameters):
    return model_of(family, **parameters).fit(TABLES[family].X, TABLES[family].y)


def bits_of(model, family):
    return model.predict_posterior(TABLES[family].X).parameters.tobytes()


def test_continued_training_has_the_bits_of_training_at_once(family):
    table = TABLES[family]
    model = fitted(family, n_estimators=12, warm_start=True)
    model.set_params(n_estimators=30).fit(table.X, table.y)
    assert bits_of(model, family) == bits_of(fitted(family), family)


def test_an_eval_set_stops_the_ensemble_where_its_loss_is_best(family):
    table, other = TABLES[family], make_family(200, distribution=family, random_state=1)
    model = model_of(family, n_estimators=400, learning_rate=0.3, early_stopping_rounds=20)
    model.fit(table.X, table.y, eval_set=(other.X, other.y))
    assert model.n_iter_.max() < 400
    assert np.isfinite(model.evaluation_loss_[:, : model.n_iter_.max()]).all()
    history = model.history_
    assert history.n_trees[history.validation_loss.argmin()] == model.n_iter_.max()


def test_the_loss_on_an_eval_set_is_that_of_the_posterior(family):
    other = make_family(200, distribution=family, random_state=1)
    table = TABLES[family]
    model = model_of(family, ensemble="single").fit(table.X, table.y, eval_set=(other.X, other.y))
    expected = -model.predict_posterior(other.X).logpdf(other.y).mean()
    assert model.evaluation_loss_[0, -1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("ensemble", ["sglb", "sgb", "virtual", "bootstrap", "single"])
def test_every_ensemble_learns_the_mean(family, ensemble):
    table = TABLES[family]
    model = fitted(family, ensemble=ensemble, n_estimators=100)
    error = np.abs(model.predict(table.X) - table.y).mean()
    assert error < 0.9 * np.abs(table.y - table.y.mean()).mean()
    uncertainty = model.predict_uncertainty(table.X)
    assert (uncertainty.data > 0.0).all()
    assert (uncertainty.knowledge >= 0.0).all()
    assert (uncertainty.knowledge > 0.0).any() == (ensemble != "single")


def test_a_row_of_weight_two_is_the_row_twice(family):
    table = TABLES[family]
    repeats = np.random.default_rng(0).integers(1, 3, len(table.y))
    weighted = model_of(family).fit(table.X, table.y, sample_weight=repeats)
    repeated = model_of(family).fit(np.repeat(table.X, repeats, axis=0), np.repeat(table.y, repeats))
    assert weighted.predict(table.X) == pytest.approx(repeated.predict(table.X), rel=1e-6)


def test_categories_are_learned(family):
    table = TABLES[family]
    words = np.array(["low", "high"], dtype=object)[(table.X[:, 0] < 0.5).astype(int)]
    frame = pd.DataFrame({"word": words, "number": table.X[:, 1]})
    predicted = model_of(family).fit(frame, table.y).predict(frame)
    assert predicted[words == "high"].mean() > predicted[words == "low"].mean()


def test_a_sparse_table_gives_the_bits_of_the_dense_one(family):
    table = TABLES[family]
    X = np.where(table.X > 0.5, table.X, 0.0)
    dense, thin = (model_of(family).fit(given, table.y) for given in (X, sparse.csr_array(X)))
    assert thin.predict(sparse.csr_array(X)).tobytes() == dense.predict(X).tobytes()


def test_a_model_survives_pickling_and_its_file(family, tmp_path):
    model = fitted(family, out_of_fold=4)
    model.save(tmp_path / "model.epib")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.epib")):  # noqa: S301 (our own bytes)
        assert bits_of(copy, family) == bits_of(model, family)
        assert copy.distribution_ == family
        table = TABLES[family]
        assert copy.predict_interval(table.X, 0.8).tobytes() == model.predict_interval(table.X, 0.8).tobytes()


def test_a_clone_keeps_the_family(family):
    assert clone(fitted(family)).get_params()["distribution"] == family


def test_a_search_chooses_among_families(family):
    table = TABLES[family]
    search = GridSearchCV(model_of(family, n_members=2), {"distribution": ["normal", family]}, cv=2)
    assert search.fit(table.X, table.y).best_params_["distribution"] in {"normal", family}
    assert np.isfinite(cross_val_score(model_of(family, n_members=2), table.X, table.y, cv=2)).all()


def test_out_of_fold_chains_are_measured_in_units_of_the_target(family):
    model = fitted(family, out_of_fold=4)
    table = TABLES[family]
    assert np.isfinite(model.oof_loss_)
    assert model.oof_prediction_.shape == table.y.shape
    assert (model.oof_prediction_ > 0.0).all()
    assert np.corrcoef(model.oof_prediction_, table.y)[0, 1] > 0.3


def test_quantiles_never_cross_and_stay_in_the_support(family):
    quantiles = fitted(family, out_of_fold=4).predict_quantile(TABLES[family].X, [0.01, 0.25, 0.5, 0.75, 0.99])
    assert (np.diff(quantiles, axis=1) >= 0.0).all()
    assert (quantiles >= 0.0).all()


def test_the_bits_do_not_depend_on_the_number_of_threads(family):
    assert bits_of(fitted(family, n_jobs=1), family) == bits_of(fitted(family, n_jobs=2), family)
