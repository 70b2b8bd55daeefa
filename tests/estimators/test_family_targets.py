"""Targets that a family cannot have are errors that say what is allowed; extreme ones stay finite."""

import re

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost._boosting.objectives import number_families
from epiboost.datasets import make_family

SMALL = {"n_members": 2, "n_estimators": 20, "random_state": 0}
X = np.random.default_rng(0).uniform(size=(60, 2))
BAD = [
    ("poisson", -1.0, "whole numbers of at least 0"),
    ("poisson", 0.5, "whole numbers of at least 0"),
    ("poisson", 1.7e308, r"at most 1e\+100"),
    ("negative_binomial", -2.0, "whole numbers of at least 0"),
    ("negative_binomial", 1e300, r"at most 1e\+100"),
    ("gamma", 0.0, "above 0|positive"),
    ("gamma", 1e300, r"at most 1e\+100"),
    ("lognormal", -3.0, "above 0|positive"),
    ("weibull", 0.0, "above 0|positive"),
    ("beta", 0.0, "between 0 and 1"),
    ("beta", 1.0, "between 0 and 1"),
    ("beta", 3.5, "between 0 and 1"),
]


def fitted(family, y, **parameters):
    return EpiBoostRegressor(distribution=family, **{**SMALL, **parameters}).fit(X, y)


def usual(family):
    return make_family(60, distribution=family, random_state=0).y


@pytest.mark.parametrize(("family", "wrong", "allowed"), BAD)
def test_an_impossible_target_is_named_with_what_is_allowed(family, wrong, allowed):
    y = usual(family)
    y[7] = wrong
    got = re.escape(f"{wrong:g}")
    with pytest.raises(ValueError, match=rf"distribution='{family}' is for .*({allowed}).*{got} in row 7"):
        fitted(family, y)


def test_an_impossible_target_of_an_eval_set_is_named():
    y = usual("poisson")
    with pytest.raises(ValueError, match=r"eval_set: .*whole numbers of at least 0 .*; y holds -1 in row 0"):
        EpiBoostRegressor(distribution="poisson", **SMALL).fit(X, y, eval_set=(X[:2], [-1.0, 2.0]))


def test_an_unknown_family_is_an_error_that_names_the_known_ones():
    with pytest.raises(ValueError, match=r"distribution must be one of 'normal', .*'poisson'.*'auto'; got 'gauss'"):
        fitted("gauss", usual("normal"))


@pytest.mark.parametrize("engine", ["native", "lightgbm"])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize(
    "family", [name for name in number_families() if name not in {"poisson", "negative_binomial", "beta"}]
)
def test_targets_of_any_size_give_finite_predictions_that_scale_with_them(family, scale, engine):
    if engine != "native":
        pytest.importorskip(engine)
    y = usual(family)
    plain, scaled = (fitted(family, y * factor, engine=engine, out_of_fold=0) for factor in (1.0, scale))
    assert np.isfinite(scaled.predict_posterior(X).parameters).all()
    assert scaled.predict(X) / scale == pytest.approx(plain.predict(X), rel=0.05, abs=0.05 * np.ptp(y))


@pytest.mark.parametrize("family", number_families())
def test_one_extreme_target_leaves_everything_finite(family):
    y = usual(family)
    for extreme in {"beta": (1e-30, 1.0 - 1e-16)}.get(family, (1e-30, 1e30)):
        y[3] = round(extreme) if family in {"poisson", "negative_binomial"} else extreme
        model = fitted(family, y, out_of_fold=4, n_members=5)
        posterior = model.predict_posterior(X)
        assert np.isfinite(posterior.parameters).all()
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.predict_interval(X, 0.9)).all()


@pytest.mark.parametrize("family", ["gamma", "poisson", "negative_binomial"])
def test_the_largest_target_that_is_allowed_leaves_parameters_finite(family):
    y = usual(family)
    y[3] = 1e100
    assert np.isfinite(fitted(family, y).predict_posterior(X).parameters).all()


@pytest.mark.parametrize("family", number_families())
def test_a_constant_target_is_predicted(family):
    value = {"beta": 0.25}.get(family, 3.0)
    assert fitted(family, np.full(60, value)).predict(X) == pytest.approx(np.full(60, value), rel=0.1)
