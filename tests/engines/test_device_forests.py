"""Forests that predict on several devices."""

from dataclasses import fields

import numpy as np

from epiboost import EpiBoostRegressor
from tests.support.toy_engine import ToyForest


class ManyDevicesForest(ToyForest):
    """A toy that summarises its members on a GPU alone."""

    def on(self, device):
        return self if device == "cuda" else self.host()

    def host(self):
        return ToyForest(*(getattr(self, field.name) for field in fields(self)))

    def normal_summary(self, table, prefixes, recalibration):
        raise NotImplementedError  # the test asks for the host

    def mean_probabilities(self, table, prefixes):
        raise NotImplementedError  # the test asks for the host


def test_a_forest_that_cannot_summarise_on_the_host_predicts_there(toy):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = EpiBoostRegressor(engine=toy, n_members=3, n_estimators=5, random_state=0).fit(X, X[:, 0])
    expected, uncertainty = model.predict(X), model.predict_uncertainty(X)
    model.forest_ = ManyDevicesForest(*(getattr(model.forest_, field.name) for field in fields(model.forest_)))
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.predict_uncertainty(X).knowledge, uncertainty.knowledge)
