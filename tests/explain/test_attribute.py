"""Shapley values of uncertainty: they add up, find the feature out of its range, and take any table."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost.explain import attribute

pytest.importorskip("shap", reason="explaining needs shap")

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(400, 4))
Y = X.sum(axis=1) + 0.1 * RANDOM.normal(size=400)
GRADE = np.array(["low", "mid", "high"])[np.digitize(Y, [-0.7, 0.7])]
SMALL = {"n_members": 3, "n_estimators": 40, "n_jobs": 1, "random_state": 0}
MEASURES = ("knowledge", "data", "total", "mean")


@pytest.fixture(scope="module")
def models():
    regressor = EpiBoostRegressor(**SMALL).fit(X[:200], Y[:200])
    binary = EpiBoostClassifier(**SMALL).fit(X[:200], Y[:200] > 0)
    several = EpiBoostClassifier(**SMALL).fit(X[:200], GRADE[:200])
    return {
        "regressor": regressor,
        "binary": binary,
        "several": several,
        "calibrated regressor": regressor.calibrate(X[200:300], Y[200:300]),
        "calibrated classifier": several.calibrate(X[200:300], GRADE[200:300]),
    }


def predicted_measure(model, rows, measure, label=None):
    posterior = model.predict_posterior(rows)
    if measure != "mean":
        return getattr(posterior.uncertainty(), measure)
    return posterior.mean if label is None else posterior.mean[:, list(model.classes_).index(label)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", ["regressor", "binary", "several", "calibrated regressor", "calibrated classifier"])
def test_values_add_up_to_the_measure_less_its_background_mean(models, kind, measure):
    model, rows, background = models[kind], X[300:312], X[:30]
    label = None
    if measure == "mean" and hasattr(model, "classes_"):
        label = model.classes_[1]
    found = attribute(model, rows, measure, background=background, label=label)
    output = predicted_measure(model, rows, measure, label)
    base = predicted_measure(model, background, measure, label).mean()
    assert found.measure == measure
    assert found.values.shape == (12, 4)
    assert found.base_values == pytest.approx(np.full(12, base), rel=1e-7)
    np.testing.assert_allclose(found.values.sum(axis=1), output - base, rtol=1e-6, atol=1e-6 * np.abs(output).max())
    np.testing.assert_allclose(found.output, output, rtol=1e-6)


@pytest.mark.parametrize(("seed", "feature"), [(0, 0), (1, 3)])
def test_the_feature_that_leaves_its_training_range_comes_first_for_knowledge(seed, feature):
    """The target depends on it strongly; for an irrelevant feature the members agree outside its range too."""
    random = np.random.default_rng(seed)
    train = random.normal(size=(3000, 5))
    y = train.sum(axis=1) + 2 * train[:, feature] + 0.3 * random.normal(size=3000)
    size = {"n_estimators": 200, "learning_rate": 0.1, "max_depth": 6}
    model = EpiBoostRegressor(n_members=10, random_state=0, **size).fit(train, y)
    rows = random.normal(size=(200, 5))
    rows[:, feature] = train[:, feature].max() * random.uniform(1.1, 3.0, size=200)
    found = attribute(model, rows, "knowledge", background=train)
    assert (found.first(1)[:, 0] == f"x{feature}").mean() >= 0.95


def test_a_category_that_training_has_not_seen_comes_first_for_knowledge():
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"town": random.choice(["a", "b", "c"], 600), "size": random.normal(size=600)})
    y = frame["town"].map({"a": 0.0, "b": 3.0, "c": -3.0}) + frame["size"] + 0.1 * random.normal(size=600)
    model = EpiBoostRegressor(n_members=5, n_estimators=100, random_state=0).fit(frame, y)
    rows = frame[:20].assign(town="elsewhere")
    found = attribute(model, rows, background=frame)
    assert (found.first(1)[:, 0] == "town").mean() >= 0.95
    assert found.data[0, 0] == "elsewhere"


def test_values_of_few_features_are_exact():
    """The Shapley values of two features have a short formula."""
    model = EpiBoostRegressor(**SMALL).fit(X[:200, :2], Y[:200])
    row, background = X[300:301, :2], X[:20, :2]

    def value(*, first, second):
        table = background.copy()
        table[:, 0] = row[0, 0] if first else background[:, 0]
        table[:, 1] = row[0, 1] if second else background[:, 1]
        return model.predict_uncertainty(table).knowledge.mean()

    alone = value(first=True, second=False) - value(first=False, second=False)
    expected = (alone + value(first=True, second=True) - value(first=False, second=True)) / 2
    assert attribute(model, row, background=background).values[0, 0] == pytest.approx(expected, rel=1e-9)


def test_a_feature_that_no_tree_splits_on_has_values_of_zero():
    table = np.column_stack([X[:, 0], np.zeros(len(X))])
    model = EpiBoostRegressor(**SMALL).fit(table, X[:, 0])
    rows = np.column_stack([X[:10, 0], np.full(10, 7.0)])
    np.testing.assert_allclose(attribute(model, rows, background=table).values[:, 1], 0.0, atol=1e-15)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_all_libraries_give_the_same_values(library):
    random = np.random.default_rng(3)
    size = np.where(random.random(120) < 0.2, np.nan, random.normal(size=120))
    town = [None if draw < 0.1 else ("a" if draw < 0.5 else "b") for draw in random.random(120)]
    columns = {"size": [None if np.isnan(value) else value for value in size], "town": town}
    y = np.nan_to_num(size) + np.array([1.0 if name == "a" else 0.0 for name in town])
    model = EpiBoostRegressor(**SMALL).fit(library(columns), y)
    rows = library({"town": town[:8], "size": columns["size"][:8]})
    found = attribute(model, rows, "total", background=library(columns))
    assert found.feature_names == ("size", "town")
    assert found.data[:, 1].tolist() == town[:8]
    np.testing.assert_allclose(found.output, model.predict_uncertainty(rows).total, rtol=1e-6)
    plain = attribute(
        EpiBoostRegressor(**SMALL).fit(pd.DataFrame(columns), y),
        pd.DataFrame(columns)[:8],
        "total",
        background=pd.DataFrame(columns),
    )
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_values_scale_with_the_unit_of_the_target(unit):
    """Variances as small as 1e-18 are not rounding errors."""
    wide = np.random.default_rng(5).normal(size=(200, 12))
    y = wide[:, 0] + 0.1 * np.random.default_rng(6).normal(size=200)
    small, plain = (EpiBoostRegressor(**SMALL).fit(wide, scale * y) for scale in (unit, 1.0))
    found = attribute(small, wide[:9], "total", background=wide).values / unit**2
    np.testing.assert_allclose(found, attribute(plain, wide[:9], "total", background=wide).values, rtol=1e-4, atol=1e-9)
    assert found.any()


def test_small_differences_of_large_numbers_are_not_lost():
    """For example seconds since 1970, where one part in a million is a day."""
    table = np.column_stack([1.7e9 + 1e4 * X[:, 0], X[:, 1]])
    model = EpiBoostRegressor(**SMALL).fit(table, 5 * X[:, 0])
    found = attribute(model, table[:20], "mean", background=table)
    assert found.importance[0] > 10 * found.importance[1]


def test_the_same_seed_gives_the_same_values_and_keeps_the_global_generator():
    wide = np.random.default_rng(4).normal(size=(100, 12))
    model = EpiBoostRegressor(**SMALL).fit(wide, wide[:, 0])
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    first, again, other = (attribute(model, wide[:5], "total", random_state=seed).values for seed in (0, 0, 1))
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_parts_of_many_rows_have_the_values_of_all_rows_together(models, monkeypatch):
    from epiboost.explain import shapley

    together = attribute(models["regressor"], X[:25], background=X[300:310])
    monkeypatch.setattr(shapley, "_ROWS_PER_CALL", 10)
    parts = attribute(models["regressor"], X[:25], background=X[300:310])
    np.testing.assert_allclose(parts.values, together.values, rtol=1e-9, atol=1e-15)


def test_terms_of_collinear_features_are_warned_of_and_groups_remove_them():
    random = np.random.default_rng(0)
    cause = random.normal(size=(1000, 1))
    table = np.hstack([cause + 0.01 * random.normal(size=(1000, 5)), random.normal(size=(1000, 1))])
    y = np.sin(3 * cause[:, 0]) + table[:, 5] + 0.1 * random.normal(size=1000)
    model = EpiBoostRegressor(**{**SMALL, "n_members": 5, "n_estimators": 100, "max_depth": 6}).fit(
        table[:960], y[:960]
    )
    with pytest.warns(UserWarning, match="cancel each other") as warned:
        found = attribute(model, table[960:], background=table)
    assert warned[0].filename == __file__
    assert found.caution in repr(found)
    assert not attribute(model, table[960:], background=table, groups="correlated").caution


def test_a_pipeline_is_explained_by_its_transformed_features():
    pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(**SMALL)).fit(X, Y)
    found = attribute(pipeline, X[:6], background=X[:50])
    scaled = pipeline[0].transform(X[:6])
    np.testing.assert_allclose(found.data.astype(float), scaled)
    np.testing.assert_allclose(found.output, pipeline[-1].predict_uncertainty(scaled).knowledge, rtol=1e-6)


def test_a_forest_has_knowledge_but_no_data_uncertainty_to_explain(capsys):
    model = EpiBoostRegressor(engine="forest", ensemble="virtual", n_members=4, n_estimators=20, random_state=0)
    model.fit(X, Y)
    found = attribute(model, X[:5], background=X[:20])
    np.testing.assert_allclose(found.output, model.predict_uncertainty(X[:5]).knowledge, rtol=1e-6)
    capsys.readouterr()
    with pytest.raises(ValueError, match="data uncertainty is not known"):
        attribute(model, X[:5], "data", background=X[:20])
    assert capsys.readouterr().out == ""


def test_a_single_member_has_no_knowledge_to_explain():
    model = EpiBoostRegressor(**{**SMALL, "ensemble": "single"}).fit(X, Y)
    with pytest.raises(ValueError, match="a single member has no knowledge uncertainty"):
        attribute(model, X[:5], background=X[:20])
    assert attribute(model, X[:5], "data", background=X[:20]).values.any()


def test_threads_give_the_values_of_a_single_thread():
    wide = np.random.default_rng(4).normal(size=(60, 12))
    model = EpiBoostRegressor(**{**SMALL, "n_estimators": 10}).fit(wide, wide[:, 0])
    alone = attribute(model, wide[:3], n_coalitions=60, background=wide).values
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: attribute(model, wide[:3], n_coalitions=60, background=wide).values, range(12))
        assert all(np.array_equal(values, alone) for values in found)


def test_the_probability_of_the_given_label_is_explained(models):
    model = models["several"]
    found = attribute(model, X[:4], "mean", label="mid", background=X[300:320])
    assert (found.unit, found.label) == ("probability", "mid")
    np.testing.assert_allclose(found.output, model.predict_proba(X[:4])[:, list(model.classes_).index("mid")])
    assert attribute(models["binary"], X[:4], "mean", background=X[:9]).label


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((X[:5], "noise"), {}, "measure must be one of 'knowledge', 'data', 'total', 'mean', 'score'; got 'noise'"),
        ((X[:1],), {}, "give a background"),
        ((X[:5],), {"n_background": 0}, "n_background must be an integer of at least 1"),
        ((X[:5],), {"n_coalitions": 3}, "n_coalitions must be an integer of at least 8"),
        ((X[:5],), {"label": "mid"}, "label is for measure='mean' of a classifier"),
        ((X[:5], "mean"), {}, "label must be one of"),
        ((X[:5], "mean"), {"label": "huge"}, "got 'huge'"),
        ((X[:5, :2],), {}, "features"),
    ],
)
def test_arguments_that_are_not_allowed_are_refused(models, arguments, options, words):
    with pytest.raises(ValueError, match=words):
        attribute(models["several"], *arguments, **options)
