"""Regressors of a transformed target: distributions in units of the target."""

import io
import pickle

import numpy as np
import pytest
from scipy import integrate, special, stats
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import epiboost
from epiboost import EpiBoostRegressor, TransformedTarget
from epiboost._posterior.transformed.distribution import TransformedNormal
from epiboost._posterior.transformed.transforms import Transform
from epiboost.metrics import crps_loss, negative_log_likelihood_loss

SMALL = {"n_members": 3, "n_estimators": 60, "n_jobs": 1, "random_state": 0}
TRANSFORMS = {
    "log": "log",
    "box-cox": "box-cox",
    "yeo-johnson": "yeo-johnson",
    "square root": (np.sqrt, np.square),
    "log1p": (np.log1p, np.expm1),
    "decreasing": (np.negative, np.negative),
}
every_transform = pytest.mark.parametrize("name", TRANSFORMS)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 2, size=(3000, 2))
    return X, np.exp(X[:, 0] + 0.5 * rng.normal(size=3000)) + 0.5


@pytest.fixture(scope="module")
def models(table):
    X, y = table
    small = EpiBoostRegressor(**SMALL)
    return {name: TransformedTarget(small, function=one).fit(X[:2000], y[:2000]) for name, one in TRANSFORMS.items()}


@parametrize_with_checks([TransformedTarget(EpiBoostRegressor(**{**SMALL, "learning_rate": 0.3}))])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@every_transform
def test_density_and_distribution_function_fit_together(models, table, name):
    posterior = models[name].predict_posterior(table[0][2000:2003])
    for row in range(3):
        one = epiboost.Posterior(posterior.parameters[:, [row]], "transformed", distribution=posterior.distribution)
        low, high = one.quantile([0.01, 0.99])[0]
        mass = integrate.quad(lambda y, one=one: one.pdf(y)[0], low, high, limit=400)[0]
        assert mass == pytest.approx(0.98, abs=1e-5)
        assert one.cdf(low) == pytest.approx(0.01)
        np.testing.assert_allclose(one.sf([[low, high]]), [[0.99, 0.01]], rtol=1e-6)


@every_transform
def test_mean_and_spread_are_those_of_draws(models, table, name):
    X = table[0][2000:2010]
    model = models[name]
    posterior = model.predict_posterior(X)
    draws = posterior.sample(200_000, random_state=0)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_less(np.abs(draws.mean(axis=1) - mean), 5 * std / np.sqrt(2e5))
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.03)
    uncertainty = model.predict_uncertainty(X)
    np.testing.assert_allclose(uncertainty.total, np.square(std), rtol=1e-9)
    means = posterior.sample(20_000, random_state=0, knowledge_only=True)
    np.testing.assert_allclose(means.var(axis=1), uncertainty.knowledge, rtol=0.05)


@every_transform
def test_intervals_cover_and_quantiles_are_those_of_the_regressor(models, table, name):
    X, y = table[0][2000:], table[1][2000:]
    interval = models[name].predict_interval(X, [0.5, 0.9])
    inside = ((interval[..., 0] <= y[:, np.newaxis]) & (y[:, np.newaxis] <= interval[..., 1])).mean(axis=0)
    np.testing.assert_allclose(inside, [0.5, 0.9], atol=0.06)
    quantiles = models[name].predict_quantile(X, [0.05, 0.25, 0.75, 0.95])
    np.testing.assert_allclose(quantiles, np.stack([*interval[:, ::-1, 0].T, *interval[..., 1].T], axis=1), rtol=1e-9)
    assert (interval > 0.0).all() or name in {"yeo-johnson", "log1p", "decreasing"}


@pytest.mark.parametrize("exponent", [0.0, 0.3, 1.0, 1.7, 2.0])
@pytest.mark.parametrize("name", ["box-cox", "yeo-johnson"])
def test_moments_by_quadrature_have_the_stated_error(name, exponent):
    transform = Transform(name, exponent)
    for mean, std in ((0.5, 0.8), (2.0, 0.3), (-0.3, 0.4)):
        law = TransformedNormal(transform)
        parameters = np.array([mean, std**2])
        if name == "box-cox" and exponent and stats.norm.cdf(-1.0 / exponent, mean, std) > 1e-5:
            continue
        kinks = [point for point in (0.0, -1.0 / exponent if exponent else -20.0) if abs(point - mean) < 12 * std]

        def expected(power, mean=mean, std=std, kinks=kinks):
            return integrate.quad(
                lambda z: transform.inverse(np.array(z)) ** power * stats.norm.pdf(z, mean, std),
                mean - 12 * std, mean + 12 * std, points=kinks or None, limit=400, epsabs=1e-13,
            )[0]  # fmt: skip

        assert law.mean(parameters) == pytest.approx(expected(1), rel=1e-5, abs=1e-7)
        assert law.variance(parameters) == pytest.approx(expected(2) - expected(1) ** 2, rel=1e-4)


def test_the_exponent_is_the_most_likely_one(table):
    y = table[1]
    for name, own in (("box-cox", stats.boxcox), ("yeo-johnson", stats.yeojohnson)):
        found = Transform.fit(name, y, np.ones(len(y))).exponent
        assert found == pytest.approx(np.clip(own(y)[1], 0.0, 2.0), abs=2e-3)
        np.testing.assert_allclose(Transform(name, found).forward(y), own(y, found), rtol=1e-9, atol=1e-12)


def test_scikit_learn_loses_what_this_model_keeps(table):
    X, y = table
    theirs = TransformedTargetRegressor(EpiBoostRegressor(**SMALL), func=np.log, inverse_func=np.exp).fit(X, y)
    with pytest.raises(AttributeError):
        theirs.predict(X[:3], return_std=True)
    assert not hasattr(theirs, "predict_interval")
    ours = TransformedTarget(EpiBoostRegressor(**SMALL), function="log").fit(X, y)
    mean, std = ours.predict(X, return_std=True)
    assert (std > 0.0).all()
    # the mean of y is above the transform of the mean, by the variance of the noise
    assert mean.mean() == pytest.approx(y.mean(), rel=0.02)
    assert theirs.predict(X).mean() < 0.95 * y.mean()


def test_a_model_of_the_logarithm_is_better_for_a_skewed_target(table, models):
    X, y = table
    plain = EpiBoostRegressor(**SMALL).fit(X[:2000], y[:2000]).predict_posterior(X[2000:])
    posterior = models["log"].predict_posterior(X[2000:])
    assert negative_log_likelihood_loss(y[2000:], posterior) < negative_log_likelihood_loss(y[2000:], plain) - 0.1
    assert crps_loss(y[2000:], posterior) < crps_loss(y[2000:], plain)


@every_transform
def test_files_pickles_and_clones_keep_the_model(models, table, name, tmp_path):
    model, X = models[name], table[0][:5]
    model.save(tmp_path / "model.epib")
    loaded = epiboost.load(tmp_path / "model.epib")
    assert isinstance(loaded, TransformedTarget)
    for copied in (loaded, pickle.loads(pickle.dumps(model))):  # noqa: S301 (its own)
        np.testing.assert_array_equal(copied.predict_quantile(X, [0.1, 0.9]), model.predict_quantile(X, [0.1, 0.9]))
        np.testing.assert_array_equal(copied.predict_posterior(X).cdf(2.0), model.predict_posterior(X).cdf(2.0))
    assert clone(loaded).get_params()["function"] == TRANSFORMS[name]


def test_a_calibrated_model_guarantees_its_coverage_in_units_of_the_target(table, models, tmp_path):
    X, y = table
    calibrated = models["log"].calibrate(X[2000:2499], y[2000:2499], symmetric=False)
    interval = calibrated.predict_interval(X[2499:], 0.9)
    assert 0.87 < ((interval[:, 0] <= y[2499:]) & (y[2499:] <= interval[:, 1])).mean() < 0.96
    calibrated.save(tmp_path / "model.epib")
    np.testing.assert_array_equal(
        epiboost.load(tmp_path / "model.epib").predict_interval(X[:4]), calibrated.predict_interval(X[:4])
    )


def test_an_evaluation_set_is_transformed_too(table):
    X, y = table
    model = TransformedTarget(EpiBoostRegressor(**SMALL), function="log")
    model.fit(X[:2000], y[:2000], eval_set=(X[2000:], y[2000:]))
    assert model.regressor_.evaluation_loss_[0, -1] < 1.0


def test_numbers_of_at_least_0_stay_there_with_log1p():
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 2, size=(500, 2))
    y = np.maximum(X[:, 0] + rng.normal(size=500), 0.0)
    model = TransformedTarget(EpiBoostRegressor(**SMALL), function=(np.log1p, np.expm1)).fit(X, y)
    posterior = model.predict_posterior(X)
    for found in (model.predict_interval(X), posterior.interval(), posterior.sample(20, random_state=0)):
        assert found.min() == 0.0
    assert (posterior.cdf(-0.1) == 0.0).all()
    assert (posterior.cdf(0.0) > 0.0).all()
    below = TransformedTarget(EpiBoostRegressor(**SMALL), function=(np.log1p, np.expm1)).fit(X, y - 0.5)
    assert below.predict_interval(X).min() < -0.5


class TestRefusals:
    @pytest.mark.parametrize(
        ("transform", "error"),
        [
            ("sqrt", "function must be one of"),
            (np.sqrt, r"or a pair \(function, inverse\)"),
            ((np.cos, np.arccos), "strictly monotone"),
            ((np.sqrt, np.exp), "not the inverse of the first"),
            ((lambda y: np.log(y - 1.0), lambda z: np.exp(z) + 1.0), "must be finite for all y"),
            ((np.sum, np.exp), "one number per number"),
        ],
    )
    def test_transforms_that_do_not_suit_the_target(self, table, transform, error):
        with pytest.raises(ValueError, match=error):
            TransformedTarget(EpiBoostRegressor(**SMALL), function=transform).fit(*table)

    def test_numbers_that_have_no_logarithm(self, table):
        for transform in ("log", "box-cox"):
            with pytest.raises(ValueError, match="is for numbers above 0; y holds -1; 'yeo-johnson' takes any"):
                TransformedTarget(function=transform).fit(table[0][:3], [1.0, 2.0, -1.0])

    def test_other_models_and_families(self, table):
        with pytest.raises(TypeError, match="wraps an EpiBoostRegressor"):
            TransformedTarget(TransformedTargetRegressor()).fit(*table)
        with pytest.raises(ValueError, match="y may have no mean"):
            TransformedTarget(EpiBoostRegressor(distribution="student")).fit(*table)
        with pytest.raises(ValueError, match="predicts means alone"):
            TransformedTarget(EpiBoostRegressor(**SMALL, engine="forest", ensemble="sgb")).fit(*table)

    def test_functions_without_a_name_are_not_saved(self, table):
        model = TransformedTarget(EpiBoostRegressor(**SMALL), function=(lambda y: y / 2, lambda z: 2 * z)).fit(*table)
        with pytest.raises(ValueError, match="a model file holds no code"):
            model.save(io.BytesIO())

    def test_a_mean_beyond_all_numbers(self):
        law = TransformedNormal(Transform("log"))
        with pytest.raises(ValueError, match="too large for a number"):
            law.mean(np.array([800.0, 1.0]))


def test_values_outside_the_domain_of_a_function_have_no_probability():
    y = special.expit(np.linspace(-3, 3, 50))
    law = TransformedNormal(Transform.fit((special.logit, special.expit), y, np.ones(50)))
    parameters = np.array([[0.0, 1.0]])
    np.testing.assert_array_equal(law.cdf(parameters, np.array([-0.5, 0.0, 0.5, 1.0, 1.5])), [0.0, 0.0, 0.5, 1.0, 1.0])
    np.testing.assert_array_equal(law.logpdf(parameters, np.array([-0.5, 1.5])), -np.inf)
    assert law.mean(parameters[0]) == pytest.approx(0.5)
    roots = TransformedNormal(Transform.fit((np.sqrt, np.square), np.linspace(0.01, 4.0, 50), np.ones(50)))
    assert roots.quantile(np.array([0.1, 1.0]), np.array(0.01)) == pytest.approx(0.0, abs=1e-9)
