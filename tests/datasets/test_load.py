"""Every dataset of the paper is read from its file layout."""

import numpy as np
import pytest

from epiboost.datasets import NAMES, load
from epiboost.datasets.layouts import slices, songs, songs_file
from tests.support import paper_files

pytest.importorskip("pandas")

COLUMNS = {"adult": 4, "amazon": 9, "click": 11, "internet": 2, "kick": 12, "year": 90}
CATEGORIES = {"adult": 2, "amazon": 9, "click": 8, "internet": 2, "kick": 7}
ORANGE = ("appetency", "churn", "upselling")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Write small files of every dataset."""
    folder = paper_files.write_all(tmp_path_factory.mktemp("everything"))
    paper_files.write_year(folder)
    paper_files.write_checksums(folder)
    return folder


@pytest.fixture(autouse=True)
def folder(everything, monkeypatch):
    """Use these files as the datasets."""
    monkeypatch.setenv("EPIBOOST_DATA", str(everything))
    return everything


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
def test_targets_are_numbers_or_two_labels(name):
    table = load(name)
    if table.task == "classification":
        assert sorted(np.unique(table.y)) == [0, 1]
    else:
        assert len(np.unique(table.y)) > 10


@pytest.mark.parametrize(("name", "n_splits"), [("protein", 5), ("yacht", 20), ("kick", 1), ("adult", 0), ("year", 1)])
def test_standard_splits_come_from_the_files(name, n_splits):
    assert len(load(name).splits) == n_splits


def test_the_target_of_a_regression_is_the_column_given_by_its_file(folder):
    files = folder / "uci" / "yacht"
    assert np.allclose(load("yacht").y, np.loadtxt(files / "data.txt")[:, 6])
    assert np.array_equal(load("yacht").splits[3][1], np.loadtxt(files / "index_test_3.txt").astype(int))


def test_the_last_rows_of_year_are_test_rows():
    train, test = load("year").splits[0]
    assert train.max() < test.min()
    assert len(test) == 20


def test_labels_of_adult_are_read_with_and_without_a_dot(folder):
    text = (folder / "adult" / "adult.data").read_text() + (folder / "adult" / "adult.test").read_text()
    assert load("adult").y.sum() == text.count(">50K")


def test_a_missing_category_is_a_category_and_a_missing_number_stays_missing():
    X = load("kick").X
    assert set(X["WheelTypeID"]) == {"1", "2", "missing"}
    assert X["VehBCost"].isna().any()


def test_codes_keep_leading_zeros():
    X = load("churn").X
    assert "07" in set(X["Var191"])
    assert X["Var1"].dtype.kind in "if"
    assert "Var8" not in X.columns  # it is empty


def test_the_date_of_purchase_is_a_number_of_days():
    assert load("kick").X["PurchDate"].between(334, 365).all()


def test_out_of_domain_rows_come_from_songs_and_slices():
    assert songs().shape == (200, 91)
    assert slices().shape == (60, 384)  # one of 384 columns is constant; the reference is included
    assert (slices().std(axis=0) > 0).all()


def test_without_year_msd_out_of_domain_rows_come_from_the_small_file_of_songs(tmp_path, monkeypatch):
    paper_files.write_songs(tmp_path, np.random.default_rng(0))
    paper_files.write_checksums(tmp_path)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    assert songs_file() == "msd/timbre_4680x90.csv"
    assert songs().shape == (50, 91)


def test_a_dataset_is_read_once_and_cannot_be_changed_for_later_callers():
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


def test_another_folder_gives_another_dataset(tmp_path, monkeypatch):
    before = load("yacht")
    (tmp_path / "uci").mkdir()
    paper_files.write_uci(tmp_path, "yacht", np.random.default_rng(7))
    paper_files.write_checksums(tmp_path)
    monkeypatch.setenv("EPIBOOST_DATA", str(tmp_path))
    assert not np.array_equal(load("yacht").y, before.y)


def test_an_unknown_name_is_an_error_that_lists_the_datasets():
    with pytest.raises(ValueError, match="no dataset 'bostom'; choose from adult, amazon"):
        load("bostom")
