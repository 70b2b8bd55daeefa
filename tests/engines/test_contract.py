"""What holds for every engine. A fixture names the engine, no test does."""

import importlib.util
import pickle

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor, Posterior, Uncertainty
from epiboost.engines import Engine, Forest, engine_named, engine_names, register_engine, unregister_engine
from tests.support.toy_engine import ToyEngine, ToyForest

LIBRARIES = {"catboost": "catboost", "lightgbm": "lightgbm", "xgboost": "xgboost"}
SMALL = {"n_members": 3, "n_estimators": 12, "max_depth": 3, "learning_rate": 0.3, "n_jobs": 1, "random_state": 0}
KINDS = ["sglb", "sgb", "virtual", "single"]
N = 150


@pytest.fixture(params=["toy", *engine_names()])
def engine(request):
    name = request.param
    if name in LIBRARIES and importlib.util.find_spec(LIBRARIES[name]) is None:
        pytest.skip(f"{name} is not installed")
    if name == "toy":
        register_engine("toy", ToyEngine, ToyForest.from_file)
        yield name
        unregister_engine("toy")
    else:
        yield name


@pytest.fixture(params=["regressor", "two classes", "three classes"])
def task(request):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(N, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + 0.5 * np.nan_to_num(X[:, 1])
    noisy = signal + rng.normal(scale=0.2, size=N)
    if request.param == "regressor":
        return EpiBoostRegressor, X, 100 + 10 * noisy
    words = np.array(["no", "yes"] if request.param == "two classes" else ["no", "maybe", "yes"])
    return EpiBoostClassifier, X, words[np.digitize(noisy, [0] if len(words) == 2 else [-0.3, 0.3])]


def made(estimator, engine, **params):
    """Return an estimator with as many of the small settings as its engine honours."""
    cannot = getattr(engine_named(engine, n_jobs=1), "cannot", ())
    settings = {name: value for name, value in SMALL.items() if name not in cannot}
    return estimator(engine=engine, **{**settings, **params})


def kinds(engine):
    return getattr(engine_named(engine, n_jobs=1), "ensembles", KINDS)


def n_outputs(model, y):
    return {"normal": 2, "mean": 1}.get(model._known_family, len(np.unique(y)))


def test_an_engine_and_its_forest_keep_the_protocols(engine, task):
    estimator, X, y = task
    assert isinstance(engine_named(engine, n_jobs=1), Engine)
    assert isinstance(made(estimator, engine, ensemble=kinds(engine)[0]).fit(X, y).forest_, Forest)


def test_parameters_have_members_samples_and_outputs_and_are_a_distribution(engine, task):
    estimator, X, y = task
    for kind in kinds(engine):
        model = made(estimator, engine, ensemble=kind).fit(X, y)
        posterior = model.predict_posterior(X[:7])
        assert posterior.parameters.shape == (1 if kind == "single" else 3, 7, n_outputs(model, y))
        assert np.isfinite(posterior.parameters).all()
        if posterior.family == "normal":
            assert (posterior.parameters[:, :, 1] > 0).all()
        if posterior.family == "categorical":
            np.testing.assert_allclose(posterior.parameters.sum(axis=2), 1, rtol=1e-6)
        if kind != "single":
            assert (posterior.parameters.std(axis=0) > 0).any()


def test_a_model_learns_its_table(engine, task):
    estimator, X, y = task
    for kind in kinds(engine):
        model = made(estimator, engine, ensemble=kind, n_estimators=30).fit(X, y)
        score = model.score(X, y)
        assert score > (0.4 if estimator is EpiBoostRegressor else 0.6), kind


def test_the_noise_of_a_table_is_learned(engine):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(1000, 3))
    y = 5 * X[:, 0] + rng.normal(scale=0.5, size=1000)
    settings = {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 4, "n_members": 2, "ensemble": kinds(engine)[0]}
    cannot = getattr(engine_named(engine, n_jobs=1), "cannot", ())
    settings = {name: value for name, value in settings.items() if name not in cannot}
    model = made(EpiBoostRegressor, engine, **settings).fit(X, y)
    if model._known_family == "mean":
        pytest.skip("the engine knows of no noise")
    share = model.predict_uncertainty(X).data.mean() / 0.25
    assert 0.3 < share < 10  # the target itself has a share of 130


def test_a_constant_target_is_learned(engine):
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = made(EpiBoostRegressor, engine, ensemble=kinds(engine)[0]).fit(X, np.full(60, 5.0))
    np.testing.assert_allclose(model.predict(X), 5, rtol=1e-6)


def test_numbers_beyond_single_precision_are_numbers(engine, task):
    estimator, X, y = task
    X = X.copy()
    X[:5, 0] = 1e300
    model = made(estimator, engine, ensemble=kinds(engine)[0]).fit(X, y)
    asked = np.array([[1e300, 0.0, 0.0], [-1e300, -1e300, 1e300]])
    assert np.isfinite(model.predict_posterior(asked).parameters).all()


def test_all_rows_can_be_asked_for_when_splits_are_chosen(engine, task):
    estimator, X, y = task
    made(estimator, engine, ensemble=kinds(engine)[0], structure_rows=None).fit(X, y)


def test_l2_are_rows_of_zero_gradient(engine):
    # ten times the weight of the rows and of those that have no gradient: the same leaf values
    cannot = getattr(engine_named(engine, n_jobs=1), "cannot", ())
    if "l2" in cannot:
        pytest.skip("the engine has no l2")
    X = np.repeat([0.0, 1.0], [30, 10])[:, np.newaxis]
    y = np.random.default_rng(0).normal(size=40) + 2 * X[:, 0]
    settings = {"ensemble": "single", "max_depth": 1, "n_estimators": 5, "variance_guard": 0.0, "learning_rate": 0.5}
    settings = {name: value for name, value in settings.items() if name not in cannot}
    one = made(EpiBoostRegressor, engine, l2=4.0, **settings).fit(X, y)
    ten = made(EpiBoostRegressor, engine, l2=40.0, **settings).fit(X, y, sample_weight=np.full(40, 10.0))
    other = made(EpiBoostRegressor, engine, l2=40.0, **settings).fit(X, y)
    expected = one.predict_posterior(X).parameters
    np.testing.assert_allclose(ten.predict_posterior(X).parameters, expected, rtol=1e-4)
    assert np.abs(other.predict_posterior(X).parameters - expected).max() > 0.01


def test_rows_keep_their_order(engine, task):
    estimator, X, y = task
    model = made(estimator, engine, ensemble=kinds(engine)[0]).fit(X, y)
    whole = model.predict_posterior(X).parameters
    order = np.random.default_rng(1).permutation(N)
    np.testing.assert_allclose(model.predict_posterior(X[order]).parameters, whole[:, order], rtol=1e-12)


def test_one_seed_gives_one_model_at_any_order_of_rows_and_another_seed_another(engine, task):
    estimator, X, y = task
    for kind in kinds(engine)[:2]:
        first = made(estimator, engine, ensemble=kind).fit(X, y).predict_posterior(X).parameters
        again = made(estimator, engine, ensemble=kind, n_jobs=2).fit(X, y).predict_posterior(X).parameters
        turned = made(estimator, engine, ensemble=kind).fit(X[::-1], y[::-1]).predict_posterior(X).parameters
        other = made(estimator, engine, ensemble=kind, random_state=1).fit(X, y).predict_posterior(X).parameters
        np.testing.assert_array_equal(first, again)
        np.testing.assert_array_equal(first, turned)
        assert (first != other).any()


def test_the_first_members_do_not_depend_on_their_number(engine, task):
    estimator, X, y = task
    kind = kinds(engine)[0]
    few = made(estimator, engine, ensemble=kind, n_members=2).fit(X, y).predict_posterior(X).parameters
    more = made(estimator, engine, ensemble=kind, n_members=3).fit(X, y).predict_posterior(X).parameters
    np.testing.assert_array_equal(few, more[:2])


def test_the_last_virtual_member_is_the_whole_chain_and_an_earlier_one_the_chain_as_it_was(engine, task):
    if "virtual" not in kinds(engine):
        pytest.skip("the engine has no virtual ensemble")
    estimator, X, y = task
    model = made(estimator, engine, ensemble="virtual").fit(X, y)
    forest = model.forest_
    members = model.predict_posterior(X).parameters
    if getattr(forest, "parts", False):  # of a forest they are no stages, but parts of equal size
        np.testing.assert_allclose(forest.predict(X)[0], members.mean(axis=0), rtol=1e-6)
        return
    for member, prefix in zip(members, model.prefixes_, strict=True):
        np.testing.assert_allclose(forest.predict(X, prefixes=[prefix])[0], member, rtol=1e-6)
    np.testing.assert_allclose(forest.predict(X)[0], members[-1], rtol=1e-6)


def test_prefixes_must_ascend_within_the_chain(engine, task):
    estimator, X, y = task
    forest = made(estimator, engine, ensemble=kinds(engine)[0]).fit(X, y).forest_
    for prefixes in ([], [0, 3], [5, 3], [3, 10_000]):
        with pytest.raises(ValueError, match="prefixes must ascend"):
            forest.predict(X, prefixes=prefixes)


def test_a_weight_of_two_is_the_row_twice_and_a_weight_of_zero_no_row(engine, task):
    estimator, X, y = task
    weight = np.random.default_rng(2).integers(0, 3, size=N)
    kind = kinds(engine)[0]
    weighted = made(estimator, engine, ensemble=kind).fit(X, y, sample_weight=weight)
    repeated = made(estimator, engine, ensemble=kind).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict_posterior(X).parameters, repeated.predict_posterior(X).parameters)
    plain = made(estimator, engine, ensemble=kind).fit(X, y)
    assert (plain.predict_posterior(X).parameters != weighted.predict_posterior(X).parameters).any()


def test_the_units_of_the_target_do_not_matter(engine):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(N, 2))
    y = X[:, 0] + rng.normal(scale=0.2, size=N)
    kind = kinds(engine)[0]
    plain = made(EpiBoostRegressor, engine, ensemble=kind).fit(X, y).predict_posterior(X).parameters
    scaled = made(EpiBoostRegressor, engine, ensemble=kind).fit(X, 8 * y).predict_posterior(X).parameters
    np.testing.assert_allclose(scaled[:, :, 0], 8 * plain[:, :, 0], rtol=1e-4, atol=1e-4)
    if plain.shape[2] == 2:
        np.testing.assert_allclose(scaled[:, :, 1], 64 * plain[:, :, 1], rtol=1e-4)


def test_a_pickled_and_a_saved_model_predict_the_same(engine, task, tmp_path):
    estimator, X, y = task
    for kind in kinds(engine)[-2:]:
        model = made(estimator, engine, ensemble=kind).fit(X, y)
        expected = model.predict_posterior(X).parameters
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_posterior(X).parameters, expected)  # noqa: S301
        model.save(tmp_path / "model.epib")
        loaded = estimator.load(tmp_path / "model.epib")
        np.testing.assert_array_equal(loaded.predict_posterior(X).parameters, expected)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert loaded.get_params() == model.get_params()
        assert loaded.forest_.n_features == 3
        np.testing.assert_array_equal(loaded.n_iter_, model.n_iter_)


def test_total_uncertainty_is_data_and_knowledge(engine, task):
    estimator, X, y = task
    model = made(estimator, engine, ensemble=kinds(engine)[0]).fit(X, y)
    uncertainty = model.predict_uncertainty(X)
    assert isinstance(uncertainty, Uncertainty)
    assert (uncertainty.knowledge >= 0).all()
    assert (uncertainty.knowledge > 0).any()
    if model._known_family == "mean":
        for part in ("data", "total"):
            with pytest.raises(ValueError, match=f"{part} uncertainty is not known: the members predict a mean"):
                getattr(uncertainty, part)
        with pytest.raises(ValueError, match="predict a mean alone"):
            model.predict_interval(X)
        return
    assert (uncertainty.data >= 0).all()
    assert (uncertainty.data > 0).any()
    np.testing.assert_allclose(uncertainty.total, uncertainty.data + uncertainty.knowledge, rtol=1e-9)


def test_one_model_alone_has_no_knowledge_uncertainty(engine, task):
    estimator, X, y = task
    model = made(estimator, engine, ensemble="single").fit(X, y)
    np.testing.assert_allclose(model.predict_uncertainty(X).knowledge, 0, atol=1e-12)


def test_more_noise_makes_members_disagree_more(engine, task):
    if "temperature" in getattr(engine_named(engine, n_jobs=1), "cannot", ()):
        pytest.skip("the engine has no noise")
    estimator, X, y = task
    cold, hot = (
        made(estimator, engine, temperature=temperature).fit(X, y).predict_uncertainty(X).knowledge.mean()
        for temperature in (0.0, 1000.0)
    )
    assert hot > 2 * cold


def test_a_parameter_that_the_engine_cannot_honour_is_an_error_that_names_it(engine, task):
    estimator, X, y = task
    others = {"max_depth": 4, "max_bins": 17, "structure_rows": 50, "early_stopping_rounds": 3, "l2": 9.0,
              "temperature": 2.0, "learning_rate": 0.17, "subsample": 0.3, "variance_guard": 0.5}  # fmt: skip
    for name in getattr(engine_named(engine, n_jobs=1), "cannot", ()):
        if name not in estimator().get_params():
            continue
        model = made(estimator, engine, ensemble=kinds(engine)[0], **{name: others[name]})
        with pytest.raises(ValueError, match=f"engine='{engine}' cannot honour {name}={others[name]}"):
            model.fit(X, y, eval_set=(X, y))


def test_an_ensemble_that_the_engine_does_not_have_is_an_error_that_names_those_it_has(engine, task):
    estimator, X, y = task
    for kind in set(KINDS) - set(kinds(engine)):
        with pytest.raises(ValueError, match=f"engine='{engine}' has the ensembles .*; got ensemble='{kind}'"):
            made(estimator, engine, ensemble=kind).fit(X, y)


def test_a_chain_stops_where_the_evaluation_rows_say(engine, task):
    if "early_stopping_rounds" in getattr(engine_named(engine, n_jobs=1), "cannot", ()):
        pytest.skip("the engine cannot stop early")
    estimator, X, y = task
    shuffled = np.random.default_rng(5).permutation(y)  # nothing can be learned about these rows
    model = made(estimator, engine, early_stopping_rounds=2, n_estimators=30, learning_rate=0.5)
    model.fit(X, y, eval_set=(X, shuffled))
    assert (model.n_iter_ < 30).all()
    best = np.nanargmin(model.evaluation_loss_, axis=1) + 1
    np.testing.assert_array_equal(model.n_iter_, best)
    watched = made(estimator, engine, n_estimators=30, learning_rate=0.5).fit(X, y, eval_set=(X, y))
    assert model.evaluation_loss_.shape == watched.evaluation_loss_.shape == (3, 30)
    assert (watched.evaluation_loss_[:, -1] < watched.evaluation_loss_[:, 0]).all()
    posterior = watched.predict_posterior(X)
    members = [Posterior(one[np.newaxis], posterior.family) for one in posterior.parameters]
    codes = np.searchsorted(np.unique(y), y)
    losses = [-(one.logpdf(y) if one.family == "normal" else one.log_probability(codes)).mean() for one in members]
    np.testing.assert_allclose(watched.evaluation_loss_[:, -1], losses, rtol=1e-4)


def test_categories_are_learned_and_a_new_one_can_be_asked_about(engine, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = np.array(["red", "green", "blue", None], dtype=object)
    colour = names[rng.integers(4, size=N)]
    y = np.where(colour == "red", 5.0, 0.0) + rng.normal(scale=0.1, size=N)
    frame = pandas.DataFrame({"size": rng.normal(size=N), "colour": colour})
    model = made(EpiBoostRegressor, engine, ensemble=kinds(engine)[0], n_estimators=30).fit(frame, y)
    assert model.score(frame, y) > 0.5
    asked = pandas.DataFrame({"size": [0.0, 0.0, 0.0], "colour": ["red", "violet", None]})
    predictions = model.predict(asked)
    assert np.isfinite(predictions).all()
    assert predictions[0] > predictions[2] + 1
    model.save(tmp_path / "model.epib")
    np.testing.assert_array_equal(EpiBoostRegressor.load(tmp_path / "model.epib").predict(asked), predictions)


def test_progress_ends_with_all_trees(engine, task):
    estimator, X, y = task
    reports = []
    model = made(estimator, engine, ensemble=kinds(engine)[0]).fit(X, y)
    data = model._read_target(X, y, np.ones(N))
    model._engine().fit(data, model._recipe().specs(0), lambda *report: reports.append(report))
    assert reports[-1][0] == reports[-1][1] > 0
    assert all(done <= total for done, total in reports)


def test_on_fixed_leaves_a_chain_has_the_stationary_distribution_of_the_theory(engine):
    # as in test_chain_statistics, but along one chain: with a rate of one half its states are forgotten in a few steps
    if {"temperature", "l2"} & set(getattr(engine_named(engine, n_jobs=1), "cannot", ())):
        pytest.skip("the engine has no chains")
    rng = np.random.default_rng(0)
    sizes, rate, trees, apart = np.array([30, 10]), 0.5, 2400, 6
    n = int(sizes.sum())
    X = np.repeat([0.0, 1.0], sizes)[:, np.newaxis]
    y = rng.normal(size=n) + 2 * X[:, 0]
    y = (y - y.mean()) / y.std()
    settings = {"learning_rate": rate, "l2": 0.0, "variance_guard": 0.0, "max_depth": 1, "n_estimators": trees}
    cannot = getattr(engine_named(engine, n_jobs=1), "cannot", ())
    settings = {name: value for name, value in settings.items() if name not in cannot}
    model = made(EpiBoostRegressor, engine, ensemble="virtual", n_jobs=1, **settings).fit(X, y)
    prefixes = range(10 * apart, trees + 1, apart)
    samples = model.forest_.predict(np.array([[0.0], [1.0]]), prefixes=prefixes)[:, :, 0]
    decay = 1 - rate / (2 * n)
    mean = rate * np.array([y[X[:, 0] == value].mean() for value in (0, 1)]) / (1 - decay + rate)
    variance = rate**2 * (2 / (n * rate) / sizes) / (1 - (decay - rate) ** 2)
    standardised = (samples - mean) / np.sqrt(variance)
    assert np.abs(standardised.mean(axis=0)).max() < 5 / np.sqrt(len(prefixes))
    assert abs(standardised.var() - 1) < 4 * np.sqrt(2 / standardised.size)
