"""Random numbers of the reference trainer: a pure function of seed, tree, purpose and row."""

import numpy as np

LANGEVIN, ROUNDING, SUBSAMPLE, STRUCTURE, SPLIT_SCORES, COLUMNS = 1, 2, 3, 4, 5, 6
M64 = (1 << 64) - 1
f32 = np.float32


def splitmix64(x):
    """Return one step of the splitmix64 generator."""
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & M64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def murmur3_mix(x):
    """Apply the finaliser of MurmurHash3 to 32-bit numbers, elementwise."""
    x = x.astype(np.uint32)
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x85EBCA6B)
    x = x ^ (x >> np.uint32(13))
    x = x * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def noise_key(seed, tree, purpose, pair):
    """Return the two keys of a tree's random numbers for one purpose and one pair of outputs."""
    step = splitmix64((splitmix64(seed) + tree) & M64)
    key = splitmix64((splitmix64((step + purpose) & M64) + pair) & M64)
    return np.uint32(key & 0xFFFFFFFF), np.uint32(key >> 32)


def bits(keys, rows):
    """Return 32 random bits per row."""
    first, second = keys
    return murmur3_mix(murmur3_mix(rows ^ first) + second)


def logarithm(x):
    """Return the natural logarithm in single precision: twice the artanh series of (m - 1) / (m + 1)."""
    integer = x.view(np.int32)
    exponent = (integer - np.int32(0x3F3504F3)) >> np.int32(23)
    m = (integer - (exponent << np.int32(23))).view(f32)
    s = (m - f32(1)) / (m + f32(1))
    series = np.full_like(s, f32(2.0) / f32(9.0))
    for odd in (7, 5, 3):
        series = series * (s * s) + f32(2.0) / f32(odd)
    series = series * (s * s) + f32(2)
    return exponent.astype(f32) * f32(0.693147181) + series * s


def normal_pair(keys, rows):
    """Return two standard Normal numbers per row, by the Box-Muller transform."""
    first, second = keys
    a = bits(keys, rows)
    b = murmur3_mix(a + first) ^ second
    uniform = ((a >> np.uint32(8)).astype(f32) + f32(0.5)) * f32(2.0**-24)
    radius = np.sqrt(f32(-2) * logarithm(uniform))
    turn = (((b >> np.uint32(8)) & np.uint32(0x3FFFFF)).astype(f32) + f32(0.5)) * f32(2.0**-22) - f32(0.5)
    angle = turn * f32(1.57079633)
    a2 = angle * angle
    sine = np.full_like(a2, f32(1.0) / f32(362880.0))
    for sign, factorial in ((-1, 5040), (1, 120), (-1, 6), (1, 1)):
        sine = sine * a2 + f32(sign) / f32(factorial)
    sine = sine * angle
    cosine = np.full_like(a2, f32(1.0) / f32(40320.0))
    for sign, factorial in ((-1, 720), (1, 24), (-1, 2), (1, 1)):
        cosine = cosine * a2 + f32(sign) / f32(factorial)
    quarter = ((b >> np.uint32(30)) & np.uint32(1)).astype(bool)
    half = (b >> np.uint32(31)).astype(bool)
    x, y = np.where(quarter, -sine, cosine), np.where(quarter, cosine, sine)
    signed = np.where(half, -radius, radius)
    return signed * x, signed * y
