"""Models with categories are saved and loaded; forged categories are refused."""

import numpy as np
import pandas as pd
import pytest

from epiboost import EpiBoostRegressor
from epiboost._files import model_file
from tests.support.cities import FRAME, Y, city_model, city_target, draw
from tests.support.compare import parameters_of
from tests.support.models import every_ensemble, every_task


@every_task
@every_ensemble
def test_a_model_with_categories_is_the_same_after_saving(task, ensemble, tmp_path):
    model = city_model(task, ensemble, n_estimators=20).fit(FRAME, city_target(task))
    model.save(tmp_path / "model.epib")
    again = type(model).load(tmp_path / "model.epib")
    test, _ = draw(seed=4, known=40)
    np.testing.assert_array_equal(parameters_of(again, test), parameters_of(model, test))


def test_categories_of_any_type_are_the_same_after_saving(tmp_path):
    texts = ["", " ", "ä", "\U0001f600", "a\0", "b", "1", "nan", "None"]
    values = {
        "text": np.array(texts, dtype=object),
        "integer": np.array([2**62, 2**62 + 1, -3, 0, 1, 2, 3, 4, 5]),
        "fraction": np.array([0.1, 1e300, -0.5, 3.0, np.inf, 4.0, 5.0, np.nan, 7.0]),
    }
    frame = pd.DataFrame({name: np.tile(column, 30) for name, column in values.items()})
    model = city_model(categorical_features=list(values), n_estimators=10).fit(frame, np.arange(270) % 9)
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    fractions = {0.1, 1e300, -0.5, 3, np.inf, 4, 5, 7}
    expected = [set(texts), set(values["integer"].tolist()), fractions]
    assert [set(categories) for categories in again.categories_] == expected
    np.testing.assert_array_equal(parameters_of(again, frame), parameters_of(model, frame))


def too_large(header, _arrays):
    header["vocabularies"][0]["size"] = 10**9


def without_the_first(header, arrays):
    header["vocabularies"][0]["size"] -= 1
    arrays["category_text"] = arrays["category_text"][arrays["category_ends"][0] :]
    arrays["category_ends"] = arrays["category_ends"][1:] - arrays["category_ends"][0]


def without_categories(header, arrays):
    header["vocabularies"] = []
    arrays["category_text"], arrays["category_ends"] = arrays["category_text"][:0], arrays["category_ends"][:0]


def without_a_kind(header, _arrays):
    header["vocabularies"][0]["kind"] = None


def ends_descend(_header, arrays):
    arrays["category_ends"][1] = 0


def ends_too_far(_header, arrays):
    arrays["category_ends"][-1] += 1


def duplicate_text(_header, arrays):
    arrays["category_text"][-1] = arrays["category_text"][-2]  # colours of one letter


def invalid_text(_header, arrays):
    arrays["category_text"][0] = 0xFF


def wider_text(_header, arrays):
    arrays["category_text"] = arrays["category_text"].astype(np.int64)


def key_too_large(_header, arrays):
    arrays["group_keys"][arrays["group_shapes"][0, 0] - 1] = 31


def negative_key(_header, arrays):
    arrays["group_keys"][0] = -1


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (too_large, "have 1000000003 values, their text has 33"),
        (without_the_first, "not have as many categories as the encoding has codes"),
        (without_categories, "not have as many categories as the encoding has codes"),
        (without_a_kind, "without a kind must be empty"),
        (ends_descend, "category_ends must ascend to the length"),
        (ends_too_far, "category_ends must ascend to the length"),
        (duplicate_text, "values of a categorical column must be distinct"),
        (invalid_text, "codec can't decode"),
        (wider_text, "category_text must be bytes"),
        (key_too_large, "must be from 0 to 30; got 0 to 31"),
        (negative_key, "must be from 0 to 30; got -1 to 29"),
    ],
)
def test_forged_categories_and_keys_are_refused(forge, fault, tmp_path):
    city_model(n_estimators=3).fit(FRAME, Y).save(tmp_path / "model.epib")
    header, arrays = model_file.read(tmp_path / "model.epib")
    arrays = {name: array.copy() for name, array in arrays.items()}
    model_file.write(tmp_path / "again.epib", header, arrays)
    EpiBoostRegressor.load(tmp_path / "again.epib")
    forge(header, arrays)
    model_file.write(tmp_path / "forged.epib", header, arrays)
    with pytest.raises(model_file.ModelFileError, match=fault):
        EpiBoostRegressor.load(tmp_path / "forged.epib")
