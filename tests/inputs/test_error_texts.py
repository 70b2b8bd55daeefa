"""Errors about tables and targets say what was got, where it is, and the remedy."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from tests.support.models import every_estimator, small_estimator, small_regressor
from tests.support.tables import TARGETS, X, Y, with_first

FRAME = pd.DataFrame(X, columns=["age", "pay", "town size"])


@pytest.fixture(scope="module")
def fitted():
    return small_regressor().fit(FRAME, Y)


def with_infinity(row, column):
    table = FRAME.copy()
    table.iloc[row, column] = -np.inf
    return table


@every_estimator
def test_infinity_is_named_by_its_column_and_row(estimator, fitted):
    text = (
        r"Input X contains infinity.*: column 'pay' in row 7, counted from 0; replace it by a finite number, or by NaN"
    )
    with pytest.raises(ValueError, match=text):
        small_estimator(estimator).fit(with_infinity(7, 1), TARGETS[estimator])
    with pytest.raises(ValueError, match=text):
        fitted.predict(with_infinity(7, 1))


def test_infinity_in_an_array_is_named_by_the_position_of_its_columns():
    table = with_infinity(7, 1).to_numpy()
    table[3, 2] = np.inf
    with pytest.raises(ValueError, match="column 1 in row 7, column 2 in row 3, counted from 0"):
        small_regressor().fit(table, Y)


def test_infinity_beside_categories_is_named_by_its_column():
    table = with_infinity(7, 1).assign(town=["Oslo", "Lima"] * 30)
    with pytest.raises(ValueError, match="column 'pay' in row 7"):
        small_regressor().fit(table, Y)


@pytest.mark.parametrize("table", [FRAME[[]], np.empty((60, 0))], ids=["frame", "array"])
def test_a_table_without_columns_is_called_so(table):
    with pytest.raises(
        ValueError, match=r"\(shape=\(60, 0\)\) while a minimum of 1 is required by .*: X has no columns"
    ):
        small_regressor().fit(table, Y)


@every_estimator
def test_a_target_of_another_length_is_told_in_rows(estimator):
    with pytest.raises(ValueError, match=r"\[60, 50\]\. X has 60 rows and y has 50; give one target per row$"):
        small_estimator(estimator).fit(FRAME, TARGETS[estimator][:50])


def test_missing_and_infinite_targets_are_counted_and_the_first_is_named():
    missing = Y.copy()
    missing[[4, 9]] = np.nan
    with pytest.raises(
        ValueError, match=r"Input y contains NaN: 2 of 60 rows, the first is row 4.*leave such rows out"
    ):
        small_regressor().fit(FRAME, missing)
    with pytest.raises(ValueError, match=r"Input y contains infinity.*: 1 of 60 rows, the first is row 0"):
        small_regressor().fit(FRAME, with_first(Y, np.inf).tolist())
    with pytest.raises(ValueError, match="Input y contains NaN: 1 of 60 rows, the first is row 0"):
        small_estimator("classifier").fit(FRAME, with_first(TARGETS["classifier"].astype(float), np.nan))


@pytest.mark.parametrize("make", [list, tuple])
def test_rows_as_dictionaries_get_the_remedy_and_no_warning(fitted, make):
    rows = make(FRAME.to_dict("records"))
    text = rf"X is a {make.__name__} of dictionaries; make it a frame, say by pandas.DataFrame\(X\)"
    with pytest.raises(TypeError, match=text):
        small_regressor().fit(rows, Y)
    with pytest.raises(TypeError, match=text):
        fitted.predict(rows)


@pytest.mark.parametrize("table", [None, "table.csv", 3.0], ids=repr)
def test_what_is_no_table_is_told_from_one(fitted, table):
    with pytest.raises(ValueError, match=r"got .* instead; give an array, a list of rows or a frame"):
        fitted.predict(table)
    with pytest.raises(ValueError, match=r"got .* instead; give an array, a list of rows or a frame"):
        small_regressor().fit(table, Y)


def test_one_axis_gets_the_two_ways_to_reshape_and_no_print_of_the_values():
    with pytest.raises(
        ValueError, match=r"got \(60,\)\. Reshape your data: X.reshape\(-1, 1\) is one column"
    ) as caught:
        small_regressor().fit(Y, Y)
    assert "\n" not in str(caught.value)


def test_rows_of_unequal_length_are_told_by_their_lengths():
    with pytest.raises(ValueError, match="X must have rows of equal length; got rows of 1 to 3 values"):
        small_regressor().fit([[1.0, 2.0, 3.0], [4.0]], [0.0, 1.0])


def test_complex_numbers_are_refused_without_a_print_of_the_values():
    with pytest.raises(ValueError, match="Complex data not supported: X holds complex128") as caught:
        small_regressor().fit(X * 1j, Y)
    assert "\n" not in str(caught.value)


LARGE = 10**400
TOO_LARGE = "holds a number beyond 1.8e308"


class TestNumbersThatDoublePrecisionDoesNotHold:
    @pytest.mark.parametrize("library", ["arrow", "pandas on Arrow"])
    def test_inexact_whole_numbers_of_arrow_are_named_by_their_column(self, library, fitted):
        arrow = pytest.importorskip("pyarrow")
        table = arrow.table({"age": X[:, 0], "pay": 2**53 + 1 + np.arange(60), "town size": X[:, 2]})
        table = table if library == "arrow" else table.to_pandas(types_mapper=pd.ArrowDtype)
        for use in (lambda: small_regressor().fit(table, Y), lambda: fitted.predict(table)):
            with pytest.raises(ValueError, match=r"column 'pay' of X .* above 2\^53.*categorical_features"):
                use()
        small_regressor(categorical_features=["pay"]).fit(table, Y)

    @pytest.mark.parametrize("n_rows", [60, 3], ids=["many rows", "few rows"])
    def test_a_column_of_a_frame_is_named(self, n_rows, fitted):
        table = FRAME.astype({"pay": object})
        table.loc[1, "pay"] = LARGE
        with pytest.raises(ValueError, match=f"column 'pay' of X {TOO_LARGE}"):
            small_regressor().fit(table, Y)
        with pytest.raises(ValueError, match=f"column 'pay' of X {TOO_LARGE}"):
            fitted.predict(table[:n_rows])

    @pytest.mark.parametrize("make", [list, lambda rows: np.array(rows, dtype=object)], ids=["lists", "array"])
    def test_a_column_of_an_array_is_named_by_its_position(self, make):
        with pytest.raises(ValueError, match=f"column 1 of X {TOO_LARGE}"):
            small_regressor().fit(make([[1, 2, 3], [1, LARGE, 3]]), [1.0, 2.0])

    def test_targets_weights_and_offsets_are_named(self):
        numbers = [LARGE] * 60
        with pytest.raises(ValueError, match=f"y {TOO_LARGE}"):
            small_regressor().fit(X, numbers)
        with pytest.raises(ValueError, match=f"sample_weight {TOO_LARGE}"):
            small_regressor().fit(X, Y, sample_weight=numbers)
        with pytest.raises(ValueError, match=f"offset {TOO_LARGE}"):
            small_regressor().fit(X, Y, offset=numbers)


class TestValuesThatAreNoNumbers:
    @pytest.mark.parametrize("value", [{}, [1, 2], (3,), 1j, object(), pd.NA], ids=lambda value: type(value).__name__)
    @pytest.mark.parametrize("is_array", [True, False])
    def test_of_arrays_and_lists_are_named_by_column_and_type(self, value, is_array):
        table = [[1.0, 2.0], [1.0, value], [None, 2.0]]
        if is_array:
            rows, table = table, np.empty((3, 2), dtype=object)
            for place in np.ndindex(3, 2):
                table[place] = rows[place[0]][place[1]]
        text = f"column 1 (of X )?holds (a value|values) of type {type(value).__name__}; "
        with pytest.raises((TypeError, ValueError), match=text):
            small_regressor().fit(table, [1.0, 2.0, 3.0])

    def test_durations_among_text_are_refused_as_such(self):
        table = np.array([["a", np.timedelta64(1, "s")], ["b", np.timedelta64(2, "s")]], dtype=object)
        with pytest.raises(ValueError, match="column 1 holds dates or durations"):
            small_regressor().fit(table, [1.0, 2.0])

    def test_durations_among_numbers_in_an_array_of_objects_are_refused(self):
        table = np.array([[1.5, np.timedelta64(1, "s")], [2.5, np.timedelta64(2, "s")]], dtype=object)
        with pytest.raises(ValueError, match="X holds dates or durations"):
            small_regressor().fit(table, [1.0, 2.0])


def test_large_numbers_of_a_sparse_table_are_no_reason_for_a_warning():
    table = sparse.csr_array(np.where(X > 0, 1e308, X))
    small_regressor().fit(table, Y)  # warnings are errors in tests


def test_infinity_of_both_signs_in_a_sparse_table_is_refused_without_a_warning():
    with pytest.raises(ValueError, match="infinity"):
        small_regressor().fit(sparse.csr_array(np.where(X > 0, np.inf, -np.inf)), Y)
