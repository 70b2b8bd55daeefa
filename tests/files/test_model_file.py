"""The model file: what goes in comes out, what is damaged is refused, and a failed write leaves no trace."""

import errno
import hashlib
import json
import os
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from epiboost._files import model_file
from epiboost._files.model_file import FORMAT_VERSION, MAGIC, ModelFileError, read, write

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "U1", "U7"]
PREFIX = struct.Struct("<4sIQ")
DIGEST_BYTES = 32

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(st.text(), values, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.epiboost"


@pytest.fixture
def content(path):
    """Return the bytes of a small model file with arrays of several types, one of them empty."""
    arrays = {
        "borders": np.linspace(0.0, 1.0, 13),
        "splits": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
        "nothing": np.empty((0, 4), dtype=np.float32),
        "classes": np.array(["no", "yes", "perhaps"]),
        "used": np.array([True, False, True]),
    }
    write(path, {"kind": "classifier", "trees": 3, "rates": [0.1, 0.2], "nested": {"seed": None}}, arrays)
    return path.read_bytes()


def sign(payload):
    return payload + hashlib.sha256(payload).digest()


def take_apart(content):
    """Return the JSON header and the bytes of the arrays."""
    _, _, length = PREFIX.unpack_from(content)
    first = -(-(PREFIX.size + length) // 64) * 64
    return json.loads(content[PREFIX.size : PREFIX.size + length]), content[first:-DIGEST_BYTES]


def put_together(text, payload):
    """Make a signed file of any header text and any bytes after it."""
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(text)) + text
    return sign(prefix + bytes(-len(prefix) % 64) + payload)


def forge(content, change):
    """Change the header of a file and sign it again."""
    header, payload = take_apart(content)
    change(header)
    return put_together(json.dumps(header).encode(), payload)


def refuses(path, content, fault=None):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=fault) as caught:
        read(path)
    assert str(path) in str(caught.value)


# What goes in comes out


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_of_any_shape_comes_back_as_it_was(path, dtype):
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
def test_a_header_comes_back_as_it_was(tmp_path_factory, header):
    path = tmp_path_factory.mktemp("header") / "model"
    write(path, header, {})
    assert read(path) == (header, {})


@settings(deadline=None, max_examples=30)
@given(st.lists(arrays(np.float64, array_shapes(min_dims=1, min_side=0)), max_size=4))
def test_any_numbers_come_back_bit_by_bit(tmp_path_factory, values):
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
def test_any_layout_in_memory_is_stored_in_the_same_way(path, array):
    write(path, {}, {"array": array})
    stored = read(path)[1]["array"]
    np.testing.assert_array_equal(stored, array)
    assert stored.flags.c_contiguous
    assert stored.dtype == array.dtype.newbyteorder("<")


def test_arrays_can_be_written_to_and_lie_at_multiples_of_64_bytes(path, content):
    _, arrays = read(path)
    assert all(array.flags.writeable for array in arrays.values())
    header, payload = take_apart(content)
    assert all(entry["offset"] % 64 == 0 for entry in header["arrays"])
    assert (len(content) - DIGEST_BYTES - len(payload)) % 64 == 0


def test_equal_models_have_equal_files(path, content):
    write(path, *read(path))
    assert path.read_bytes() == content


def test_strings_and_paths_name_files(path, content):
    assert read(str(path))[0] == read(path)[0] == read(os.fspath(path))[0]
    write(str(path), {"other": 1}, {})
    assert read(path) == ({"other": 1}, {})
    assert path.read_bytes() != content


def test_a_link_keeps_its_place(path, content, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(path)
    write(link, {"new": True}, {})
    assert link.is_symlink()
    assert read(path)[0] == {"new": True}
    assert path.read_bytes() != content


def test_a_new_file_has_the_permissions_of_any_new_file(path, tmp_path):
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
def test_an_array_of_another_type_is_refused(path, array):
    with pytest.raises(TypeError, match=r"array 'odd' has dtype .*, a model file holds bool, int8-64"):
        write(path, {}, {"odd": array})
    assert not path.exists()


def test_text_without_width_is_given_one(path):
    write(path, {}, {"empty": np.zeros(2, dtype=[("text", "U0"), ("number", "f8")])["text"]})
    assert read(path)[1]["empty"].tolist() == ["", ""]


def test_a_very_deep_array_is_refused(path):
    with pytest.raises(TypeError, match="at most 32"):
        write(path, {}, {"deep": np.zeros((1,) * 33)})


@pytest.mark.parametrize("name", ["", 3, None])
def test_an_array_without_a_proper_name_is_refused(path, name):
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


# A failed write leaves no trace


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*_):
    raise KeyboardInterrupt


def half_a_file(chunks):
    yield next(iter(chunks))
    full_disk()


@pytest.mark.parametrize("exists", [True, False], ids=["over a file", "a new file"])
@pytest.mark.parametrize(
    ("module", "step", "failure"),
    [
        (os, "fsync", full_disk),
        (os, "replace", full_disk),
        (os, "fsync", interrupt),
        (os, "replace", interrupt),
        (model_file, "_signed", half_a_file),
    ],
    ids=["disk full at fsync", "disk full at replace", "interrupt at fsync", "interrupt at replace", "half a file"],
)
def test_a_write_that_fails_leaves_everything_as_it_was(path, module, step, failure, exists):
    if exists:
        write(path, {"old": True}, {"array": np.arange(1000)})
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, step, failure)
        with pytest.raises((OSError, KeyboardInterrupt)):
            write(path, {"new": True}, {"array": np.arange(2000)})
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_the_bytes_reach_the_disk_before_they_take_the_place(path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *args: (steps.append("fsync"), fsync(*args)))
    monkeypatch.setattr(os, "replace", lambda *args: (steps.append("replace"), replace(*args)))
    write(path, {}, {})
    assert steps == ["fsync", "replace"]


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "nowhere" / "model", {}, {})


@pytest.mark.parametrize("call", [read, lambda path: write(path, {}, {})], ids=["read", "write"])
def test_a_directory_is_no_model_file(tmp_path, call, monkeypatch):
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(IsADirectoryError):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_missing(path):
    with pytest.raises(FileNotFoundError):
        read(path)


# What is damaged is refused


def flip_a_bit(random, content):
    position = random.integers(len(content))
    flipped = bytearray(content)
    flipped[position] ^= 1 << random.integers(8)
    return bytes(flipped)


def cut_off(random, content):
    return content[: random.integers(len(content))]


def insert(random, content):
    position = random.integers(len(content) + 1)
    return content[:position] + random.bytes(random.integers(1, 200)) + content[position:]


def leave_out(random, content):
    start, stop = np.sort(random.choice(len(content) + 1, size=2, replace=False))
    return content[:start] + content[stop:]


def swap_chunks(random, content):
    a, b, c, d = np.sort(random.choice(len(content) + 1, size=4, replace=False))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def overwrite(random, content):
    start = random.integers(len(content))
    noise = random.bytes(random.integers(1, 64))
    return (content[:start] + noise + content[start + len(noise) :])[: len(content)]


def foreign(random, _):
    beginnings = [b"", b"PK\x03\x04", b"\x80\x04\x95", b"\x93NUMPY", b"{}", MAGIC, MAGIC + struct.pack("<I", 1)]
    return beginnings[random.integers(len(beginnings))] + random.bytes(random.integers(300))


@pytest.mark.parametrize(
    "damage",
    [flip_a_bit, cut_off, insert, leave_out, swap_chunks, overwrite, foreign],
    ids=lambda damage: damage.__name__,
)
def test_damage_of_any_kind_is_refused(path, content, damage):
    random = np.random.default_rng(0)
    for _ in range(200):
        damaged = damage(random, content)
        if damaged != content:
            refuses(path, damaged)


def test_every_single_bit_counts(path, content):
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 1 << position % 8
        refuses(path, bytes(flipped))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "too short: 0 bytes, a model file has at least 48"),
        (b"EPIB", "too short: 4 bytes"),
        (b"PK\x03\x04" + bytes(100), r"begins with b'PK.*', a model file with b'EPIB'"),
        (sign(PREFIX.pack(MAGIC, 2, 0)), "format version 2, this version of epiboost reads version 1"),
        (sign(PREFIX.pack(MAGIC, 0, 0)), "format version 0, this version of epiboost reads version 1"),
        (PREFIX.pack(MAGIC, 1, 0) + bytes(32), "checksum does not match"),
        (sign(PREFIX.pack(MAGIC, 1, 1)), "header claims 1 bytes, the file has room for 0"),
        (sign(PREFIX.pack(MAGIC, 1, 2**64 - 1)), "header claims 18446744073709551615 bytes"),
        (put_together(b"", b""), "not JSON"),
        (put_together(b"{", b""), "not JSON"),
        (put_together(b"\xff", b""), "not JSON"),
        (put_together(b'{"header":{"x":NaN},"arrays":[]}', b""), "NaN is not JSON"),
        (put_together(b'{"header":{"x":' + b"9" * 5000 + b'},"arrays":[]}', b""), "not JSON"),
        (put_together(b"[" * 100_000, b""), "nested too deeply"),
        (
            put_together(b'{"header":{},"arrays":[' + b"[" * 900 + b"]" * 900 + b"]}", b""),
            "nested too deeply|must have the keys",
        ),
        (put_together(b"[]", b""), "an object with the keys 'header' and 'arrays'"),
        (put_together(b"{}", b""), "an object with the keys 'header' and 'arrays'"),
        (put_together(b'{"header":{},"arrays":[],"more":1}', b""), "an object with the keys"),
        (put_together(b'{"header":[],"arrays":[]}', b""), "an object 'header' and a list 'arrays'"),
        (put_together(b'{"header":{},"arrays":{}}', b""), "an object 'header' and a list 'arrays'"),
        (put_together(b'{"header":{},"arrays":[3]}', b""), "must have the keys .* got 3"),
        (sign(PREFIX.pack(MAGIC, 1, 25) + b'{"header":{},"arrays":[]}' + b"!" * 23), "header is not followed by zeros"),
        (put_together(b'{"header":{},"arrays":[]}', bytes(64)), "arrays end at offset 0, the file has 64 bytes"),
        (sign(PREFIX.pack(MAGIC, 1, 25) + b'{"header":{},"arrays":[]}'), "arrays end at offset 0, the file has -23"),
    ],
)
def test_the_message_says_what_is_wrong(path, content, fault):
    refuses(path, content, fault)


HOSTILE = {
    "name": ["", 5, None, ["borders"], {}],
    "dtype": [
        *("|O", "|O8", "<c16", "<M8[s]", "<f16", "|S4", "|V8", ">f8", "=f8", "f8", "float64", "object", ""),
        *(
            "<U0",
            "<U",
            "<U-1",
            "<U9999999",
            "<U" + "9" * 30,
            "<f8,<f8",
            "<f8\n",
            8,
            None,
            True,
            [["a", "<f8"]],
            {"a": 1},
        ),
    ],
    "shape": [
        *(None, 3, "3", {}, [-1], [1.5], [13.0], [True], ["3"], [None], [[1]], [1] * 33, [10**6], [2**31, 2**31]),
        *([2**63], [10**400], [0, 2**63], [0, 2**61, 2**61], [2**32] * 32),
    ],
    "offset": [-64, -1, 1, 32, 2**40, 2**63, 10**400, 0.0, 64.0, None, True, "0", [0]],
}


@pytest.mark.parametrize("field", HOSTILE)
def test_a_signed_header_that_lies_is_refused(path, content, field):
    for position in range(5):
        for value in HOSTILE[field]:
            header, payload = take_apart(content)
            header["arrays"][position][field] = value
            refuses(path, put_together(json.dumps(header).encode(), payload))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda header: header["arrays"][1].update(offset=0), "array 'splits' is at offset 0, its place is 128"),
        (lambda header: header["arrays"][1].update(offset=192), "array 'splits' is at offset 192, its place is 128"),
        (lambda header: header["arrays"][1].update(name="borders"), "two of its arrays have one name"),
        (lambda header: header["arrays"][4].update(shape=[65]), "array 'used' of 65 bytes reaches past the end"),
        (lambda header: header["arrays"].reverse(), "its place is 0"),
        (lambda header: header["arrays"].pop(), "its arrays end at offset"),
        (lambda header: header["arrays"].pop(0), "its place is 0"),
        (lambda header: header["arrays"][0].pop("offset"), "must have the keys"),
        (lambda header: header["arrays"][0].update(more=1), "must have the keys"),
        (lambda header: header["arrays"][3].update(dtype="<U6"), "array 'classes' is not followed by zeros"),
        (lambda header: header["arrays"][0].update(dtype="|O8"), "dtype '.O8', a model file holds bool, int8-64"),
        (lambda header: header["arrays"][0].update(shape=[-13]), "only whole numbers from 0"),
        (lambda header: header["arrays"][0].update(shape=[13, True]), "only whole numbers from 0"),
        (lambda header: header["arrays"][0].update(shape=[13] + [1] * 32), "a list of at most 32 numbers"),
        (lambda header: header["arrays"][2].update(shape=[0, 2**63]), "larger than any file"),
        (lambda header: header["arrays"][1].update(dtype="|b1"), "neither true nor false"),
        (lambda header: header["arrays"][0].update(dtype="<U2", shape=[13]), "text that is not Unicode"),
    ],
)
def test_the_message_says_where_a_signed_header_lies(path, content, change, fault):
    refuses(path, forge(content, change), fault)


def test_noise_in_a_signed_file_is_refused_or_harmless(path, content):
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(600):
        damage = [flip_a_bit, cut_off, insert, leave_out, swap_chunks, overwrite][random.integers(6)]
        header, payload = take_apart(content)
        text = json.dumps(header).encode()
        if random.random() < 0.7:
            damaged = put_together(damage(random, text), payload)
        else:
            damaged = sign(damage(random, content[:-DIGEST_BYTES]))
        path.write_bytes(damaged)
        try:
            restored, arrays = read(path)
        except ModelFileError:
            refused += 1
        else:
            assert isinstance(restored, dict)
            assert sum(array.nbytes for array in arrays.values()) <= len(damaged)
            assert all(str(array.tolist()) for array in arrays.values())
    assert refused > 300


def test_a_claim_of_petabytes_allocates_nothing(path, content):
    path.write_bytes(forge(content, lambda header: header["arrays"][0].update(shape=[2**50])))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="reaches past the end"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
