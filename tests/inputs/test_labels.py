"""Targets of classifications: labels of any type, missing labels and single classes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.support.models import small_classifier
from tests.support.tables import LABELS, X, Y, with_first


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"])[LABELS],
        np.array(["no", "yes"], dtype=object)[LABELS],
        LABELS.astype(bool),
        LABELS.astype(float),
        LABELS.astype(np.uint8) + 7,
        LABELS.tolist(),
        pd.Series(LABELS, dtype="Int64"),
        pd.Series(np.array(["no", "yes"])[LABELS]),
        pd.Series(pd.Categorical(np.array(["no", "yes"])[LABELS])),
        pl.Series(np.array(["no", "yes"])[LABELS]),
        pl.Series(LABELS.astype(bool)),
        pa.chunked_array([np.array(["no", "yes"])[LABELS].tolist()]),
    ],
    ids=["text", "objects", "booleans", "floats", "bytes", "list", "Int64", "pandas", "categories", "polars",
         "polars bool", "pyarrow"],
)  # fmt: skip
def test_predicted_labels_have_the_type_of_the_training_labels(labels):
    plain = small_classifier(n_estimators=30).fit(X, LABELS)
    model = small_classifier(n_estimators=30).fit(X, labels)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.predict(X).tolist() == [model.classes_[number] for number in plain.predict(X)]
    assert set(model.predict(X).tolist()) == set(np.asarray(labels).tolist())


def test_labels_that_mix_numbers_and_text_are_refused():
    with pytest.raises((TypeError, ValueError), match=r"\by\b|[Ll]abel"):
        small_classifier().fit(X, np.array([1, "one"], dtype=object)[LABELS])


@pytest.mark.parametrize(
    "labels",
    [
        with_first(LABELS.astype(float), np.nan),
        np.array([None, *["a", "b"] * 29, "a"], dtype=object),
        np.array([np.nan, *["a", "b"] * 29, "a"], dtype=object),
        pd.Series([None, *["a", "b"] * 29, "a"]),
        pd.Series([pd.NA, *["a", "b"] * 29, "a"], dtype="string"),
        pd.Series([pd.NA, *LABELS[1:]], dtype="Int64"),
        pd.Series(pd.Categorical([None, *["a", "b"] * 29, "a"])),
        pl.Series([None, *["a", "b"] * 29, "a"]),
        pl.Series([None, *LABELS[1:].tolist()]),
        pl.Series([None, *LABELS[1:].astype(bool).tolist()]),
        np.array(["NaT", "2020-01-02"], dtype="datetime64[D]")[LABELS],
    ],
    ids=[
        "NaN",
        "None",
        "NaN among text",
        "pandas",
        "NA among text",
        "NA",
        "category",
        "null",
        "null number",
        "null bool",
        "NaT",
    ],
)
def test_a_missing_label_is_refused(labels):
    with pytest.raises(ValueError, match=r"y holds missing labels|Input y contains NaN"):
        small_classifier().fit(X, labels)


@pytest.mark.parametrize("labels", [Y, LABELS + 0.5])
def test_continuous_numbers_as_labels_are_refused(labels):
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        small_classifier().fit(X, labels)


def test_a_single_class_is_refused():
    with pytest.raises(ValueError, match=r"only one class is present: .*1"):
        small_classifier().fit(X, np.ones(60, dtype=int))


def test_a_single_class_of_positive_weight_is_refused():
    with pytest.raises(ValueError, match=r"only one class is present: .*1"):
        small_classifier().fit(X, LABELS, sample_weight=LABELS)


def test_a_class_whose_rows_all_have_weight_zero_is_not_learned():
    labels = np.digitize(Y, [-0.5, 0.5])
    model = small_classifier().fit(X, labels, sample_weight=(labels != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    assert model.predict_proba(X).shape == (60, 2)


def test_more_classes_than_the_native_engine_supports_are_refused():
    with pytest.raises(ValueError, match="supports at most 1024 classes; y holds 1500"):
        small_classifier(n_estimators=2).fit(np.arange(3000.0)[:, np.newaxis], np.arange(3000) // 2)
