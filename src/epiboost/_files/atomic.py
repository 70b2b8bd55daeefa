"""The writer of files: a file is written completely or not at all; a device or a pipe is written through.

A file is written as a draft in the same folder, flushed to the disk and then renamed, so that a reader sees the old
file or the new one. Each draft has a random name and is locked by its writer. A draft without a lock was left by a
process that was killed; the next write to that folder removes it. Windows has no such locks, modes or flushed folders:
drafts that were left stay there.
"""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DRAFT = re.compile(r"\.epiboost-[0-9a-f]{32}\.draft")
_OPEN_FILE = re.compile(r"//?dev/(?:std(?P<name>out|err)|fd/(?P<number>\d+))|//?proc/self/fd/(?P<own>\d+)")
_MAX_LINKS = 40  # as in Linux
# No link that somebody planted is followed, and no pipe is waited for. Windows has neither option.
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file to write to, and move it to ``path`` when the block ends.

    If the block fails or is interrupted, ``path`` is unchanged. An existing file keeps its mode and, where that is
    permitted, its owner and group. If ``path`` is a symbolic link, its target is replaced. A device, a pipe or an open
    file of this process, such as ``/dev/stdout``, gets the content when the block ends.

    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_write(target) as file:
    ...     _ = file.write(b"42")
    >>> target.read_text()
    '42'
    """
    with _written_through(path) if is_stream(path) else _replaced(path) as file:
        yield file


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device, a pipe or an open file of this process, which no file can replace.

    >>> is_stream("/dev/null"), is_stream("/dev/stdout"), is_stream("model.epib")
    (True, True, False)
    """
    if _descriptor(path) is not None:
        return True
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """Return the number of the open file of this process that a path names."""
    place = Path(os.fsdecode(path))
    named = _OPEN_FILE.fullmatch(place.as_posix())
    for _ in range(_MAX_LINKS):  # one at a time: the last link leads to the file that is open
        if named is not None or not place.is_symlink():
            break
        place = place.parent / place.readlink()
        named = _OPEN_FILE.fullmatch(place.as_posix())
    if named is None:
        return None
    return {"out": 1, "err": 2}[named["name"]] if named["name"] else int(named["number"] or named["own"])


@contextmanager
def _written_through(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a temporary file, and copy it into a device, a pipe or an open file."""
    number = _descriptor(path)
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()  # text that was printed before comes first
        # An open file is not opened again: a regular file would then be written from its beginning.
        with Path(path).open("wb") if number is None else os.fdopen(os.dup(number), "wb") as sink:
            shutil.copyfileobj(file, sink)


@contextmanager
def _replaced(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a draft, and replace a file by it."""
    target = Path(path).resolve()
    if not target.parent.is_dir():  # else the error would name the draft
        fault = f"No such folder {str(target.parent)!r}, create it first"
        raise FileNotFoundError(errno.ENOENT, fault, os.fspath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    _remove_stale_drafts(target.parent)
    try:
        # Nobody else may read the draft of a file that has a mode of its own.
        draft, descriptor = _create_draft(target.parent, 0o600 if target.exists() else 0o666)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            _keep_mode(target, descriptor)
            os.fsync(descriptor)
            if fcntl is None:
                file.close()  # Windows renames no open file
            os.replace(draft, target)  # noqa: PTH105 (the draft is locked until it has its name)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _create_draft(folder: Path, mode: int) -> tuple[Path, int]:
    """Create a file of a random name, and lock it; the kernel applies the umask."""
    while True:
        draft = folder / f".epiboost-{secrets.token_hex(16)}.draft"
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE, mode)
        if fcntl is not None:
            with suppress(OSError):  # some network file systems have no locks; nobody removes drafts there
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return draft, descriptor
        os.close(descriptor)  # another writer has removed it before it was locked


def _keep_mode(target: Path, descriptor: int) -> None:
    """Give a draft the owner, group and mode of the file that it will replace, where files have them."""
    if not hasattr(os, "fchown"):
        return
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    mode = old.st_mode & 0o777
    with suppress(PermissionError):
        os.fchown(descriptor, -1, old.st_gid)
    if os.fstat(descriptor).st_gid != old.st_gid:
        mode &= 0o707  # these permissions were for the other group
    with suppress(PermissionError):  # only root gives files away
        os.fchown(descriptor, old.st_uid, -1)
    os.fchmod(descriptor, mode)


def _remove_stale_drafts(folder: Path) -> None:
    """Remove the drafts of writers that were killed. A living writer has locked its draft."""
    if fcntl is None:
        return
    with suppress(OSError):  # nothing here may keep a file from being written
        for name in filter(_DRAFT.fullmatch, os.listdir(folder)):  # noqa: PTH208 (names alone)
            with suppress(OSError):
                descriptor = os.open(folder / name, os.O_RDWR | _SAFE)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    (folder / name).unlink()
                finally:
                    os.close(descriptor)


def _flush_folder(folder: Path) -> None:
    """Flush the new name to the disk, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
