"""Prediction: models that are not fitted, empty tables and extreme values."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from tests.support.frames import FRAMES, every_library, named_columns
from tests.support.models import every_estimator, small_classifier, small_estimator, small_regressor
from tests.support.processes import run_python
from tests.support.tables import TARGETS, X, Y


@every_estimator
@pytest.mark.parametrize("method", ["predict", "predict_posterior", "predict_uncertainty"])
def test_prediction_before_fit_raises_not_fitted_error(estimator, method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(small_estimator(estimator), method)(X)


@pytest.mark.parametrize("method", ["predict_interval", "predict_quantile"])
def test_intervals_and_quantiles_before_fit_raise_not_fitted_error(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(small_regressor(), method)(X, 0.5)


def test_probabilities_before_fit_raise_not_fitted_error():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        small_classifier().predict_proba(X)


@every_estimator
def test_a_table_without_rows_at_prediction_is_refused(estimator):
    model = small_estimator(estimator).fit(X, TARGETS[estimator])
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict(X[:0])


@every_library
def test_a_frame_without_rows_at_prediction_is_refused(library):
    model = small_regressor().fit(FRAMES[library](named_columns(X)), Y)
    with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
        model.predict(FRAMES[library](named_columns(X[:0])))


@every_estimator
def test_extreme_and_missing_values_get_finite_predictions(estimator):
    model = small_estimator(estimator).fit(X, TARGETS[estimator])
    extreme = np.array([[np.nan] * 3, [1e300] * 3, [-1e300] * 3, [5e-324] * 3])
    assert np.isfinite(model.predict_posterior(extreme).parameters).all()


def test_after_a_failed_fit_a_table_of_other_columns_is_refused():
    ended = run_python(
        """
        import numpy as np
        from epiboost import EpiBoostRegressor
        from sklearn.exceptions import NotFittedError

        random = np.random.default_rng(0)
        narrow, wide = random.normal(size=(60, 3)), random.normal(size=(60, 400))
        model = EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0).fit(narrow, narrow[:, 0])
        try:
            model.fit(wide, 1e200 * wide[:, 0])
        except ValueError as error:
            assert "rescale y" in str(error)
        try:
            model.predict(wide)
        except (NotFittedError, ValueError):
            print("refused")
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "refused\n", "")


def test_the_forest_refuses_a_table_with_another_number_of_columns():
    ended = run_python(
        """
        import numpy as np
        from epiboost import EpiBoostRegressor

        table = np.random.default_rng(0).normal(size=(60, 3))
        forest = EpiBoostRegressor(n_members=2, n_estimators=5, random_state=0).fit(table, table[:, 0]).forest_
        for columns in (1, 2, 4, 400):
            try:
                forest.predict(np.ones((5, columns)))
            except ValueError:
                print("refused", columns)
        """
    )
    assert (ended.returncode, ended.stdout.split(), ended.stderr) == (
        0, ["refused", "1", "refused", "2", "refused", "4", "refused", "400"], "",
    )  # fmt: skip
