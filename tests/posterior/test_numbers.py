"""Posteriors of numbers as one distribution: draws, expectations, tails, densities and SciPy's view of them."""

import pickle

import numpy as np
import pytest
from scipy import stats

from epiboost import Posterior
from tests.support.posteriors import CATEGORICAL, NORMAL

STUDENT = Posterior(np.array([[[0.0, 1.0, 5.0], [3.0, 2.0, 9.0]], [[1.0, 0.5, 5.0], [4.0, 1.0, 9.0]]]), "student")
POISSON = Posterior(np.array([[[3.0], [40.0]], [[5.0], [0.2]]]), "poisson")
OF_SCIPY = {
    "student": lambda member: stats.t(member[:, 2], member[:, 0], member[:, 1]),
    "poisson": lambda member: stats.poisson(member[:, 0]),
    "normal": lambda member: stats.norm(member[:, 0], np.sqrt(member[:, 1])),
}
numeric = pytest.mark.parametrize("posterior", [NORMAL, STUDENT, POISSON], ids=lambda one: one.family)


def members_of(posterior):
    """Return the members' distributions by SciPy."""
    return [OF_SCIPY[posterior.family](member) for member in posterior.parameters]


class TestDraws:
    @numeric
    def test_draws_have_the_moments_and_quantiles_of_the_mixture(self, posterior):
        draws = posterior.sample(40_000, random_state=0)
        assert draws.shape == (posterior.n_samples, 40_000)
        error = 4.5 * posterior.std / 200
        np.testing.assert_array_less(np.abs(draws.mean(axis=1) - posterior.mean), error)
        for y in (-1.0, 0.0, 1.0, 3.0, 6.0):
            np.testing.assert_allclose((draws <= y).mean(axis=1), posterior.cdf(y), atol=0.012)

    @numeric
    def test_draws_of_knowledge_are_means_of_members_of_its_variance(self, posterior):
        draws = posterior.sample(20_000, random_state=1, knowledge_only=True)
        assert all(set(row) <= set(means) for row, means in zip(draws, posterior.member_means.T, strict=True))
        np.testing.assert_allclose(draws.var(axis=1), posterior.uncertainty().knowledge, rtol=0.06)

    def test_a_column_of_draws_is_of_one_member(self):
        apart = Posterior(np.array([[[0.0, 1e-6]] * 5, [[9.0, 1e-6]] * 5]), "normal").sample(50, random_state=0)
        assert (np.ptp(apart, axis=0) < 1.0).all()
        assert np.ptp(apart[0]) > 8.0

    def test_draws_of_classes_are_labels_at_their_frequencies(self):
        labelled = Posterior(CATEGORICAL.parameters, "categorical", classes=["a", "b", "c"])
        draws = labelled.sample(20_000, random_state=0)
        shares = np.stack([(draws == label).mean(axis=1) for label in "abc"], axis=1)
        np.testing.assert_allclose(shares, labelled.mean, atol=0.02)
        assert CATEGORICAL.sample(3, random_state=0).dtype == np.int64
        assert CATEGORICAL.sample(3, random_state=0, knowledge_only=True).shape == (30, 3, 3)

    def test_the_seed_decides_the_draws_and_bad_arguments_are_refused(self):
        np.testing.assert_array_equal(STUDENT.sample(5, random_state=3), STUDENT.sample(5, random_state=3))
        old = np.random.RandomState(0)
        assert not np.array_equal(STUDENT.sample(5, random_state=old), STUDENT.sample(5, random_state=old))
        means = Posterior(np.ones((2, 3, 1)), "mean")
        assert means.sample(2, random_state=0, knowledge_only=True).shape == (3, 2)
        with pytest.raises(ValueError, match="needs members that predict a variance"):
            means.sample()
        for n in (0, 1.5, True):
            with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
                STUDENT.sample(n)
        with pytest.raises(ValueError, match="random_state must be a whole number"):
            STUDENT.sample(random_state="seed")


class TestFunctions:
    @numeric
    def test_tails_and_densities_are_averages_of_the_members(self, posterior):
        y = np.array([0.0, 2.0, 7.0]) * np.ones((posterior.n_samples, 1))
        members = members_of(posterior)
        density = [getattr(one, "pmf" if posterior.family == "poisson" else "pdf")(y.T).T for one in members]
        np.testing.assert_allclose(posterior.pdf(y), np.mean(density, axis=0), rtol=1e-9)
        np.testing.assert_allclose(posterior.sf(y), np.mean([one.sf(y.T).T for one in members], axis=0), rtol=1e-9)
        np.testing.assert_array_equal(posterior.probability_above(2.0), posterior.sf(2.0))
        np.testing.assert_allclose(posterior.sf(y) + posterior.cdf(y), 1.0)

    def test_the_upper_tail_of_a_point_and_of_a_far_value_are_exact(self):
        points = Posterior(np.array([[[1.0, 0.0]], [[1.0, 1.0]]]), "normal")
        np.testing.assert_allclose(points.sf([[0.5, 1.0]]), [[0.5 + stats.norm.sf(-0.5) / 2, 0.25]])
        assert Posterior(np.array([[[0.0, 1.0]]]), "normal").sf(30.0)[0] == pytest.approx(stats.norm.sf(30.0))

    @numeric
    def test_expectations_of_smooth_functions_are_the_moments(self, posterior):
        np.testing.assert_allclose(posterior.expected(lambda y: y), posterior.mean, rtol=1e-6, atol=1e-6)
        squares = posterior.expected(np.square) - np.square(posterior.mean)
        # squares of a Student have a tail beyond the last node
        np.testing.assert_allclose(squares, np.square(posterior.std), rtol=2e-4)
        np.testing.assert_allclose(posterior.expected(np.ones_like), 1.0, rtol=1e-12)

    @numeric
    def test_the_error_at_kinks_and_jumps_is_as_stated(self, posterior):
        std = posterior.std
        for cut in np.linspace(-1.0, 4.0, 23):
            jump = posterior.expected(lambda y, cut=cut: y > cut)
            np.testing.assert_allclose(jump, posterior.sf(cut), atol=0.01)
            below = posterior.expected(lambda y, cut=cut: np.maximum(cut - y, 0.0))
            both = posterior.expected(lambda y, cut=cut: np.maximum(y - cut, 0.0))
            np.testing.assert_allclose(both - below, posterior.mean - cut, atol=1e-4 * std.max())

    def test_expectations_over_wide_counts_are_right(self):
        wide = Posterior(np.array([[[1e9]]]), "poisson")
        assert wide.expected(lambda y: y)[0] == pytest.approx(1e9)

    def test_functions_of_wrong_shape_and_infinite_values_are_refused(self):
        with pytest.raises(ValueError, match="one value for each of its values"):
            STUDENT.expected(lambda y: y.sum())
        with pytest.raises(ValueError, match="must return finite values"), np.errstate(divide="ignore"):
            POISSON.expected(np.log)
        for method in ("pdf", "sf", "probability_above", "cdf"):
            with pytest.raises(ValueError, match=f"{method} needs a posterior of numbers, got a categorical one"):
                getattr(CATEGORICAL, method)(0.0)


class TestScipy:
    @numeric
    def test_the_view_of_scipy_has_the_numbers_of_the_posterior(self, posterior):
        view = posterior.to_scipy()
        y = np.array([[0.0], [2.0], [5.0]])
        density = view.pmf(y) if posterior.family == "poisson" else view.pdf(y)
        np.testing.assert_allclose(density.T, posterior.pdf(np.tile(y.T, (posterior.n_samples, 1))), rtol=1e-12)
        np.testing.assert_allclose(view.cdf(2.0), posterior.cdf(2.0), rtol=1e-12)
        np.testing.assert_allclose(view.sf(2.0), posterior.sf(2.0), rtol=1e-12)
        np.testing.assert_allclose(view.ppf([[0.1], [0.7]]).T, posterior.quantile([0.1, 0.7]), rtol=1e-12)
        np.testing.assert_allclose([view.mean(), view.std()], [posterior.mean, posterior.std], rtol=1e-12)

    @numeric
    def test_draws_of_the_view_are_draws_of_the_mixture(self, posterior):
        draws = posterior.to_scipy().rvs(size=(20_000, posterior.n_samples), random_state=0)
        np.testing.assert_array_less(np.abs(draws.mean(axis=0) - posterior.mean), 4.5 * posterior.std / 141)

    def test_a_posterior_with_its_distribution_is_pickled(self):
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(STUDENT)).cdf(1.0), STUDENT.cdf(1.0))  # noqa: S301 (its own)
