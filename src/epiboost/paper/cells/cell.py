"""Cells: one JSON file for each dataset, fold, method and engine, written whole or not at all.

A cell holds everything that a table needs, and a digest of itself, so that a file that was cut short, edited or written
by another protocol is known for what it is and done again. What later versions record besides is missing from older
cells; it is unknown of them, and they count.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from epiboost._files.atomic import whole_file

FORMAT = 1
_PARTS = ("results", "seconds", "protocol", "outside", "seed", "versions", "machine")

Content = dict[str, Any]


class DamagedCellError(ValueError):
    """A file that is not a whole cell; it may be replaced."""


class UnknownCellError(ValueError):
    """Something in the place of a cell that must not be replaced: a cell of a later version, or a folder."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What a cell is of."""

    engine: str
    dataset: str
    fold: int
    method: str

    @property
    def name(self) -> str:
        """The cell's file, relative to the folder of cells."""
        return f"{self.engine}/{self.dataset}/{self.fold:02d}-{self.method}.json"

    def __str__(self) -> str:
        """Say what the cell is of."""
        return f"{self.dataset}, fold {self.fold}, {self.method} ({self.engine})"


def write(folder: Path, key: Key, content: Mapping[str, Any]) -> Path:
    """Put a cell in its place."""
    whole = {"format": FORMAT, **asdict(key), **content}
    whole["digest"] = _digest(whole)
    path = folder / key.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        draft.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return path


def read(folder: Path, key: Key) -> Content | None:
    """Return a cell, or None if there is none.

    Raises
    ------
    DamagedCellError
        If the file is not what `write` put there.
    UnknownCellError
        If it is of a later version, or a folder.
    """
    path = folder / key.name
    return parse(path, key) if path.exists() else None


def parse(path: Path, key: Key) -> Content:
    """Return the content of a cell's file."""
    if path.is_dir():
        message = f"{str(path)!r} is a folder in the place of a cell; remove it"
        raise UnknownCellError(message)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _damaged(path, f"it cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise _damaged(path, "it is not text") from error
    except ValueError as error:
        raise _damaged(path, f"it is not JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("format"), int):
        raise _damaged(path, "it is not a cell")
    if content["format"] > FORMAT:
        message = (
            f"the cell {str(path)!r} is of format {content['format']}, and this version knows formats up to {FORMAT}"
        )
        raise UnknownCellError(message)
    digest = content.pop("digest", None)
    if digest != _digest(content):
        raise _damaged(path, "it has been changed since it was written")
    if any(content.get(name) != value for name, value in asdict(key).items()):
        raise _damaged(path, f"it is not a cell of {key}")
    if missing := [name for name in _PARTS if name not in content]:
        raise _damaged(path, f"it lacks {', '.join(missing)}")
    return content


def all_cells(folder: Path) -> tuple[list[Content], list[str]]:
    """Return every whole cell of a folder in the order of their keys, and what to say of files that are none."""
    contents, notes = [], []
    for path in sorted(folder.glob("*/*/*.json")):
        fold, _, method = path.stem.partition("-")
        if fold.isdecimal() and method:  # not so the draft of a run that was killed
            key = Key(path.parent.parent.name, path.parent.name, int(fold), method)
            try:
                contents.append(parse(path, key))
            except (DamagedCellError, UnknownCellError) as error:
                notes.append(str(error))
    return contents, notes


def _digest(content: Content) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _damaged(path: Path, reason: str) -> DamagedCellError:
    return DamagedCellError(f"the cell {str(path)!r} is damaged: {reason}")
