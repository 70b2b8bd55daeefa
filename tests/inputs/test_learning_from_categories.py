"""What models learn from categories, and what they must not learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from epiboost.datasets import make_heart
from tests.support.cities import FRAME, city_model, city_target, draw
from tests.support.compare import parameters_of
from tests.support.models import every_ensemble, every_task, small_classifier, small_regressor

pytestmark = pytest.mark.filterwarnings("ignore::epiboost.NumbersAsTextWarning")  # some categories are numerals

# What is learned


@every_task
@every_ensemble
def test_every_ensemble_learns_from_categories(task, ensemble):
    y = city_target(task)
    model = city_model(task, ensemble).fit(FRAME, y)
    test, y_test = draw(seed=1)
    y_test = city_target(task, y_test)
    without = city_model(task, ensemble).fit(FRAME[["size"]], y)
    assert model.score(test, y_test) > without.score(test[["size"]], y_test) + 0.2
    parameters = parameters_of(model, test)
    assert parameters.shape[0] == (1 if ensemble == "single" else 4)
    assert np.isfinite(parameters).all()


@every_ensemble
def test_missing_categories_are_learned(ensemble):
    random = np.random.default_rng(0)
    values = np.array(["a", "b", "c", "d", None], dtype=object)[random.integers(5, size=1000)]
    y = 3.0 * (values == None) + random.normal(scale=0.1, size=1000)  # noqa: E711 (elementwise)
    model = city_model(ensemble=ensemble).fit(pd.DataFrame({"v": values}), y)
    present, absent = model.predict(pd.DataFrame({"v": np.array(["a", None], dtype=object)}))
    assert abs(present - 0.0) < 0.3
    assert abs(absent - 3.0) < 0.3


def test_an_empty_text_is_a_category_and_not_a_missing_value():
    random = np.random.default_rng(0)
    code = random.integers(4, size=1000)
    values = np.array(["a", "b", "", None], dtype=object)[code]
    y = np.array([0.0, 1.0, 2.0, 4.0])[code] + random.normal(scale=0.1, size=1000)
    model = city_model().fit(pd.DataFrame({"v": values}), y)
    empty, absent = model.predict(pd.DataFrame({"v": np.array(["", None], dtype=object)}))
    assert abs(empty - 2.0) < 0.3
    assert abs(absent - 4.0) < 0.3


def test_the_noise_of_each_category_is_learned():
    random = np.random.default_rng(0)
    city = random.integers(100, size=8000)
    scale = np.where(np.arange(100) % 2, 2.0, 0.2)
    y = random.normal(scale=scale[city])
    frame = pd.DataFrame({"city": city.astype(str)})
    cities = pd.DataFrame({"city": np.arange(100).astype(str)})
    uncertainty = city_model(n_estimators=150).fit(frame, y).predict_uncertainty(cities)
    assert roc_auc_score(np.arange(100) % 2, uncertainty.data) > 0.98


def test_a_feature_cross_that_explains_the_target_is_learned():
    random = np.random.default_rng(0)
    first, second = random.integers(60, size=(2, 30_000))
    y = random.normal(size=(60, 60))[first, second] + random.normal(scale=0.2, size=30_000)
    frame = pd.DataFrame({"first": first.astype(str), "second": second.astype(str)})
    model = city_model(n_members=2, n_estimators=100).fit(frame[:25_000], y[:25_000])
    assert [lookup.columns for lookup in model.forest_.encoding.lookups if lookup.is_cross] == [(0, 1)]
    assert model.score(frame[25_000:], y[25_000:]) > 0.5


def test_feature_crosses_without_an_interaction_are_not_selected():
    random = np.random.default_rng(0)
    first, second = random.integers(60, size=(2, 10_000))
    effect = random.normal(size=(2, 60))
    y = effect[0][first] + effect[1][second] + random.normal(size=10_000)
    frame = pd.DataFrame({"first": first.astype(str), "second": second.astype(str), "twin": (first + 100).astype(str)})
    model = city_model(n_members=2, n_estimators=5).fit(frame, y)
    assert not any(lookup.is_cross for lookup in model.forest_.encoding.lookups)


def test_the_empty_region_of_the_heart_data_is_found_from_text_columns():
    heart = make_heart(n_per_cell=200, random_state=0)
    names = np.array([f"level {number}" for number in np.random.default_rng(5).permutation(9)])
    frame = pd.DataFrame(names[heart.X], columns=["first", "second"])
    cells = pd.DataFrame(names[heart.cells.X], columns=["first", "second"])
    model = city_model(n_members=10, n_estimators=300, max_depth=6, variance_guard=0.0, n_jobs=None).fit(frame, heart.y)
    assert roc_auc_score(heart.cells.inside.ravel(), model.predict_uncertainty(cells).knowledge) == 1.0


@pytest.mark.parametrize("weighted", [False, True], ids=["repeated rows", "weighted rows"])
def test_a_table_of_few_distinct_rows_is_learned(weighted):
    rng = np.random.default_rng(0)
    effect = rng.normal(size=40)
    city = rng.integers(0, 40, size=(2, 4000))
    label = (rng.random(city.shape) < 1 / (1 + np.exp(-2 * effect[city]))).astype(int)
    train = pd.DataFrame({"city": np.char.add("c", city[0].astype(str)), "label": label[0]})
    weight = None
    if weighted:
        counts = train.value_counts().sort_index()
        train, weight = counts.index.to_frame(index=False), counts.to_numpy()
    model = small_classifier(n_estimators=60)
    model.fit(train[["city"]], train["label"], sample_weight=weight)
    predicted = model.predict_proba(pd.DataFrame({"city": np.char.add("c", city[1].astype(str))}))[:, 1]
    assert roc_auc_score(label[1], predicted) > roc_auc_score(label[1], effect[city[1]]) - 0.02


def test_few_categories_in_few_rows_are_learned():
    frame = pd.DataFrame({"k": list("abcd") * 50, "z": np.random.default_rng(0).normal(size=200)})
    model = small_regressor(n_estimators=100).fit(frame, [0, 10, 20, 30] * 50)
    predicted = model.predict(pd.DataFrame({"k": list("abcd"), "z": np.zeros(4)}))
    np.testing.assert_allclose(predicted, [0, 10, 20, 30], atol=3)


def test_many_classes_are_learned_from_categories():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 60, 6000)
    frame = pd.DataFrame({"k": np.char.add("k", k.astype(str)), "z": rng.normal(size=6000)})
    model = small_classifier(n_members=2, n_estimators=60).fit(frame, k % 15)
    assert model.score(frame, k % 15) > 0.95


def test_a_hundred_thousand_distinct_categories_do_not_leak_the_target():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(100_000).astype(str), "size": random.normal(size=100_000)})
    y = frame["size"].to_numpy() + random.normal(scale=0.1, size=100_000)
    model = city_model(n_members=2, n_estimators=30).fit(frame, y)
    assert model.score(frame.assign(id=frame["id"] + " new"), y) > 0.9
    random_part = y - frame["size"].to_numpy()
    learned = model.predict(frame.assign(size=0.0))  # predicted from the id alone: must not be the target of its row
    assert np.ptp(learned) == 0.0 or abs(np.corrcoef(learned, random_part)[0, 1]) < 0.05


# Noise


@pytest.mark.parametrize("distinct", [300, 3000, 20_000])
@pytest.mark.parametrize("classes", [2, 3])
def test_noise_of_many_categories_does_not_leak_the_target(distinct, classes):
    random = np.random.default_rng(distinct)
    frame = pd.DataFrame(random.integers(distinct, size=(24_000, 3)).astype(str), columns=list("abc"))
    y = random.choice(classes, size=24_000, p=[0.8, 0.2] if classes == 2 else None)
    model = city_model("classifier", n_estimators=200, learning_rate=0.1, n_jobs=None).fit(frame[:20_000], y[:20_000])
    shares = np.bincount(y[:20_000]) / 20_000
    prior = log_loss(y[20_000:], np.tile(shares, (4000, 1)))
    assert log_loss(y[20_000:], model.predict_proba(frame[20_000:])) <= 1.01 * prior


@pytest.mark.parametrize(
    ("distinct", "skew", "weight"),
    [(5, 0.0, 1.0), (20, 0.0, 1.0), (24, 0.0, 1.0), (5, 2.0, 1.0), (24, 2.0, 1.0), (24, 0.0, 1000.0)],
)
def test_noise_of_few_categories_overfits_no_more_than_noise_of_numbers(distinct, skew, weight):
    random = np.random.default_rng(distinct)
    share = np.arange(1, distinct + 1) ** -skew
    codes = random.choice(distinct, size=(40_000, 10), p=share / share.sum())
    y = random.choice(2, size=40_000, p=[0.8, 0.2])
    frame = pd.DataFrame(codes.astype(str), columns=list("abcdefghij"))
    weights = np.full(20_000, weight)
    losses = []
    for table in (frame, frame.astype(float)):
        model = city_model("classifier", n_members=2, n_estimators=200, learning_rate=0.1)
        model.fit(table[:20_000], y[:20_000], sample_weight=weights)
        losses.append(log_loss(y[20_000:], model.predict_proba(table[20_000:])))
    assert losses[0] <= 1.004 * losses[1]


@pytest.mark.parametrize("weights", [(1.0, 3.0), (0.625, 2.5), (2.0, 2.0), (1.0, 10.0)], ids=str)
@pytest.mark.parametrize("distinct", [20, 1500])
def test_weights_that_depend_on_the_target_do_not_leak_it(weights, distinct):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, distinct, size=(2, 4000, 3))
    train, test = (
        pd.DataFrame({f"k{i}": np.char.add("v", one[:, i].astype(str)) for i in range(3)}).assign(
            x=rng.normal(size=4000)
        )
        for one in codes
    )
    y, held_out = (rng.random((2, 4000)) < 0.2).astype(int)
    model = small_classifier(n_members=2, n_estimators=60, learning_rate=0.1, max_depth=4)
    model.fit(train, y, sample_weight=np.take(weights, y))
    weight = np.take(weights, held_out)
    share = np.average(y, weights=np.take(weights, y))
    prior = log_loss(held_out, np.full(4000, share), sample_weight=weight)
    assert log_loss(held_out, model.predict_proba(test)[:, 1], sample_weight=weight) < 1.03 * prior
