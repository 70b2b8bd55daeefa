"""Losses score the mixture of all members: closed forms equal integrals, sums and scikit-learn's losses."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.metrics import brier_score_loss, log_loss

from epiboost import Posterior
from epiboost.metrics import brier_loss, crps_loss, negative_log_likelihood_loss
from tests.support.posteriors import CATEGORICAL, LABELS, N_SAMPLES, NORMAL, Y, rows_of


class TestLikelihood:
    def test_it_is_that_of_the_mixture(self):
        assert negative_log_likelihood_loss(LABELS, CATEGORICAL) == pytest.approx(log_loss(LABELS, CATEGORICAL.mean))
        assert negative_log_likelihood_loss(Y, NORMAL) == pytest.approx(-NORMAL.logpdf(Y).mean())

    def test_an_outcome_of_probability_zero_is_infinite_unless_it_has_no_weight(self):
        certain = [[1.0, 0.0], [1.0, 0.0]]
        assert negative_log_likelihood_loss([0, 1], certain, family="categorical") == np.inf
        assert negative_log_likelihood_loss([0, 1], certain, family="categorical", sample_weight=[1, 0]) == 0.0

    def test_an_outcome_of_probability_zero_outweighs_infinite_densities(self):
        points = [[0.0, 0.0], [0.0, 0.0]]
        assert negative_log_likelihood_loss([0.0, 0.0], points, family="normal") == -np.inf
        assert negative_log_likelihood_loss([0.0, 1.0], points, family="normal") == np.inf
        assert negative_log_likelihood_loss([0.0, 1.0], points, family="normal", sample_weight=[1, 0]) == -np.inf

    def test_an_array_needs_a_family_and_equals_its_posterior(self):
        with pytest.raises(ValueError, match="family is missing"):
            negative_log_likelihood_loss(Y, NORMAL.parameters)
        of_array = negative_log_likelihood_loss(Y, NORMAL.parameters, family="normal")
        assert of_array == negative_log_likelihood_loss(Y, NORMAL)


class TestCrps:
    @pytest.mark.parametrize("row", range(5))
    def test_it_is_the_integral_of_the_squared_distance_to_the_step(self, row):
        posterior, y = rows_of(NORMAL, [row]), Y[row]
        below = quad(lambda x: posterior.cdf([x])[0] ** 2, -40.0, y, epsabs=1e-10, limit=200)[0]
        above = quad(lambda x: (posterior.cdf([x])[0] - 1.0) ** 2, y, 40.0, epsabs=1e-10, limit=200)[0]
        assert crps_loss([y], posterior) == pytest.approx(below + above, abs=1e-7)

    def test_point_masses_have_the_score_of_a_step_function(self):
        members = np.array([[[0.0, 0.0]], [[2.0, 0.0]]])
        # F is 1/2 between 0 and 2; for y = 3 the squared distance is 1/4 there and 1 from 2 to 3
        assert crps_loss([3.0], members) == pytest.approx(2 * 0.25 + 1.0)

    def test_it_scales_with_the_target(self):
        scaled = Posterior(NORMAL.parameters * np.array([10.0, 100.0]), "normal")
        assert crps_loss(10 * Y, scaled) == pytest.approx(10 * crps_loss(Y, NORMAL))

    @pytest.mark.parametrize("parameters", [[1e308, 1.0], [0.0, 1.7e308]])
    def test_numbers_that_are_too_large_are_refused(self, parameters):
        with pytest.raises(ValueError, match="too large"):
            crps_loss([-1e308], [[parameters], [[-parameters[0], parameters[1]]]])

    def test_scores_of_infinite_sum_are_refused(self):
        with pytest.raises(ValueError, match="the score is not finite"):
            crps_loss(np.full(3, 1e308), np.tile([0.0, 1.0], (3, 1)))

    def test_a_posterior_of_classes_is_refused(self):
        with pytest.raises(ValueError, match="prediction must be normal, as from a regressor, got categorical"):
            crps_loss(Y, CATEGORICAL)


class TestBrier:
    def test_of_two_classes_it_is_twice_that_of_one(self):
        probability = np.random.default_rng(0).dirichlet([1, 1], size=N_SAMPLES)
        y = LABELS % 2
        assert brier_loss(y, probability) == pytest.approx(2 * brier_score_loss(y, probability[:, 1]))

    def test_the_classes_may_have_any_order(self):
        names = np.array(["b", "c", "a"])
        assert brier_loss(names[LABELS], CATEGORICAL, classes=names) == brier_loss(LABELS, CATEGORICAL)
