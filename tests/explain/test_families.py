"""Explanations of models of families beside the Normal."""

import numpy as np
import pytest

from epiboost.explain import attribute
from tests.support.family_models import FAMILIES, family_model


@pytest.mark.parametrize("family", FAMILIES)
def test_values_of_every_measure_add_up_to_the_prediction(family):
    model, X, _ = family_model(family)
    uncertainty = model.predict_uncertainty(X[:3])
    expected = {"mean": model.predict(X[:3]), "data": uncertainty.data, "knowledge": uncertainty.knowledge}
    for measure, values in expected.items():
        found = attribute(model, X[:3], measure=measure, random_state=0)
        np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, values, rtol=1e-9)
        assert np.abs(found.values[:, 0]).mean() > 0.0
