"""Every check on user input, once.

A table comes in as a NumPy array or as a pandas, polars or Arrow frame and goes on as a plain array of floats in which
NaN means missing; columns of categories hold codes (see `categories`). A target goes on as floats or as class numbers,
weights as floats. What cannot be used is an error that says what was got and what is allowed.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from epiboost._inputs.columns import asked_columns, holds_words, learn_columns, read_columns
from epiboost._inputs.dask_collections import refuse_collection
from epiboost._typing import AnyArray, Floats

_MOST_ROWS = 1e15  # whole numbers up to here add up exactly
_PLAIN_TYPES = (np.dtype(np.float64), np.dtype(np.float32))
_MOST_COLUMNS = 65_535


@dataclass(frozen=True, slots=True)
class Dataset:
    """A checked table with its target: what an engine learns from.

    Attributes
    ----------
    X : array of shape (n, features)
        float32 or float64; NaN is a missing value. For an engine whose ``capabilities`` declare ``partitions`` it may
        be a `BinnedTable` or `PartitionedRows`, which have their targets with them: then y and weight are empty.
    y : array of shape (n,)
        Target values, or class numbers 0, 1, …
    weight : array of shape (n,)
        What each row counts for: weight two is the same as the row twice. All are positive.
    n_classes : int
        0 for regression.
    evaluation : Dataset or None
        Rows that are watched but not learned from.
    sizes : tuple of int
        How many codes each column has, the one for missing values included; 0 for a column of numbers. Empty if no
        column holds categories. Codes count from 0; -1 is a category that training has not seen, NaN a missing one.
    """

    X: Any
    y: Floats
    weight: Floats
    n_classes: int
    evaluation: "Dataset | None" = None
    sizes: tuple[int, ...] = ()


class KnownColumns(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What an estimator knows of its columns: checks tables wherever it is sent.

    Parameters
    ----------
    estimator : an estimator that has seen the columns of its table
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        for name in ("categorical_features", "n_features_in_", "feature_names_in_", "vocabularies_"):
            if hasattr(estimator, name):
                setattr(self, name, getattr(estimator, name))

    def __call__(self, table: Any) -> AnyArray:  # noqa: ANN401 (anything a user may pass)
        """Return the table as floats."""
        return check_table(self, table, reset=False)


def check_table(estimator: BaseEstimator, X: Any, *, y: Any = "no_validation", reset: bool) -> AnyArray:  # noqa: ANN401 (anything a user may pass)
    """Return the table as floats, having compared its columns with those the estimator knows (or noted them).

    What is known of categories is the estimator's ``vocabularies_``: one entry a column, None for a column of numbers,
    and empty if there are only such.
    """
    X = _with_holes(X)
    if reset:
        estimator.vocabularies_ = ()
    elif _is_plain(X, estimator):
        return _narrow(X)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and not estimator.vocabularies_:
        return _narrow(_check_numbers(estimator, X, y=y, reset=reset))  # most often it is so, and no more is to ask
    refuse_collection(X, "X", "predict_uncertainty, predict and their like take it partition by partition")
    X = _with_batch_as_table(X)
    if not nw.dependencies.is_into_dataframe(X):
        _refuse_no_table(X)
        return _check_array(estimator, X, y=y, reset=reset)
    frame = _in_known_order(estimator, _frame(X), reset=reset)
    # names and their number are compared on the frame; values are then checked as those of any array
    validate_data(estimator, frame.to_native(), y, skip_check_array=True, reset=reset)
    _refuse_width(len(frame.columns))
    return _check_columns(estimator, list(frame.iter_columns()), frame.columns, reset=reset)


def _is_plain(X: Any, estimator: Any) -> bool:  # noqa: ANN401 (anything a user may pass)
    """Say whether no check could find fault with a table: checks take longer than the prediction of one row."""
    if type(X) is not np.ndarray or X.dtype not in _PLAIN_TYPES or X.ndim != 2 or not len(X):  # noqa: PLR2004
        return False
    if estimator.vocabularies_ or hasattr(estimator, "feature_names_in_") or X.shape[1] != estimator.n_features_in_:
        return False
    with np.errstate(all="ignore"):
        return bool(np.isfinite(X.sum()))  # a missing value or too large a sum is left to the full check


def check_weight(sample_weight: Any, n_samples: int) -> Floats:  # noqa: ANN401 (anything a user may pass)
    """Return one weight a row: finite, none negative, not all zero."""
    weight = weight_of_rows(sample_weight, n_samples)
    check_largest_weight(float(weight.max()), n_samples)
    return weight


def weight_of_rows(sample_weight: Any, n_samples: int) -> Floats:  # noqa: ANN401 (anything a user may pass)
    """Return one weight a row: finite, none negative."""
    if sample_weight is None:
        return np.ones(n_samples)
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_samples, sample_weight)
    weight: Floats = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n_samples,):
        message = f"sample_weight must hold one number a row, shape ({n_samples},); got shape {weight.shape}"
        raise ValueError(message)
    if weight.min() < 0:
        message = f"sample_weight must not be negative; got {weight.min()} among the weights"
        raise ValueError(message)
    return weight


def check_largest_weight(largest: float, n_samples: int) -> None:
    """Refuse weights that are all zero, or so large that they cannot be counts of rows."""
    if not largest:
        message = "sample_weight is zero for every row; at least two rows must count"
        raise ValueError(message)
    if largest * n_samples > _MOST_ROWS:
        message = f"sample_weight must not count for more than {_MOST_ROWS:.0e} rows in all; got a weight of {largest}"
        raise ValueError(message)


def check_regression_target(y: Any) -> Floats:  # noqa: ANN401 (anything a user may pass)
    """Return target values: one finite number a row."""
    values = check_array(_plain(y), ensure_2d=False, dtype=None, input_name="y", ensure_all_finite=False)
    _refuse_dates(values, "y")
    values = check_array(values, ensure_2d=False, dtype=None, input_name="y")
    if values.dtype.kind in "OUS":
        values = check_array(values, ensure_2d=False, dtype=np.float64, input_name="y")
    return np.asarray(column_or_1d(values, warn=True), dtype=np.float64)


def check_classification_target(y: Any) -> AnyArray:  # noqa: ANN401 (anything a user may pass)
    """Return labels: one a row, none missing."""
    labels = column_or_1d(_plain(y), warn=True)
    if _any_missing(labels):
        message = "y holds missing labels; every row needs one"
        raise ValueError(message)
    if _holds_dates(labels):
        message = f"y holds dates or durations ({labels.dtype}); make the labels text"
        raise ValueError(message)
    if labels.dtype.kind == "f":
        check_array(labels, ensure_2d=False, input_name="y")
    distinct_labels(labels)
    check_classification_targets(labels)
    return np.asarray(labels)


def evaluation_parts(eval_set: Any) -> tuple[Any, Any, Any] | None:  # noqa: ANN401 (anything a user may pass)
    """Take (X, y) or (X, y, weight), alone or as the only entry of a list, apart."""
    if eval_set is None:
        return None
    parts = eval_set[0] if isinstance(eval_set, list) and len(eval_set) == 1 else eval_set
    if not isinstance(parts, tuple) or len(parts) not in {2, 3}:
        message = "eval_set must be (X, y) or (X, y, sample_weight)"
        raise ValueError(message)
    return (*parts, None)[:3]


def join(X: AnyArray, y: AnyArray, weight: Floats) -> tuple[AnyArray, AnyArray, Floats]:
    """Return the rows that count, having checked that the parts have equal length."""
    check_consistent_length(X, y, weight)
    kept = weight > 0
    if kept.all():
        return X, y, weight
    return X[kept], y[kept], weight[kept]


def _check_array(estimator: BaseEstimator, X: Any, *, y: Any, reset: bool) -> AnyArray:  # noqa: ANN401 (anything a user may pass)
    """Return an array as floats; what is not an array of rows and columns is left to scikit-learn."""
    table = _with_words(X)
    if isinstance(table, np.ndarray) and table.dtype != object:
        _refuse_dates(table, "X")
    if isinstance(table, np.ndarray) and table.ndim != 2 and holds_words(table):  # noqa: PLR2004 (rows and columns)
        message = f"Expected 2D array, got {table.ndim}D array instead; X must have rows and columns"
        raise ValueError(message)
    is_table = isinstance(table, np.ndarray) and table.ndim == 2 and table.size  # noqa: PLR2004 (rows and columns)
    asked = asked_columns(estimator.categorical_features, None, table.shape[1]) if is_table and reset else None
    if not (is_table and (asked or estimator.vocabularies_ or holds_words(table))):
        if is_table:  # of objects; others have been asked
            _refuse_dates(table, "X")
        return _narrow(_check_numbers(estimator, X, y=y, reset=reset))
    validate_data(estimator, table, y, skip_check_array=True, reset=reset)
    _refuse_width(table.shape[1])
    return _check_columns(estimator, list(table.T), range(table.shape[1]), reset=reset)


def _check_columns(estimator: BaseEstimator, columns: Sequence[Any], names: Sequence[Any], *, reset: bool) -> AnyArray:
    if reset:
        asked = asked_columns(estimator.categorical_features, names, len(columns))
        estimator.vocabularies_ = learn_columns(columns, names, asked)
    return _check_numbers(None, read_columns(columns, names, estimator.vocabularies_))


def _with_holes(X: Any) -> Any:  # noqa: ANN401 (anything a user may pass)
    """Return a masked array of NumPy with missing values where it is masked, anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    is_number = X.dtype.kind in "fiub"
    table = X.data.astype(np.promote_types(X.dtype, np.float32) if is_number else object)
    table[np.ma.getmaskarray(X)] = np.nan if is_number else None
    return table


def _with_batch_as_table(X: Any) -> Any:  # noqa: ANN401 (anything a user may pass)
    """Return a record batch of Arrow as the table it is, anything else as it is."""
    arrow = sys.modules.get("pyarrow")
    return arrow.Table.from_batches([X]) if arrow is not None and isinstance(X, arrow.RecordBatch) else X


def _refuse_no_table(X: Any) -> None:  # noqa: ANN401 (anything a user may pass)
    """Say what to do with what is nearly a table."""
    if isinstance(X, np.ndarray):
        return
    native = nw.from_native(X, allow_series=True, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        message = "X is a lazy frame; collect it first"
        raise TypeError(message)
    arrow = sys.modules.get("pyarrow")
    if isinstance(native, nw.Series) or (arrow is not None and isinstance(X, arrow.Array)):
        message = f"Expected 2D array or frame, got one column ({type(X).__name__}) instead; put it in a frame"
        raise ValueError(message)
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # a kind of sparse array is a dictionary
        message = f"X is a {type(X).__name__}; make it a frame, say by pandas.DataFrame(X)"
        raise TypeError(message)


def _frame(X: Any) -> nw.DataFrame[Any]:  # noqa: ANN401 (a frame of any library)
    names = list(X.columns if hasattr(X, "iloc") else getattr(X, "column_names", ()))  # polars has each name once
    if len(set(names)) < len(names):
        repeated = ", ".join(repr(name) for name, count in Counter(names).items() if count > 1)
        message = f"X has more than one column named {repeated}; columns need unique names"
        raise ValueError(message)
    return nw.from_native(X, eager_only=True)


def _in_known_order(estimator: BaseEstimator, frame: nw.DataFrame[Any], *, reset: bool) -> nw.DataFrame[Any]:
    """Return the frame with its columns in the order of training, if they are the same ones."""
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    if known is None or frame.columns == known.tolist() or sorted(frame.columns) != sorted(known.tolist()):
        return frame
    return frame.select(known.tolist())


def _with_words(X: Any) -> Any:  # noqa: ANN401 (anything a user may pass)
    """Return lists as an array in which numbers stay numbers though there is text beside them."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "T":  # NumPy's text of any length
        return X.astype(object)
    if not isinstance(X, list | tuple):
        return X
    try:
        table = np.asarray(X)
        return np.asarray(X, dtype=object) if table.dtype.kind in "US" else table
    except ValueError:
        return X


def _check_numbers(estimator: BaseEstimator | None, X: Any, *, y: Any = None, reset: bool = False) -> AnyArray:  # noqa: ANN401
    options: dict[str, Any] = {"dtype": (np.float64, np.float32), "ensure_all_finite": "allow-nan"}
    if estimator is None:
        return np.asarray(check_array(X, input_name="X", **options))
    if y is None:  # lets scikit-learn say that a target is needed
        validate_data(estimator, X, y, skip_check_array=True, reset=reset)
    return np.asarray(validate_data(estimator, X, reset=reset, y="no_validation", **options))


def _any_missing(labels: AnyArray) -> bool:
    if labels.dtype.kind in "mM":
        return bool(np.isnat(labels).any())
    # pandas marks what is missing with objects of its own, of which nothing can be asked but the name of their type
    return labels.dtype.kind == "O" and any(
        label is None or (isinstance(label, float) and np.isnan(label)) or type(label).__name__ in {"NAType", "NaTType"}
        for label in labels
    )


def _holds_dates(array: AnyArray) -> bool:
    kinds = set(map(type, array.ravel())) if array.dtype.kind == "O" else set()
    return array.dtype.kind in "mM" or any(issubclass(kind, date | timedelta) for kind in kinds)


def _refuse_dates(array: AnyArray, name: str) -> None:
    if _holds_dates(array):
        message = f"{name} holds dates or durations ({array.dtype}); turn them into numbers, say days since a fixed day"
        raise ValueError(message)


def _narrow(table: AnyArray) -> AnyArray:
    _refuse_width(table.shape[1])
    return table


def _refuse_width(width: int) -> None:
    if width > _MOST_COLUMNS:
        message = f"X must have at most {_MOST_COLUMNS} columns; got {width}"
        raise ValueError(message)


def _plain(y: Any) -> Any:  # noqa: ANN401 (anything a user may pass)
    """Return what NumPy reads well: a series of any data frame library becomes an array."""
    series = nw.from_native(y, allow_series=True, pass_through=True, eager_only=True)
    if isinstance(series, nw.Series):
        return series.to_numpy()
    return y


def distinct_labels(labels: AnyArray) -> AnyArray:
    """Return the labels that occur, in order."""
    try:
        return np.unique(labels)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        message = f"y mixes labels that have no order, of types {', '.join(kinds)}; make them all text or all numbers"
        raise ValueError(message) from error


def class_numbers(labels: AnyArray, classes: AnyArray) -> Floats:
    """Return each label's place among the classes; a label that is not there is an error."""
    known: Sequence[Any] = classes.tolist()
    strangers = sorted({str(label) for label in np.unique(labels) if label not in known})
    if strangers:
        message = f"eval_set holds labels that y does not: {', '.join(strangers)}"
        raise ValueError(message)
    return np.searchsorted(classes, labels).astype(np.float64)
