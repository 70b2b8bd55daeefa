"""The posterior: exact mixture quantiles and their laws, densities, probabilities, and what it refuses."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.optimize import brentq
from scipy.stats import norm

from epiboost._posterior import mixture as mixture_module
from epiboost._posterior.posterior import Posterior

law = settings(deadline=None, max_examples=50)

probabilities = st.floats(1e-6, 1.0 - 1e-6)
means = st.floats(-1e3, 1e3)
standard_deviations = st.floats(1e-2, 1e2)


def normal(mean, std):
    """Make a posterior from means and standard deviations of shape (members, samples)."""
    return Posterior(np.stack([mean, np.square(std)], axis=2), family="normal")


def one_sample(*members):
    """Make a posterior of one sample from (mean, variance) of each member."""
    return Posterior(np.array(members, dtype=float)[:, np.newaxis], family="normal")


@st.composite
def mixtures(draw, smallest_std=1e-2):
    shape = draw(array_shapes(min_dims=2, max_dims=2, max_side=6))
    mean = draw(arrays(np.float64, shape, elements=means))
    std = draw(arrays(np.float64, shape, elements=st.one_of(st.just(smallest_std), standard_deviations)))
    return mean, std


@pytest.fixture
def classes():
    return Posterior(np.array([[[0.9, 0.1, 0.0], [0.2, 0.2, 0.6]], [[0.5, 0.5, 0.0], [0.2, 0.4, 0.4]]]), "categorical")


# Quantiles


@law
@given(mixtures(), probabilities)
def test_the_distribution_function_undoes_the_quantile(mixture, q):
    posterior = normal(*mixture)
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, rtol=0, atol=1e-9)


@law
@given(mixtures(), arrays(np.float64, st.integers(2, 8), elements=probabilities))
def test_quantiles_never_cross(mixture, q):
    quantiles = normal(*mixture).quantile(q)
    assert (np.diff(quantiles[:, np.argsort(q)], axis=1) >= 0.0).all()


def test_quantiles_of_neighbouring_probabilities_never_cross():
    random = np.random.default_rng(0)
    posterior = normal(random.normal(scale=10.0, size=(7, 200)), random.uniform(0.1, 2.0, size=(7, 200)))
    q = [0.3]
    for _ in range(40):
        q.append(np.nextafter(q[-1], 1.0))
    assert (np.diff(posterior.quantile(q), axis=1) >= 0.0).all()


@law
@given(means, standard_deviations, st.floats(1e-300, 1.0, exclude_max=True))
def test_one_member_has_the_quantiles_of_a_normal(mean, std, q):
    posterior = one_sample((mean, std**2))
    np.testing.assert_allclose(posterior.quantile(q), norm.ppf(q, mean, np.sqrt(std**2)), rtol=1e-13)


@law
@given(means, standard_deviations, probabilities, st.integers(2, 11))
def test_equal_members_have_the_quantiles_of_one(mean, std, q, n_members):
    one, many = one_sample((mean, std**2)), one_sample(*[(mean, std**2)] * n_members)
    np.testing.assert_array_equal(many.quantile(q), one.quantile(q))


@law
@given(mixtures(), probabilities, st.floats(0.1, 10.0), st.floats(-100.0, 100.0))
def test_quantiles_follow_scale_and_shift(mixture, q, scale, shift):
    mean, std = mixture
    before = normal(mean, std)
    after = normal(scale * mean + shift, scale * std)
    # Between humps the distribution function is flat and its inverse ill-conditioned: compare probabilities there.
    np.testing.assert_allclose(before.cdf((after.quantile(q) - shift) / scale), q, rtol=0, atol=1e-9)


@law
@given(mixtures(), st.floats(1e-6, 0.499))
def test_quantiles_of_the_mirrored_mixture_are_mirrored(mixture, q):
    mean, std = mixture
    np.testing.assert_array_equal(normal(-mean, std).quantile(1.0 - (1.0 - q)), -normal(mean, std).quantile(1.0 - q))


@law
@given(mixtures(), probabilities, st.data())
def test_the_order_of_members_is_irrelevant(mixture, q, data):
    mean, std = mixture
    order = data.draw(st.permutations(range(len(mean))))
    posterior = normal(mean, std)
    np.testing.assert_allclose(posterior.cdf(normal(mean[order], std[order]).quantile(q)), q, rtol=0, atol=1e-9)


@pytest.mark.parametrize("q", [1e-9, 0.05, 0.5, 0.77, 0.999])
def test_quantiles_equal_the_roots_that_scipy_finds(q):
    random = np.random.default_rng(0)
    mean, std = random.normal(scale=2.0, size=(5, 30)), random.uniform(0.5, 3.0, size=(5, 30))
    expected = [
        brentq(lambda x, m=m, s=s: norm.cdf(x, m, s).mean() - q, -100.0, 100.0, xtol=1e-14, rtol=1e-14)
        for m, s in zip(mean.T, std.T, strict=True)
    ]
    np.testing.assert_allclose(normal(mean, std).quantile(q), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("q", [1e-300, 1e-30, 1e-12])
def test_the_far_tail_keeps_its_digits(q):
    posterior = normal(np.array([[0.0], [5.0], [-3.0]]), np.array([[1.0], [2.0], [0.1]]))
    np.testing.assert_allclose(posterior.cdf(posterior.quantile(q)), q, rtol=1e-9)


def test_distant_narrow_members_are_told_apart():
    posterior = one_sample((0.0, 1e-16), (1e6, 1e-4), (-1e6, 1.0), (2e6, 25.0))
    q = [0.125, 0.375, 0.625, 0.875]
    np.testing.assert_allclose(posterior.quantile(q), [[-1e6, 0.0, 1e6, 2e6]], rtol=1e-12, atol=1e-12)


def test_extreme_magnitudes_do_not_overflow():
    posterior = one_sample((1e308, 1e300), (-1e308, 1e-300), (1e308, 1.0))
    quantiles = posterior.quantile([0.1, 0.5, 0.9])
    assert np.isfinite(quantiles).all()
    np.testing.assert_allclose(quantiles[0, [0, 2]], [-1e308, 1e308], rtol=1e-12)


def test_a_quantile_does_not_depend_on_the_length_of_the_table():
    random = np.random.default_rng(0)
    mean, std = random.normal(size=(3, 9_000)), random.uniform(0.1, 2.0, size=(3, 9_000))
    rows = [0, 4_095, 4_096, 8_191, 8_192, 8_999]
    whole, few = normal(mean, std), normal(mean[:, rows], std[:, rows])
    np.testing.assert_array_equal(whole.quantile([0.1, 0.8])[rows], few.quantile([0.1, 0.8]))


@pytest.mark.parametrize("point_masses", [0, 1], ids=["normals", "a point mass"])
def test_a_quantile_takes_few_evaluations(monkeypatch, point_masses):
    evaluations = []
    probit = mixture_module._probit

    def counted(x, mean, std):
        evaluations.append(x.size)
        return probit(x, mean, std)

    monkeypatch.setattr(mixture_module, "_probit", counted)
    random = np.random.default_rng(0)
    mean, std = random.normal(size=(10, 4_000)), random.gamma(1.0, size=(10, 4_000))
    std[:point_masses] = 0.0
    normal(mean, std).quantile(0.95)
    assert sum(evaluations) < 8 * 4_000
    assert len(evaluations) < 40


def test_quantiles_come_in_the_order_asked_for():
    posterior = one_sample((0.0, 1.0), (1.0, 1.0))
    low, high = posterior.quantile(0.1), posterior.quantile(0.9)
    np.testing.assert_array_equal(posterior.quantile([0.9, 0.1, 0.9]), np.stack([high, low, high], axis=1))


@pytest.mark.parametrize(("q", "shape"), [(0.5, (4,)), ([0.5], (4, 1)), ([0.1, 0.5, 0.9], (4, 3)), ([], (4, 0))])
def test_quantiles_have_one_column_a_probability(q, shape):
    assert normal(np.zeros((2, 4)), np.ones((2, 4))).quantile(q).shape == shape


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan, [0.5, 1.0]])
def test_a_probability_outside_zero_and_one_is_refused(q):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        one_sample((0.0, 1.0)).quantile(q)


def test_a_table_of_probabilities_is_refused():
    with pytest.raises(ValueError, match=r"one-dimensional, got the shape \(1, 1\)"):
        one_sample((0.0, 1.0)).quantile([[0.5]])


# Point masses


@law
@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=10), elements=st.integers(-3, 3)), st.data())
def test_point_masses_have_the_quantiles_of_a_sample(points, data):
    n_members = len(points)
    rank = data.draw(st.integers(1, n_members))
    q = data.draw(st.sampled_from([rank / n_members, (rank - 0.5) / n_members]))
    assume(q < 1.0)
    posterior = normal(points, np.zeros_like(points))
    np.testing.assert_array_equal(posterior.quantile(q), np.sort(points, axis=0)[rank - 1])


def test_a_point_mass_in_a_normal_is_a_jump():
    posterior = one_sample((0.0, 0.0), (0.0, 1.0))
    quantiles = posterior.quantile([0.2, 0.25, 0.5, 0.75, 0.8])
    np.testing.assert_allclose(quantiles, [[norm.ppf(0.4), 0.0, 0.0, 0.0, norm.ppf(0.6)]], rtol=1e-12, atol=1e-14)


@law
@given(mixtures(), probabilities, st.data())
def test_the_quantile_is_the_first_value_whose_probability_suffices(mixture, q, data):
    mean, std = mixture
    std = np.where(data.draw(arrays(np.bool_, std.shape)), 0.0, std)
    posterior = normal(mean, std)
    quantile = posterior.quantile(q)
    just_before = quantile - 1e-9 * (1.0 + np.abs(quantile))
    assert (posterior.cdf(quantile) >= q - 1e-9).all()
    assert (posterior.cdf(just_before) <= q).all()


def test_a_normal_narrower_than_rounding_still_reaches_its_probability():
    posterior = one_sample((1.0, 1e-60), (2.0, 1e-60))
    quantile = posterior.quantile(0.3)
    assert posterior.cdf(quantile) >= 0.3
    np.testing.assert_allclose(quantile, 1.0, rtol=1e-15)


def test_samples_with_and_without_point_masses_go_together():
    mean = np.array([[0.0, 0.0], [2.0, 2.0]])
    points, normals, both = np.zeros((2, 2)), np.ones((2, 2)), np.array([[0.0, 1.0], [0.0, 1.0]])
    expected = [normal(mean, points).quantile(0.9)[0], normal(mean, normals).quantile(0.9)[1]]
    np.testing.assert_array_equal(normal(mean, both).quantile(0.9), expected)


# Intervals, distribution function, density


@law
@given(mixtures(), st.floats(0.01, 0.99))
def test_an_interval_holds_its_coverage(mixture, coverage):
    posterior = normal(*mixture)
    interval = posterior.interval(coverage)
    tails = posterior.cdf(interval)
    np.testing.assert_allclose(tails[:, 1] - tails[:, 0], coverage, rtol=0, atol=1e-9)
    np.testing.assert_allclose(tails[:, 0], (1.0 - coverage) / 2, rtol=0, atol=1e-9)


def test_an_interval_holds_its_share_of_draws():
    random = np.random.default_rng(0)
    mean, std = np.array([[0.0], [4.0], [5.0]]), np.array([[1.0], [0.5], [3.0]])
    draws = random.normal(mean, std, size=(100_000, 3, 1)).ravel()
    ((low, high),) = normal(mean, std).interval()
    assert np.mean((low <= draws) & (draws <= high)) == pytest.approx(0.9, abs=0.005)


def test_the_widest_coverage_below_one_has_an_interval():
    assert np.isfinite(one_sample((0.0, 1.0), (1.0, 1.0)).interval(np.nextafter(1.0, 0.0))).all()


def test_intervals_of_many_coverages_are_those_of_each_and_never_cross():
    posterior = Posterior(np.array([[[0.0, 1.0], [3.0, 0.5]], [[4.0, 1.0], [3.0, 2.0]]]), "normal")
    coverages = [0.9, 0.2, 0.5]
    many = posterior.interval(coverages)
    assert many.shape == (2, 3, 2)
    for place, coverage in enumerate(coverages):
        np.testing.assert_array_equal(many[:, place], posterior.interval(coverage))
    ordered = many[:, np.argsort(coverages)]
    assert (np.diff(ordered[..., 0], axis=1) <= 0.0).all()
    assert (np.diff(ordered[..., 1], axis=1) >= 0.0).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, 1.5, np.nan, [], [[0.5]], [0.5, 1.0]])
def test_a_coverage_outside_zero_and_one_is_refused(coverage):
    with pytest.raises(ValueError, match="coverage must be a number, or a sequence of them, strictly between 0 and 1"):
        one_sample((0.0, 1.0)).interval(coverage)


@law
@given(mixtures(), means)
def test_distribution_and_density_are_averages_of_the_members(mixture, y):
    mean, std = mixture
    std = np.sqrt(np.square(std))
    posterior = normal(mean, std)
    np.testing.assert_allclose(posterior.cdf(y), norm.cdf(y, mean, std).mean(axis=0), rtol=1e-9, atol=1e-15)
    expected = np.logaddexp.reduce(norm.logpdf(y, mean, std), axis=0) - np.log(len(mean))
    np.testing.assert_allclose(posterior.logpdf(y), expected, rtol=1e-9, atol=1e-9)


def test_a_target_far_from_all_members_has_a_finite_log_density():
    assert one_sample((0.0, 1.0), (1.0, 1.0)).logpdf(1e3) == pytest.approx(-0.5 * 999**2 - 0.5 * np.log(8 * np.pi))


def test_a_point_mass_is_infinitely_dense_at_its_point_and_nowhere_else():
    points = one_sample((1.0, 0.0), (1.0, 0.0))
    np.testing.assert_array_equal(points.logpdf([[1.0, 2.0]]), [[np.inf, -np.inf]])
    np.testing.assert_array_equal(points.cdf([[0.0, 1.0, 2.0]]), [[0.0, 1.0, 1.0]])
    mixed = one_sample((1.0, 0.0), (0.0, 1.0))
    assert mixed.logpdf(0.0) == pytest.approx(norm.logpdf(0.0) - np.log(2))


def test_an_unknown_target_has_an_unknown_density():
    for posterior in (one_sample((1.0, 0.0)), one_sample((0.0, 1.0)), one_sample((1.0, 0.0), (0.0, 1.0))):
        assert np.isnan(posterior.cdf(np.nan)).all()
        assert np.isnan(posterior.logpdf(np.nan)).all()


@pytest.mark.parametrize(("y", "shape"), [(0.0, (3,)), (np.zeros(3), (3,)), (np.zeros((3, 2)), (3, 2))])
def test_targets_are_one_for_all_one_each_or_several_each(y, shape):
    posterior = normal(np.zeros((2, 3)), np.ones((2, 3)))
    assert posterior.cdf(y).shape == posterior.logpdf(y).shape == shape


@pytest.mark.parametrize("y", [np.zeros(2), np.zeros((2, 3)), np.zeros((3, 1, 1))])
@pytest.mark.parametrize("method", ["cdf", "logpdf"])
def test_targets_that_do_not_fit_the_samples_are_refused(method, y):
    posterior = normal(np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"of shape \(3,\) or \(3, k\), got"):
        getattr(posterior, method)(y)


# Means, classes, validation


def test_the_moments_of_a_normal_are_those_of_the_mixture():
    posterior = normal(np.array([[0.0, 1.0], [4.0, 1.0]]), np.array([[1.0, 2.0], [3.0, 2.0]]))
    np.testing.assert_allclose(posterior.mean, [2.0, 1.0])
    np.testing.assert_allclose(posterior.std, [3.0, 2.0])
    np.testing.assert_allclose(posterior.uncertainty().knowledge, [4.0, 0.0])
    assert (posterior.n_members, posterior.n_samples) == (2, 2)


def test_the_mean_of_classes_is_the_average_probability(classes):
    np.testing.assert_allclose(classes.mean, [[0.7, 0.3, 0.0], [0.2, 0.3, 0.5]])
    assert classes.uncertainty().unit == "nats"


def test_the_log_probability_of_a_class_is_that_of_the_average(classes):
    np.testing.assert_allclose(classes.log_probability([1, 2]), np.log([0.3, 0.5]))


def test_an_impossible_class_has_no_probability(classes):
    np.testing.assert_allclose(classes.log_probability([2, 0]), [-np.inf, np.log(0.2)])


@pytest.mark.parametrize(
    ("codes", "fault"),
    [
        ([0, 3], "from 0 to 2, got values from 0 to 3"),
        ([-1, 0], "from 0 to 2, got values from -1 to 0"),
        ([0.0, 1.0], r"integers of shape \(2,\), got float64"),
        ([True, False], r"integers of shape \(2,\), got bool"),
        ([0], r"got int64 of shape \(1,\)"),
    ],
)
def test_codes_that_name_no_class_are_refused(classes, codes, fault):
    with pytest.raises(ValueError, match=fault):
        classes.log_probability(codes)


@pytest.mark.parametrize(
    "ask",
    [
        lambda posterior: posterior.std,
        lambda posterior: posterior.quantile(0.5),
        lambda posterior: posterior.interval(),
        lambda posterior: posterior.cdf(0.0),
        lambda posterior: posterior.logpdf(0.0),
    ],
    ids=["std", "quantile", "interval", "cdf", "logpdf"],
)
def test_what_only_a_normal_has_is_refused_to_classes(classes, ask, request):
    with pytest.raises(ValueError, match=f"{request.node.callspec.id} needs a normal posterior, got a categorical one"):
        ask(classes)


def test_what_only_classes_have_is_refused_to_a_normal():
    with pytest.raises(ValueError, match="log_probability needs a categorical posterior, got a normal one"):
        one_sample((0.0, 1.0)).log_probability([0])


@pytest.mark.parametrize(
    ("parameters", "family", "fault"),
    [
        (np.zeros((2, 2)), "normal", r"\(members, samples, outputs\), got \(2, 2\)"),
        (np.zeros((0, 2, 2)), "normal", "at least one member"),
        (np.zeros((1, 2, 3)), "normal", "two outputs"),
        (np.full((1, 1, 2), -1.0), "normal", r"variances must not be negative, got -1\.0"),
        (np.full((1, 1, 2), np.nan), "normal", "must be finite, got 2 values"),
        (np.full((1, 1, 2), np.inf), "normal", "must be finite, got 2 values"),
        (np.ones((1, 1, 1)), "categorical", "two or more outputs"),
        (np.array([[[1.5, -0.5]]]), "categorical", r"probabilities must not be negative, got -0\.5"),
        (np.full((1, 1, 3), 0.5), "categorical", r"add up to 1, got a sum of 1\.5"),
        (np.zeros((1, 1, 2)), "gamma", "got 'gamma'"),
    ],
)
def test_parameters_that_are_no_distribution_are_refused(parameters, family, fault):
    with pytest.raises(ValueError, match=fault):
        Posterior(parameters, family)


def test_probabilities_of_single_precision_are_accepted():
    logits = np.random.default_rng(0).normal(size=(2, 5, 1000)).astype(np.float32)
    exponentials = np.exp(logits)
    posterior = Posterior(exponentials / exponentials.sum(axis=2, keepdims=True), "categorical")
    assert posterior.parameters.dtype == np.float64


@pytest.mark.parametrize("family", ["normal", "categorical"])
def test_a_posterior_of_no_samples_answers(family):
    posterior = Posterior(np.empty((3, 0, 2)), family)
    assert len(posterior.uncertainty()) == 0
    assert posterior.mean.shape == ((0,) if family == "normal" else (0, 2))
    if family == "normal":
        assert posterior.interval().shape == (0, 2)
        assert posterior.logpdf(1.0).shape == (0,)
    else:
        assert posterior.log_probability(np.empty(0, dtype=int)).shape == (0,)


def test_a_posterior_cannot_be_changed():
    with pytest.raises(AttributeError):
        one_sample((0.0, 1.0)).family = "categorical"
