"""A write that fails leaves the old file, or none."""

import errno
import os

import numpy as np
import pytest

from epiboost._files import model_file
from epiboost._files.model_file import read, write


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*_):
    raise KeyboardInterrupt


def half_a_file(chunks):
    yield next(iter(chunks))
    full_disk()


@pytest.mark.parametrize("exists", [True, False], ids=["over a file", "a new file"])
@pytest.mark.parametrize(
    ("module", "step", "failure"),
    [
        (os, "fsync", full_disk),
        (os, "replace", full_disk),
        (os, "fsync", interrupt),
        (os, "replace", interrupt),
        (model_file, "_with_checksum", half_a_file),
    ],
    ids=["disk full at fsync", "disk full at replace", "interrupt at fsync", "interrupt at replace", "half a file"],
)
def test_a_failed_write_changes_no_file(path, module, step, failure, exists):
    if exists:
        write(path, {"old": True}, {"array": np.arange(1000)})
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, step, failure)
        with pytest.raises((OSError, KeyboardInterrupt)):
            write(path, {"new": True}, {"array": np.arange(2000)})
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_the_bytes_and_then_the_name_are_flushed_to_disk(path, monkeypatch):
    steps = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *args: (steps.append("fsync"), fsync(*args)))
    monkeypatch.setattr(os, "replace", lambda *args: (steps.append("replace"), replace(*args)))
    write(path, {}, {})
    assert steps == ["fsync", "replace", "fsync"]  # the file, then its folder


def test_writing_into_a_missing_directory_raises_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No such folder '.*nowhere', create it first: '.*nowhere/model'"):
        write(tmp_path / "nowhere" / "model", {}, {})


@pytest.mark.parametrize("call", [read, lambda path: write(path, {}, {})], ids=["read", "write"])
def test_a_directory_as_the_file_is_refused(tmp_path, call, monkeypatch):
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(IsADirectoryError):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_reading_a_missing_file_raises_an_error(path):
    with pytest.raises(FileNotFoundError):
        read(path)


def test_a_missing_folder_is_named_by_the_path_that_was_given(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "absent" / "model.epib", {}, {})
    assert caught.value.filename == str(tmp_path / "absent" / "model.epib")
