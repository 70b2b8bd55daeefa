"""The choice of a device, its errors, and models that a GPU has trained."""

import sys
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor, EpiBoostSurvivalRegressor, load
from epiboost._inputs.device_arrays import on_host
from epiboost.engines.cuda import choice, device
from epiboost.engines.cuda.device import DeviceError, NoDeviceError
from epiboost.engines.native import training_on_device
from epiboost.engines.native.training import train_here
from epiboost.engines.registry import engine_named
from tests.support import emulated_cupy
from tests.support.durations import table_of_durations
from tests.support.emulated_gpu import COMPILER, EmulatedGpu

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
y = X[:, 0] + rng.normal(scale=0.1, size=120)
SMALL = {"n_members": 2, "n_estimators": 8, "max_depth": 3, "out_of_fold": 0, "random_state": 0}


class RuntimeFailureError(Exception):
    """What CuPy raises."""

    def __init__(self, status):
        super().__init__(f"error {status}")
        self.status = status


def cupy_with(status=None, count=1, driver=12040):
    """Return what `device` uses of CuPy, on a machine whose runtime gives an error, or finds so many GPUs."""

    def get_device_count():
        if status is not None:
            raise RuntimeFailureError(status)
        return count

    runtime = SimpleNamespace(
        getDeviceCount=get_device_count,
        CUDARuntimeError=RuntimeFailureError,
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: 12090,
    )
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))


@pytest.fixture
def machine(monkeypatch):
    """Pretend another machine."""

    def pretend(**facts):
        monkeypatch.setattr(device, "cupy", lambda: cupy_with(**facts))
        monkeypatch.setattr(device, "is_installed", lambda: True)
        monkeypatch.setattr(choice, "is_installed", lambda: True)

    return pretend


class TestErrors:
    def test_an_unknown_device_is_refused(self):
        with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda', 'auto'; got 'tpu'"):
            EpiBoostRegressor(device="tpu").fit(X, y)

    def test_other_engines_refuse_a_gpu(self):
        with pytest.raises(ValueError, match="device='auto' is for engine='native'; engine='forest'"):
            EpiBoostRegressor(engine="forest", device="auto").fit(X, y)

    def test_a_given_engine_has_its_own_device(self):
        engine = engine_named("native", n_jobs=1)
        with pytest.raises(ValueError, match="give it to the Engine itself"):
            EpiBoostRegressor(engine=engine, device="cuda").fit(X, y)

    def test_workers_of_a_cluster_have_no_device(self):
        with pytest.raises(ValueError, match="n_jobs='dask' trains members on the processors"):
            EpiBoostRegressor(n_jobs="dask", device="cuda").fit(X, y)

    def test_device_is_no_option_of_the_engine(self):
        with pytest.raises(ValueError, match="engine_params must not hold 'device': it is set by device"):
            EpiBoostRegressor(engine_params={"device": "cuda"}).fit(X, y)

    def test_without_cupy_the_error_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "cupy", None)
        with pytest.raises(ImportError, match=r"pip install 'epiboost\[cuda\]'"):
            EpiBoostRegressor(device="cuda", **SMALL).fit(X, y)

    @pytest.mark.parametrize("facts", [{"status": 100}, {"count": 0}, {"status": 35, "driver": 0}])
    def test_without_a_gpu_the_error_says_so(self, machine, facts):
        machine(**facts)
        with pytest.raises(NoDeviceError, match="needs an NVIDIA GPU, and this machine has none"):
            EpiBoostRegressor(device="cuda", **SMALL).fit(X, y)

    def test_an_old_driver_is_named_with_both_versions(self, machine):
        machine(status=35)
        with pytest.raises(DeviceError, match=r"supports CUDA 12\.4, and the installed CuPy needs 12\.9"):
            EpiBoostRegressor(device="cuda", **SMALL).fit(X, y)

    def test_a_failed_fit_leaves_no_model(self, machine):
        machine(count=0)
        model = EpiBoostRegressor(**SMALL).fit(X, y).set_params(device="cuda")
        with pytest.raises(NoDeviceError):
            model.fit(X, y)
        assert not hasattr(model, "forest_")


class TestAuto:
    def test_small_work_does_not_ask_for_a_gpu(self, machine):
        machine(status=35)
        assert not choice.is_gpu_used("auto", pays=False)

    def test_a_machine_without_a_gpu_uses_the_cpu_silently(self, machine):
        machine(count=0)
        assert not choice.is_gpu_used("auto", pays=True)

    def test_a_gpu_that_fails_gives_a_warning(self, machine):
        machine(status=35)
        with pytest.warns(UserWarning, match=r"device='auto' uses the CPU, because .* the NVIDIA driver is too old"):
            assert not choice.is_gpu_used("auto", pays=True)

    def test_a_gpu_is_used_where_it_pays(self, machine):
        machine()
        assert choice.is_gpu_used("auto", pays=True)


@pytest.fixture
def emulated(monkeypatch):
    """Train on the emulator."""
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    from epiboost.engines.cuda import training

    emulated_cupy.pretend_a_gpu(monkeypatch)
    used = []

    def train(*arguments):
        used.append(True)
        return train_on_gpu(*arguments, backend=EmulatedGpu())

    @contextmanager
    def device_errors(_):
        yield

    train_on_gpu = training.train_on_gpu
    monkeypatch.setattr(training, "train_on_gpu", train)
    monkeypatch.setattr(training_on_device, "device_errors", device_errors)
    monkeypatch.setattr(training_on_device, "is_gpu_used", lambda name, **_: name != "cpu")
    return used


class TestTraining:
    @pytest.mark.parametrize("estimator", [EpiBoostRegressor, EpiBoostClassifier])
    def test_a_gpu_trains_the_model_of_the_cpu(self, emulated, estimator):
        target = y if estimator is EpiBoostRegressor else y > 0.0
        found = estimator(device="cuda", **SMALL).fit(X, target)
        assert emulated
        expected = estimator(**SMALL).fit(X, target)
        for name in ("feature", "threshold", "leaf", "count"):
            np.testing.assert_array_equal(getattr(found.forest_, name), getattr(expected.forest_, name))

    def test_out_of_fold_chains_are_trained_there_too(self, emulated):
        options = {**SMALL, "out_of_fold": 3}
        found = EpiBoostRegressor(device="cuda", **options).fit(X, y).set_params(device="cpu")
        assert emulated
        expected = EpiBoostRegressor(**options).fit(X, y)
        np.testing.assert_array_equal(found.predict_interval(X), expected.predict_interval(X))

    def test_families_and_constraints_stop_at_the_tree_of_the_cpu(self, emulated):
        options = {**SMALL, "n_estimators": 60, "learning_rate": 0.5, "early_stopping_rounds": 10}
        options |= {"distribution": "student", "monotonic_constraints": [1, 0, 0]}
        found, expected = (EpiBoostRegressor(device=name, **options) for name in ("cuda", "cpu"))
        for model in (found, expected):
            model.fit(X[:80], y[:80], eval_set=(X[80:], y[80:]))
        assert emulated
        assert found.forest_.count.max() < options["n_estimators"]
        np.testing.assert_array_equal(found.forest_.leaf, expected.forest_.leaf)
        np.testing.assert_array_equal(found.forest_.evaluation, expected.forest_.evaluation)

    def test_censored_durations_are_trained_there(self, emulated):
        table, _, target, _ = table_of_durations("weibull", n=200)
        options = {**SMALL, "distribution": "weibull"}
        found = EpiBoostSurvivalRegressor(device="cuda", **options).fit(table, target)
        assert emulated
        np.testing.assert_array_equal(
            found.forest_.leaf, EpiBoostSurvivalRegressor(**options).fit(table, target).forest_.leaf
        )

    def test_more_trees_are_added_on_the_gpu(self, emulated):
        model = EpiBoostRegressor(device="cuda", warm_start=True, **SMALL).fit(X, y)
        model.set_params(n_estimators=12).fit(X, y)
        assert len(emulated) == 2
        expected = EpiBoostRegressor(**{**SMALL, "n_estimators": 12}).fit(X, y)
        np.testing.assert_array_equal(model.forest_.leaf, expected.forest_.leaf)

    @pytest.mark.parametrize("options", [{}, {"monotonic_constraints": [1, 0, 0]}])
    def test_leaf_wise_trees_are_trained_there_too(self, emulated, options):
        options = {**SMALL, "max_depth": None, "max_leaves": 5, **options}
        found = EpiBoostRegressor(device="cuda", **options).fit(X, y)
        assert emulated
        expected = EpiBoostRegressor(**options).fit(X, y)
        for name in ("feature", "threshold", "parent", "leaf", "count"):
            np.testing.assert_array_equal(getattr(found.forest_, name), getattr(expected.forest_, name))

    def test_the_size_of_trees_is_the_one_that_the_cpu_chooses(self, monkeypatch):
        trained = []

        def train(tables, *arguments):
            trained.extend(table.recipe.leaves for table in tables)
            return train_here(tables, *arguments)

        emulated_cupy.pretend_a_gpu(monkeypatch)
        monkeypatch.setattr("epiboost.engines.cuda.training.train_on_gpu", train)
        monkeypatch.setattr(training_on_device, "is_gpu_used", lambda name, **_: name != "cpu")
        monkeypatch.setattr(training_on_device, "device_errors", lambda _: nullcontext())
        monkeypatch.setattr("epiboost._boosting.capacity._MANY_ROWS", 0)  # leaf-wise trees are candidates
        table = rng.integers(0, 4, (300, 3)).astype(float)
        target = (table[:, 0] > 1) * (table[:, 1] > 1) * (table[:, 2] > 1) + rng.normal(scale=0.01, size=300)
        options = {**SMALL, "max_depth": "auto", "out_of_fold": 3}
        found, expected = (EpiBoostRegressor(device=name, **options).fit(table, target) for name in ("cuda", "cpu"))
        assert found.capacity_ == expected.capacity_
        assert found.capacity_.max_leaves == 64
        assert set(trained) == {0, 64}
        np.testing.assert_array_equal(found.forest_.leaf, expected.forest_.leaf)

    def test_what_the_gpu_cannot_train_is_trained_on_the_cpu(self, emulated, monkeypatch):
        monkeypatch.setattr("epiboost.engines.cuda.training.unsupported", lambda _: "max_depth")
        with pytest.warns(UserWarning, match="max_depth are trained on the CPU"):
            found = EpiBoostRegressor(device="cuda", **SMALL).fit(X, y)
        assert not emulated
        np.testing.assert_array_equal(found.forest_.leaf, EpiBoostRegressor(**SMALL).fit(X, y).forest_.leaf)

    @pytest.mark.parametrize("leaves", [0, 31])
    def test_auto_trains_leaf_wise_trees_on_the_cpu(self, leaves):
        recipe = SimpleNamespace(trees=1_000, leaves=leaves)
        table = SimpleNamespace(y=np.zeros(1_000_000), seeds=range(10), recipe=recipe)
        assert training_on_device._pays(table) == (leaves == 0)

    def test_auto_trains_on_the_cpu_if_the_gpu_fails(self, emulated, monkeypatch):
        from epiboost.engines.cuda import training

        def fail(*_):
            message = "too little memory"
            raise DeviceError(message)

        monkeypatch.setattr(training, "train_on_gpu", fail)
        with pytest.warns(UserWarning, match="device='auto' uses the CPU.*too little memory"):
            model = EpiBoostRegressor(device="auto", **SMALL).fit(X, y)
        assert model.set_params(device="cpu").predict(X).shape == (120,)
        with pytest.raises(DeviceError, match="too little memory"):
            EpiBoostRegressor(device="cuda", **SMALL).fit(X, y)
        assert not emulated


@pytest.mark.usefixtures("emulated")
def test_a_file_of_a_model_does_not_ask_for_a_gpu(tmp_path):
    model = EpiBoostRegressor(device="cuda", **SMALL).fit(X, y)
    model.save(tmp_path / "model.epiboost")
    loaded = load(tmp_path / "model.epiboost")
    assert loaded.device == "cpu"
    np.testing.assert_array_equal(loaded.predict(X), model.set_params(device="cpu").predict(X))


class TestTensors:
    def test_a_tensor_on_the_host_is_like_an_array(self):
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        model = EpiBoostRegressor(**SMALL).fit(torch.from_numpy(X), torch.from_numpy(y))
        np.testing.assert_array_equal(model.predict(torch.from_numpy(X)), model.predict(X))

    def test_a_list_and_a_frame_stay_as_they_are(self):
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        frame = pandas.DataFrame(X)
        assert on_host(frame) is frame


@pytest.mark.cuda
@pytest.mark.skipif(not device.is_available(), reason="needs CuPy and an NVIDIA GPU")
class TestOnAGpu:
    @pytest.mark.parametrize("ensemble", ["sglb", "sgb", "virtual", "bootstrap", "single"])
    def test_sanitized_training_has_the_bits_of_the_cpu(self, ensemble):
        options = {**SMALL, "ensemble": ensemble}
        found = EpiBoostRegressor(device="cuda", **options).fit(X, y)
        expected = EpiBoostRegressor(**options).fit(X, y)
        np.testing.assert_array_equal(found.forest_.leaf, expected.forest_.leaf)

    def test_tensors_stay_where_they_are(self):
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        model = EpiBoostRegressor(device="cuda", **SMALL).fit(torch.from_numpy(X).cuda(), torch.from_numpy(y).cuda())
        tensor = torch.from_numpy(X).cuda()
        for name in ("cpu", "cuda", "auto"):
            predicted = model.set_params(device=name).predict(tensor)
            assert predicted.device == tensor.device
            np.testing.assert_array_equal(predicted.cpu().numpy(), model.set_params(device="cpu").predict(X))
