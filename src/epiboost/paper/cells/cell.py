"""Read and write cells: one JSON file per dataset, fold, method and engine.

A file is written completely or not at all. It holds everything that a table needs, and a SHA-256 digest of its own
content. A file that was cut short, edited or written with another protocol is therefore recognised, and its cell is run
again. Fields that later versions added are missing from older cells; such cells remain valid.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from epiboost._files.atomic import atomic_write

FORMAT = 1
_REQUIRED = ("results", "seconds", "protocol", "outside", "seed", "versions", "machine")

Content = dict[str, Any]


class DamagedCellError(ValueError):
    """A file is not a valid cell; it may be replaced."""


class UnknownCellError(ValueError):
    """A cell of a later version, or a folder, is in the place of a cell; it must not be replaced."""


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """Identifies a cell."""

    engine: str
    dataset: str
    fold: int
    method: str

    @property
    def filename(self) -> str:
        """Path of the cell's file, relative to the folder of cells."""
        return f"{self.engine}/{self.dataset}/{self.fold:02d}-{self.method}.json"

    def __str__(self) -> str:
        """Return a short description."""
        return f"{self.dataset}, fold {self.fold}, {self.method} ({self.engine})"


def write(folder: Path, key: CellKey, content: Mapping[str, Any]) -> Path:
    """Write a cell and return its path."""
    record = {"format": FORMAT, **asdict(key), **content}
    record["digest"] = _digest(record)
    path = folder / key.filename
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write((json.dumps(record, indent=1) + "\n").encode())
    return path


def read(folder: Path, key: CellKey) -> Content | None:
    """Return the content of a cell, or None if there is no such cell.

    Raises
    ------
    DamagedCellError
        If the file is not what `write` wrote.
    UnknownCellError
        If the cell was written by a later version, or is a folder.
    """
    path = folder / key.filename
    return parse(path, key) if path.exists() else None


def parse(path: Path, key: CellKey) -> Content:
    """Return the content of a cell's file; raises the same errors as `read`."""
    if path.is_dir():
        message = f"{str(path)!r} is a folder where a cell should be; remove it"
        raise UnknownCellError(message)
    content = _parse_json(path)
    if content["format"] > FORMAT:
        message = f"the cell {str(path)!r} has format {content['format']}; this version reads formats up to {FORMAT}"
        raise UnknownCellError(message)
    digest = content.pop("digest", None)
    if digest != _digest(content):
        raise _damaged(path, "it was changed after it was written")
    if any(content.get(name) != value for name, value in asdict(key).items()):
        raise _damaged(path, f"it is not the cell of {key}")
    if missing := [name for name in _REQUIRED if name not in content]:
        raise _damaged(path, f"it lacks {', '.join(missing)}")
    return content


def read_all(folder: Path) -> tuple[list[Content], list[str]]:
    """Return every valid cell of a folder, sorted by file name, and one message per file that is not valid."""
    contents, messages = [], []
    for path in sorted(folder.glob("*/*/*.json")):
        fold, _, method = path.stem.partition("-")
        if fold.isdecimal() and method:  # skips the temporary file of a run that was killed
            key = CellKey(path.parent.parent.name, path.parent.name, int(fold), method)
            try:
                contents.append(parse(path, key))
            except (DamagedCellError, UnknownCellError) as error:
                messages.append(str(error))
    return contents, messages


def _parse_json(path: Path) -> Content:
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
    return content


def _digest(content: Content) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _damaged(path: Path, reason: str) -> DamagedCellError:
    return DamagedCellError(f"the cell {str(path)!r} is damaged: {reason}")
