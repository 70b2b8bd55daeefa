"""Headers and arrays are read from a model file as they were written; other types are refused."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from epiboost._files.model_file import read, write
from tests.support.platforms import posix_only
from tests.support.signed_files import DIGEST_BYTES, split_file

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "U1", "U7"]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)


# Reading what was written


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_any_type_and_shape_are_read_as_written(path, dtype):
    random = np.random.default_rng(0)
    shapes = [(), (0,), (1,), (5,), (0, 3), (2, 0, 3), (2, 3, 4), (100,)]
    arrays = {str(shape): random.integers(0, 2, size=shape).astype(dtype) for shape in shapes}
    write(path, {}, arrays)
    _, stored = read(path)
    assert list(stored) == list(arrays)
    for name, array in arrays.items():
        assert (stored[name].dtype, stored[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(stored[name], array)


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_a_header_is_read_as_written(tmp_path_factory, header):
    path = tmp_path_factory.mktemp("header") / "model"
    write(path, header, {})
    assert read(path) == (header, {})


@settings(deadline=None, max_examples=30)
@given(st.lists(arrays(np.float64, array_shapes(min_dims=1, min_side=0)), max_size=4))
def test_any_numbers_are_read_bit_by_bit(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("arrays") / "model"
    write(path, {}, {str(number): array for number, array in enumerate(values)})
    _, stored = read(path)
    assert [array.tobytes() for array in stored.values()] == [array.tobytes() for array in values]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4"),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(10)[::-3],
        np.broadcast_to(1.5, (2, 2)),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["é", "字", "\U0001f600", ""], dtype=">U1"),
    ],
    ids=["big-endian", "transposed", "strided", "broadcast", "Fortran order", "big-endian text"],
)
def test_arrays_of_any_memory_layout_are_stored_the_same_way(path, array):
    write(path, {}, {"array": array})
    stored = read(path)[1]["array"]
    np.testing.assert_array_equal(stored, array)
    assert stored.flags.c_contiguous
    assert stored.dtype == array.dtype.newbyteorder("<")


def test_arrays_are_writeable_and_start_at_multiples_of_64_bytes(path, content):
    _, arrays = read(path)
    assert all(array.flags.writeable for array in arrays.values())
    header, payload = split_file(content)
    assert all(entry["offset"] % 64 == 0 for entry in header["arrays"])
    assert (len(content) - DIGEST_BYTES - len(payload)) % 64 == 0


def test_equal_contents_give_equal_files(path, content):
    write(path, *read(path))
    assert path.read_bytes() == content


def test_files_may_be_named_by_strings_or_paths(path, content):
    assert read(str(path))[0] == read(path)[0] == read(os.fspath(path))[0]
    write(str(path), {"other": 1}, {})
    assert read(path) == ({"other": 1}, {})
    assert path.read_bytes() != content


@posix_only
def test_writing_to_a_link_replaces_the_file_it_points_to(path, content, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(path)
    write(link, {"new": True}, {})
    assert link.is_symlink()
    assert read(path)[0] == {"new": True}
    assert path.read_bytes() != content


def test_a_new_file_has_the_default_permissions(path, tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    write(path, {}, {})
    assert path.stat().st_mode == ordinary.stat().st_mode


# What cannot be stored


@pytest.mark.parametrize(
    "array",
    [
        np.array([1, "a"], dtype=object),
        np.array([1j]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([b"bytes"]),
        np.zeros(2, dtype=[("a", "f8")]),
        np.zeros(2, dtype=np.longdouble),
    ],
    ids=["object", "complex", "date", "bytes", "record", "long double"],
)
def test_arrays_of_unsupported_types_are_refused(path, array):
    with pytest.raises(TypeError, match=r"array 'odd' has dtype .*, a model file holds bool, int8-64"):
        write(path, {}, {"odd": array})
    assert not path.exists()


def test_text_of_width_zero_is_stored_as_empty_text(path):
    write(path, {}, {"empty": np.zeros(2, dtype=[("text", "U0"), ("number", "f8")])["text"]})
    assert read(path)[1]["empty"].tolist() == ["", ""]


def test_an_array_of_more_than_32_dimensions_is_refused(path):
    with pytest.raises(TypeError, match="at most 32"):
        write(path, {}, {"deep": np.zeros((1,) * 33)})


@pytest.mark.parametrize("name", ["", 3, None])
def test_an_array_name_that_is_empty_or_not_text_is_refused(path, name):
    with pytest.raises(TypeError, match="name must be a string that is not empty"):
        write(path, {}, {name: np.zeros(1)})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1: 2}, np.int64(3), np.zeros(2), b"bytes", {1, 2}, float("nan"), float("inf"), nested(100_000)],
    ids=["tuple", "key", "NumPy number", "array", "bytes", "set", "NaN", "infinity", "depth"],
)
def test_a_header_that_json_would_change_is_refused(path, value):
    with pytest.raises(TypeError, match="the header must hold JSON values only"):
        write(path, {"value": value}, {})
    assert not path.exists()
