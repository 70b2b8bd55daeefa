"""Forgeries of model files: one value of the header, one array, or one model of a library inside the file."""

import struct
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from epiboost._typing import AnyArray, LibraryObject
from epiboost.engines.model_files.ubjson import decode
from tests.support.damage import DAMAGES

LIBRARIES = ("lightgbm", "xgboost", "catboost")
NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 255, 65_536, 10**6, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, 10**30),
    *(0.5, -1e308, 1e308),
)
VALUES: tuple[LibraryObject, ...] = (
    *NUMBERS,
    *(None, True, False, "", "text", "1", [], {}, [[]], [None], [1, 2, 3], {"a": 1}),
)


def damage(content: bytes, random: np.random.Generator) -> bytes:
    """Return bytes with random damage."""
    if len(content) < 4:  # cut off before
        return content
    damages: Sequence[Callable[[bytes, np.random.Generator], bytes]] = DAMAGES
    return damages[int(random.integers(len(damages)))](content, random)


def forge(engine: str, header: dict[str, Any], arrays: dict[str, AnyArray], random: np.random.Generator) -> None:
    """Change a header and arrays in place: one value of the header, one array, or one model of a library."""
    what = random.uniform()
    if what < 0.35:
        _change_value(header, random)
    elif engine in LIBRARIES and what < 0.8 and "models" in arrays and "model_sizes" in arrays:
        _change_model(engine, arrays, random)
    else:
        _change_array(arrays, random)


def _change_value(value: LibraryObject, random: np.random.Generator) -> None:
    """Change one value inside lists and objects."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = keys[int(random.integers(len(keys)))]
        inner = value[key]
        if isinstance(inner, dict | list) and inner and random.uniform() < 0.8:
            value = inner
            continue
        match random.choice(["replace", "replace", "replace", "remove", "repeat", "scale"]):
            case "remove":
                del value[key]
            case "repeat" if isinstance(inner, list | str):
                value[key] = inner * int(random.choice([2, 3, 1000]))
            case "scale" if isinstance(inner, int | float) and not isinstance(inner, bool):
                value[key] = inner * int(random.choice([-1, 2, 10, 1000])) + int(random.integers(-1, 2))
            case _:
                value[key] = deepcopy(VALUES[int(random.integers(len(VALUES)))])  # a later change must not change it
        return


def _change_array(arrays: dict[str, AnyArray], random: np.random.Generator) -> None:
    """Change one array."""
    names = list(arrays)
    if not names:
        return
    name = names[int(random.integers(len(names)))]
    arrays[name] = _changed(arrays[name], random)
    if random.uniform() < 0.05:
        del arrays[name]
    elif random.uniform() < 0.05:
        other = names[int(random.integers(len(names)))]
        arrays[name] = arrays.get(other, arrays[name])


def _changed(array: AnyArray, random: np.random.Generator) -> AnyArray:
    """Return an array with other elements, of another shape or of another type."""
    array = np.array(array, order="C")
    flat = array.reshape(-1)
    match random.choice(["element", "element", "bytes", "bytes", "shape", "dtype", "order"]):
        case "element" if flat.size and flat.dtype.kind in "iufb":
            with np.errstate(all="ignore"):
                extremes = [0, 1, 2, -1, 255, 10**6, 2**31, np.nan, np.inf, -np.inf, 2.0**62, 1e308]
                value = np.array(extremes).astype(array.dtype)[int(random.integers(len(extremes)))]
            flat[random.integers(flat.size, size=int(random.choice([1, 3])))] = value
        case "bytes" if flat.size:
            raw = flat.view(np.uint8)
            places = random.integers(len(raw), size=int(random.choice([1, 4, 16])))
            raw[places] = random.integers(0, 256, size=len(places))
        case "shape":
            shapes = (
                [
                    array[:-1],
                    array[1:],
                    array[:0],
                    np.concatenate([array, array]),
                    array[np.newaxis],
                    array[..., np.newaxis],
                ]
                if array.ndim
                else [array[np.newaxis]]
            )
            array = shapes[int(random.integers(len(shapes)))]
        case "dtype":
            with np.errstate(all="ignore"):
                kinds = ["<f8", "<f4", "<i8", "<i4", "|u1", "<u2", "|b1", "<U3"]
                array = array.astype(kinds[int(random.integers(len(kinds)))])
        case _:
            array = random.permutation(array) if array.ndim and len(array) else array
    return array


# Models of libraries


def _change_model(engine: str, arrays: dict[str, AnyArray], random: np.random.Generator) -> None:
    """Change the model of one member."""
    sizes, content = arrays["model_sizes"], arrays["models"].tobytes()
    if sizes.dtype != np.int64 or sizes.ndim != 1 or not len(sizes):  # changed before
        return
    ends = np.cumsum(sizes).tolist()
    models = [content[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]
    member = int(random.integers(len(models)))
    change = {"lightgbm": _change_text, "xgboost": _change_ubjson, "catboost": _change_words}[engine]
    models[member] = (damage if random.uniform() < 0.1 else change)(models[member], random)
    arrays["models"] = np.frombuffer(b"".join(models), dtype=np.uint8)
    if random.uniform() < 0.95:
        arrays["model_sizes"] = np.array([len(model) for model in models], dtype=np.int64)


def _change_text(content: bytes, random: np.random.Generator) -> bytes:
    """Change one line of LightGBM's text, and say the sizes of its trees."""
    lines = content.decode("latin-1").split("\n")
    number = int(random.integers(len(lines)))
    name, equals, values = lines[number].partition("=")
    words = values.split(" ")
    match random.choice(["word", "word", "word", "line", "words"]):
        case "line":
            lines[number : number + 1] = [lines[number]] * int(random.choice([0, 2, 2]))
        case "words":
            words = words * 2 if random.uniform() < 0.5 else words[:-1]
            lines[number] = name + equals + " ".join(words)
        case _:
            pool = [str(value) for value in NUMBERS] + ["nan", "inf", "-inf", "", "x", "1e999", "[0:1]", "none"]
            other = lines[int(random.integers(len(lines)))].partition("=")[2].split(" ")
            words[int(random.integers(len(words)))] = str(random.choice([*pool, *other]))
            lines[number] = name + equals + " ".join(words)
    text = "\n".join(lines)
    return (_with_sizes(text) if random.uniform() < 0.9 else text).encode("latin-1", "replace")


def _with_sizes(text: str) -> str:
    """Return LightGBM's text with the sizes of its trees as they are."""
    header, *trees = text.split("\n\nTree=")
    if not trees or "tree_sizes=" not in header:
        return text
    blocks = [f"Tree={tree}\n\n" for tree in trees]
    blocks[-1], end, rest = blocks[-1].partition("end of trees")
    before, _, _ = header.partition("tree_sizes=")
    sizes = " ".join(str(len(block)) for block in blocks)
    return f"{before}tree_sizes={sizes}\n\n" + "".join(blocks) + end + rest.removesuffix("\n\n")


def _change_ubjson(content: bytes, random: np.random.Generator) -> bytes:
    """Change one value of XGBoost's model, or one of the arrays of a tree."""
    try:
        model: LibraryObject = decode(content)
    except ValueError:  # changed before
        return content
    arrays = list(_arrays_of(model))
    if arrays and random.uniform() < 0.7:
        tree, name = arrays[int(random.integers(len(arrays)))]
        changed = _changed(tree[name], random).reshape(-1)
        if changed.dtype.newbyteorder(">").str in _MARKERS:
            tree[name] = changed
    else:
        _change_value(model, random)
    return encode_ubjson(model)


def _arrays_of(value: LibraryObject) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the arrays inside lists and objects: the object, and the array's name."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        if isinstance(part, np.ndarray) and isinstance(value, dict):
            yield value, str(name)
        else:
            yield from _arrays_of(part)


_MARKERS = {"|i1": "i", "|u1": "U", ">i2": "I", ">i4": "l", ">i8": "L", ">f4": "d", ">f8": "D"}


def encode_ubjson(value: LibraryObject) -> bytes:  # noqa: PLR0911 (one per type)
    """Return UBJSON."""
    match value:
        case np.ndarray():
            dtype = value.dtype.newbyteorder(">")
            marker = _MARKERS[dtype.str].encode()
            return b"[$" + marker + b"#L" + struct.pack(">q", value.size) + value.astype(dtype).tobytes()
        case dict():
            return (
                b"{" + b"".join(encode_ubjson(name)[1:] + encode_ubjson(inner) for name, inner in value.items()) + b"}"
            )
        case list():
            return b"[#L" + struct.pack(">q", len(value)) + b"".join(map(encode_ubjson, value))
        case str():
            return b"SL" + struct.pack(">q", len(value.encode())) + value.encode()
        case None | bool():
            return {None: b"Z", True: b"T", False: b"F"}[value]
        case int() if -(2**63) <= value < 2**63:
            return b"L" + struct.pack(">q", value)
        case _:
            return b"D" + struct.pack(">d", value)


def _change_words(content: bytes, random: np.random.Generator) -> bytes:
    """Change words of four bytes in CatBoost's model: offsets, sizes, indices or parts of numbers."""
    words = np.frombuffer(content[: len(content) // 4 * 4], dtype="<u4").copy()
    for _ in range(int(random.choice([1, 1, 1, 4])) if len(words) else 0):
        place = int(random.integers(len(words)))
        near = int(words[place]) + int(random.integers(-8, 9))
        other = int(words[int(random.integers(len(words)))])
        words[place] = random.choice([near, other, 0, 1, 2**31, 2**32 - 1, int(random.integers(256))]) % 2**32
    return words.tobytes() + content[len(content) // 4 * 4 :]
