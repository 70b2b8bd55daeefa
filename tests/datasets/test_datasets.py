import functools
import hashlib
import http.server
import threading

import numpy as np
import pytest

from epiboost.datasets import NAMES, DamagedDataError, MissingDataError, load, registry
from epiboost.datasets.layouts import slices, songs, songs_file
from tests.support import paper_files

pytest.importorskip("pandas")

COLUMNS = {"adult": 4, "amazon": 9, "click": 11, "internet": 2, "kick": 12, "year": 90}
CATEGORIES = {"adult": 2, "amazon": 9, "click": 8, "internet": 2, "kick": 7}
ORANGE = ("appetency", "churn", "upselling")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    folder = paper_files.write_all(tmp_path_factory.mktemp("everything"))
    paper_files.write_year(folder)
    paper_files.write_checksums(folder)
    return folder


@pytest.fixture(autouse=True)
def folder(everything, monkeypatch):
    monkeypatch.setenv("EPIBOOST_DATA", str(everything))
    return everything


@pytest.fixture
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    return tmp_path


def test_the_paper_has_eighteen_datasets():
    assert len(NAMES) == 18


@pytest.mark.parametrize("name", NAMES)
def test_every_dataset_is_read_from_its_layout(name):
    table = load(name)
    assert len(table.X) == len(table.y)
    assert table.X.shape[1] == COLUMNS.get(name, 229 if name in ORANGE else paper_files.UCI.get(name, (0, 0))[1])
    assert len(table.categories) == CATEGORIES.get(name, 40 if name in ORANGE else 0)
    assert str(table).startswith(f"{name} ({len(table.y)} × ")
    for train, test in table.splits:
        assert sorted(np.concatenate([train, test])) == list(range(len(table.y)))


@pytest.mark.parametrize("name", NAMES)
def test_a_target_is_a_number_or_one_of_two_labels(name):
    table = load(name)
    if table.task == "classification":
        assert sorted(np.unique(table.y)) == [0, 1]
    else:
        assert len(np.unique(table.y)) > 10


@pytest.mark.parametrize(("name", "n_splits"), [("protein", 5), ("yacht", 20), ("kick", 1), ("adult", 0), ("year", 1)])
def test_standard_splits_are_those_of_the_files(name, n_splits):
    assert len(load(name).splits) == n_splits


def test_the_target_of_a_regression_is_the_column_that_the_file_names(folder):
    own = folder / "uci" / "yacht"
    assert np.allclose(load("yacht").y, np.loadtxt(own / "data.txt")[:, 6])
    assert np.array_equal(load("yacht").splits[3][1], np.loadtxt(own / "index_test_3.txt").astype(int))


def test_the_last_rows_of_year_are_for_testing():
    train, test = load("year").splits[0]
    assert train.max() < test.min()
    assert len(test) == 20


def test_labels_of_adult_are_read_with_and_without_a_dot(folder):
    text = (folder / "adult" / "adult.data").read_text() + (folder / "adult" / "adult.test").read_text()
    assert load("adult").y.sum() == text.count(">50K")


def test_a_missing_category_has_a_name_and_a_missing_number_stays_missing():
    X = load("kick").X
    assert set(X["WheelTypeID"]) == {"1", "2", "missing"}
    assert X["VehBCost"].isna().any()


def test_codes_keep_their_zeros():
    X = load("churn").X
    assert "07" in set(X["Var191"])
    assert X["Var1"].dtype.kind in "if"
    assert "Var8" not in X.columns  # it holds nothing


def test_the_day_of_purchase_is_a_number():
    assert load("kick").X["PurchDate"].between(334, 365).all()


def test_foreign_rows_come_from_songs_and_from_slices():
    assert songs().shape == (200, 91)
    assert slices().shape == (60, 384)  # one of 384 values is constant; the reference counts
    assert (slices().std(axis=0) > 0).all()


def test_without_year_msd_foreign_rows_come_from_the_file_of_songs(tmp_path, monkeypatch):
    paper_files.write_songs(tmp_path, np.random.default_rng(0))
    paper_files.write_checksums(tmp_path)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    assert songs_file() == "msd/timbre_4680x90.csv"
    assert songs().shape == (50, 91)


def test_a_dataset_is_read_once_and_cannot_be_spoiled_for_those_who_come_later():
    table = load("yacht")
    assert load("yacht").X is table.X
    for array in (table.X, table.y, table.splits[0][0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    frame = load("adult")
    frame.X["age"] = 0
    assert load("adult").X["age"].min() > 0
    with pytest.raises(ValueError, match="read-only"):
        frame.y[0] = 1


@pytest.mark.usefixtures("empty")
def test_foreign_rows_that_are_nowhere_are_asked_for_as_year_msd():
    with pytest.raises(MissingDataError, match=r"'msd/YearPredictionMSD\.txt' is missing .*a zip file that holds it"):
        songs()


def test_another_folder_is_another_dataset(tmp_path, monkeypatch):
    before = load("yacht")
    (tmp_path / "uci").mkdir()
    paper_files.write_uci(tmp_path, "yacht", np.random.default_rng(7))
    paper_files.write_checksums(tmp_path)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    assert not np.array_equal(load("yacht").y, before.y)


def test_an_unknown_name_is_an_error_that_lists_the_known():
    with pytest.raises(ValueError, match="no dataset 'bostom'; there are adult, amazon"):
        load("bostom")


@pytest.mark.parametrize("name", ["year", "click", "churn"])
def test_a_file_that_cannot_be_downloaded_is_named_with_its_home_and_its_place(empty, name):
    with pytest.raises(MissingDataError) as caught:
        load(name)
    text = str(caught.value)
    file = {"year": "msd/YearPredictionMSD.txt", "click": "click/click_prediction_399482.csv"}.get(
        name, "kdd2009/orange_small_train.data"
    )
    assert f"the file '{file}' is missing" in text
    assert str(empty / file) in text
    assert {"year": "archive.ics.uci.edu", "click": "KDD Cup 2012", "churn": "KDD Cup 2009"}[name] in text


def test_offline_and_absent_is_an_error_that_says_what_from_where_to_which_place(empty, monkeypatch):
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


def test_a_file_with_another_checksum_is_damaged(tmp_path, monkeypatch):
    (tmp_path / "uci").mkdir()
    paper_files.write_uci(tmp_path, "yacht", np.random.default_rng(0))
    paper_files.write_checksums(tmp_path)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    path = tmp_path / "uci" / "yacht" / "data.txt"
    path.write_text(path.read_text() + "1 2 3 4 5 6 7\n")
    with pytest.raises(DamagedDataError, match=r"data\.txt' is not the file that is known: its SHA-256 is .* anew"):
        load("yacht")


def test_a_damaged_file_that_cannot_be_downloaded_is_to_be_got_again_by_hand(empty):
    paper_files.write_songs(empty, np.random.default_rng(0))  # not the known songs, and no list of its own
    with pytest.raises(DamagedDataError, match=r"get it again from https://github\.com/danielfrentzel"):
        songs()


def test_a_list_that_lacks_a_file_does_not_switch_its_check_off(empty):
    (empty / "uci").mkdir()
    paper_files.write_uci(empty, "yacht", np.random.default_rng(0))
    (empty / "sha256.txt").write_text("")
    with pytest.raises(DamagedDataError, match="is not the file that is known"):
        load("yacht")


def test_a_line_of_a_list_that_is_no_checksum_is_named(empty):
    (empty / "sha256.txt").write_text(f"{'0' * 64}  ./a b.txt\n\ndeadbeef\n")
    with pytest.raises(DamagedDataError, match=r"line 3 of .*sha256\.txt' must be a SHA-256 and .*; got 'deadbeef'"):
        load("yacht")


@pytest.mark.usefixtures("empty")
def test_a_file_without_a_known_checksum_is_not_downloaded(monkeypatch):
    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "retrieve", None)
    with pytest.raises(MissingDataError, match="not downloaded, because its SHA-256 is not known"):
        registry.path_of("adult/adult.names")


@pytest.mark.usefixtures("empty")
def test_a_failed_connection_is_told_in_few_words(monkeypatch):
    pooch = pytest.importorskip("pooch")

    def no_network(*_args, **_options):
        message = "HTTPSConnectionPool(host='raw.githubusercontent.com', port=443): Max retries exceeded with url: /a/b"
        raise ConnectionError(message)

    monkeypatch.setattr(pooch, "retrieve", no_network)
    with pytest.raises(MissingDataError, match=r"missing \(raw\.githubusercontent\.com cannot be reached\);"):
        load("amazon")


def test_the_package_knows_the_checksums_of_what_can_be_downloaded(empty):
    known = registry.checksums(empty)
    assert len(known) == 392
    assert all(len(digest) == 64 and not name.startswith((".", "/")) for name, digest in known.items())
    assert {"uci/yacht/data.txt", "uci/bostonHousing/index_train_19.txt", "kick/training.zip"} <= set(known)


def test_every_file_that_is_known_has_a_source(empty):
    for name in registry.checksums(empty):
        source = registry.source_of(name)
        assert source.downloads == name.startswith(
            ("uci/", "adult/", "amazon/", "internet/", "kick/", "splits/amazon", "splits/internet", "splits/kick")
        )
        assert not source.downloads or source.address.startswith("https://raw.githubusercontent.com/")


@pytest.fixture
def server(tmp_path_factory):
    """Serve a folder on this machine."""
    folder = tmp_path_factory.mktemp("served")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


def served(server, empty, monkeypatch, digest=None):
    pytest.importorskip("pooch")
    folder, address = server
    (folder / "train.csv").write_bytes(b"ACTION,A\n1,2\n")
    digest = digest or hashlib.sha256(b"ACTION,A\n1,2\n").hexdigest()
    (empty / "sha256.txt").write_text(f"{digest}  amazon/train.csv\n")
    monkeypatch.setitem(registry._DOWNLOADS, "amazon/", address)


def test_an_absent_file_is_downloaded_and_kept(server, empty, monkeypatch):
    served(server, empty, monkeypatch)
    path = registry.path_of("amazon/train.csv")
    assert path == empty / "amazon" / "train.csv"
    assert path.read_bytes() == b"ACTION,A\n1,2\n"
    (server[0] / "train.csv").unlink()
    assert registry.path_of("amazon/train.csv") == path  # without the network


def test_a_download_with_another_checksum_is_refused_and_not_kept(server, empty, monkeypatch):
    served(server, empty, monkeypatch, digest="0" * 64)
    with pytest.raises(MissingDataError, match="SHA256 hash of downloaded file"):
        registry.path_of("amazon/train.csv")
    assert not (empty / "amazon" / "train.csv").exists()


def test_a_source_that_has_no_such_file_is_an_error_that_names_it(server, empty, monkeypatch):
    served(server, empty, monkeypatch)
    (server[0] / "train.csv").unlink()
    with pytest.raises(MissingDataError, match="404"):
        registry.path_of("amazon/train.csv")


def test_without_the_variable_files_are_kept_in_the_users_cache(monkeypatch):
    pytest.importorskip("pooch")
    monkeypatch.delenv("EPIBOOST_DATA", raising=False)
    assert registry.data_folder().name == "epiboost"
