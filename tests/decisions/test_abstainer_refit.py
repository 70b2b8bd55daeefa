"""An abstainer that is fitted again keeps nothing of the first fit."""

import numpy as np

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.decisions import Abstainer


def test_a_second_fit_forgets_the_classes_of_the_first():
    X = np.random.default_rng(0).normal(size=(60, 2))
    classifier = EpiBoostClassifier(n_members=2, n_estimators=5).fit(X, X[:, 0] > 0)
    regressor = EpiBoostRegressor(n_members=2, n_estimators=5).fit(X, X[:, 0])
    abstainer = Abstainer(classifier, coverage=0.5).fit(X, X[:, 0] > 0)
    abstainer.set_params(estimator=regressor, tolerance=0.5).fit(X, X[:, 0])
    assert not hasattr(abstainer, "classes_")
    assert abstainer.score(X, X[:, 0]) > 0
