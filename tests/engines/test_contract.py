"""Every engine keeps the protocols and can do exactly what it declares. Fixtures name the engines, tests do not."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, Posterior
from epiboost._estimators.training_rows import GivenRows
from epiboost.engines import BinnedEngine, Capabilities, Engine, Forest
from epiboost.engines.registry import engine_named
from tests.support.engines import ENSEMBLES, capabilities_of, small_model, supported

OTHER_VALUES = {
    "early_stopping_rounds": 3, "l2": 9.0, "learning_rate": 0.17, "max_bins": 17, "max_depth": 4, "max_leaves": 7,
    "random_strength": 30.0, "structure_rows": 50, "subsample": 0.3, "temperature": 2.0, "variance_guard": 0.5,
    "min_samples_leaf": 30, "max_features": 0.4, "interaction_constraints": "no_interactions",
    "monotonic_constraints": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def collection():
    """A table and its target as Dask arrays."""
    arrays = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(200, 2))
    return arrays.from_array(X, chunks=(100, 2)), arrays.from_array(X[:, 0], chunks=100)


def scheduled(client):
    """Return the number of steps that the scheduler of the cluster has taken."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)


class TestProtocols:
    def test_an_engine_and_its_forest_have_every_declared_attribute(self, engine, task):
        estimator, X, y = task
        made = engine_named(engine, n_jobs=1)
        assert isinstance(made, Engine)
        assert isinstance(made.capabilities, Capabilities)
        forest = small_model(estimator, engine).fit(X, y).forest_
        assert isinstance(forest, Forest)
        assert (forest.n_features, forest.n_codes) == (3, (0, 0, 0))
        regression = "normal" if made.capabilities.variance else "mean"
        assert forest.family == (regression if estimator is EpiBoostRegressor else "categorical")
        assert forest.n_trees.tolist() == [12] * len(forest.predict(X))
        assert forest.evaluation.shape == (len(forest.n_trees), 0)

    def test_prefixes_must_ascend_within_the_chain(self, engine, task):
        estimator, X, y = task
        forest = small_model(estimator, engine).fit(X, y).forest_
        for prefixes in ([], [0, 3], [5, 3], [3, 10_000]):
            with pytest.raises(ValueError, match="prefixes must ascend"):
                forest.predict(X, prefixes=prefixes)

    def test_threads_may_predict_with_a_new_model_at_the_same_time(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine).fit(X, y)
        for fresh in (model, pickle.loads(pickle.dumps(model))):  # noqa: S301 (our own bytes)
            with ThreadPoolExecutor(4) as pool:
                found = list(pool.map(lambda _: fresh.predict_posterior(X).parameters, range(8)))  # noqa: B023
            for parameters in found:
                np.testing.assert_array_equal(parameters, found[0])

    def test_progress_ends_with_all_trees(self, engine, task):
        estimator, X, y = task
        reports = []
        model = small_model(estimator, engine).fit(X, y)
        data = model._read_rows(GivenRows(X, y), model._checked_engine()).data
        model._checked_engine().fit(
            data, model._recipe().with_capacity(model.capacity_).specs(0), lambda *report: reports.append(report)
        )
        assert reports[-1][0] == reports[-1][1] > 0
        assert all(done <= total for done, total in reports)


class TestParameters:
    def test_an_ensemble_is_trained_or_refused(self, engine, task):
        estimator, X, y = task
        predictions = []
        for ensemble in ENSEMBLES:
            model = small_model(estimator, engine, ensemble=ensemble)
            if ensemble in capabilities_of(engine).ensembles:
                parameters = model.fit(X, y).predict_posterior(X).parameters
                assert len(parameters) == (1 if ensemble == "single" else 3)
                assert not any(np.array_equal(parameters, other) for other in predictions), ensemble
                predictions.append(parameters)
            else:
                fault = f"engine='{engine}' supports the ensembles .*; got ensemble='{ensemble}'"
                with pytest.raises(ValueError, match=fault):
                    model.fit(X, y)

    def test_an_unsupported_parameter_is_refused_by_name(self, engine, task):
        estimator, X, y = task
        for name in capabilities_of(engine).unsupported:
            assert name in OTHER_VALUES
            if name not in estimator().get_params():
                continue
            model = small_model(estimator, engine, **{name: OTHER_VALUES[name]})
            with pytest.raises(ValueError, match=f"engine='{engine}' does not support {name}={OTHER_VALUES[name]!r}"):
                model.fit(X, y, eval_set=(X, y))

    def test_a_supported_parameter_changes_the_model(self, engine, task):
        estimator, X, y = task
        plain = small_model(estimator, engine).fit(X, y).predict_posterior(X).parameters
        for name, value in supported(engine, OTHER_VALUES).items():
            if name in {"early_stopping_rounds", "monotonic_constraints"}:  # need an eval_set, and at most two classes
                continue
            if name in estimator().get_params():
                other = small_model(estimator, engine, **{name: value}).fit(X, y).predict_posterior(X).parameters
                assert (other != plain).any(), name

    def test_splits_can_be_chosen_on_all_rows(self, engine, task):
        estimator, X, y = task
        small_model(estimator, engine, structure_rows=None).fit(X, y)


class TestEvaluationRows:
    def test_an_eval_set_is_evaluated_or_refused(self, engine, task):
        estimator, X, y = task
        model = small_model(estimator, engine)
        if not capabilities_of(engine).evaluation_set:
            with pytest.raises(ValueError, match=f"engine='{engine}' does not support eval_set; leave it out"):
                model.fit(X, y, eval_set=(X, y))
            return
        model.set_params(n_estimators=30, learning_rate=0.5).fit(X, y, eval_set=(X, y))
        assert model.evaluation_loss_.shape == (3, 30)
        assert (model.evaluation_loss_[:, -1] < model.evaluation_loss_[:, 0]).all()
        posterior = model.predict_posterior(X)
        members = [Posterior(one[np.newaxis], posterior.family) for one in posterior.parameters]
        codes = np.searchsorted(np.unique(y), y)
        losses = [-(one.logpdf(y) if one.family == "normal" else one.log_probability(codes)).mean() for one in members]
        np.testing.assert_allclose(model.evaluation_loss_[:, -1], losses, rtol=1e-4)

    def test_early_stopping_uses_the_trees_up_to_the_best_loss_of_the_ensemble(self, engine, task):
        if "early_stopping_rounds" in capabilities_of(engine).unsupported:
            pytest.skip("the engine cannot stop early")
        estimator, X, y = task
        shuffled = np.random.default_rng(5).permutation(y)  # nothing can be learned about these rows
        model = small_model(estimator, engine, early_stopping_rounds=2, n_estimators=30, learning_rate=0.5)
        model.fit(X, y, eval_set=(X, shuffled))
        assert model.evaluation_loss_.shape == (3, 30)
        losses = model.history_.validation_loss
        best = int(losses.argmin())
        assert model.n_iter_.tolist() == [model.history_.n_trees[best]] * 3
        assert model.n_iter_[0] < 30
        assert len(losses) <= best + 3
        posterior = model.predict_posterior(X)
        codes = np.searchsorted(np.unique(y), shuffled)
        likelihood = posterior.logpdf(shuffled) if posterior.family == "normal" else posterior.log_probability(codes)
        assert losses[best] == pytest.approx(-likelihood.mean(), rel=1e-4)


class TestData:
    def test_categories_are_learned_or_refused(self, engine, tmp_path):
        pandas = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        names = np.array(["red", "green", "blue", None], dtype=object)
        colour = names[rng.integers(4, size=150)]
        y = np.where(colour == "red", 5.0, 0.0) + rng.normal(scale=0.1, size=150)
        frame = pandas.DataFrame({"size": rng.normal(size=150), "colour": colour})
        model = small_model(EpiBoostRegressor, engine, n_estimators=30)
        if not capabilities_of(engine).categories:
            with pytest.raises(ValueError, match=f"engine='{engine}' does not support categorical columns"):
                model.fit(frame, y)
            return
        assert model.fit(frame, y).score(frame, y) > 0.5
        assert model.forest_.n_codes == (0, 4)
        queries = pandas.DataFrame({"size": [0.0, 0.0, 0.0], "colour": ["red", "violet", None]})
        predictions = model.predict(queries)
        assert np.isfinite(predictions).all()
        assert predictions[0] > predictions[2] + 1
        model.save(tmp_path / "model.epib")
        np.testing.assert_array_equal(EpiBoostRegressor.load(tmp_path / "model.epib").predict(queries), predictions)

    def test_weight_two_is_the_row_twice_and_weight_zero_no_row(self, engine, task):
        estimator, X, y = task
        weight = np.random.default_rng(2).integers(0, 3, size=len(y))
        model = small_model(estimator, engine)
        if not capabilities_of(engine).sample_weight:
            with pytest.raises(ValueError, match=f"engine='{engine}' does not support sample_weight"):
                model.fit(X, y, sample_weight=weight)
            return
        weighted = model.fit(X, y, sample_weight=weight).predict_posterior(X).parameters
        repeated = small_model(estimator, engine).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_array_equal(weighted, repeated.predict_posterior(X).parameters)
        plain = small_model(estimator, engine).fit(X, y)
        assert (plain.predict_posterior(X).parameters != weighted).any()

    @pytest.mark.usefixtures("client")
    def test_a_dask_collection_is_learned_or_refused(self, engine, collection):
        X, y = collection
        partitions = capabilities_of(engine).partitions
        assert isinstance(engine_named(engine, n_jobs=1), BinnedEngine) == (partitions == "bins")
        model = small_model(EpiBoostRegressor, engine)
        if partitions is None:
            with pytest.raises(TypeError, match=f"engine='{engine}' needs X in memory"):
                model.fit(X, y)
            return
        assert model.fit(X, y).score(X.compute(), y.compute()) > 0.4

    def test_a_cluster_trains_the_same_members_or_is_refused(self, engine, task, client):
        estimator, X, y = task
        model = small_model(estimator, engine, n_jobs="dask")
        if not capabilities_of(engine).cluster:
            with pytest.raises(ValueError, match=f"n_jobs='dask' .* not for engine='{engine}'"):
                model.fit(X, y)
            return
        local = small_model(estimator, engine).fit(X, y).predict_posterior(X).parameters
        before = scheduled(client)
        np.testing.assert_array_equal(model.fit(X, y).predict_posterior(X).parameters, local)
        assert scheduled(client) > before


def test_virtual_members_are_truncations_or_disjoint_parts(engine, task):
    capabilities = capabilities_of(engine)
    if "virtual" not in capabilities.ensembles:
        pytest.skip("the engine has no virtual ensemble")
    estimator, X, y = task
    model = small_model(estimator, engine, ensemble="virtual").fit(X, y)
    members = model.predict_posterior(X).parameters
    complete = model.forest_.predict(X)[0]
    if not capabilities.prefixes:
        np.testing.assert_allclose(complete, members.mean(axis=0), rtol=1e-6)
        return
    for member, prefix in zip(members, model.prefixes_, strict=True):
        np.testing.assert_allclose(model.forest_.predict(X, prefixes=[prefix])[0], member, rtol=1e-6)
    np.testing.assert_allclose(complete, members[-1], rtol=1e-6)
