"""The objective of every family: gradient, metric, parameters and checks, in NumPy and in the native core."""

import numpy as np
import pytest

from epiboost._boosting.capacity import Capacity
from epiboost._boosting.objectives import OBJECTIVES, NumberObjective, distribution_named, objective_from_header
from epiboost._boosting.recipe import Recipe
from epiboost._inputs.dataset import Dataset
from epiboost._native import available_instruction_sets, native
from epiboost._progress import no_progress
from epiboost.engines.native.engine import NativeEngine
from tests.support.families import FAMILIES, LEARNED, objective_of, scores_of, targets_of

N = 200


@pytest.fixture(params=LEARNED)
def name(request):
    """The name of a family."""
    return request.param


@pytest.fixture
def objective(name):
    """The objective of a target of that family."""
    return objective_of(name, targets_of(name, 500))


@pytest.fixture
def scores(name, objective):
    """Scores around the start."""
    return scores_of(name, objective, N)


@pytest.fixture
def y(name, objective, scores):
    """Encoded draws from the distributions of the scores, which single precision holds exactly."""
    distribution = distribution_named(name, FAMILIES[name].settings)
    drawn = distribution.sample(objective.parameters(scores), np.random.default_rng(1))
    return objective.encode(drawn).astype(np.float32).astype(np.float64)


def slopes(objective, scores, y):
    """Return the numerical derivative of each row's loss by each of its scores."""
    step = 1e-5 * np.eye(scores.shape[1])
    up, down = ([objective.row_losses(scores + sign * one, y) for one in step] for sign in (1, -1))
    return (np.stack(up, axis=1) - np.stack(down, axis=1)) / 2e-5


def test_the_gradient_is_the_slope_of_the_loss_in_the_metric(name, objective, scores, y):
    if not FAMILIES[name].has_diagonal_metric:
        pytest.skip("the metric is not diagonal")
    expected = slopes(objective, scores, y) * objective.noise_scale(scores) ** 2
    np.testing.assert_allclose(objective.gradient(scores, y), expected, rtol=1e-5, atol=1e-6)


def test_the_metric_is_the_fisher_information(name, objective):
    if not FAMILIES[name].has_exact_metric:
        pytest.skip("the metric is an approximation")
    distribution = distribution_named(name, FAMILIES[name].settings)
    for row in scores_of(name, objective, 3):
        scores = np.tile(row, (40_000, 1))
        drawn = objective.encode(distribution.sample(objective.parameters(scores), np.random.default_rng(0)))
        slope = slopes(objective, scores, drawn) * objective.noise_scale(scores)
        np.testing.assert_allclose(slope.T @ slope / len(slope), np.eye(len(row)), atol=0.06)


def test_the_loss_is_the_likelihood_in_the_units_of_the_target(name, objective, scores, y):
    weight = np.arange(1.0, N + 1.0)
    target = objective.decode(y)
    np.testing.assert_allclose(objective.encode(target), y, rtol=1e-9, atol=1e-9)
    density = distribution_named(name, FAMILIES[name].settings).logpdf(objective.parameters(scores), target)
    assert objective.loss(scores, y, weight) == pytest.approx(-np.average(density, weights=weight))


def test_a_correction_does_not_change_the_gradient_of_the_location(objective, scores, y):
    plain, corrected = (objective.gradient(scores, y, correction) for correction in (0.0, np.full(N, 0.3)))
    np.testing.assert_array_equal(plain[:, 0], corrected[:, 0])


def test_a_correction_moves_the_location_of_the_dispersion(objective, scores, y):
    if scores.shape[1] == 1:
        pytest.skip("the family has no dispersion")
    moved = scores - 0.3 * (np.arange(scores.shape[1]) == 0)
    corrected = objective.gradient(scores, y, np.full(N, 0.3))
    np.testing.assert_allclose(corrected[:, 1:], objective.gradient(moved, y)[:, 1:], rtol=1e-9, atol=1e-9)


def test_an_objective_is_the_same_after_a_file(objective):
    assert objective_from_header(objective.to_header()) == objective


@pytest.mark.parametrize("extreme", [1e-30, 1.0, 1e30])
def test_extreme_targets_have_finite_gradients_and_parameters(name, extreme):
    y = targets_of(name, 50) * extreme
    y[0] = extreme
    y = y if OBJECTIVES[name].is_possible(y).all() else np.full(50, max(extreme, 1.0)).round()
    for target in (y, np.append(y, y.max() * 1e6)):
        objective = objective_of(name, target)
        scores = np.tile(objective.start, (len(target), 1))
        for moved in (scores, scores + 50.0, scores - 50.0):
            assert np.isfinite(objective.gradient(moved, objective.encode(target))).all()
            assert np.isfinite(objective.noise_scale(moved)).all()
            assert np.isfinite(objective.parameters(moved)).all()
            distribution_named(name, FAMILIES[name].settings).check(objective.parameters(moved))


def test_impossible_targets_are_refused_with_what_is_allowed(name):
    outside = FAMILIES[name].outside
    if not outside:
        OBJECTIVES[name].check_target(np.array([-1.0, 0.0, 0.5]))
        return
    y = np.append(targets_of(name, 5), outside)
    with pytest.raises(ValueError, match=f"distribution='{name}' is for .*; y holds {outside[0]:g} in row 5"):
        OBJECTIVES[name].check_target(y)


def test_the_start_does_not_depend_on_how_equal_rows_are_written(name):
    y = targets_of(name, 40)
    weight = np.arange(40) % 3 + 1.0
    merged, copied = objective_of(name, y, weight), objective_of(name, np.repeat(y, weight.astype(int)))
    np.testing.assert_allclose(merged.start, copied.start, atol=1e-9)
    np.testing.assert_allclose(merged.units, copied.units)


def test_a_constant_target_has_an_objective(name):
    y = np.ones(5)
    if OBJECTIVES[name].is_possible(y).all():
        objective = objective_of(name, y)
        parameters = objective.parameters(objective.start[np.newaxis])
        assert distribution_named(name, FAMILIES[name].settings).mean(parameters) == pytest.approx(1.0, rel=1e-3)


class TestNativeCore:
    """The formulas of the native core are those in NumPy, in single precision."""

    @pytest.fixture(params=available_instruction_sets())
    def core(self, request, monkeypatch):
        """The native module of each instruction set of this machine."""
        monkeypatch.setenv("EPIBOOST_INSTRUCTIONS", request.param)
        native.cache_clear()
        yield native()
        monkeypatch.undo()
        native.cache_clear()

    @staticmethod
    def of_core(core, objective, scores, y, location):
        """Return gradients, noise scales and losses."""
        numbers = scores.astype(np.float32), y.astype(np.float32).ravel(order="F"), location.astype(np.float32)
        return core.family_gradients(objective.code, list(objective.constants), *numbers)

    def test_gradients_and_losses(self, core, objective, scores, y):
        if objective.code < core.FIRST_FAMILY:
            pytest.skip("the family is trained as another")
        location = (scores[:, 0] + 0.25).astype(np.float32).astype(np.float64)
        gradient, noise_scale, loss = self.of_core(core, objective, scores, y, location)
        expected = objective.gradient(scores, y, scores[:, 0] - location)
        np.testing.assert_allclose(gradient, expected, rtol=2e-5, atol=1e-5)
        np.testing.assert_allclose(
            noise_scale, np.broadcast_to(objective.noise_scale(scores), expected.shape), rtol=1e-5
        )
        np.testing.assert_allclose(loss, objective.row_losses(scores, y), rtol=2e-5, atol=1e-5)

    def test_gradients_of_extreme_scores_and_targets_are_finite(self, core, objective):
        if objective.code < core.FIRST_FAMILY:
            pytest.skip("the family is trained as another")
        outputs, columns = (
            len(objective.start),
            np.atleast_2d(objective.encode(targets_of(objective.name, 1)).T).shape[0],
        )
        extremes = [-1e18, -100.0, -1.0, 0.0, 1.0, 100.0, 1e18]
        grid = np.stack(np.meshgrid(*[extremes] * (min(outputs, 2) + 1), indexing="ij"), axis=-1).reshape(
            -1, min(outputs, 2) + 1
        )
        scores = np.tile(objective.start, (len(grid), 1))
        scores[:, : min(outputs, 2)] = grid[:, :-1]
        y = np.repeat(grid[:, -1:], columns, axis=1)
        gradient, noise_scale, _ = self.of_core(core, objective, scores, y, scores[:, 0])
        assert np.isfinite(gradient).all()
        assert np.isfinite(noise_scale).all()
        assert (noise_scale > 0.0).all()


def test_an_objective_without_a_native_family_says_so():
    class Unknown(NumberObjective):
        """A family that the native core does not have."""

        name = "unknown"
        distribution_type = OBJECTIVES["laplace"].distribution_type
        support = "numbers"
        is_possible = OBJECTIVES["laplace"].is_possible
        start = of = gradient = parameters = to_header = from_header = None

    with pytest.raises(ValueError, match="the native core has no family 'unknown'; it has student, laplace"):
        Unknown().code  # noqa: B018 (raises)


@pytest.mark.parametrize("name", ["normal", *LEARNED])
def test_losses_of_the_core_on_other_rows_are_those_of_the_posterior(name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), 3.0 * targets_of(name, 120)
    X_other, y_other, weight = rng.normal(size=(40, 2)), 3.0 * targets_of(name, 40, seed=1), rng.uniform(1.0, 2.0, 40)
    if name != "normal" and not OBJECTIVES[name].is_possible(np.append(y, y_other)).all():
        y, y_other = y / 3.0, y_other / 3.0
    settings = () if name == "normal" else OBJECTIVES[name].settings_for(y, np.ones(120))
    evaluation = Dataset(X_other, y_other, weight, 0, name, settings=settings)
    data = Dataset(X, y, np.ones(120), 0, name, evaluation=evaluation, settings=settings)
    specs = Recipe(ensemble="single").with_capacity(Capacity(7, 0.1, 2, None)).specs(0)
    forest = NativeEngine().fit(data, specs, no_progress)
    (parameters,) = forest.predict(X_other)
    density = distribution_named(name, settings).logpdf(parameters, y_other)
    assert forest.evaluation[0, -1] == pytest.approx(-np.average(density, weights=weight), rel=1e-5)
