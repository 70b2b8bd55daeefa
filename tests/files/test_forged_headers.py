"""Headers with a right checksum that do not describe the file are refused."""

import json
import tracemalloc

import numpy as np
import pytest

from epiboost._files.model_file import ModelFileError, read
from tests.support.damage import DAMAGES
from tests.support.signed_files import DIGEST_BYTES, assert_refused, build_file, forge_header, sign, split_file

INVALID_ENTRIES = {
    "name": ["", 5, None, ["borders"], {}],
    "dtype": [
        *("|O", "|O8", "<c16", "<M8[s]", "<f16", "|S4", "|V8", ">f8", "=f8", "f8", "float64", "object", ""),
        *("<U0", "<U", "<U-1", "<U9999999", "<U" + "9" * 30, "<f8,<f8", "<f8\n", 8, None, True),
        *([["a", "<f8"]], {"a": 1}),
    ],
    "shape": [
        *(None, 3, "3", {}, [-1], [1.5], [13.0], [True], ["3"], [None], [[1]], [1] * 33, [10**6], [2**31, 2**31]),
        *([2**63], [10**400], [0, 2**63], [0, 2**61, 2**61], [2**32] * 32),
    ],
    "offset": [-64, -1, 1, 32, 2**40, 2**63, 10**400, 0.0, 64.0, None, True, "0", [0]],
}


@pytest.mark.parametrize("field", INVALID_ENTRIES)
def test_invalid_entries_of_a_signed_header_are_refused(path, content, field):
    for position in range(5):
        for value in INVALID_ENTRIES[field]:
            header, payload = split_file(content)
            header["arrays"][position][field] = value
            assert_refused(path, build_file(json.dumps(header).encode(), payload))


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
        (
            lambda header: header["arrays"][2].update(shape=[0, 2**40]),
            "array 'nothing' has shape .*, longer than the file",
        ),
        (lambda header: header["arrays"][1].update(dtype="|b1"), "neither true nor false"),
        (lambda header: header["arrays"][0].update(dtype="<U2", shape=[13]), "text that is not Unicode"),
    ],
)
def test_the_error_says_which_entry_of_a_signed_header_is_wrong(path, content, change, fault):
    assert_refused(path, forge_header(content, change), fault)


def test_random_damage_to_a_signed_file_is_refused_or_harmless(path, content):
    random = np.random.default_rng(0)
    refused = 0
    for _ in range(600):
        damage = DAMAGES[random.integers(len(DAMAGES))]
        header, payload = split_file(content)
        text = json.dumps(header).encode()
        if random.random() < 0.7:
            damaged = build_file(damage(text, random), payload)
        else:
            damaged = sign(damage(content[:-DIGEST_BYTES], random))
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


def test_a_header_that_claims_petabytes_allocates_no_memory(path, content):
    path.write_bytes(forge_header(content, lambda header: header["arrays"][0].update(shape=[2**50])))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="reaches past the end"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
