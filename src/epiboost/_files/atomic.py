"""Write a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give the block a path to write to, and put what it wrote at ``path`` once the block is done.

    When the block fails or is interrupted, what it wrote is removed, and ``path`` is as it was before.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with whole_file(target) as draft:
    ...     _ = draft.write_text("42")
    >>> target.read_text()
    '42'
    """
    # A link keeps its place: what it points to is replaced. The draft lies beside it, because a file cannot be renamed
    # across file systems, and keeps its ending, because writers choose their format by it.
    target = path.resolve()
    draft = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
    try:
        yield draft
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
