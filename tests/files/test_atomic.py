"""One writer for all files: modes, links, drafts that were left, devices and pipes."""

import os
import stat
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from epiboost._files import atomic
from epiboost._files.atomic import atomic_write
from tests.support.platforms import linux_only, posix_only
from tests.support.processes import run_python

root_only = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")

WITHOUT_POSIX = """
import multiprocessing, os, signal, sys
from pathlib import Path
import joblib, narwhals, numpy as np, scipy.stats, sklearn.ensemble, threadpoolctl

sys.modules |= dict.fromkeys(["fcntl", "grp", "pwd", "resource", "termios"])
for module, names in {
    os: "O_DIRECTORY O_NOFOLLOW O_NONBLOCK fchmod fchown fork geteuid getuid mkfifo register_at_fork sched_getaffinity",
    signal: "SIGALRM SIGHUP SIGKILL pthread_sigmask setitimer",
}.items():
    for name in names.split():
        vars(module).pop(name, None)

def replace(draft, target, replace=os.replace):
    for opened in Path("/proc/self/fd").glob("*"):
        if opened.is_symlink() and os.readlink(opened) == str(draft):
            raise PermissionError(13, "Windows renames no open file", str(draft))
    replace(draft, target)

os.replace = replace
import epiboost
from epiboost import EpiBoostRegressor

X = np.random.default_rng(0).normal(size=(60, 2))
model = EpiBoostRegressor(n_members=2, n_estimators=3, n_jobs=1, random_state=0).fit(X, X[:, 0])
for _ in range(2):  # a new file, and one that is replaced
    model.save(sys.argv[1])
    assert (epiboost.load(sys.argv[1]).predict(X) == model.predict(X)).all()
"""


def put(path, content=b"new"):
    with atomic_write(path) as file:
        file.write(content)


def stale_draft(folder, number=0):
    draft = folder / f".epiboost-{number:032x}.draft"
    draft.write_bytes(b"half")
    return draft


def test_import_save_and_load_work_without_what_only_posix_has(tmp_path):
    ended = run_python(WITHOUT_POSIX, tmp_path / "model.epib")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["model.epib"]


@posix_only
class TestModes:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
    def test_a_file_that_is_replaced_keeps_its_mode(self, tmp_path, mode):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        path.chmod(mode)
        put(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert path.read_bytes() == b"new"

    @pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
    def test_a_new_file_has_the_mode_that_the_umask_gives(self, tmp_path, umask, mode):
        before = os.umask(umask)
        try:
            put(tmp_path / "file")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode

    def test_nobody_else_can_read_the_draft_of_a_private_file(self, tmp_path):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        path.chmod(0o600)
        with atomic_write(path) as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600

    @root_only
    def test_a_file_that_is_replaced_keeps_its_owner_and_group(self, tmp_path):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        os.chown(path, 1234, 2345)
        put(path)
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)

    @root_only
    def test_permissions_of_a_group_are_not_given_to_another_group(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        path.chmod(0o664)
        os.chown(path, -1, 2345)

        def refuse(*_):
            raise PermissionError

        monkeypatch.setattr(os, "fchown", refuse)
        put(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604


@posix_only
class TestLinks:
    def test_the_target_of_a_link_is_replaced_and_the_link_stays(self, tmp_path):
        (tmp_path / "there").mkdir()
        link, target = tmp_path / "link", tmp_path / "there" / "file"
        target.write_bytes(b"old")
        link.symlink_to(target)
        put(link)
        assert link.is_symlink()
        assert target.read_bytes() == b"new"

    def test_a_link_that_was_planted_as_a_draft_is_not_followed(self, tmp_path, monkeypatch):
        victim = tmp_path / "victim"
        victim.write_bytes(b"old")
        monkeypatch.setattr(atomic.secrets, "token_hex", lambda n: "0" * 2 * n)
        (tmp_path / f".epiboost-{'0' * 32}.draft").symlink_to(victim)
        with pytest.raises(FileExistsError):
            put(tmp_path / "file")
        assert victim.read_bytes() == b"old"

    def test_a_loop_of_links_is_an_error_of_the_system(self, tmp_path):
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises(OSError, match="Too many levels of symbolic links"):
            put(tmp_path / "loop")


class TestDrafts:
    @posix_only
    def test_drafts_of_writers_that_were_killed_are_removed(self, tmp_path):
        stale_draft(tmp_path)
        put(tmp_path / "file")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    def test_the_draft_of_a_living_writer_stays(self, tmp_path):
        with atomic_write(tmp_path / "one") as file:
            file.write(b"first")
            put(tmp_path / "two", b"second")
        assert sorted(path.read_bytes() for path in tmp_path.iterdir()) == [b"first", b"second"]

    @posix_only
    def test_files_of_the_user_and_links_with_the_name_of_a_draft_stay(self, tmp_path):
        kept = [tmp_path / ".epiboost-notes.draft", tmp_path / ".epiboost-0123", tmp_path / "x.draft"]
        for path in kept:
            path.write_bytes(b"mine")
        (tmp_path / f".epiboost-{'a' * 32}.draft").symlink_to(kept[0])
        os.mkfifo(tmp_path / f".epiboost-{'b' * 32}.draft")
        put(tmp_path / "file")
        assert all(path.read_bytes() == b"mine" for path in kept)

    @posix_only
    def test_a_draft_that_another_writer_took_for_stale_is_written_anew(self, tmp_path, monkeypatch):
        lock, taken = atomic.fcntl.flock, []

        def lock_late(descriptor, operation):
            if not taken:
                taken.extend(tmp_path.glob(".epiboost-*"))
                taken[0].unlink()
            lock(descriptor, operation)

        monkeypatch.setattr(atomic.fcntl, "flock", lock_late)
        put(tmp_path / "file")
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    @posix_only
    def test_a_file_system_without_locks_is_written_to_and_not_cleaned(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise OSError

        stale = stale_draft(tmp_path)
        monkeypatch.setattr(atomic.fcntl, "flock", refuse)
        put(tmp_path / "file")
        assert sorted(path.name for path in tmp_path.iterdir()) == [stale.name, "file"]

    def test_a_folder_that_cannot_be_written_to_is_named_by_the_path(self, tmp_path, monkeypatch):
        def refuse(path, *_):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "open", refuse)
        with pytest.raises(PermissionError) as caught:
            put(tmp_path / "file")
        assert caught.value.filename == str(tmp_path / "file")


@pytest.mark.skipif(os.name == "nt", reason="Windows replaces no file that is being read")
def test_threads_that_write_one_file_raise_no_error_and_no_reader_sees_a_part(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([number]) * 20_000 for number in range(4)]
    put(path, contents[0])
    done = threading.Event()

    def read_all():
        read = 0
        while not done.is_set():
            assert path.read_bytes() in contents
            read += 1
        return read

    with ThreadPoolExecutor(5) as pool:
        reading = pool.submit(read_all)
        writing = [
            pool.submit(lambda content: [put(path, content) for _ in range(25)], content) for content in contents
        ]
        try:
            for future in writing:
                future.result()
        finally:
            done.set()
        assert reading.result() > 0
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@posix_only
class TestStreams:
    def test_a_device_stays_a_device(self, tmp_path):
        device = tmp_path / "null"
        device.symlink_to("/dev/null")
        put("/dev/null")
        put(device)
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116
        assert device.is_symlink()

    def test_a_named_pipe_gets_the_content_and_stays_a_pipe(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as pool:
            read = pool.submit(pipe.read_bytes)
            put(pipe)
            assert read.result() == b"new"
        assert pipe.is_fifo()

    @pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
    def test_a_write_that_fails_sends_nothing_into_a_pipe(self, name):
        out, into = os.pipe()
        with os.fdopen(out, "rb") as pipe:
            with pytest.raises(TypeError), atomic_write(name.format(into)) as file:
                file.writelines([b"half" * 10_000, None])
            put(name.format(into), b"whole")
            os.close(into)
            assert pipe.read() == b"whole"

    @linux_only
    def test_a_full_device_is_an_error(self):
        with pytest.raises(OSError, match="No space left"):
            put("/dev/full")

    def test_standard_output_in_a_file_gets_the_content_between_what_is_printed(self, capfd):
        sys.stdout.write("before\n")
        put("/dev/stdout", b"content\n")
        sys.stdout.write("after\n")
        assert capfd.readouterr().out == "before\ncontent\nafter\n"


@posix_only
def test_output_through_other_names_of_stdout_keeps_what_is_printed(tmp_path):
    (tmp_path / "link").symlink_to("/dev/stdout")
    (tmp_path / "link to a link").symlink_to("link")
    names = ["/dev//stdout", "//dev/stdout", str(tmp_path / "link"), str(tmp_path / "link to a link")]
    code = """
    import os, sys
    from epiboost._files.atomic import atomic_write
    for number, name in enumerate(sys.argv[2:]):
        os.dup2(os.open(f"{sys.argv[1]}/output {number}", os.O_WRONLY | os.O_CREAT), 1)
        print("before")
        with atomic_write(name) as file:
            file.write(b"content\\n")
        print("after", flush=True)
    """
    ended = run_python(code, tmp_path, *names)
    assert ended.returncode == 0, ended.stderr
    written = {name: (tmp_path / f"output {number}").read_text() for number, name in enumerate(names)}
    assert written == dict.fromkeys(names, "before\ncontent\nafter\n")
