"""Evaluation rows: what an eval_set may be, and what it changes."""

import numpy as np
import pytest

from tests.support.models import every_estimator, small_classifier, small_estimator, small_regressor
from tests.support.tables import LABELS, TARGETS, X, Y, with_first

ONES = np.ones(60)


@every_estimator
def test_a_malformed_evaluation_set_is_refused(estimator):
    y = TARGETS[estimator]
    for eval_set in (X, (X,), (X, y, None, None, None), [(X, y), (X, y)], [X, y], {"X": X, "y": y}, (), [], "ab", 3):
        with pytest.raises(ValueError, match=r"eval_set must be \(X, y\) or \(X, y, sample_weight\)"):
            small_estimator(estimator).fit(X, y, eval_set=eval_set)


@every_estimator
def test_an_evaluation_set_in_a_list_of_one_is_accepted(estimator):
    y = TARGETS[estimator]
    plain = small_estimator(estimator).fit(X, y, eval_set=(X, y))
    np.testing.assert_array_equal(
        small_estimator(estimator).fit(X, y, eval_set=[(X, y, ONES)]).evaluation_loss_, plain.evaluation_loss_
    )


@every_estimator
def test_evaluation_rows_are_checked_like_training_rows(estimator):
    y = TARGETS[estimator]
    for rows, fault in [
        ((X[:, :2], y), "X has 2 features"),
        ((X, y[:3]), "inconsistent numbers of samples"),
        ((X, with_first(y.astype(float), np.nan)), "Input y contains NaN"),
        ((X[:0], y[:0]), r"0 sample\(s\)"),
        ((X, y, -ONES), "sample_weight must not be negative"),
        ((X, y, np.zeros(60)), "sample_weight is zero for every row"),
    ]:
        with pytest.raises(ValueError, match=fault):
            small_estimator(estimator).fit(X, y, eval_set=rows)


@pytest.mark.parametrize(
    ("labels", "others", "named"),
    [(LABELS, LABELS + 1, "2"), (np.array(["a", "b"])[LABELS], np.array(["a", "zebra"])[LABELS], "'zebra'")],
)
def test_labels_that_only_the_evaluation_set_has_are_named(labels, others, named):
    with pytest.raises(ValueError, match=f"eval_set holds {named}"):
        small_classifier().fit(X, labels, eval_set=(X, others))


def test_an_evaluation_set_may_lack_a_class():
    model = small_classifier().fit(X, LABELS, eval_set=(X[:3], [0, 0, 0]))
    assert np.isfinite(model.evaluation_loss_).all()


@every_estimator
def test_an_evaluation_set_without_early_stopping_does_not_change_the_model(estimator):
    model = small_estimator(estimator).fit(X, TARGETS[estimator], eval_set=(X, TARGETS[estimator]))
    plain = small_estimator(estimator).fit(X, TARGETS[estimator])
    assert model.evaluation_loss_.shape == (3, 30)
    assert plain.evaluation_loss_ is None
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


def test_an_evaluation_set_whose_loss_overflows_is_refused():
    with pytest.raises(ValueError, match="eval_set holds targets that are more than"):
        small_regressor(early_stopping_rounds=2).fit(X, Y, eval_set=(X, Y + 1e200))
