"""Random damage to the bytes of a file. Each function takes the bytes and a NumPy generator."""

import struct

import numpy as np


def flip_bit(content, random):
    """Flip one bit."""
    damaged = bytearray(content)
    damaged[random.integers(len(content))] ^= 1 << int(random.integers(8))
    return bytes(damaged)


def flip_bits(content, random):
    """Flip up to 19 bits."""
    for _ in range(random.integers(2, 20)):
        content = flip_bit(content, random)
    return content


def cut_off(content, random):
    """Remove the end."""
    return content[: random.integers(len(content))]


def append(content, random):
    """Add random bytes at the end."""
    return content + random.bytes(int(random.integers(1, 200)))


def insert(content, random):
    """Insert random bytes somewhere."""
    place = int(random.integers(len(content) + 1))
    return content[:place] + random.bytes(int(random.integers(1, 200))) + content[place:]


def overwrite(content, random):
    """Replace a few bytes by random ones."""
    first = int(random.integers(len(content)))
    noise = random.bytes(int(random.integers(1, 64)))
    return (content[:first] + noise + content[first + len(noise) :])[: len(content)]


def leave_out(content, random):
    """Remove a part."""
    first, last = np.sort(random.choice(len(content) + 1, size=2, replace=False))
    return content[:first] + content[last:]


def swap_chunks(content, random):
    """Exchange two parts."""
    a, b, c, d = np.sort(random.choice(len(content) + 1, size=4, replace=False))
    return content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def replace_all(_content, random):
    """Return random bytes after a beginning that another kind of file may have."""
    beginnings = [b"", b"PK\x03\x04", b"\x80\x04\x95", b"\x93NUMPY", b"{}", b"EPIB", b"EPIB" + struct.pack("<I", 1)]
    return beginnings[random.integers(len(beginnings))] + random.bytes(int(random.integers(300)))


DAMAGES = [flip_bit, flip_bits, cut_off, append, insert, overwrite, leave_out, swap_chunks, replace_all]
