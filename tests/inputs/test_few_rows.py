"""Few rows of a pandas frame are read as many are, only faster."""

import numpy as np
import pytest

from epiboost._inputs.few_rows import MAX_ROWS, read_few_rows
from epiboost._inputs.schema import ColumnSchema
from tests.support.models import small_regressor

pandas = pytest.importorskip("pandas")

FRAME = pandas.DataFrame(
    {
        "size": [1.5, np.nan, 3.0, 4.0],
        "count": [1, 2, 3, 2**53 + 1],
        "town": ["Oslo", None, "Lima", "Oslo"],
        "code": pandas.Categorical([10, 20, 10, 30]),
    }
)


def schema_of(frame, categorical_features="auto"):
    return ColumnSchema.fit(frame, categorical_features=categorical_features, owner="EpiBoostRegressor")[0]


def read_in_full(schema, frame):
    repeated = pandas.concat([frame] * (MAX_ROWS + 1))
    return schema.transform(repeated)[: len(frame)]


@pytest.mark.parametrize(
    "columns", [["size"], ["size", "count"], ["count"], ["size", "town"], ["town", "code"], list(FRAME)]
)
def test_few_rows_are_read_as_many_are(columns):
    schema = schema_of(FRAME[columns])
    for row in range(len(FRAME)):
        one = FRAME[columns].iloc[[row]]
        np.testing.assert_array_equal(schema.transform(one), read_in_full(schema, one))


def test_plain_rows_take_the_fast_way():
    schema = schema_of(FRAME)
    for row in (0, 2, 3):
        assert read_few_rows(FRAME.iloc[[row]], schema.names, schema.categories) is not None


def test_a_category_that_was_not_seen_has_the_code_of_unseen_ones():
    schema = schema_of(FRAME)
    one = FRAME.iloc[[0]].assign(town="Rome", code=99)
    assert read_few_rows(one, schema.names, schema.categories) is not None
    np.testing.assert_array_equal(schema.transform(one)[0, 2:], [-1.0, -1.0])


def test_single_precision_stays_single():
    frame = FRAME[["size"]].astype(np.float32)
    assert schema_of(frame).transform(frame.iloc[[0]]).dtype == np.float32


ONE = FRAME.iloc[[0]]
STRANGE = {
    "columns in another order": ONE[["count", "size", "town", "code"]],
    "a number as text": ONE.assign(town=7),
    "text as a number": ONE.assign(code="10"),
    "a truth value": ONE.assign(size=True),
    "a missing value of pandas": ONE.assign(town=pandas.NA),
    "an extension type": ONE.astype({"count": "Int64"}),
    "no rows": ONE.iloc[:0],
}


def outcome(schema, frame):
    """Return the table or the error, as text."""
    try:
        return repr(schema.transform(frame)[: len(ONE)].tolist())
    except (ValueError, TypeError) as error:
        return repr(error)


@pytest.mark.parametrize("what", STRANGE)
def test_what_is_not_plain_is_read_or_refused_as_in_full(what):
    schema = schema_of(FRAME)
    many = pandas.concat([STRANGE[what]] * (MAX_ROWS + 1))
    assert outcome(schema, STRANGE[what]) == outcome(schema, many)


def test_an_infinite_number_is_refused():
    with pytest.raises(ValueError, match="infinity"):
        schema_of(FRAME).transform(FRAME.iloc[[0]].assign(size=np.inf))


def test_names_that_differ_are_refused():
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        schema_of(FRAME).transform(FRAME.iloc[[0]].rename(columns={"size": "weight"}))


def test_the_prediction_of_one_row_is_that_of_the_table():
    X = FRAME.loc[np.arange(60) % 4].reset_index(drop=True)
    model = small_regressor().fit(X, np.arange(60.0))
    one_by_one = np.concatenate([model.predict(X.iloc[[row]]) for row in range(4)])
    np.testing.assert_array_equal(one_by_one, model.predict(X)[:4])
