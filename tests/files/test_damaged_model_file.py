"""Damaged model files are refused, with an error that says what is wrong."""

import numpy as np
import pytest

from epiboost._files.model_file import MAGIC
from tests.support.damage import DAMAGES
from tests.support.signed_files import PREFIX, assert_refused, build_file, sign


@pytest.mark.parametrize("damage", DAMAGES)
def test_random_damage_of_every_kind_is_refused(path, content, damage):
    random = np.random.default_rng(0)
    for _ in range(200):
        damaged = damage(content, random)
        if damaged != content:
            assert_refused(path, damaged)


def test_a_flipped_bit_in_any_byte_is_refused(path, content):
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= 1 << position % 8
        assert_refused(path, bytes(flipped))


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
        (build_file(b"", b""), "not JSON"),
        (build_file(b"{", b""), "not JSON"),
        (build_file(b"\xff", b""), "not JSON"),
        (build_file(b'{"header":{"x":NaN},"arrays":[]}', b""), "NaN is not JSON"),
        (build_file(b'{"header":{"x":' + b"9" * 5000 + b'},"arrays":[]}', b""), "not JSON"),
        (build_file(b"[" * 100_000, b""), "nested too deeply"),
        (
            build_file(b'{"header":{},"arrays":[' + b"[" * 900 + b"]" * 900 + b"]}", b""),
            "nested too deeply|must have the keys",
        ),
        (build_file(b"[]", b""), "an object with the keys 'header' and 'arrays'"),
        (build_file(b"{}", b""), "an object with the keys 'header' and 'arrays'"),
        (build_file(b'{"header":{},"arrays":[],"more":1}', b""), "an object with the keys"),
        (build_file(b'{"header":[],"arrays":[]}', b""), "an object 'header' and a list 'arrays'"),
        (build_file(b'{"header":{},"arrays":{}}', b""), "an object 'header' and a list 'arrays'"),
        (build_file(b'{"header":{},"arrays":[3]}', b""), "must have the keys .* got 3"),
        (sign(PREFIX.pack(MAGIC, 1, 25) + b'{"header":{},"arrays":[]}' + b"!" * 23), "header is not followed by zeros"),
        (build_file(b'{"header":{},"arrays":[]}', bytes(64)), "arrays end at offset 0, the file has 64 bytes"),
        (sign(PREFIX.pack(MAGIC, 1, 25) + b'{"header":{},"arrays":[]}'), "arrays end at offset 0, the file has -23"),
    ],
)
def test_the_error_says_what_is_wrong_with_the_file(path, content, fault):
    assert_refused(path, content, fault)
