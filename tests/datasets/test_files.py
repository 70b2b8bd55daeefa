"""Files of datasets: checksums, downloads, and errors that name the missing file."""

import functools
import hashlib
import http.server
import threading

import numpy as np
import pytest

from epiboost.datasets import DamagedDataError, MissingDataError, load, registry
from epiboost.datasets.layouts import songs
from tests.support import paper_files

pytest.importorskip("pandas")


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Return an empty data folder."""
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("empty")
def test_a_missing_source_of_out_of_domain_rows_is_named_as_year_msd():
    with pytest.raises(MissingDataError, match=r"'msd/YearPredictionMSD\.txt' is missing .*a zip file that holds it"):
        songs()


@pytest.mark.parametrize("name", ["year", "click", "churn"])
def test_a_file_that_cannot_be_downloaded_is_named_with_its_source_and_path(empty, name):
    with pytest.raises(MissingDataError) as caught:
        load(name)
    text = str(caught.value)
    file = {"year": "msd/YearPredictionMSD.txt", "click": "click/click_prediction_399482.csv"}.get(
        name, "kdd2009/orange_small_train.data"
    )
    assert f"the file '{file}' is missing" in text
    assert str(empty / file) in text
    assert {"year": "archive.ics.uci.edu", "click": "KDD Cup 2012", "churn": "KDD Cup 2009"}[name] in text


def test_a_failed_download_is_an_error_with_file_source_and_path(empty, monkeypatch):
    pooch = pytest.importorskip("pooch")

    def no_network(*_args, **_options):
        message = "no route to host"
        raise ConnectionError(message)

    monkeypatch.setattr(pooch, "retrieve", no_network)
    with pytest.raises(MissingDataError) as caught:
        load("amazon")
    text = str(caught.value)
    assert "the file 'amazon/train.csv' is missing (no route to host)" in text
    assert "https://raw.githubusercontent.com/benjamin-croker/amazon-employee-access/" in text
    assert str(empty / "amazon" / "train.csv") in text


def test_a_file_with_the_wrong_checksum_is_damaged(tmp_path, monkeypatch):
    (tmp_path / "uci").mkdir()
    paper_files.write_uci(tmp_path, "yacht", np.random.default_rng(0))
    paper_files.write_checksums(tmp_path)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    path = tmp_path / "uci" / "yacht" / "data.txt"
    path.write_text(path.read_text() + "1 2 3 4 5 6 7\n")
    with pytest.raises(
        DamagedDataError, match=r"data\.txt' has the wrong checksum: its SHA-256 is .* to download it again"
    ):
        load("yacht")


def test_a_damaged_file_that_cannot_be_downloaded_is_named_with_its_source(empty):
    paper_files.write_songs(empty, np.random.default_rng(0))  # not the real songs, and no sha256.txt
    with pytest.raises(DamagedDataError, match=r"get it again from https://github\.com/danielfrentzel"):
        songs()


def test_a_sha256_file_without_an_entry_does_not_disable_the_check(empty):
    (empty / "uci").mkdir()
    paper_files.write_uci(empty, "yacht", np.random.default_rng(0))
    (empty / "sha256.txt").write_text("")
    with pytest.raises(DamagedDataError, match="has the wrong checksum"):
        load("yacht")


def test_a_wrong_line_of_a_sha256_file_is_named(empty):
    (empty / "sha256.txt").write_text(f"{'0' * 64}  ./a b.txt\n\ndeadbeef\n")
    with pytest.raises(
        DamagedDataError, match=r"line 3 of .*sha256\.txt' must be a SHA-256 and a file name; got 'deadbeef'"
    ):
        load("yacht")


@pytest.mark.usefixtures("empty")
def test_a_file_without_a_known_checksum_is_not_downloaded(monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "retrieve", None)
    with pytest.raises(MissingDataError, match="not downloaded, because its SHA-256 is not known"):
        registry.path_of("adult/adult.names")


@pytest.mark.usefixtures("empty")
def test_a_failed_connection_is_reported_briefly(monkeypatch):
    pooch = pytest.importorskip("pooch")

    def no_network(*_args, **_options):
        message = "HTTPSConnectionPool(host='raw.githubusercontent.com', port=443): Max retries exceeded with url: /a/b"
        raise ConnectionError(message)

    monkeypatch.setattr(pooch, "retrieve", no_network)
    with pytest.raises(MissingDataError, match=r"missing \(raw\.githubusercontent\.com cannot be reached\);"):
        load("amazon")


def test_the_package_has_the_checksums_of_files_that_can_be_downloaded(empty):
    known = registry.checksums(empty)
    assert len(known) == 392
    assert all(len(digest) == 64 and not name.startswith((".", "/")) for name, digest in known.items())
    assert {"uci/yacht/data.txt", "uci/bostonHousing/index_train_19.txt", "kick/training.zip"} <= set(known)


def test_every_known_file_has_a_source(empty):
    for name in registry.checksums(empty):
        source = registry.source_of(name)
        assert source.is_file == name.startswith(
            ("uci/", "adult/", "amazon/", "internet/", "kick/", "splits/amazon", "splits/internet", "splits/kick")
        )
        assert not source.is_file or source.address.startswith("https://raw.githubusercontent.com/")


@pytest.fixture
def server(tmp_path_factory):
    """Serve a folder over HTTP on this machine."""
    folder = tmp_path_factory.mktemp("served")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


def serve_amazon(server, empty, monkeypatch, digest=None):
    """Serve one file of amazon, and use this server as its source."""
    pytest.importorskip("pooch")
    folder, address = server
    (folder / "train.csv").write_bytes(b"ACTION,A\n1,2\n")
    digest = digest or hashlib.sha256(b"ACTION,A\n1,2\n").hexdigest()
    (empty / "sha256.txt").write_text(f"{digest}  amazon/train.csv\n")
    monkeypatch.setitem(registry._DOWNLOADS, "amazon/", address)


def test_a_missing_file_is_downloaded_and_kept(server, empty, monkeypatch):
    serve_amazon(server, empty, monkeypatch)
    path = registry.path_of("amazon/train.csv")
    assert path == empty / "amazon" / "train.csv"
    assert path.read_bytes() == b"ACTION,A\n1,2\n"
    (server[0] / "train.csv").unlink()
    assert registry.path_of("amazon/train.csv") == path  # without the network


def test_a_download_with_the_wrong_checksum_is_an_error_and_not_kept(server, empty, monkeypatch):
    serve_amazon(server, empty, monkeypatch, digest="0" * 64)
    with pytest.raises(MissingDataError, match="SHA256 hash of downloaded file"):
        registry.path_of("amazon/train.csv")
    assert not (empty / "amazon" / "train.csv").exists()


def test_a_source_without_the_file_is_an_error_with_its_status(server, empty, monkeypatch):
    serve_amazon(server, empty, monkeypatch)
    (server[0] / "train.csv").unlink()
    with pytest.raises(MissingDataError, match="404"):
        registry.path_of("amazon/train.csv")


def test_without_the_variable_files_are_stored_in_the_users_cache(monkeypatch):
    pytest.importorskip("pooch")
    monkeypatch.delenv("EPIBOOST_DATA", raising=False)
    assert registry.data_folder().name == "epiboost"
