"""Metrics of posteriors of any family of numbers."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from epiboost import Posterior, metrics
from tests.support.family_models import FAMILIES, family_model

STUDENT = Posterior(np.array([[[0.0, 1.0, 5.0]], [[3.0, 0.2, 5.0]]]), "student")
POISSON = Posterior(np.array([[[3.0]], [[20.0]]]), "poisson")


@pytest.mark.parametrize("y", [-40.0, -1.0, 0.1, 1.5, 3.0, 9.0])
def test_the_score_of_a_mixture_of_students_is_its_integral(y):
    parts = [stats.t(5.0), stats.t(5.0, 3.0, 0.2)]

    def squared(x):
        return (np.mean([part.cdf(x) for part in parts]) - (x >= y)) ** 2

    ends = sorted([-2e3, -60.0, -10.0, 0.0, 2.0, 2.5, 3.0, 3.5, 5.0, 60.0, 2e3, y])
    exact = sum(integrate.quad(squared, a, b, limit=200)[0] for a, b in pairwise(ends))
    assert metrics.crps_loss([y], STUDENT) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("y", [0.0, 4.0, 12.0, 60.0])
def test_the_score_of_counts_is_the_sum_over_counts(y):
    counts = np.arange(400)
    cdf = (stats.poisson.cdf(counts, 3.0) + stats.poisson.cdf(counts, 20.0)) / 2
    assert metrics.crps_loss([y], POISSON) == pytest.approx(np.square(cdf - (counts >= y)).sum(), rel=1e-10)


def test_the_quadrature_agrees_with_the_closed_form_of_normals():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=(2, 4, 30)), rng.gamma(1.0, size=(4, 30)) + 0.01
    normal = Posterior(np.stack([mean[0], std**2], axis=2), "normal")
    student = Posterior(np.stack([mean[0], std, np.full_like(std, 1e9)], axis=2), "student")
    y = 2.0 * rng.normal(size=30)
    for row in range(30):
        one, other = (Posterior(p.parameters[:, row : row + 1], p.family) for p in (normal, student))
        assert metrics.crps_loss(y[row : row + 1], other) == pytest.approx(
            metrics.crps_loss(y[row : row + 1], one), rel=1e-4
        )


def test_divergences_of_equal_shapes_agree_with_those_of_normals():
    parameters = np.array([[[0.0, 1.0], [1.0, 4.0]], [[2.0, 1.0], [1.0, 4.0]], [[1.0, 0.25], [1.0, 4.0]]])
    student = np.stack([parameters[..., 0], np.sqrt(parameters[..., 1]), np.full((3, 2), 1e9)], axis=2)
    found = metrics.disagreement(Posterior(student, "student")).columns()
    expected = metrics.disagreement(parameters, family="normal").columns()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-9, err_msg=name)
    assert found["mutual_information"][1] == found["expected_pairwise_kl"][1] == 0.0


@pytest.mark.parametrize("family", FAMILIES)
def test_every_metric_of_numbers_takes_a_model_of_the_family(family):
    model, X, y = family_model(family)
    posterior = model.predict_posterior(X)
    loss = metrics.negative_log_likelihood_loss(y, posterior)
    assert loss == pytest.approx(-posterior.logpdf(y).mean())
    constant = Posterior(np.tile(posterior.parameters[:, :1], (1, len(y), 1)), family)
    assert loss < metrics.negative_log_likelihood_loss(y, constant)
    assert metrics.crps_loss(y, posterior) < metrics.crps_loss(y, constant)
    transform = metrics.probability_integral_transform(y, posterior)
    assert stats.kstest(transform, "uniform").pvalue > 1e-3
    assert metrics.expected_calibration_error(y, posterior) < 0.06
    measures = metrics.disagreement(posterior)
    np.testing.assert_allclose(measures.variance_of_means, posterior.uncertainty().knowledge, rtol=1e-9)
    assert (measures.mutual_information <= measures.expected_pairwise_kl + 1e-12).all()
    for name in ("crps_loss", "negative_log_likelihood_loss", "expected_calibration_error", "interval_coverage_score"):
        assert np.isfinite(metrics.scorer(name)(model, X, y))
    with pytest.raises(ValueError, match=f"must be categorical, as from a classifier, got {family}"):
        metrics.brier_loss(y, posterior)
