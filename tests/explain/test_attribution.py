"""The result of an explanation: order and names of features, and conversion to frames and to shap."""

import numpy as np
import pytest

from epiboost.explain import Attribution


def attribution(values, **options):
    values = np.asarray(values)
    options = {"measure": "total", "unit": "variance"} | options
    return Attribution(values, np.ones(len(values)), values, ("a", "b"), **options)


def test_features_are_listed_in_order_of_importance():
    found = attribution([[0.1, -0.9], [0.2, 0.3]])
    assert found.order.tolist() == [1, 0]
    assert found.first(2).tolist() == [["a", ""], ["b", "a"]]
    assert "first b, a" in repr(found)


def test_the_output_is_the_sum_of_base_and_values():
    assert attribution([[0.1, -0.9], [0.2, 0.3]]).output == pytest.approx([0.2, 1.5])


def test_features_that_add_nothing_are_not_named():
    assert attribution([[0.0, 0.0], [0.5, -0.1]]).first(2).tolist() == [["", ""], ["a", ""]]
    zero = attribution([[0.0, 0.0]])
    assert zero.leading == ()
    assert "1 row, 2 features, first none" in repr(zero)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_it_becomes_a_frame_with_one_column_per_feature(backend):
    pytest.importorskip(backend)
    assert list(attribution([[0.1, -0.9], [0.2, 0.3]]).to_frame(backend)["b"].to_numpy()) == [-0.9, 0.3]


def test_an_unknown_frame_library_is_refused():
    with pytest.raises(ValueError, match="backend must be one of"):
        attribution([[0.1, -0.9]]).to_frame("dask")


def test_its_fields_make_a_shap_explanation():
    shap = pytest.importorskip("shap", reason="explaining needs shap")
    found = attribution([[0.1, -0.9], [0.2, 0.3]])
    names = ("values", "base_values", "data", "feature_names")
    explanation = shap.Explanation(**{name: getattr(found, name) for name in names})
    assert explanation[1].base_values + explanation[1].values.sum() == pytest.approx(found.output[1])
