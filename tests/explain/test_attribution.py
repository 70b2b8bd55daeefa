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


def test_values_that_cancel_each_other_are_said_to():
    found = attribution([[5.0, -5.5], [4.0, -4.2]])
    assert found.cancellation == pytest.approx([5.5, 4.2])
    assert "100% of the rows" in repr(found)
    assert "groups='correlated'" in found.caution
    grouped = attribution([[5.0, -5.5]], groups=(("a",), ("b", "c")))
    assert "groups='correlated'" not in grouped.caution
    assert grouped.caution


def test_values_of_about_the_number_explained_need_no_caution():
    assert not attribution([[0.5, -0.4], [2.0, 1.0]]).caution
    assert not attribution([[0.0, 0.0]]).caution
    assert not attribution(np.empty((0, 2))).caution


def test_a_prediction_near_the_background_mean_is_judged_by_the_other_rows():
    found = attribution([[2.0, -2.0], [2.0, 1.0]], measure="mean", unit="target")
    assert found.cancellation.max() < 1.0
    assert attribution([[9.0, -8.9]], measure="mean", unit="target").caution
