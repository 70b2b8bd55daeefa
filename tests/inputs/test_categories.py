"""Columns of categories: held by any library, learned by every ensemble, and known to be unknown when they are new."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._files import model_file
from epiboost.datasets import make_heart
from epiboost.engines.native import engine as native
from epiboost.engines.native import rows as binned

KINDS = ["single", "sgb", "sglb", "virtual"]
TASKS = ["regression", "two classes", "three classes"]
N = 1200
CITIES = [f"city {number}" for number in range(40)]

every_kind = pytest.mark.parametrize("kind", KINDS)
every_task = pytest.mark.parametrize("task", TASKS)


def small(task="regression", kind="sglb", **parameters):
    estimator = EpiBoostRegressor if task == "regression" else EpiBoostClassifier
    defaults = {
        "n_members": 4,
        "n_estimators": 60,
        "learning_rate": 0.3,
        "max_depth": 4,
        "n_jobs": 1,
        "random_state": 0,
    }
    return estimator(ensemble=kind, **{**defaults, **parameters})


def draw(seed=0, n=N, known=30):
    """Draw rows in which the city matters much, the colour a little and the size a little; holes are None."""
    random = np.random.default_rng(seed)
    effect = np.random.default_rng(99).normal(size=len(CITIES))
    city, colour = random.integers(known, size=n), random.integers(4, size=n)
    size = random.normal(size=n)
    y = effect[city] + 0.3 * (colour == 2) + 0.3 * size + random.normal(scale=0.2, size=n)
    columns = {
        "city": np.array(CITIES, dtype=object)[city],
        "size": size,
        "colour": np.array(["r", "g", "b", None], dtype=object)[colour],
    }
    return pd.DataFrame(columns), y


FRAME, Y = draw()


def target_for(task, y=Y):
    return {"regression": y, "two classes": y > 0.0, "three classes": np.digitize(y, [-0.5, 0.5])}[task]


def bits(model, frame=FRAME):
    return model.predict_posterior(frame).parameters


def arrow_chunks(frame):
    """Return a table whose chunks have dictionaries of their own."""
    parts = [frame.iloc[:500], frame.iloc[500:]]
    tables = [pa.Table.from_pandas(part, preserve_index=False) for part in parts]
    return pa.concat_tables(
        [
            table.set_column(0, "city", table["city"].dictionary_encode()).set_column(
                2, "colour", table["colour"].dictionary_encode()
            )
            for table in tables
        ]
    )


HOLDERS = {
    "pandas category": lambda frame: frame.astype({"city": "category", "colour": "category"}),
    "pandas category in another order": lambda frame: frame.assign(
        city=pd.Categorical(frame["city"], categories=CITIES[::-1]), colour=frame["colour"].astype("category")
    ),
    "pandas string": lambda frame: frame.astype({"city": "string", "colour": "string"}),
    "pandas over Arrow": lambda frame: frame.astype({"city": "string[pyarrow]", "colour": "string[pyarrow]"}),
    "pandas with NaN": lambda frame: frame.fillna({"colour": np.nan}),
    "polars String": pl.DataFrame,
    "polars Categorical": lambda frame: pl.DataFrame(frame).cast({"city": pl.Categorical, "colour": pl.Categorical}),
    "polars Enum": lambda frame: pl.DataFrame(frame).cast(
        {"city": pl.Enum(CITIES), "colour": pl.Enum(["r", "g", "b"])}
    ),
    "Arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "Arrow dictionaries in chunks": arrow_chunks,
    "Arrow batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
}


# Who holds them does not matter


@pytest.mark.parametrize("holder", sorted(HOLDERS))
def test_a_column_of_categories_may_be_held_by_any_library(holder):
    model = small().fit(FRAME, Y)
    np.testing.assert_array_equal(bits(model, HOLDERS[holder](FRAME)), bits(model))
    np.testing.assert_array_equal(bits(small().fit(HOLDERS[holder](FRAME), Y)), bits(model))


@pytest.mark.parametrize("make", [lambda frame: frame.to_numpy(dtype=object), lambda frame: frame.to_numpy().tolist()])
def test_an_array_of_objects_or_lists_holds_text_beside_numbers(make):
    table = make(FRAME)
    model = small().fit(table, Y)
    np.testing.assert_array_equal(bits(model, table), bits(small().fit(FRAME, Y)))
    assert not hasattr(model, "feature_names_in_")


def test_an_array_of_text_is_an_array_of_categories():
    text = FRAME[["city", "colour"]].fillna("none").to_numpy()
    np.testing.assert_array_equal(bits(small().fit(text.astype(str), Y), text), bits(small().fit(text, Y), text))


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="came with NumPy 2")
def test_an_array_of_text_of_any_length_is_an_array_of_categories():
    text = FRAME[["city", "colour"]].fillna("none").to_numpy()
    varied = text.astype(np.dtypes.StringDType())
    np.testing.assert_array_equal(bits(small().fit(varied, Y), varied), bits(small().fit(text, Y), text))


@pytest.mark.parametrize("asked", [["city"], [0], ["city", 0], np.array([0]), ("city",)])
def test_numbers_are_categories_where_that_is_asked_for(asked):
    numbers = FRAME["city"].str.removeprefix("city ").astype(int)
    scrambled = FRAME.assign(city=(numbers * 17) % 40)[["city", "size"]]  # of no use as numbers
    expected = bits(small().fit(scrambled.astype({"city": "category"}), Y), scrambled)
    model = small(categorical_features=asked).fit(scrambled, Y)
    np.testing.assert_array_equal(bits(model, scrambled), expected)
    np.testing.assert_array_equal(bits(model, scrambled.astype({"city": float})), expected)
    assert not np.array_equal(bits(small().fit(scrambled, Y), scrambled), expected)


def test_an_array_of_numbers_holds_categories_where_that_is_asked_for():
    table = np.stack([np.arange(N) % 7, FRAME["size"]], axis=1)
    y = np.random.default_rng(1).permutation(7)[np.arange(N) % 7] + 0.1 * Y
    named = pd.DataFrame({"a": (np.arange(N) % 7).astype(str), "b": FRAME["size"]})
    model = small(categorical_features=[0]).fit(table, y)
    np.testing.assert_array_equal(bits(model, table), bits(small().fit(named, y), named))


@pytest.mark.parametrize("holder", [pd.DataFrame, pl.DataFrame, lambda columns: pa.table(dict(columns))])
def test_booleans_are_the_same_as_numbers_and_as_categories(holder):
    flag = FRAME["city"].to_numpy() > "city 2"
    table = np.stack([flag, FRAME["size"]], axis=1)
    frame = holder({"flag": flag, "size": FRAME["size"].to_numpy()})
    np.testing.assert_array_equal(bits(small().fit(frame, Y), frame), bits(small().fit(table, Y), table))
    text = FRAME.assign(flag=np.where(flag, "yes", "no"))[["flag", "size"]]
    model = small(categorical_features=["flag"]).fit(frame, Y)
    np.testing.assert_array_equal(bits(model, frame), bits(small().fit(text, Y), text))


@pytest.mark.parametrize("holder", [pd.DataFrame, pl.DataFrame, pa.Table.from_pandas])
def test_columns_in_another_order_are_matched_by_name(holder):
    model = small().fit(FRAME, Y)
    np.testing.assert_array_equal(bits(model, holder(FRAME[["colour", "city", "size"]])), bits(model))


def test_whole_numbers_that_single_and_double_precision_confuse_are_told_apart():
    large = 2**60 + np.arange(2 * 30) // 30  # two ids of neighbouring values
    frame = pd.DataFrame({"id": np.tile(large, 20)})
    y = (frame["id"] - 2**60).to_numpy().astype(float)
    model = small(categorical_features=["id"]).fit(frame, y)
    assert model.score(frame, y) > 0.9


# What they say is learned


@every_task
@every_kind
def test_every_kind_of_ensemble_learns_from_categories(task, kind):
    y = target_for(task)
    model = small(task, kind).fit(FRAME, y)
    test, y_test = draw(seed=1)
    y_test = target_for(task, y_test)
    without = small(task, kind).fit(FRAME[["size"]], y)
    assert model.score(test, y_test) > without.score(test[["size"]], y_test) + 0.2
    parameters = bits(model, test)
    assert parameters.shape[0] == (1 if kind == "single" else 4)
    assert np.isfinite(parameters).all()


@every_kind
def test_that_a_category_is_missing_is_learned(kind):
    random = np.random.default_rng(0)
    values = np.array(["a", "b", "c", "d", None], dtype=object)[random.integers(5, size=1000)]
    y = 3.0 * (values == None) + random.normal(scale=0.1, size=1000)  # noqa: E711 (elementwise)
    model = small(kind=kind).fit(pd.DataFrame({"v": values}), y)
    present, absent = model.predict(pd.DataFrame({"v": np.array(["a", None], dtype=object)}))
    assert abs(present - 0.0) < 0.3
    assert abs(absent - 3.0) < 0.3


def test_an_empty_text_is_a_value_and_not_a_missing_one():
    random = np.random.default_rng(0)
    kind = random.integers(4, size=1000)
    values = np.array(["a", "b", "", None], dtype=object)[kind]
    y = np.array([0.0, 1.0, 2.0, 4.0])[kind] + random.normal(scale=0.1, size=1000)
    model = small().fit(pd.DataFrame({"v": values}), y)
    empty, absent = model.predict(pd.DataFrame({"v": np.array(["", None], dtype=object)}))
    assert abs(empty - 2.0) < 0.3
    assert abs(absent - 4.0) < 0.3


def test_how_noisy_a_category_is_is_learned():
    random = np.random.default_rng(0)
    city = random.integers(100, size=8000)
    scale = np.where(np.arange(100) % 2, 2.0, 0.2)
    y = random.normal(scale=scale[city])
    frame = pd.DataFrame({"city": city.astype(str)})
    data = (
        small(n_estimators=150)
        .fit(frame, y)
        .predict_uncertainty(pd.DataFrame({"city": np.arange(100).astype(str)}))
        .data
    )
    assert roc_auc_score(np.arange(100) % 2, data) > 0.98


def test_a_pair_of_columns_that_act_together_is_learned():
    random = np.random.default_rng(0)
    first, second = random.integers(60, size=(2, 30_000))
    y = random.normal(size=(60, 60))[first, second] + random.normal(scale=0.2, size=30_000)
    frame = pd.DataFrame({"first": first.astype(str), "second": second.astype(str)})
    model = small(n_members=2, n_estimators=100).fit(frame[:25_000], y[:25_000])
    assert [lookup.columns for lookup in model.forest_.encoding.lookups if lookup.is_cross] == [(0, 1)]
    assert model.score(frame[25_000:], y[25_000:]) > 0.5


def test_pairs_that_say_nothing_new_are_left_out():
    random = np.random.default_rng(0)
    first, second = random.integers(60, size=(2, 10_000))
    effect = random.normal(size=(2, 60))
    y = effect[0][first] + effect[1][second] + random.normal(size=10_000)
    frame = pd.DataFrame({"first": first.astype(str), "second": second.astype(str), "twin": (first + 100).astype(str)})
    model = small(n_members=2, n_estimators=5).fit(frame, y)
    assert not any(lookup.is_cross for lookup in model.forest_.encoding.lookups)


def test_the_heart_is_found_when_its_features_are_text():
    heart = make_heart(n_per_cell=200, random_state=0)
    names = np.array([f"level {number}" for number in np.random.default_rng(5).permutation(9)])
    frame = pd.DataFrame(names[heart.X], columns=["first", "second"])
    cells = pd.DataFrame(names[heart.cells.X], columns=["first", "second"])
    model = small(n_members=10, n_estimators=300, max_depth=6, variance_guard=0.0, n_jobs=None).fit(frame, heart.y)
    assert roc_auc_score(heart.cells.inside.ravel(), model.predict_uncertainty(cells).knowledge) == 1.0


@pytest.mark.parametrize("distinct", [300, 3000, 20_000])
@pytest.mark.parametrize("classes", [2, 3])
def test_pure_noise_of_many_values_does_not_leak_the_target(distinct, classes):
    random = np.random.default_rng(distinct)
    frame = pd.DataFrame(random.integers(distinct, size=(24_000, 3)).astype(str), columns=list("abc"))
    y = random.choice(classes, size=24_000, p=[0.8, 0.2] if classes == 2 else None)
    model = small("classes", n_estimators=200, learning_rate=0.1, n_jobs=None).fit(frame[:20_000], y[:20_000])
    shares = np.bincount(y[:20_000]) / 20_000
    prior = log_loss(y[20_000:], np.tile(shares, (4000, 1)))
    assert log_loss(y[20_000:], model.predict_proba(frame[20_000:])) <= 1.01 * prior


@pytest.mark.parametrize(
    ("distinct", "skew", "weight"),
    [(5, 0.0, 1.0), (20, 0.0, 1.0), (24, 0.0, 1.0), (5, 2.0, 1.0), (24, 2.0, 1.0), (24, 0.0, 1000.0)],
)
def test_pure_noise_of_few_values_is_learned_no_more_than_noise_of_numbers(distinct, skew, weight):
    random = np.random.default_rng(distinct)
    share = np.arange(1, distinct + 1) ** -skew
    codes = random.choice(distinct, size=(40_000, 10), p=share / share.sum())
    y = random.choice(2, size=40_000, p=[0.8, 0.2])
    frame = pd.DataFrame(codes.astype(str), columns=list("abcdefghij"))
    weights = np.full(20_000, weight)
    losses = []
    for table in (frame, frame.astype(float)):
        model = small("classes", n_members=2, n_estimators=200, learning_rate=0.1)
        model.fit(table[:20_000], y[:20_000], sample_weight=weights)
        losses.append(log_loss(y[20_000:], model.predict_proba(table[20_000:])))
    assert losses[0] <= 1.004 * losses[1]


# What was never seen is known to be unknown


@every_task
@pytest.mark.parametrize("kind", ["sgb", "sglb", "virtual"])
def test_categories_never_seen_rank_above_seen_ones_in_knowledge_uncertainty(task, kind):
    frame, y = draw(seed=2, n=3000, known=30)
    test, _ = draw(seed=3, n=1000, known=40)
    unseen = ~test["city"].isin(frame["city"])
    model = small(task, kind, n_members=10, n_estimators=150).fit(frame, target_for(task, y))
    assert roc_auc_score(unseen, model.predict_uncertainty(test).knowledge) > 0.9


@every_kind
def test_a_category_never_seen_is_predicted_with_the_prior(kind):
    frame, y = draw(seed=2, n=3000)
    model = small(kind=kind, n_members=10, n_estimators=150).fit(frame, y)
    new = model.predict(pd.DataFrame({"city": ["Atlantis"], "size": [0.0], "colour": ["r"]}))[0]
    by_city = pd.Series(y).groupby(frame["city"]).mean()
    assert abs(new - y.mean()) < 0.5 * by_city.std()


@pytest.mark.parametrize("kind", ["sgb", "sglb", "virtual"])
def test_a_category_never_seen_is_predicted_with_the_prior_though_common_ones_are_high(kind):
    random = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 201)
    city = random.choice(200, size=6000, p=share / share.sum())
    y = 3.0 - np.log2(1.0 + city) + random.normal(scale=0.2, size=6000)  # the rarer the lower
    frame = pd.DataFrame({"city": city.astype(str), "size": random.normal(size=6000)})
    model = small(kind=kind, n_members=10, n_estimators=150).fit(frame, y)
    new = frame[:1000].assign(city="Atlantis")
    assert abs(model.predict(new).mean() - y.mean()) < 0.25 * y.std()
    knowledge = [model.predict_uncertainty(table).knowledge for table in (frame[:1000], new)]
    assert roc_auc_score(np.repeat([0, 1], 1000), np.concatenate(knowledge)) > 0.9


@every_kind
def test_a_value_missing_for_the_first_time_is_one_never_seen(kind):
    frame, y = draw(seed=2)
    model = small(kind=kind).fit(frame, y)
    rows = pd.DataFrame({"city": np.array(["Atlantis", None], dtype=object), "size": 0.0, "colour": "r"})
    new, missing = np.moveaxis(bits(model, rows), 1, 0)
    np.testing.assert_array_equal(missing, new)


@every_kind
def test_a_third_value_of_a_column_of_two_is_predicted(kind):
    random = np.random.default_rng(0)
    side = random.integers(2, size=500)
    frame = pd.DataFrame({"side": np.array(["left", "right"])[side], "size": random.normal(size=500)})
    model = small(kind=kind, n_members=10).fit(frame, side + 0.1 * frame["size"])
    known = model.predict_uncertainty(frame).knowledge
    new = model.predict_uncertainty(frame.assign(side="middle")).knowledge
    assert np.isfinite(new).all()
    if kind != "single":
        assert np.median(new) > np.median(known)


@every_kind
def test_a_new_value_of_a_column_that_had_one_value_changes_nothing(kind):
    model = small(kind=kind).fit(FRAME.assign(colour="red"), Y)
    np.testing.assert_array_equal(bits(model, FRAME.assign(colour="blue")), bits(model, FRAME.assign(colour="red")))


def test_the_prediction_for_a_row_does_not_depend_on_unseen_categories_beside_it():
    model = small().fit(FRAME, Y)
    strange = FRAME.assign(city=np.where(np.arange(N) % 3, FRAME["city"], "Atlantis"))
    together = bits(model, strange)
    np.testing.assert_array_equal(together[:, :30], bits(model, strange[:30]))
    np.testing.assert_array_equal(together[:, np.arange(N) % 3 > 0], bits(model)[:, np.arange(N) % 3 > 0])


def test_evaluation_rows_may_hold_categories_never_seen():
    test, y_test = draw(seed=3, n=300, known=40)
    model = small(early_stopping_rounds=20).fit(FRAME, Y, eval_set=(test, y_test))
    assert np.isfinite(model.evaluation_loss_[:, 0]).all()


# Laws


@every_task
@every_kind
def test_the_order_of_rows_does_not_matter_beside_categories(task, kind):
    order = np.random.default_rng(0).permutation(N)
    y = target_for(task)
    model = small(task, kind, n_estimators=20).fit(FRAME, y)
    other = small(task, kind, n_estimators=20).fit(FRAME.iloc[order], y[order])
    np.testing.assert_array_equal(bits(other), bits(model))


@every_task
@every_kind
def test_a_table_of_counts_is_its_rows_as_often(task, kind):
    rng = np.random.default_rng(7)
    city = np.repeat(np.char.add("c", np.arange(40).astype(str)), 3)
    y = np.tile([0, 1, 2], 40) if task != "two classes" else np.tile([0, 1, 1], 40)
    counts = rng.integers(1, 9, size=120)
    number = np.tile([0.0, 0.0, 1.0], 40) if task == "two classes" else np.zeros(120)
    frame = pd.DataFrame({"city": city, "number": number})
    rows = np.repeat(np.arange(120), counts)
    counted = small(task, kind, n_estimators=20).fit(frame, y, sample_weight=counts)
    repeated = small(task, kind, n_estimators=20).fit(frame.iloc[rows], y[rows])
    np.testing.assert_array_equal(bits(repeated, frame), bits(counted, frame))


@pytest.mark.parametrize("weights", [(1.0, 3.0), (0.625, 2.5), (2.0, 2.0), (1.0, 10.0)], ids=str)
@pytest.mark.parametrize("distinct", [20, 1500])
def test_weights_that_go_with_the_target_do_not_tell_it(weights, distinct):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, distinct, size=(2, 4000, 3))
    train, test = (
        pd.DataFrame({f"k{i}": np.char.add("v", one[:, i].astype(str)) for i in range(3)}).assign(
            x=rng.normal(size=4000)
        )
        for one in codes
    )
    y, held_out = (rng.random((2, 4000)) < 0.2).astype(int)
    model = EpiBoostClassifier(n_members=2, n_estimators=60, max_depth=4, random_state=0, n_jobs=1)
    model.fit(train, y, sample_weight=np.take(weights, y))
    weight = np.take(weights, held_out)
    share = np.average(y, weights=np.take(weights, y))
    prior = log_loss(held_out, np.full(4000, share), sample_weight=weight)
    assert log_loss(held_out, model.predict_proba(test)[:, 1], sample_weight=weight) < 1.03 * prior


@every_task
def test_the_number_of_threads_changes_no_bit_beside_categories(task):
    y = target_for(task)
    one = bits(small(task, n_members=5, n_jobs=1).fit(FRAME, y))
    np.testing.assert_array_equal(bits(small(task, n_members=5, n_jobs=3).fit(FRAME, y)), one)


@pytest.mark.parametrize("kind", ["sgb", "sglb"])
def test_the_first_members_are_the_same_whatever_their_number(kind):
    few, more = bits(small(kind=kind, n_members=2).fit(FRAME, Y)), bits(small(kind=kind, n_members=7).fit(FRAME, Y))
    np.testing.assert_array_equal(more[:2], few)


@pytest.mark.parametrize("kind", ["sgb", "sglb"])
def test_the_first_members_take_new_categories_alike_whatever_their_number(kind):
    new = FRAME[:50].assign(city="Atlantis", colour="pink")
    few, more = (bits(small(kind=kind, n_members=n_members).fit(FRAME, Y), new) for n_members in (2, 7))
    np.testing.assert_array_equal(more[:2], few)


def test_members_of_different_orders_see_different_statistics():
    members = bits(small(n_members=5, temperature=0.0).fit(FRAME, Y))  # without noise, nothing else tells them apart
    for place, one in enumerate(members):
        for other in members[:place]:
            assert not np.array_equal(one, other)


@pytest.mark.parametrize(("cells", "orders"), [(1 << 28, 5), (1, 3)])
def test_members_share_three_orders_where_more_would_take_too_much_memory(monkeypatch, cells, orders):
    seen = []
    monkeypatch.setattr(binned, "_MAX_ENCODED_CELLS", cells)
    monkeypatch.setattr(
        native, "bin_rows", lambda *args, **more: seen.append(binned.bin_rows(*args, **more)) or seen[-1]
    )
    small(n_members=5).fit(FRAME, Y)
    assert len(seen[-1].tables) == orders  # the last: before it come trials


@pytest.mark.parametrize(
    "column",
    [pd.Categorical([None] * N, categories=["u"]), np.array([pd.NA] * N, dtype=object)],
    ids=["category", "object"],
)
def test_a_column_of_nothing_is_taken_whatever_its_type(column):
    frame = FRAME.assign(empty=column)
    model = small(n_estimators=5).fit(frame, Y)
    assert np.isfinite(model.predict(frame)).all()


def test_a_number_that_is_missing_in_the_only_row_is_missing():
    model = small(n_estimators=5).fit(FRAME.assign(more=np.arange(N) * 1.0), Y)
    row = FRAME[:1].assign(more=np.array([pd.NA], dtype=object))
    np.testing.assert_array_equal(model.predict(row), model.predict(FRAME[:1].assign(more=np.nan)))


def test_the_names_of_categories_do_not_matter_but_for_their_order():
    renamed = FRAME.assign(city="x" + FRAME["city"], colour=FRAME["colour"] + "!")
    np.testing.assert_array_equal(bits(small().fit(renamed, Y), renamed), bits(small().fit(FRAME, Y)))


# Company


@every_task
@every_kind
def test_a_model_with_categories_comes_back_from_its_file(task, kind, tmp_path):
    model = small(task, kind, n_estimators=20).fit(FRAME, target_for(task))
    model.save(tmp_path / "model.epib")
    again = type(model).load(tmp_path / "model.epib")
    test, _ = draw(seed=4, known=40)
    np.testing.assert_array_equal(bits(again, test), bits(model, test))


def test_values_of_any_kind_come_back_from_a_file(tmp_path):
    texts = ["", " ", "ä", "\U0001f600", "a\0", "b", "1", "nan", "None"]
    values = {
        "text": np.array(texts, dtype=object),
        "whole": np.array([2**62, 2**62 + 1, -3, 0, 1, 2, 3, 4, 5]),
        "broken": np.array([0.1, 1e300, -0.5, 3.0, np.inf, 4.0, 5.0, np.nan, 7.0]),
    }
    frame = pd.DataFrame({name: np.tile(column, 30) for name, column in values.items()})
    model = small(categorical_features=list(values), n_estimators=10).fit(frame, np.arange(270) % 9)
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    broken = {0.1, 1e300, -0.5, 3, np.inf, 4, 5, 7}
    expected = [set(texts), set(values["whole"].tolist()), broken]
    assert [set(vocabulary.values) for vocabulary in again.vocabularies_] == expected
    np.testing.assert_array_equal(bits(again, frame), bits(model, frame))


def larger(header, _arrays):
    header["vocabularies"][0]["size"] = 10**9


def without_one(header, arrays):
    header["vocabularies"][0]["size"] -= 1
    arrays["category_text"] = arrays["category_text"][arrays["category_ends"][0] :]
    arrays["category_ends"] = arrays["category_ends"][1:] - arrays["category_ends"][0]


def none_at_all(header, arrays):
    header["vocabularies"] = []
    arrays["category_text"], arrays["category_ends"] = arrays["category_text"][:0], arrays["category_ends"][:0]


def without_a_kind(header, _arrays):
    header["vocabularies"][0]["kind"] = None


def ends_descend(_header, arrays):
    arrays["category_ends"][1] = 0


def ends_too_far(_header, arrays):
    arrays["category_ends"][-1] += 1


def text_twice(_header, arrays):
    arrays["category_text"][-1] = arrays["category_text"][-2]  # colours of one letter


def text_broken(_header, arrays):
    arrays["category_text"][0] = 0xFF


def text_wider(_header, arrays):
    arrays["category_text"] = arrays["category_text"].astype(np.int64)


def key_too_large(_header, arrays):
    arrays["group_keys"][arrays["group_shapes"][0, 0] - 1] = 31


def key_negative(_header, arrays):
    arrays["group_keys"][0] = -1


@pytest.mark.parametrize(
    ("forge", "fault"),
    [
        (larger, "hold 1000000003 values, their text 33"),
        (without_one, "not have as many values as the encoding has codes"),
        (none_at_all, "not have as many values as the encoding has codes"),
        (without_a_kind, "without a kind must be empty"),
        (ends_descend, "category_ends must ascend to the length"),
        (ends_too_far, "category_ends must ascend to the length"),
        (text_twice, "values of a vocabulary must be distinct"),
        (text_broken, "codec can't decode"),
        (text_wider, "category_text must be bytes"),
        (key_too_large, "must be from 0 to 30; got 0 to 31"),
        (key_negative, "must be from 0 to 30; got -1 to 29"),
    ],
)
def test_forged_vocabularies_and_keys_are_refused(forge, fault, tmp_path):
    small(n_estimators=3).fit(FRAME, Y).save(tmp_path / "model.epib")
    header, arrays = model_file.read(tmp_path / "model.epib")
    arrays = {name: array.copy() for name, array in arrays.items()}
    model_file.write(tmp_path / "again.epib", header, arrays)
    EpiBoostRegressor.load(tmp_path / "again.epib")
    forge(header, arrays)
    model_file.write(tmp_path / "forged.epib", header, arrays)
    with pytest.raises(model_file.ModelFileError, match=fault):
        EpiBoostRegressor.load(tmp_path / "forged.epib")


@every_task
def test_a_pipeline_and_cross_validation_take_categories(task):
    y = target_for(task)
    pipeline = make_pipeline("passthrough", small(task)).fit(FRAME, y)
    np.testing.assert_array_equal(bits(pipeline[-1]), bits(small(task).fit(FRAME, y)))
    assert cross_val_score(small(task), FRAME, y, cv=3).min() > 0.5


# Odd input


@pytest.mark.parametrize(
    ("trained", "asked", "fault"),
    [
        (["1", "2", "3", "4"], [1, 2, 3, 4], r"column 'v' held text in training and holds numbers now \("),
        (
            ["1", "2", "3", "4"],
            [1.5, None, 3.0, 4.0],
            r"column 'v' held text in training and holds numbers now \(",
        ),
        ([1, 2, 3, 4], ["1", "2", "3", "4"], r"column 'v' held numbers in training and holds text now \('"),
    ],
)
@pytest.mark.parametrize("holder", [pd.DataFrame, pl.DataFrame, lambda columns: pa.table(dict(columns))])
def test_a_category_of_another_type_at_prediction_is_refused(trained, asked, fault, holder):
    model = small(categorical_features=["v"], n_estimators=5).fit(holder({"v": trained * 10}), np.arange(40) % 4)
    with pytest.raises(ValueError, match=fault):
        model.predict(holder({"v": asked}))


def test_a_column_that_is_all_missing_at_prediction_has_any_type():
    model = small(n_estimators=5).fit(FRAME, Y)
    none = bits(model, FRAME.assign(colour=np.array([None] * N, dtype=object)))
    np.testing.assert_array_equal(bits(model, FRAME.assign(colour=np.nan)), none)
    np.testing.assert_array_equal(bits(model, pl.DataFrame(FRAME).with_columns(colour=pl.lit(None))), none)
    np.testing.assert_array_equal(bits(model, FRAME.assign(colour=pd.NaT)), none)


def test_a_hundred_thousand_distinct_values_are_taken():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(100_000).astype(str), "size": random.normal(size=100_000)})
    y = frame["size"].to_numpy() + random.normal(scale=0.1, size=100_000)
    model = small(n_members=2, n_estimators=30).fit(frame, y)
    assert model.score(frame.assign(id=frame["id"] + " new"), y) > 0.9
    random_part = y - frame["size"].to_numpy()
    learned = model.predict(frame.assign(size=0.0))  # what an id alone says: nothing, or its own row's target
    assert abs(np.corrcoef(learned, random_part)[0, 1]) < 0.05


def test_object_columns_of_numbers_are_numbers():
    table = FRAME.assign(size=FRAME["size"].astype(object).where(np.arange(N) % 5 > 0, None))
    plain = FRAME.assign(size=FRAME["size"].where(np.arange(N) % 5 > 0))
    np.testing.assert_array_equal(bits(small().fit(table, Y), table), bits(small().fit(plain, Y), plain))


def test_text_in_a_column_of_numbers_is_refused_at_prediction():
    model = small(n_estimators=5).fit(FRAME, Y)
    with pytest.raises(
        ValueError, match=r"not numbers: 'size' \(String, such as 'large'\); they held numbers in training, or nothing"
    ):
        model.predict(FRAME.assign(size="large"))


def test_weights_of_zero_leave_a_category_unseen():
    weight = (FRAME["city"] != "city 0").to_numpy().astype(float)
    model = small().fit(FRAME, Y, sample_weight=weight)
    rows = FRAME[FRAME["city"] == "city 0"]
    np.testing.assert_array_equal(bits(model, rows), bits(model, rows.assign(city="Atlantis")))
    without = small().fit(FRAME[weight > 0], Y[weight > 0])
    np.testing.assert_array_equal(bits(model), bits(without))


def test_the_frame_of_the_user_is_left_as_it_was():
    before = FRAME.copy(deep=True)
    small(n_estimators=5).fit(FRAME, Y).predict(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows that are the same", "rows that count for many"])
def test_a_table_of_few_different_rows_is_learned(weighted):
    rng = np.random.default_rng(0)
    effect = rng.normal(size=40)
    city = rng.integers(0, 40, size=(2, 4000))
    label = (rng.random(city.shape) < 1 / (1 + np.exp(-2 * effect[city]))).astype(int)
    train = pd.DataFrame({"city": np.char.add("c", city[0].astype(str)), "label": label[0]})
    weight = None
    if weighted:
        counts = train.value_counts().sort_index()
        train, weight = counts.index.to_frame(index=False), counts.to_numpy()
    model = EpiBoostClassifier(n_members=3, n_estimators=60, random_state=0, n_jobs=1)
    model.fit(train[["city"]], train["label"], sample_weight=weight)
    told = model.predict_proba(pd.DataFrame({"city": np.char.add("c", city[1].astype(str))}))[:, 1]
    assert roc_auc_score(label[1], told) > roc_auc_score(label[1], effect[city[1]]) - 0.02


def test_few_values_of_few_rows_are_told_apart():
    frame = pd.DataFrame({"k": list("abcd") * 50, "z": np.random.default_rng(0).normal(size=200)})
    model = EpiBoostRegressor(n_members=3, n_estimators=100, random_state=0, n_jobs=1).fit(frame, [0, 10, 20, 30] * 50)
    told = model.predict(pd.DataFrame({"k": list("abcd"), "z": np.zeros(4)}))
    np.testing.assert_allclose(told, [0, 10, 20, 30], atol=3)


def test_classes_beyond_the_most_common_are_told_apart_by_categories():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 60, 6000)
    frame = pd.DataFrame({"k": np.char.add("k", k.astype(str)), "z": rng.normal(size=6000)})
    model = EpiBoostClassifier(n_members=2, n_estimators=60, random_state=0, n_jobs=1).fit(frame, k % 15)
    assert model.score(frame, k % 15) > 0.95
