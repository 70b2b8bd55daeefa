"""Decisions by models of families beside the Normal."""

import numpy as np
import pytest

from epiboost import Posterior
from epiboost.decisions import Abstainer, DomainDetector, acquire
from epiboost.decisions.acquisition import choose
from tests.support.family_models import FAMILIES, family_model


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_refused_flagged_and_acquired(family):
    model, X, y = family_model(family)
    abstainer = Abstainer(model, coverage=0.8, tolerance=1.0).fit(X, y)
    accepted = abstainer.accept(X)
    assert 0.7 < np.mean(accepted) < 0.9
    detector = DomainDetector(model, false_alarm_rate=0.05).fit(X[:150])
    assert (detector.predict(X + 5.0) == -1).mean() > 0.9
    assert (detector.predict(X[150:]) == -1).mean() < 0.15
    chosen = acquire(model, X, n=5)
    assert len(set(chosen.tolist())) == 5


@pytest.mark.parametrize(("scale", "second"), [(0.01, 2), (100.0, 1)])
def test_a_noisy_label_leaves_the_same_disagreement_elsewhere(scale, second):
    means = np.array([[-1.0, -1.0, 0.4], [1.0, 1.0, 0.4], [0.0, 0.0, -0.8]])  # the first two rows are alike
    parameters = np.stack([means, np.full_like(means, scale), np.full_like(means, 5.0)], axis=2)
    assert choose(Posterior(parameters, "student"), 2).tolist() == [0, second]


def test_the_noise_of_counts_is_that_of_their_family():
    means = np.array([[1.0, 100.0], [3.0, 102.0]])  # the same disagreement, and less noise in the first row
    assert choose(Posterior(means[:, :, np.newaxis], "poisson"), 1, with_data=True).tolist() == [1]
