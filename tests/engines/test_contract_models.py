"""The models of every engine learn, are reproducible and can be saved. Fixtures name the engines, tests do not."""

import pickle

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, Uncertainty
from tests.support.engines import NOISE_IN_UNITS_OF_THE_TARGET, capabilities_of, small_model, supported
from tests.support.training import at_the_first_report


def n_outputs(model, y):
    return {"normal": 2, "mean": 1}.get(model.forest_.family, len(np.unique(y)))


class TestPredictions:
    def test_parameters_are_a_distribution_per_member_and_row(self, engine, task):
        estimator, X, y = task
        for ensemble in capabilities_of(engine).ensembles:
            model = small_model(estimator, engine, ensemble=ensemble).fit(X, y)
            posterior = model.predict_posterior(X[:7])
            assert posterior.parameters.shape == (1 if ensemble == "single" else 3, 7, n_outputs(model, y))
            assert np.isfinite(posterior.parameters).all()
            if posterior.family == "normal":
                assert (posterior.parameters[:, :, 1] > 0).all()
            if posterior.family == "categorical":
                np.testing.assert_allclose(posterior.parameters.sum(axis=2), 1, rtol=1e-6)
            if ensemble != "single":
                assert (posterior.parameters.std(axis=0) > 0).any()

    def test_rows_keep_their_order(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine).fit(X, y)
        expected = model.predict_posterior(X).parameters
        order = np.random.default_rng(1).permutation(len(y))
        np.testing.assert_allclose(model.predict_posterior(X[order]).parameters, expected[:, order], rtol=1e-12)

    def test_numbers_beyond_single_precision_are_accepted(self, engine, task):
        estimator, X, y = task
        X = X.copy()
        X[:5, 0] = 1e300
        model = small_model(estimator, engine).fit(X, y)
        queries = np.array([[1e300, 0.0, 0.0], [-1e300, -1e300, 1e300]])
        assert np.isfinite(model.predict_posterior(queries).parameters).all()

    def test_a_pickled_and_a_saved_model_predict_the_same(self, engine, task, tmp_path):
        estimator, X, y = task
        for ensemble in capabilities_of(engine).ensembles[-2:]:
            model = small_model(estimator, engine, ensemble=ensemble).fit(X, y)
            expected = model.predict_posterior(X).parameters
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_posterior(X).parameters, expected)  # noqa: S301 (our own)
            model.save(tmp_path / "model.epib")
            loaded = estimator.load(tmp_path / "model.epib")
            np.testing.assert_array_equal(loaded.predict_posterior(X).parameters, expected)
            np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
            assert loaded.get_params() == model.get_params()
            assert loaded.forest_.n_features == 3
            assert loaded.forest_.n_codes == model.forest_.n_codes
            np.testing.assert_array_equal(loaded.forest_.n_trees, model.forest_.n_trees)

    def test_the_last_stage_is_the_prediction(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine).fit(X, y)
        if not capabilities_of(engine).prefixes:
            with pytest.raises(ValueError, match="have no order"):
                model.staged_predict(X)
            return
        stages = list(model.staged_predict(X, step=5))
        assert len(stages) == -(-model.n_iter_.max() // 5)
        np.testing.assert_array_equal(stages[-1], model.predict(X))

    def test_importances_sum_to_one_or_are_refused(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine).fit(X, y)
        if not hasattr(model, "feature_importances_"):
            with pytest.raises(AttributeError, match=r"no feature importances; sklearn\.inspection"):
                model.feature_importances_  # noqa: B018 (a property)
            return
        assert model.feature_importances_.shape == (3,)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert (model.feature_importances_ >= 0.0).all()


class TestLearning:
    def test_a_model_learns_its_table(self, engine, task):
        estimator, X, y = task
        for ensemble in capabilities_of(engine).ensembles:
            model = small_model(estimator, engine, ensemble=ensemble, n_estimators=30).fit(X, y)
            assert model.score(X, y) > (0.4 if estimator is EpiBoostRegressor else 0.6), ensemble

    def test_the_noise_of_a_table_is_learned(self, engine):
        rng = np.random.default_rng(0)
        X = rng.uniform(-2, 2, size=(1000, 3))
        y = 5 * X[:, 0] + rng.normal(scale=0.5, size=1000)
        settings = supported(engine, {"n_estimators": 150, "learning_rate": 0.1, "max_depth": 4, "n_members": 2})
        model = small_model(EpiBoostRegressor, engine, **settings).fit(X, y)
        if model.forest_.family == "mean":
            pytest.skip("the engine predicts no variance")
        share = model.predict_uncertainty(X).data.mean() / 0.25
        assert 0.3 < share < 10  # the target itself has a share of 130

    def test_a_constant_target_is_learned(self, engine):
        X = np.random.default_rng(0).normal(size=(60, 2))
        model = small_model(EpiBoostRegressor, engine).fit(X, np.full(60, 5.0))
        np.testing.assert_allclose(model.predict(X), 5, rtol=1e-6)

    def test_the_units_of_the_target_do_not_matter(self, engine):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, size=(150, 2))
        y = X[:, 0] + rng.normal(scale=0.2, size=150)
        plain = small_model(EpiBoostRegressor, engine).fit(X, y).predict_posterior(X).parameters
        scaled = small_model(EpiBoostRegressor, engine).fit(X, 8 * y).predict_posterior(X).parameters
        np.testing.assert_allclose(scaled[:, :, 0], 8 * plain[:, :, 0], rtol=1e-4, atol=1e-4)
        if plain.shape[2] == 2:
            np.testing.assert_allclose(scaled[:, :, 1], 64 * plain[:, :, 1], rtol=1e-4)

    def test_l2_acts_as_rows_of_zero_gradient(self, engine):
        # ten times the weight of the rows and ten times the l2 give the same leaf values
        if "l2" in capabilities_of(engine).unsupported:
            pytest.skip("the engine has no l2")
        X = np.repeat([0.0, 1.0], [30, 10])[:, np.newaxis]
        y = np.random.default_rng(0).normal(size=40) + 2 * X[:, 0]
        settings = {"max_depth": 1, "n_estimators": 5, "variance_guard": 0.0, "learning_rate": 0.5}
        settings = {"ensemble": "single", **supported(engine, settings)}
        one = small_model(EpiBoostRegressor, engine, l2=4.0, **settings).fit(X, y)
        ten = small_model(EpiBoostRegressor, engine, l2=40.0, **settings).fit(X, y, sample_weight=np.full(40, 10.0))
        other = small_model(EpiBoostRegressor, engine, l2=40.0, **settings).fit(X, y)
        expected = one.predict_posterior(X).parameters
        np.testing.assert_allclose(ten.predict_posterior(X).parameters, expected, rtol=1e-4)
        assert np.abs(other.predict_posterior(X).parameters - expected).max() > 0.01


class TestReproducibility:
    def test_a_model_depends_on_the_seed_and_not_on_the_order_of_rows(self, engine, task):
        estimator, X, y = task
        for ensemble in capabilities_of(engine).ensembles[:2]:
            first, again, reversed_rows, other = (
                small_model(estimator, engine, ensemble=ensemble, **params)
                .fit(X[::step], y[::step])
                .predict_posterior(X)
                .parameters
                for params, step in (({}, 1), ({"n_jobs": 2}, 1), ({}, -1), ({"random_state": 1}, 1))
            )
            np.testing.assert_array_equal(first, again)
            np.testing.assert_array_equal(first, reversed_rows)
            assert (first != other).any()

    def test_the_first_members_do_not_depend_on_their_number(self, engine, task):
        estimator, X, y = task
        few = small_model(estimator, engine, n_members=2).fit(X, y).predict_posterior(X).parameters
        more = small_model(estimator, engine, n_members=3).fit(X, y).predict_posterior(X).parameters
        np.testing.assert_array_equal(few, more[:2])


class TestUncertainty:
    def test_total_uncertainty_is_data_and_knowledge(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine).fit(X, y)
        uncertainty = model.predict_uncertainty(X)
        assert isinstance(uncertainty, Uncertainty)
        assert (uncertainty.knowledge >= 0).all()
        assert (uncertainty.knowledge > 0).any()
        if model.forest_.family == "mean":
            for part in ("data", "total"):
                with pytest.raises(ValueError, match=f"{part} uncertainty is not known: the members predict a mean"):
                    getattr(uncertainty, part)
            with pytest.raises(ValueError, match="these predict a mean without a variance, as a random forest"):
                model.predict_interval(X)
            return
        assert (uncertainty.data >= 0).all()
        assert (uncertainty.data > 0).any()
        np.testing.assert_allclose(uncertainty.total, uncertainty.data + uncertainty.knowledge, rtol=1e-9)

    def test_keeping_chains_that_predict_a_mean_alone_is_refused_before_training(self, engine, task, monkeypatch):
        estimator, X, y = task
        if capabilities_of(engine).variance or estimator is not EpiBoostRegressor:
            pytest.skip("the chains predict distributions")
        model = small_model(estimator, engine, out_of_fold=3, keep_folds=True)
        with (
            at_the_first_report(monkeypatch, pytest.fail),
            pytest.raises(ValueError, match="keep_folds=True is for members that predict a distribution"),
        ):
            model.fit(X, y)

    def test_a_single_model_has_no_knowledge_uncertainty(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine, ensemble="single").fit(X, y)
        np.testing.assert_allclose(model.predict_uncertainty(X).knowledge, 0, atol=1e-12)

    def test_more_noise_makes_members_disagree_more(self, engine, task):
        if "temperature" in capabilities_of(engine).unsupported:
            pytest.skip("the engine has no noise")
        estimator, X, y = task
        cold, hot = (
            small_model(estimator, engine, temperature=temperature).fit(X, y).predict_uncertainty(X).knowledge.mean()
            for temperature in (0.0, 1000.0)
        )
        assert hot > 2 * cold

    def test_on_fixed_leaves_a_chain_has_its_theoretical_distribution(self, engine):
        # as in test_chain_statistics, but along one chain: with a rate of one half its states decorrelate in few steps
        if {"temperature", "l2"} & set(capabilities_of(engine).unsupported):
            pytest.skip("the engine has no chains")
        rng = np.random.default_rng(0)
        sizes, rate, trees, spacing = np.array([30, 10]), 0.5, 2400, 6
        n = int(sizes.sum())
        X = np.repeat([0.0, 1.0], sizes)[:, np.newaxis]
        y = rng.normal(size=n) + 2 * X[:, 0]
        y = (y - y.mean()) / y.std()
        settings = {"learning_rate": rate, "l2": 0.0, "variance_guard": 0.0, "max_depth": 1, "n_estimators": trees}
        model = small_model(EpiBoostRegressor, engine, ensemble="virtual", **supported(engine, settings)).fit(X, y)
        prefixes = range(10 * spacing, trees + 1, spacing)
        samples, std2 = np.moveaxis(model.forest_.predict(np.array([[0.0], [1.0]]), prefixes=prefixes), 2, 0)
        decay = 1 - rate / (2 * n)
        mean = rate * np.array([y[X[:, 0] == value].mean() for value in (0, 1)]) / (1 - decay + rate)
        std2 = 1.0 if engine in NOISE_IN_UNITS_OF_THE_TARGET else std2.mean(axis=0)
        variance = rate**2 * (std2 * 2 / (n * rate) / sizes) / (1 - (decay - rate) ** 2)
        standardised = (samples - mean) / np.sqrt(variance)
        assert np.abs(standardised.mean(axis=0)).max() < 5 / np.sqrt(len(prefixes))
        assert abs(standardised.var() - 1) < 4 * np.sqrt(2 / standardised.size)
