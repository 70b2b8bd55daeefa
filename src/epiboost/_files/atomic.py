"""Atomic writing of files: a file is written completely or not at all."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to, and move the file to ``path`` when the block ends.

    If the block fails or is interrupted, the temporary file is removed and ``path`` is unchanged. The file is
    flushed to the disk before it replaces another one.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_write(target) as temporary:
    ...     _ = temporary.write_text("42")
    >>> target.read_text()
    '42'
    """
    # If the path is a symbolic link, its target is replaced. The temporary file is in the same folder, because a file
    # cannot be renamed across file systems, and has the same suffix, because writers choose their format by it.
    target = Path(path).resolve()
    if not target.parent.is_dir():  # else the error would name the temporary file
        fault = f"No such folder {str(target.parent)!r}, create it first"
        raise FileNotFoundError(errno.ENOENT, fault, os.fspath(path))
    temporary = target.with_name(f".epiboost-{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
