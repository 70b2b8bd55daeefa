"""Categories that training did not see are predicted with the prior and high knowledge uncertainty."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from tests.support.cities import FRAME, N, Y, city_model, city_target, draw
from tests.support.compare import parameters_of
from tests.support.models import every_ensemble, every_task

pytestmark = pytest.mark.filterwarnings("ignore::epiboost.NumbersAsTextWarning")  # some categories are numerals


@every_task
@pytest.mark.parametrize("ensemble", ["sgb", "sglb", "virtual"])
def test_unseen_categories_have_more_knowledge_uncertainty_than_seen_ones(task, ensemble):
    frame, y = draw(seed=2, n=3000, known=30)
    test, _ = draw(seed=3, n=1000, known=40)
    unseen = ~test["city"].isin(frame["city"])
    model = city_model(task, ensemble, n_members=10, n_estimators=150).fit(frame, city_target(task, y))
    assert roc_auc_score(unseen, model.predict_uncertainty(test).knowledge) > 0.9


@every_ensemble
def test_an_unseen_category_is_predicted_with_the_prior(ensemble):
    frame, y = draw(seed=2, n=3000)
    model = city_model(ensemble=ensemble, n_members=10, n_estimators=150).fit(frame, y)
    new = model.predict(pd.DataFrame({"city": ["Atlantis"], "size": [0.0], "colour": ["r"]}))[0]
    by_city = pd.Series(y).groupby(frame["city"]).mean()
    assert abs(new - y.mean()) < 0.5 * by_city.std()


@pytest.mark.parametrize("ensemble", ["sgb", "sglb", "virtual"])
def test_an_unseen_category_is_predicted_with_the_prior_when_frequent_ones_are_high(ensemble):
    random = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 201)
    city = random.choice(200, size=6000, p=share / share.sum())
    y = 3.0 - np.log2(1.0 + city) + random.normal(scale=0.2, size=6000)  # the rarer the lower
    frame = pd.DataFrame({"city": city.astype(str), "size": random.normal(size=6000)})
    model = city_model(ensemble=ensemble, n_members=10, n_estimators=150).fit(frame, y)
    new = frame[:1000].assign(city="Atlantis")
    assert abs(model.predict(new).mean() - y.mean()) < 0.25 * y.std()
    knowledge = [model.predict_uncertainty(table).knowledge for table in (frame[:1000], new)]
    assert roc_auc_score(np.repeat([0, 1], 1000), np.concatenate(knowledge)) > 0.9


@every_ensemble
def test_a_category_missing_for_the_first_time_is_predicted_as_unseen(ensemble):
    frame, y = draw(seed=2)
    model = city_model(ensemble=ensemble).fit(frame, y)
    rows = pd.DataFrame({"city": np.array(["Atlantis", None], dtype=object), "size": 0.0, "colour": "r"})
    new, missing = np.moveaxis(parameters_of(model, rows), 1, 0)
    np.testing.assert_array_equal(missing, new)


@every_ensemble
def test_a_third_value_in_a_column_of_two_raises_knowledge_uncertainty(ensemble):
    random = np.random.default_rng(0)
    side = random.integers(2, size=500)
    frame = pd.DataFrame({"side": np.array(["left", "right"])[side], "size": random.normal(size=500)})
    model = city_model(ensemble=ensemble, n_members=10).fit(frame, side + 0.1 * frame["size"])
    known = model.predict_uncertainty(frame).knowledge
    new = model.predict_uncertainty(frame.assign(side="middle")).knowledge
    assert np.isfinite(new).all()
    if ensemble != "single":
        assert np.median(new) > np.median(known)


@every_ensemble
def test_an_unseen_value_in_a_constant_column_does_not_change_predictions(ensemble):
    model = city_model(ensemble=ensemble).fit(FRAME.assign(colour="red"), Y)
    np.testing.assert_array_equal(
        parameters_of(model, FRAME.assign(colour="blue")), parameters_of(model, FRAME.assign(colour="red"))
    )


def test_unseen_categories_do_not_change_predictions_for_other_rows():
    model = city_model().fit(FRAME, Y)
    strange = FRAME.assign(city=np.where(np.arange(N) % 3, FRAME["city"], "Atlantis"))
    together = parameters_of(model, strange)
    np.testing.assert_array_equal(together[:, :30], parameters_of(model, strange[:30]))
    np.testing.assert_array_equal(
        together[:, np.arange(N) % 3 > 0], parameters_of(model, FRAME)[:, np.arange(N) % 3 > 0]
    )


def test_evaluation_rows_may_have_unseen_categories():
    test, y_test = draw(seed=3, n=300, known=40)
    model = city_model(early_stopping_rounds=20).fit(FRAME, Y, eval_set=(test, y_test))
    assert np.isfinite(model.evaluation_loss_[:, 0]).all()


def test_a_category_whose_rows_all_have_weight_zero_is_unseen():
    weight = (FRAME["city"] != "city 0").to_numpy().astype(float)
    model = city_model().fit(FRAME, Y, sample_weight=weight)
    rows = FRAME[FRAME["city"] == "city 0"]
    np.testing.assert_array_equal(parameters_of(model, rows), parameters_of(model, rows.assign(city="Atlantis")))
    without = city_model().fit(FRAME[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(parameters_of(model, FRAME), parameters_of(without, FRAME))


# Columns without values


@pytest.mark.parametrize(
    "column",
    [pd.Categorical([None] * N, categories=["u"]), np.array([pd.NA] * N, dtype=object)],
    ids=["category", "object"],
)
def test_a_column_of_missing_values_of_any_type_is_accepted(column):
    frame = FRAME.assign(empty=column)
    model = city_model(n_estimators=5).fit(frame, Y)
    assert np.isfinite(model.predict(frame)).all()


def test_a_column_missing_throughout_at_prediction_may_have_any_type():
    model = city_model(n_estimators=5).fit(FRAME, Y)
    none = parameters_of(model, FRAME.assign(colour=np.array([None] * N, dtype=object)))
    np.testing.assert_array_equal(parameters_of(model, FRAME.assign(colour=np.nan)), none)
    np.testing.assert_array_equal(parameters_of(model, pl.DataFrame(FRAME).with_columns(colour=pl.lit(None))), none)
    np.testing.assert_array_equal(parameters_of(model, FRAME.assign(colour=pd.NaT)), none)


def test_a_missing_number_in_a_table_of_one_row_is_read_as_missing():
    model = city_model(n_estimators=5).fit(FRAME.assign(more=np.arange(N) * 1.0), Y)
    row = FRAME[:1].assign(more=np.array([pd.NA], dtype=object))
    np.testing.assert_array_equal(model.predict(row), model.predict(FRAME[:1].assign(more=np.nan)))
