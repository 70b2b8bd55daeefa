"""What calibration learns: scales of the uncertainties and the temperature of the probabilities."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from epiboost import CalibratedClassifier, CalibratedRegressor, EpiBoostRegressor
from epiboost._estimators.calibrated.scales import NO_CHANGE, fit_posterior_scales, fit_scales, scale_posterior
from epiboost._estimators.calibrated.temperature import fit_temperature
from epiboost._estimators.conformal import temper
from epiboost._files import model_file
from epiboost._posterior.posterior import Posterior
from epiboost.metrics import interval_coverage_score, negative_log_likelihood_loss
from tests.support.calibration import HELD_OUT, LABELS, TARGETS, TEST, TRAIN, X, Y
from tests.support.models import small_classifier, small_regressor


def test_scales_find_which_uncertainty_the_residuals_follow():
    random = np.random.default_rng(1)
    data, knowledge = random.gamma(1.0, size=(2, 3000))
    scales = fit_scales(random.normal(scale=np.sqrt(0.5 * data + 9.0 * knowledge)), data, knowledge)
    assert scales.data == pytest.approx(0.5, abs=0.3)
    assert scales.knowledge == pytest.approx(9.0, rel=0.15)
    same_noise = fit_scales(random.normal(scale=3.0, size=3000), data, knowledge)
    assert same_noise.constant == pytest.approx(9.0, rel=0.2)
    assert max(same_noise.data, same_noise.knowledge) < 1.0


def test_scales_do_not_depend_on_the_unit_of_the_target():
    random = np.random.default_rng(2)
    residual, (data, knowledge) = random.normal(size=50), random.gamma(1.0, size=(2, 50))
    one, other = fit_scales(residual, data, knowledge), fit_scales(1e6 * residual, 1e12 * data, 1e12 * knowledge)
    assert other.constant == pytest.approx(1e12 * one.constant, rel=1e-4)
    assert (other.data, other.knowledge) == pytest.approx((one.data, one.knowledge), rel=1e-4)


@pytest.mark.parametrize("zero", ["residual", "data", "knowledge"])
def test_scales_are_finite_when_residuals_or_uncertainties_are_all_zero(zero):
    parts = {"residual": np.linspace(-1.0, 2.0, 20), "data": np.ones(20), "knowledge": np.ones(20), zero: np.zeros(20)}
    scales = fit_scales(**parts)
    assert np.isfinite([scales.constant, scales.data, scales.knowledge]).all()
    assert np.isfinite(scales.variance(parts["data"], parts["knowledge"])).all()
    if zero != "residual":
        assert getattr(scales, zero) == 0.0


@pytest.mark.parametrize("broken", [np.inf, np.nan, 1e200])
def test_residuals_without_a_finite_square_are_refused(broken):
    with pytest.raises(ValueError, match="must be finite to learn their scales"):
        fit_scales(np.array([1.0, broken]), np.ones(2), np.ones(2))


@pytest.mark.parametrize("unit", [1.0, 1e3])
@pytest.mark.parametrize("alone", [{"ensemble": "single"}, {"n_members": 1}], ids=str)
def test_a_model_without_knowledge_uncertainty_is_calibrated_by_data_uncertainty(alone, unit):
    model = small_regressor(n_estimators=60, max_depth=3, **alone).fit(X[TRAIN], unit * Y[TRAIN])
    calibrated = model.calibrate(X[HELD_OUT], unit * Y[HELD_OUT])
    assert calibrated.scales_.knowledge == 0.0
    assert np.isfinite(calibrated.scores_).all()
    interval = calibrated.predict_interval(X[TEST], 0.9)
    assert interval_coverage_score(unit * Y[TEST], interval) == pytest.approx(0.9, abs=0.05)
    assert np.isfinite(calibrated.predict_posterior(X[TEST]).parameters).all()


def test_the_temperature_undoes_overconfidence():
    random = np.random.default_rng(3)
    truth = random.dirichlet(np.ones(3), size=4000)
    codes = (random.uniform(size=4000) > truth.cumsum(axis=1).T).sum(axis=0)
    assert fit_temperature(temper(truth[np.newaxis], 1 / 3), codes) == pytest.approx(3.0, rel=0.1)
    assert fit_temperature(truth[np.newaxis], codes) == pytest.approx(1.0, rel=0.1)


def test_calibration_improves_the_likelihood_of_an_overfitted_classifier():
    model = small_classifier(n_estimators=1000, n_members=1).fit(X[TRAIN], LABELS[TRAIN])
    calibrated = model.calibrate(X[HELD_OUT], LABELS[HELD_OUT])
    assert calibrated.temperature_ > 1.2
    before, after = (
        negative_log_likelihood_loss(LABELS[TEST], one.predict_posterior(X[TEST]), classes=one.classes_)
        for one in (model, calibrated)
    )
    assert after < before - 0.02


def test_the_calibrated_posterior_has_scaled_uncertainties_and_the_same_mean(models, calibrated):
    plain, scaled = models["regressor"], calibrated["regressor"]
    before, after, scales = plain.predict_uncertainty(X), scaled.predict_uncertainty(X), scaled.posterior_scales_
    assert after.data == pytest.approx(scales.constant + scales.data * before.data)
    assert after.knowledge == pytest.approx(scales.knowledge * before.knowledge)
    mean, std = scaled.predict(X, return_std=True)
    assert mean == pytest.approx(plain.predict(X))
    assert std == pytest.approx(np.sqrt(after.total))


def test_calibrated_probabilities_are_the_mean_of_the_tempered_members(models, calibrated):
    model = calibrated["classifier"]
    members = temper(models["classifier"].predict_posterior(X).parameters, model.temperature_)
    assert model.predict_proba(X) == pytest.approx(members.mean(axis=0))
    assert (model.predict(X) == model.classes_[members.mean(axis=0).argmax(axis=1)]).all()


def test_log_probabilities_are_the_logarithms_of_the_probabilities(models, calibrated):
    for model in (models["classifier"], calibrated["classifier"]):
        np.testing.assert_array_equal(model.predict_log_proba(X[TEST]), np.log(model.predict_proba(X[TEST])))


def normal_posterior(random, n_samples):
    """Return a posterior of three members, and targets that follow its total variance."""
    mean = random.normal(scale=0.3, size=(3, n_samples))
    posterior = Posterior(np.stack([mean, np.broadcast_to(random.gamma(2.0, size=n_samples), mean.shape)], 2), "normal")
    return posterior, posterior.mean + posterior.std * random.normal(size=n_samples)


def test_few_rows_leave_a_calibrated_posterior_as_it_is():
    random = np.random.default_rng(0)
    changed = 0
    for _ in range(8):
        posterior, y = normal_posterior(random, 30)
        changed += fit_posterior_scales(posterior, y, np.ones(30)) != NO_CHANGE
    assert changed <= 1


def test_one_outlier_does_not_change_the_posterior():
    posterior, y = normal_posterior(np.random.default_rng(0), 30)
    y[3:5] += [1000.0, 5.0]  # the second one shows a gain at the first, which is left out
    assert fit_posterior_scales(posterior, y, np.ones(30)) == NO_CHANGE


def test_the_more_rows_show_overconfidence_the_more_the_posterior_is_widened():
    posterior, y = normal_posterior(np.random.default_rng(0), 1000)
    widened = posterior.mean + 3.0 * (y - posterior.mean)
    factors = []
    for n in (20, 100, 1000):
        some = Posterior(posterior.parameters[:, :n], "normal")
        scales = fit_posterior_scales(some, widened[:n], np.ones(n))
        factors.append(scale_posterior(posterior, scales).std.mean() / posterior.std.mean())
    assert 1.0 < factors[0] < factors[1] < factors[2] < 3.2
    assert factors[2] > 2.7


def test_few_rows_change_the_temperature_of_a_calibrated_classifier_little():
    random = np.random.default_rng(0)
    truth = random.dirichlet(np.ones(3), size=30)
    codes = (random.uniform(size=30) > truth.cumsum(axis=1).T).sum(axis=0)
    assert fit_temperature(truth[np.newaxis, :5], codes[:5]) == pytest.approx(1.0, abs=0.2)


def test_a_file_without_scales_of_the_posterior_takes_those_of_intervals(calibrated, tmp_path):
    calibrated["regressor"].save(tmp_path / "model.epib")
    header, arrays = model_file.read(tmp_path / "model.epib")
    del arrays["calibration_posterior_scales"]  # as in earlier versions
    parameters = {name: header["parameters"][name] for name in ("scale_share", "random_state")}
    model_file.write(tmp_path / "model.epib", {**header, "parameters": parameters}, arrays)
    model = CalibratedRegressor.load(tmp_path / "model.epib")
    assert model.posterior_scales_ == model.scales_ == calibrated["regressor"].scales_
    np.testing.assert_array_equal(model.predict_interval(X[TEST]), calibrated["regressor"].predict_interval(X[TEST]))


# Refused rows


@pytest.mark.parametrize(
    ("rows", "targets", "words"),
    [
        (slice(0, 3), slice(0, 3), "calibration needs at least 4 rows, got 3"),
        (slice(0, 9), slice(0, 8), "the same number of rows, got 9 and 8"),
    ],
)
def test_too_few_rows_and_unequal_lengths_are_refused(models, rows, targets, words):
    for estimator, model in models.items():
        with pytest.raises(ValueError, match=words):
            model.calibrate(X[rows], TARGETS[estimator][targets])


def test_a_label_unknown_to_the_model_is_refused(models):
    with pytest.raises(ValueError, match="y holds 'odd', which is none of the classes"):
        models["classifier"].calibrate(X[:10], np.full(10, "odd"))


def test_missing_calibration_targets_are_refused(models):
    with pytest.raises(ValueError, match="NaN"):
        models["regressor"].calibrate(X[:10], np.full(10, np.nan))


def test_models_that_cannot_be_calibrated_are_refused(models):
    with pytest.raises(NotFittedError):
        EpiBoostRegressor().calibrate(X, Y)
    with pytest.raises(ValueError, match="CalibratedRegressor calibrates an EpiBoostRegressor"):
        CalibratedRegressor(models["classifier"]).fit(X, Y)
    with pytest.raises(ValueError, match="CalibratedClassifier calibrates an EpiBoostClassifier"):
        CalibratedClassifier("model").fit(X, Y)
    with pytest.raises(ValueError, match="scale_share must be a number strictly between 0 and 1, got 1"):
        CalibratedRegressor(models["regressor"], scale_share=1.0).fit(X, Y)
