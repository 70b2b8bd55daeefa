"""Early stopping: all members stop together, by rows that none has seen or by the out-of-fold chains."""

import logging

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._boosting.early_stopping import EarlyStopping
from epiboost.metrics import negative_log_likelihood_loss

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(200, 3))
SIGNAL = X[:, 0] + GENERATOR.normal(size=200)
TARGETS = {EpiBoostRegressor: SIGNAL, EpiBoostClassifier: (SIGNAL > 0).astype(int)}
NAMES = {"regressor": EpiBoostRegressor, "classifier": EpiBoostClassifier}
QUICK = {"n_members": 3, "n_estimators": 200, "learning_rate": 0.3, "max_depth": 3, "random_state": 0, "n_jobs": 1}

every_task = pytest.mark.parametrize("kind", NAMES.values(), ids=NAMES)


def quick(kind, **changes):
    return kind(**{**QUICK, **changes})


# When to stop


def test_training_stops_once_the_best_loss_is_the_patience_back():
    stopping = EarlyStopping(patience=4)
    answers = [stopping.add(trees, loss) for trees, loss in ((2, 5.0), (4, 3.0), (6, 3.5), (8, 3.2), (10, 2.0))]
    assert answers == [False, False, False, True, False]
    assert stopping.best == 10


def test_the_usual_patience_is_half_of_the_best_number_and_at_least_fifty():
    short, long = EarlyStopping(None), EarlyStopping(None)
    short.add(10, 1.0)
    long.add(400, 1.0)
    assert [short.add(trees, 2.0) for trees in (59, 60)] == [False, True]
    assert [long.add(trees, 2.0) for trees in (599, 600)] == [False, True]


def test_losses_that_differ_by_rounding_are_equal():
    stopping = EarlyStopping(10)
    stopping.add(10, 1.0)
    stopping.add(20, 1.0 - 1e-12)
    assert stopping.best == 10


@pytest.mark.parametrize("loss", [np.nan, np.inf])
def test_losses_that_are_no_numbers_stop_the_training_at_the_last_that_was(loss):
    stopping = EarlyStopping(10)
    stopping.add(10, 1.0)
    assert stopping.add(20, loss)
    assert stopping.best == 10


# Which rows say so


@every_task
def test_rows_held_out_stop_the_ensemble_at_its_best(kind):
    model = quick(kind, validation_fraction=0.25, out_of_fold=0).fit(X, TARGETS[kind])
    history = model.history_
    assert history.stopped_by == "validation"
    assert model.n_iter_.tolist() == [history.n_trees[history.validation_loss.argmin()]] * 3
    assert model.n_iter_[0] < 200
    assert model.provenance_.n_rows == 150


@every_task
def test_the_loss_of_the_history_is_that_of_the_mixture(kind):
    rows, others = slice(0, 150), slice(150, 200)
    y = TARGETS[kind]
    model = quick(kind, early_stopping_rounds=20, out_of_fold=0).fit(X[rows], y[rows], eval_set=(X[others], y[others]))
    loss = negative_log_likelihood_loss(y[others], model.predict_posterior(X[others]))
    assert model.history_.stopped_by == "eval_set"
    assert model.history_.validation_loss.min() == pytest.approx(loss, rel=1e-5)


@every_task
def test_out_of_fold_chains_stop_the_ensemble_and_no_row_is_held_out(kind):
    model = quick(kind, early_stopping=True, out_of_fold=3, n_estimators=400).fit(X, TARGETS[kind])
    history = model.history_
    assert history.stopped_by == "out_of_fold"
    assert model.forest_.n_trees.max() < 400
    assert model.forest_.n_trees[0] >= 1.5 * history.n_trees[history.out_of_fold_loss.argmin()] - 10
    assert np.isfinite(model.oof_prediction_).all()


def test_by_default_chains_stop_that_are_too_long():
    y = GENERATOR.normal(size=300)  # nothing can be learned
    table = GENERATOR.normal(size=(300, 2))
    options = {"n_members": 5, "max_depth": 2, "learning_rate": 0.05, "random_state": 0}
    stopped, whole = (EpiBoostRegressor(early_stopping=one, **options).fit(table, y) for one in ("auto", False))
    assert stopped.history_.stopped_by == "out_of_fold"
    assert whole.history_ is None
    assert stopped.n_iter_[0] < whole.n_iter_[0]
    given = EpiBoostRegressor(n_estimators=60, **options).fit(table, y)
    assert (given.history_, given.n_iter_[0]) == (None, 60)


def test_the_variance_between_seeds_is_taken_off_the_expected_error():
    model = quick(EpiBoostRegressor, n_members=20, early_stopping=True, out_of_fold=3, n_estimators=60).fit(X, SIGNAL)
    alone = float(np.mean(np.square(model.oof_prediction_ - SIGNAL)))
    assert model.history_.out_of_fold_loss[-1] < alone


@every_task
def test_stopped_trees_are_those_of_a_longer_training(kind):
    y = TARGETS[kind]
    stopped = quick(kind, early_stopping=True, out_of_fold=3).fit(X, y)
    n_trees = int(stopped.forest_.n_trees[0])
    whole = quick(kind, early_stopping=False, n_estimators=n_trees, out_of_fold=3).fit(X, y)
    np.testing.assert_array_equal(stopped.forest_.leaf, whole.forest_.leaf)
    np.testing.assert_array_equal(stopped.predict_posterior(X).parameters, whole.predict_posterior(X).parameters)


# Rows held out


def test_rows_held_out_have_no_out_of_fold_prediction():
    model = quick(EpiBoostRegressor, validation_fraction=0.2, out_of_fold=3).fit(X, SIGNAL)
    assert np.isnan(model.oof_prediction_).sum() == 40
    again = quick(EpiBoostRegressor, validation_fraction=0.2, out_of_fold=3).fit(X, SIGNAL)
    np.testing.assert_array_equal(np.isnan(again.oof_prediction_), np.isnan(model.oof_prediction_))


def test_groups_are_held_out_together():
    groups = np.arange(200) // 10
    model = quick(EpiBoostRegressor, validation_fraction=0.2, out_of_fold=3).fit(X, SIGNAL, groups=groups)
    by_group = np.isnan(model.oof_prediction_).reshape(20, 10)
    assert by_group.all(axis=1).sum() == 4
    assert by_group.any(axis=1).sum() == 4


def test_every_class_keeps_its_share():
    labels = (np.arange(200) % 20 == 0).astype(int)
    model = quick(EpiBoostClassifier, validation_fraction=0.2, out_of_fold=3).fit(X, labels)
    held_out = np.isnan(model.oof_prediction_[:, 0])
    assert labels[held_out].tolist().count(1) == 2


def test_a_class_of_one_row_is_no_obstacle():
    labels = np.r_[0, np.ones(199, dtype=int)]
    model = quick(EpiBoostClassifier, validation_fraction=0.1, out_of_fold=0).fit(X, labels)
    assert model.history_.stopped_by == "validation"


def test_rows_of_weight_zero_are_not_held_out():
    weight = np.r_[np.zeros(100), np.ones(100)]
    model = quick(EpiBoostRegressor, validation_fraction=0.2, out_of_fold=3).fit(X, SIGNAL, sample_weight=weight)
    assert np.isnan(model.oof_prediction_[:100]).all()
    assert np.isnan(model.oof_prediction_[100:]).sum() == 20


@every_task
def test_a_refit_sees_all_rows_with_the_trees_that_were_best(kind):
    y = TARGETS[kind]
    first = quick(kind, validation_fraction=0.25, out_of_fold=0).fit(X, y)
    model = quick(kind, validation_fraction=0.25, refit=True, out_of_fold=0).fit(X, y)
    assert model.provenance_.n_rows == 200
    np.testing.assert_array_equal(model.n_iter_, first.n_iter_)
    np.testing.assert_array_equal(model.history_.validation_loss, first.history_.validation_loss)
    plain = quick(kind, n_estimators=int(first.n_iter_[0]), out_of_fold=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


# In scikit-learn


def test_early_stopping_works_in_a_pipeline_and_in_cross_validation():
    model = make_pipeline(
        StandardScaler(), quick(EpiBoostRegressor, early_stopping=True, n_estimators=80, out_of_fold=0)
    )
    assert np.isfinite(cross_val_score(model, X, SIGNAL, cv=2)).all()


# What is refused


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"early_stopping": "yes"}, "early_stopping must be 'auto', True or False; got 'yes'"),
        (
            {"early_stopping": False, "early_stopping_rounds": 3},
            "early_stopping=False contradicts early_stopping_rounds",
        ),
        ({"early_stopping": False, "validation_fraction": 0.1}, "early_stopping=False contradicts validation_fraction"),
        ({"validation_fraction": 1.0}, "validation_fraction must be a number above 0 and at most 0.9; got 1.0"),
        ({"early_stopping": True, "ensemble": "virtual"}, "second half of one whole chain"),
    ],
)
def test_contradictions_are_refused(options, fault):
    with pytest.raises(ValueError, match=fault):
        quick(EpiBoostRegressor, **options).fit(X, SIGNAL)


def test_one_group_cannot_be_held_out():
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1 cannot split 200 rows of 1 group"):
        quick(EpiBoostRegressor, validation_fraction=0.1, out_of_fold=0).fit(X, SIGNAL, groups=np.zeros(200))


def test_an_evaluation_set_and_rows_held_out_are_one_too_many():
    with pytest.raises(ValueError, match="not both"):
        quick(EpiBoostRegressor, validation_fraction=0.1).fit(X, SIGNAL, eval_set=(X, SIGNAL))


# Callbacks and lines


def test_a_callback_sees_every_round_and_may_stop():
    seen = []

    def stop_at_forty(now):
        seen.append(now)
        return now.n_trees >= 40

    model = quick(EpiBoostRegressor, out_of_fold=0)
    model.fit(X[:150], SIGNAL[:150], eval_set=(X[150:], SIGNAL[150:]), callbacks=[stop_at_forty])
    assert [now.n_trees for now in seen] == [10, 20, 30, 40]
    assert {now.n_trees_max for now in seen} == {200}
    assert [now.validation_loss for now in seen] == model.history_.validation_loss.tolist()
    assert model.n_iter_.tolist() == [40] * 3


def test_an_error_of_a_callback_leaves_the_model_unfitted():
    model = quick(EpiBoostRegressor)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, SIGNAL, callbacks=[lambda _now: 1 / 0])
    assert not hasattr(model, "forest_")


def test_a_line_is_logged_every_so_many_trees(caplog):
    with caplog.at_level(logging.INFO, logger="epiboost"):
        quick(EpiBoostRegressor, n_estimators=60, verbose=25, out_of_fold=0).fit(X, SIGNAL, eval_set=(X, SIGNAL))
    lines = [record.getMessage() for record in caplog.records]
    assert [line.split(" of ")[0] for line in lines] == ["30", "50", "60"]
    assert "validation loss" in lines[0]


def test_the_history_is_a_frame():
    model = quick(EpiBoostRegressor, n_estimators=30, out_of_fold=0).fit(X, SIGNAL, eval_set=(X, SIGNAL))
    frame = model.history_.to_frame()
    assert frame.columns.tolist() == ["n_trees", "validation_loss"]
    assert frame["n_trees"].tolist() == [10, 20, 30]


# Where features meet


def test_a_callback_that_stops_a_virtual_ensemble_leaves_members_of_the_shorter_chain(tmp_path):
    model = EpiBoostRegressor(ensemble="virtual", n_members=4, n_estimators=80, max_depth=3, random_state=0)
    model.fit(X, SIGNAL, callbacks=[lambda now: now.n_trees >= 20])
    assert model.prefixes_ == (12, 15, 17, 20)
    model.save(tmp_path / "model.epib")
    np.testing.assert_array_equal(EpiBoostRegressor.load(tmp_path / "model.epib").predict(X), model.predict(X))


def test_truth_values_of_numpy_stop_too_and_other_answers_do_not():
    model = quick(EpiBoostRegressor, n_estimators=40, out_of_fold=0)
    assert model.fit(X, SIGNAL, callbacks=lambda now: np.float64(now.n_trees) >= 20).n_iter_[0] == 20
    assert model.fit(X, SIGNAL, callbacks=[lambda now: now.n_trees]).n_iter_[0] == 40


def test_what_is_no_callback_is_refused():
    with pytest.raises(TypeError, match="callbacks must be callables"):
        quick(EpiBoostRegressor).fit(X, SIGNAL, callbacks=[3])


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(20), 10)])
def test_every_class_is_trained_on(groups):
    labels = np.repeat(np.arange(20), 10) if groups is not None else np.r_[1, 2, np.zeros(198, dtype=int)]
    for seed in range(4):
        model = quick(EpiBoostClassifier, validation_fraction=0.2, out_of_fold=0, n_estimators=5, random_state=seed)
        if groups is None:
            assert model.fit(X, labels).predict_proba(X).min() > 0.0
        else:
            with pytest.raises(ValueError, match="leaves none to train on or to hold out"):
                model.fit(X, labels, groups=groups)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"refit": True, "early_stopping": False}, "early_stopping=False contradicts refit"),
        ({"refit": "yes"}, "refit must be True or False; got 'yes'"),
        ({"verbose": -1}, "verbose must be a whole number"),
    ],
)
def test_odd_parameters_are_refused(options, fault):
    with pytest.raises(ValueError, match=fault):
        quick(EpiBoostRegressor, **options).fit(X, SIGNAL)


def test_a_refit_is_for_rows_held_out():
    with pytest.raises(ValueError, match="refit=True is for rows held out"):
        quick(EpiBoostRegressor, refit=True).fit(X, SIGNAL, eval_set=(X, SIGNAL))
    assert quick(EpiBoostRegressor, refit=True, n_estimators=30).fit(X, SIGNAL).history_.stopped_by == "validation"
