"""Parts of a model file: prefix, JSON header, arrays and checksum, so that tests can write any file."""

import hashlib
import json
import struct

import pytest

from epiboost._files.model_file import FORMAT_VERSION, MAGIC, ModelFileError, read

PREFIX = struct.Struct("<4sIQ")
DIGEST_BYTES = 32


def sign(payload):
    """Return the bytes with their checksum after them."""
    return payload + hashlib.sha256(payload).digest()


def split_file(content):
    """Return the JSON header and the bytes of the arrays."""
    _, _, length = PREFIX.unpack_from(content)
    first = -(-(PREFIX.size + length) // 64) * 64
    return json.loads(content[PREFIX.size : PREFIX.size + length]), content[first:-DIGEST_BYTES]


def build_file(text, payload):
    """Return a signed file of any header text and any bytes after it."""
    prefix = PREFIX.pack(MAGIC, FORMAT_VERSION, len(text)) + text
    return sign(prefix + bytes(-len(prefix) % 64) + payload)


def forge_header(content, change):
    """Return a file with a changed header and a right checksum."""
    header, payload = split_file(content)
    change(header)
    return build_file(json.dumps(header).encode(), payload)


def assert_refused(path, content, fault=None):
    """Assert that a file of these bytes is refused with an error that names the file."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=fault) as caught:
        read(path)
    assert str(path) in str(caught.value)
