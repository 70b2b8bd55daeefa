"""Models under many threads, and in forked processes."""

import os
import pickle
import signal
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, load, posterior_from
from epiboost._threads import _state, library_threads, lock_of, shared_threads
from epiboost.engines.native import forest as native_forest
from tests.support.engines import small_model

X = np.random.default_rng(0).normal(size=(200, 3))
Y = X[:, 0] + np.random.default_rng(1).normal(size=200)
CLIENTS = 8
_SECONDS = 30


def calls(model):
    """Return calls of a model by name; each returns an array."""
    named = {
        "one row": lambda: model.predict(X[:1]),
        "posterior": lambda: model.predict_posterior(X).parameters,
        "knowledge": lambda: model.predict_uncertainty(X[:50]).knowledge,
    }
    if model.engine not in {"forest", "toy"}:
        named["stages"] = lambda: np.stack(list(model.staged_predict(X[:20])))
    if hasattr(model, "feature_importances_"):
        named["importances"] = lambda: model.feature_importances_
    return named


def exit_status_of_fork(work):
    """Return how a forked process ends that does some work; a hang is killed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of a fork beside threads
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_SECONDS)
        try:
            work()
        except BaseException:  # noqa: BLE001 (the status tells)
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


class TestThreads:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_different_calls_at_the_same_time_give_the_bits_of_single_calls(self, engine, n_jobs):
        model = small_model(EpiBoostRegressor, engine, n_estimators=24, n_jobs=n_jobs).fit(X, Y)
        expected = {name: call() for name, call in calls(model).items()}
        fresh = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own bytes)
        asked = list(calls(fresh).items()) * 8
        with ThreadPoolExecutor(CLIENTS) as pool:
            found = list(pool.map(lambda named: named[1](), asked))
        for (name, _), answer in zip(asked, found, strict=True):
            np.testing.assert_array_equal(answer, expected[name], err_msg=name)

    def test_a_model_of_lightgbm_itself_may_be_asked_by_threads(self):
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMRegressor(n_estimators=40, n_jobs=1, verbosity=-1).fit(X, Y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the stages are no samples of a posterior
            expected = posterior_from(model, X).parameters
            with ThreadPoolExecutor(CLIENTS) as pool:
                found = list(pool.map(lambda _: posterior_from(model, X).parameters, range(32)))
        for parameters in found:
            np.testing.assert_array_equal(parameters, expected)

    def test_a_predictor_is_returned_though_another_thread_clears_the_cache(self, monkeypatch):
        forest = small_model(EpiBoostRegressor, "native").fit(X, Y).forest_
        expected = forest.predict(X, prefixes=[3])
        forest._predictors.clear()

        class Forgetful(dict):
            def __setitem__(self, key, value):
                """Forget it, as a thread does that clears the cache now."""

        monkeypatch.setitem(forest.__dict__, "_predictors", Forgetful())
        np.testing.assert_array_equal(forest.predict(X, prefixes=[3]), expected)


class TestSharing:
    def test_calls_under_way_divide_the_threads(self):
        with shared_threads(8) as first, shared_threads(8) as second, shared_threads(2) as third:
            assert (first, second, third) == (8, 4, 1)
        with shared_threads(8) as alone:
            assert alone == 8

    def test_a_call_that_fails_gives_its_threads_back(self):
        with pytest.raises(RuntimeError), shared_threads(4):
            raise RuntimeError
        assert _state.under_way == 0

    def test_a_small_request_starts_no_thread(self, monkeypatch):
        forest = small_model(EpiBoostRegressor, "native", n_jobs=16).fit(X, Y).forest_
        asked = []

        class Recording:
            def __init__(self, predictor):
                self.chains, self.segments = predictor.chains, predictor.segments
                self.parameters, self.native = predictor.parameters, predictor

            def predict(self, table, threads, first_chain, parameters):
                asked.append(threads)
                self.native.predict(table, threads, first_chain, parameters)

        monkeypatch.setitem(forest._predictors, None, Recording(forest._predictor(None)))
        few = forest.predict(X)
        monkeypatch.setattr(native_forest, "_WORK_PER_THREAD", 1)
        np.testing.assert_array_equal(forest.predict(X), few)
        assert asked == [1, 16]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
class TestForks:
    def test_a_forked_process_predicts_loads_saves_and_fits(self, engine, tmp_path):
        model = small_model(EpiBoostRegressor, engine, n_jobs=2).fit(X, Y)
        model.save(tmp_path / "model.epib")
        expected = {name: call() for name, call in calls(model).items()}

        def work():
            for asked in (model, load(tmp_path / "model.epib"), small_model(EpiBoostRegressor, engine).fit(X, Y)):
                for name, call in calls(asked).items():
                    np.testing.assert_array_equal(call(), expected[name])
            model.save(tmp_path / "again.epib")

        assert exit_status_of_fork(work) == 0

    def test_a_lock_that_a_thread_held_at_the_fork_is_free_in_the_child(self):
        model = small_model(EpiBoostRegressor, "native")

        def work():
            with lock_of(model), shared_threads(4) as threads:
                assert threads == 4

        with lock_of(model), shared_threads(4), _state.lock:
            assert exit_status_of_fork(work) == 0

    def test_a_library_uses_one_thread_in_a_forked_process_and_no_fewer_here(self):
        library = pytest.importorskip("lightgbm")

        def work():
            assert library_threads(library.__name__, 4) == 1

        assert exit_status_of_fork(work) == 0
        assert library_threads(library.__name__, 4) == 4
