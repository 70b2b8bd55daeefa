"""EpiBoostSurvivalRegressor learns from censored durations, and refuses what are none."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from epiboost import EpiBoostRegressor, EpiBoostSurvivalRegressor, load
from epiboost.metrics import concordance_score
from tests.support.durations import events, table_of_durations

FAMILIES = ("lognormal", "weibull")
SMALL = {"n_members": 3, "n_estimators": 60, "random_state": 0, "n_jobs": 1}


def fit(family, X, y, **options):
    return EpiBoostSurvivalRegressor(distribution=family, **{**SMALL, **options}).fit(X, y)


@pytest.fixture(scope="module", params=FAMILIES)
def usual(request):
    """Return a model with out-of-fold chains, its family and its table of 1500 rows, of which 1000 were trained on."""
    X, duration, y, median = table_of_durations(request.param)
    model = EpiBoostSurvivalRegressor(distribution=request.param, random_state=0, n_jobs=1).fit(X[:1000], y[:1000])
    return model, request.param, X, duration, y, median


def test_the_median_is_that_of_the_uncensored_durations(usual):
    model, _, X, _, y, median = usual
    assert 0.5 < y["event"].mean() < 0.8
    error = np.log(model.predict(X[1000:])) - np.log(median[1000:])
    assert np.sqrt(np.mean(np.square(error))) < 0.2
    assert abs(error.mean()) < 0.1


def test_survival_curves_agree_with_the_durations_of_new_rows(usual):
    model, _, X, duration, _, _ = usual
    times = np.array([1.0, 2.0, 4.0, 8.0])
    survival = model.predict_survival_function(X[1000:], times)
    assert (np.diff(survival, axis=1) <= 0.0).all()
    observed = (duration[1000:, np.newaxis] > times).mean(axis=0)
    np.testing.assert_allclose(survival.mean(axis=0), observed, atol=0.05)


def test_intervals_contain_durations_that_were_not_censored(usual):
    model, _, X, duration, _, _ = usual
    lower, upper = model.predict_interval(X[1000:], 0.9).T
    assert 0.86 < np.mean((lower <= duration[1000:]) & (duration[1000:] <= upper)) < 0.96


def test_hazards_are_the_slopes_of_the_cumulative_hazard(usual):
    model, _, X, _, _, _ = usual
    times = np.array([1.0, 1.0 + 1e-5, 3.0, 3.0 + 1e-5])
    cumulative = model.predict_cumulative_hazard_function(X[:5], times)
    slopes = (cumulative[:, [1, 3]] - cumulative[:, [0, 2]]) / 1e-5
    np.testing.assert_allclose(model.predict_hazard_function(X[:5], times[[0, 2]]), slopes, rtol=1e-3)


def test_knowledge_of_a_curve_is_what_members_disagree_about(usual):
    model, _, X, _, _, _ = usual
    curves = model.predict_survival_curves(X[:20], [2.0, 4.0])
    assert curves.members.shape == (10, 20, 2)
    np.testing.assert_allclose(curves.knowledge, curves.members.std(axis=0))
    lower, upper = np.moveaxis(curves.band(0.9), -1, 0)
    assert (lower < curves.survival).all()
    assert (curves.survival < upper).all()
    assert (np.ptp(curves.band(0.5), axis=-1) < upper - lower).all()


def test_the_score_is_the_concordance_index_and_out_of_fold_chains_foresee_it(usual):
    model, _, X, _, y, _ = usual
    score = model.score(X[1000:], y[1000:])
    assert score == concordance_score(y[1000:], model.predict(X[1000:]))
    assert model.oof_score_ == pytest.approx(score, abs=0.04)


def test_a_model_is_the_same_after_a_file_a_pickle_and_a_clone(usual, tmp_path):
    model, _, X, _, _, _ = usual
    model.save(tmp_path / "model.epib")
    expected = model.predict_survival_function(X[:50], [1.0, 5.0])
    for copy in (load(tmp_path / "model.epib"), pickle.loads(pickle.dumps(model))):  # noqa: S301 (our own)
        assert type(copy) is EpiBoostSurvivalRegressor
        assert (copy.predict_survival_function(X[:50], [1.0, 5.0]) == expected).all()
        assert (copy.predict_interval(X[:50]) == model.predict_interval(X[:50])).all()
    assert clone(model).get_params() == model.get_params()


def test_events_bounds_and_frames_are_the_same_target():
    X, _, y, _ = table_of_durations("lognormal", 300)
    bounds = np.stack([y["time"], np.where(y["event"], y["time"], np.inf)], axis=1)
    turned = np.empty(300, dtype=[("days", np.float32), ("died", bool)])
    expected = fit("lognormal", X, y).predict(X)
    for other in (bounds, pd.DataFrame({"time": y["time"], "event": y["event"]}), bounds.tolist()):
        assert (fit("lognormal", X, other).predict(X) == expected).all()
    turned["days"], turned["died"] = y["time"], y["event"]
    np.testing.assert_allclose(fit("lognormal", X, turned).predict(X), expected, rtol=0.05)
    observed = np.stack([y["time"]] * 2, axis=1)
    assert (fit("lognormal", X, y["time"]).predict(X) == fit("lognormal", X, observed).predict(X)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_of_two_sides_teach_what_their_durations_would(family):
    X, duration, _, median = table_of_durations(family, 1200)
    lower = np.floor(2.0 * duration) / 2.0
    y = np.stack([lower, lower + 0.5], axis=1)
    y[::7, 1] = np.where(lower[::7] > 0.0, np.inf, y[::7, 1])
    y[3::7, 0] = 0.0
    error = np.log(fit(family, X, y, n_members=5, n_estimators="auto").predict(X) / median)
    assert np.sqrt(np.mean(np.square(error))) < 0.25
    assert abs(error.mean()) < 0.1


def test_rows_that_differ_in_their_upper_bound_alone_are_not_merged():
    X, duration, _, _ = table_of_durations("weibull", 300)
    observed = np.stack([duration, duration], axis=1)
    censored = np.stack([duration, np.full(300, np.inf)], axis=1)
    both = fit("weibull", np.concatenate([X, X]), np.concatenate([observed, censored]))
    assert (both.predict(X) > 1.1 * fit("weibull", X, observed).predict(X)).mean() > 0.9


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_of_weight_two_is_the_row_twice_in_any_order(family):
    X, _, y, _ = table_of_durations(family, 200)
    weight = np.where(np.arange(200) < 50, 2.0, 1.0)
    order = np.random.default_rng(0).permutation(250)
    twice = fit(family, np.concatenate([X, X[:50]])[order], np.concatenate([y, y[:50]])[order])
    assert (fit(family, X, y).predict(X) != twice.predict(X)).any()
    weighted = EpiBoostSurvivalRegressor(distribution=family, **SMALL).fit(X, y, weight)
    assert (weighted.predict(X) == twice.predict(X)).all()


@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("family", FAMILIES)
def test_libraries_learn_censored_durations_too(family, engine):
    pytest.importorskip(engine)
    X, _, y, median = table_of_durations(family, 600)
    model = fit(family, X, y, engine=engine)
    assert model.score(X, y) > 0.75
    assert np.corrcoef(np.log(model.predict(X)), np.log(median))[0, 1] > 0.6


def test_engines_of_one_loss_refuse_durations():
    X, _, y, _ = table_of_durations("lognormal", 50)
    with pytest.raises(ValueError, match="use engine='native', 'lightgbm' or 'xgboost'"):
        fit("lognormal", X, y, engine="forest", ensemble="sgb")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
def test_extreme_units_stay_finite(family, factor):
    X, _, y, _ = table_of_durations(family, 200)
    y["time"] *= factor
    model = fit(family, X, y, n_members=5)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.oof_loss_)
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("family", FAMILIES)
def test_extreme_rows_do_not_spoil_the_rest(family):
    X, _, y, _ = table_of_durations(family, 300)
    y["time"][:2], y["event"][:2] = (1e-30, 1e30), True
    model = fit(family, X, y, n_members=5)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict_survival_function(X, [1.0])).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_few_and_equal_durations_can_be_trained_on(family):
    X, _, y, _ = table_of_durations(family, 100)
    y["event"] = np.arange(100) == 7
    assert (fit(family, X, y).predict(X) > y["time"]).mean() > 0.9
    np.testing.assert_allclose(fit(family, X, np.full(100, 3.0)).predict(X), 3.0, rtol=1e-3)


def test_training_stops_by_the_censored_loss_of_other_rows():
    X, _, y, _ = table_of_durations("weibull", 600)
    model = EpiBoostSurvivalRegressor(
        distribution="weibull", n_members=2, n_estimators=400, early_stopping_rounds=20, random_state=0, n_jobs=1
    ).fit(X[:400], y[:400], eval_set=(X[400:], y[400:]))
    losses = model.history_.validation_loss
    assert model.n_iter_[0] < 400
    assert np.argmin(losses) + 1 < len(losses)


def test_scikit_learn_cross_validates_by_concordance():
    X, _, y, _ = table_of_durations("lognormal", 300)
    scores = cross_val_score(EpiBoostSurvivalRegressor(**SMALL), X, y, cv=3)
    assert scores.min() > 0.65


TIMES = np.arange(1.0, 31.0)


@pytest.mark.parametrize(
    ("y", "fault"),
    [
        (events(TIMES - 2.0, TIMES > 0.0), "times must be above 0; y holds -1 in row 0 and 1 more"),
        (events(TIMES, TIMES < 0.0), "right-censored: none is known to end"),
        (np.stack([np.zeros(30), TIMES], axis=1), "left-censored"),
        (np.stack([TIMES + 1.0, TIMES], axis=1), "lower bound above the upper one in row 0"),
        (np.stack([TIMES * np.nan, TIMES], axis=1), "NaN"),
        (events(np.where(TIMES > 1.0, TIMES, np.nan), TIMES > 0.0), "NaN: 1 of 30 rows"),
        (events(np.where(TIMES > 1.0, TIMES, np.inf), TIMES > 0.0), "times must be finite"),
        (np.stack([TIMES * 0.0, TIMES * np.inf], axis=1), "no bound at all"),
        (np.stack([-TIMES, TIMES], axis=1), "below 0 that is not minus infinity"),
        (np.zeros(30), "upper bound that is not above 0"),
        (np.array(["long"] * 30), "must be a structured array"),
        (np.ones((30, 3)), "of shape"),
        (np.ones(30, dtype=[("event", float), ("time", float)]), "one must be boolean"),
    ],
)
def test_targets_that_are_no_durations_are_refused(y, fault):
    with pytest.raises(ValueError, match=fault):
        fit("lognormal", TIMES[:, np.newaxis], y)


def test_arguments_that_durations_cannot_have_are_refused():
    X, _, y, _ = table_of_durations("lognormal", 60)
    with pytest.raises(ValueError, match="one of 'lognormal', 'weibull', got 'gamma'"):
        fit("gamma", X, y)
    with pytest.raises(ValueError, match="take no offset"):
        EpiBoostSurvivalRegressor(**SMALL).fit(X, y, offset=np.ones(60))
    with pytest.raises(ValueError, match="events and times are for EpiBoostSurvivalRegressor"):
        EpiBoostRegressor(**SMALL).fit(X, y)
    model = fit("lognormal", X, y)
    for times, fault in (([2.0, 1.0], "ascend"), ([-1.0], "at least 0"), ([np.nan], "finite")):
        with pytest.raises(ValueError, match=fault):
            model.predict_survival_function(X, times)
    with pytest.raises(ValueError, match="above 0"):
        model.predict_hazard_function(X, [0.0, 1.0])
    with pytest.raises(ValueError, match="one target per row"):
        model.score(X, y[:10])
