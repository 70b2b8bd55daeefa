"""Subclasses of the estimators: what they override, all predictions follow."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor, Posterior

SETTINGS = {"n_members": 5, "n_estimators": 20, "n_jobs": 1, "random_state": 0}


class ShiftedRegressor(EpiBoostRegressor):
    def predict_posterior(self, X, *, offset=None):
        parameters = super().predict_posterior(X, offset=offset).parameters.copy()
        parameters[0] += 100.0  # mean and variance of the first member
        return Posterior(parameters, "normal")


class TwiceAsWide(EpiBoostRegressor):
    def predict_posterior(self, X, *, offset=None):
        parameters = super().predict_posterior(X, offset=offset).parameters.copy()
        parameters[:, :, 1] *= 2.0  # the scale
        return Posterior(parameters, "student")


class CertainClassifier(EpiBoostClassifier):
    def predict_posterior(self, X, *, offset=None):
        parameters = np.zeros_like(super().predict_posterior(X, offset=offset).parameters)
        parameters[:, :, 1] = 1.0
        return Posterior(parameters, "categorical", self.classes_)


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).normal(size=(200, 2))
    return X, X[:, 0]


@pytest.mark.parametrize("options", [{}, {"out_of_fold": 0}, {"device": "auto"}])
def test_a_posterior_of_a_regressor_that_is_overridden_changes_all_predictions(table, options):
    X, y = table
    plain, own = (one(**SETTINGS, **options).fit(X, y) for one in (EpiBoostRegressor, ShiftedRegressor))
    np.testing.assert_allclose(own.predict(X), plain.predict(X) + 20.0)
    posterior = own.predict_posterior(X)
    np.testing.assert_array_equal(own.predict(X, return_std=True)[1], posterior.std)
    np.testing.assert_array_equal(own.predict_uncertainty(X).knowledge, posterior.uncertainty().knowledge)
    assert (own.predict_quantile(X, 0.95) > plain.predict_quantile(X, 0.95) + 10.0).all()


def test_a_posterior_of_another_family_that_is_overridden_changes_the_uncertainty(table):
    X, y = table
    plain, own = (one(**SETTINGS, distribution="student").fit(X, y) for one in (EpiBoostRegressor, TwiceAsWide))
    np.testing.assert_allclose(own.predict_uncertainty(X).data, 4.0 * plain.predict_uncertainty(X).data)


def test_a_posterior_of_a_classifier_that_is_overridden_changes_all_predictions(table):
    X, y = table
    model = CertainClassifier(**SETTINGS).fit(X, y > 0)
    assert model.predict(X).all()
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], 1.0)
    np.testing.assert_array_equal(model.predict_uncertainty(X).total, 0.0)
