"""What keeps a model keeps it as it was, and a model in a pipeline or a search is asked as one on its own."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 2))
Y = X[:, 0] + 0.3 * RANDOM.normal(size=300)
LABELS = np.where(Y > 0.0, "yes", "no")
SMALL = {"n_members": 3, "n_estimators": 30, "max_depth": 3, "n_jobs": 1, "random_state": 0}
TASKS = {"regressor": (EpiBoostRegressor, Y), "classifier": (EpiBoostClassifier, LABELS)}
every_task = pytest.mark.parametrize("task", sorted(TASKS))


@every_task
def test_a_calibrated_model_does_not_change_when_its_model_is_fitted_anew(task, tmp_path):
    kind, y = TASKS[task]
    model = kind(**SMALL)
    calibrated = model.fit(X[:150], y[:150]).calibrate(X[150:], y[150:])
    before = calibrated.predict_posterior(X).parameters
    model.fit(X[:150, ::-1], y[149::-1])
    np.testing.assert_array_equal(calibrated.predict_posterior(X).parameters, before)
    calibrated.save(tmp_path / "calibrated.epib")
    again = type(calibrated).load(tmp_path / "calibrated.epib")
    np.testing.assert_array_equal(again.predict_posterior(X).parameters, before)
