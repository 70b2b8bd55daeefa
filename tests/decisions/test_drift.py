"""The drift test: detects batches that are more uncertain, and has uniform p-values without drift."""

import numpy as np
import pytest

from epiboost.decisions import DomainDetector
from tests.support.stub_estimators import StubRegressor, domain_rows


def test_a_more_uncertain_batch_has_a_small_p_value():
    detector = DomainDetector(StubRegressor()).fit(domain_rows(300, 0))
    batch = domain_rows(60, 1, shift=0.8)
    test = detector.drift(batch)
    assert test.p_value < 1e-4
    assert test.statistic > 0.6
    assert test.n_rows == 60
    assert test.share_outside == pytest.approx(np.mean(detector.predict(batch) == -1))


def test_p_values_are_uniform_without_drift():
    detectors = [DomainDetector(StubRegressor()).fit(domain_rows(80, seed)) for seed in range(300)]
    p_values = [detector.drift(domain_rows(40, seed + 500)).p_value for seed, detector in enumerate(detectors)]
    assert np.quantile(p_values, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.08)


def test_a_less_uncertain_batch_is_not_drift():
    detector = DomainDetector(StubRegressor()).fit(domain_rows(300, 0))
    assert detector.drift(domain_rows(60, 1, shift=-2.0)).p_value > 0.99


def test_equal_uncertainties_are_not_drift():
    test = DomainDetector(StubRegressor()).fit(np.ones((40, 3))).drift(np.ones((5, 3)))
    assert (test.statistic, test.p_value, test.share_outside) == (0.5, 1.0, 0.0)
