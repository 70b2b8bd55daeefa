"""Encodings in model files and pickles."""

import pickle

import numpy as np
import pytest

from epiboost._encoding.encoding import Encoding
from tests.support.encodings import coded_table, fit_and_encode


def test_an_encoding_survives_a_model_file_and_a_pickle():
    X, y, weight = coded_table(n=3000, sizes=(0, 61, 61, 3))
    encoding, _ = fit_and_encode(X, y, weight, sizes=(0, 61, 61, 3))
    for again in (Encoding.from_file(*encoding.to_file()), pickle.loads(pickle.dumps(encoding))):  # noqa: S301
        np.testing.assert_array_equal(again.transform(X)[0], encoding.transform(X)[0])


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("category_sizes", lambda array: -array, "category_sizes must be a one-dimensional int64 array"),
        ("category_sizes", lambda array: array[:-1], "group_columns must be columns that have codes"),
        ("plain_columns", lambda array: array + 1, "every column must be encoded exactly once"),
        ("plain_columns", lambda array: np.append(array, array[0]), "every column must be encoded exactly once"),
        ("plain_columns", lambda array: array.astype(np.int32), "plain_columns must be a one-dimensional int64 array"),
        ("group_columns", lambda array: array + 1, "group_columns must be columns that have codes"),
        ("group_columns", lambda array: array[:, ::-1].copy(), "group_columns must be columns that have codes"),
        ("group_columns", lambda array: array[:, [0, 1, 0]], "must have their empty entries last"),
        ("group_columns", lambda array: array[:, [0, 0, 2]], "encoded exactly once|must be from 0 to"),
        ("group_columns", lambda array: array[:, :1], "must have 3 numbers per lookup"),
        ("cut_columns", lambda array: array + 1, "cut_columns must be numeric columns"),
        ("cut_columns", lambda array: array[:0], "cut_borders must have borders for each"),
        ("cut_columns", lambda array: array.astype(float), "cut_columns must be a one-dimensional int64 array"),
        ("cut_borders", lambda array: array[::-1].copy(), "borders must ascend"),
        ("cut_borders", lambda array: array * np.nan, "borders must ascend and be finite"),
        ("cut_offsets", lambda array: array + 1, "offsets must ascend from 0"),
        ("group_shapes", lambda array: array - 1, "group_shapes must give each lookup at least one"),
        ("group_shapes", lambda array: array * 1000, "group_shapes must give each lookup at least one"),
        ("group_keys", lambda array: array[::-1].copy(), "group_keys must ascend within each lookup"),
        ("group_keys", lambda array: array[:-1], "group_shapes must give each lookup at least one"),
        ("group_rows", lambda array: -array, "group_rows must be positive, one per key"),
        ("group_rows", lambda array: array[:-1], "group_rows must be positive, one per key"),
        ("group_values", lambda array: array * np.nan, "group_values must be finite"),
        ("group_values", lambda array: array[:-1], "group_values must be finite and fit"),
    ],
)
def test_inconsistent_arrays_of_a_model_file_are_errors(name, change, fault):
    X, _, weight = coded_table(n=4000)
    week = (np.argsort(np.argsort(X[:, 0])) // 200).astype(int)
    y = np.random.default_rng(0).normal(size=(20, 41))[week, np.nan_to_num(X[:, 1], nan=40.0).astype(int)]
    header, arrays = fit_and_encode(X, y, weight)[0].to_file()
    assert arrays["cut_columns"].tolist() == [0]
    with pytest.raises(ValueError, match=fault):
        Encoding.from_file(header, {**arrays, name: change(arrays[name])})


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None])
def test_an_invalid_seed_is_an_error(seed):
    _, arrays = fit_and_encode(*coded_table())[0].to_file()
    with pytest.raises(ValueError, match="seed"):
        Encoding.from_file({"seed": seed}, arrays)
