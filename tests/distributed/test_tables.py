"""Tables in Dask's partitions: what is learned from them, and what is said of them. No cluster is needed for it."""

import sys

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._inputs.dask_collections import kind_of
from epiboost.distributed.cluster import ClusterError
from epiboost.distributed.sketch import Atoms, Sketch

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

SMALL = {"n_members": 3, "n_estimators": 15, "max_depth": 4, "random_state": 0, "n_jobs": 1}
NAMES = ["a", "b", "c"]
ROWS = 900


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=NAMES, index=np.arange(ROWS) * 2)
    X.loc[X["b"] > 1.5, "c"] = np.nan
    return X, X["a"] + X["b"] ** 2 + 0.3 * rng.normal(size=ROWS)


@pytest.fixture(scope="module")
def weight():
    return np.random.default_rng(1).integers(0, 3, size=ROWS).astype(float)


@pytest.fixture(scope="module")
def regressor(table):
    return EpiBoostRegressor(**SMALL).fit(*table)


@pytest.fixture(scope="module")
def classifier(table):
    X, y = table
    return EpiBoostClassifier(**SMALL).fit(X, np.array(["low", "middle", "high"])[np.digitize(y, [0, 1])])


def in_frame(table, parts=4):
    X, y = table
    frame = dd.from_pandas(X.assign(y=y), npartitions=parts)
    return frame[NAMES], frame["y"]


def in_arrays(table, rows=250, columns=2):
    X, y = table
    return da.from_array(X.to_numpy(), chunks=(rows, columns)), da.from_array(y.to_numpy(), chunks=rows)


COLLECTIONS = {"frame": in_frame, "array": in_arrays}


@pytest.fixture(params=COLLECTIONS)
def collect(request):
    return COLLECTIONS[request.param]


def assert_same_bits(one, other):
    for part in ("feature", "threshold", "leaf", "count", "evaluation"):
        np.testing.assert_array_equal(getattr(one.forest_, part), getattr(other.forest_, part), err_msg=part)
    np.testing.assert_array_equal(one.forest_.bins.borders, other.forest_.bins.borders)


# --- learning from partitions


def test_a_table_of_few_distinct_values_is_learned_to_the_same_bits(table, collect, regressor):
    assert_same_bits(EpiBoostRegressor(**SMALL).fit(*collect(table)), regressor)


@pytest.mark.parametrize("parts", [1, 7])
def test_with_borders_given_the_bits_do_not_depend_on_the_partitions(table, parts, monkeypatch):
    monkeypatch.setattr("epiboost.distributed.sketch._MOST_ATOMS", 20)  # a sketch would be off
    params = {"engine_params": {"borders": [[-1.0, 0.0, 1.0], [0.5], []]}}
    local = EpiBoostRegressor(**SMALL, **params).fit(*table)
    assert_same_bits(EpiBoostRegressor(**SMALL, **params).fit(*in_frame(table, parts)), local)


def test_weights_count_and_rows_of_weight_zero_do_not(table, weight, collect):
    local = EpiBoostRegressor(**SMALL).fit(*table, sample_weight=weight)
    X, y = collect(table)
    assert_same_bits(EpiBoostRegressor(**SMALL).fit(X, y, sample_weight=weight), local)
    lazy = da.from_array(weight, chunks=100)
    model = EpiBoostRegressor(**SMALL).fit(X, y, sample_weight=lazy)
    assert_same_bits(model, local)
    assert model.training_.n_rows == local.training_.n_rows == np.count_nonzero(weight)


def test_labels_of_a_lazy_series_are_learned(table, classifier):
    X, y = in_frame(table)
    labels = y.map_partitions(
        lambda part: pd.cut(part, [-9, 0, 1, 99], labels=["low", "middle", "high"]).astype(object)
    )
    lazily = EpiBoostClassifier(**SMALL).fit(X, labels)
    assert lazily.classes_.tolist() == classifier.classes_.tolist()
    assert_same_bits(lazily, classifier)


@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "partitions"])
def test_an_evaluation_set_is_watched(table, lazy):
    X, y = table
    local = EpiBoostRegressor(early_stopping_rounds=3, **SMALL).fit(X, y, eval_set=(X[:300], 1.2 * y[:300]))
    own_X, own_y = in_frame(table)
    watched = in_frame((X[:300], 1.2 * y[:300]), 3) if lazy else (X[:300], 1.2 * y[:300])
    model = EpiBoostRegressor(early_stopping_rounds=3, **SMALL).fit(own_X, own_y, eval_set=watched)
    assert_same_bits(model, local)


def test_partitions_may_be_empty(table, regressor):
    X, y = in_frame(table)
    empty = X["a"] < -100
    model = EpiBoostRegressor(**SMALL).fit(dd.concat([X[empty], X]), dd.concat([y[empty], y]))
    assert_same_bits(model, regressor)


def test_columns_are_known_by_their_names(table):
    model = EpiBoostRegressor(**SMALL).fit(*in_frame(table))
    assert model.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[0].rename(columns={"a": "z"}))


BAD = {
    "rows": (lambda X, y: (X, y.to_dask_array(lengths=True)[:-1]), ValueError, "X has 900 rows, y 899"),
    "more targets": (lambda X, y: (X.partitions[1:], y), ValueError, "inconsistent numbers of samples"),
    "infinite": (lambda X, y: (X.assign(a=np.inf), y), ValueError, "infinity"),
    "categories": (lambda X, y: (X.assign(a="Oslo"), y), ValueError, r"categories, at the positions \[0\]"),
    "target alone": (lambda X, y: (X.compute(), y), TypeError, "y is a Dask series"),
    "missing targets": (lambda X, y: (X, y.where(y < 1)), ValueError, "y contains NaN"),
    "a column": (lambda X, y: (X["a"], y), ValueError, "X must be a Dask frame, or a Dask array with rows and columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_learned_from_is_a_clear_error_and_leaves_no_model(table, case):
    spoil, kind, message = BAD[case]
    model = EpiBoostRegressor(**SMALL).fit(*table)
    with pytest.raises(kind, match=message):
        model.fit(*spoil(*in_frame(table)))
    assert not hasattr(model, "forest_")


def test_engines_that_need_the_table_say_so(table):
    with pytest.raises(TypeError, match="engine='forest' needs X in memory; 'native' and 'xgboost' take Dask"):
        EpiBoostRegressor(engine="forest", ensemble="sgb").fit(*in_frame(table))


BORDERS = {
    "order": ([[1.0, 0.0], [], []], "column 0 has"),
    "number": ([[np.inf], [], []], "borders must be finite, ascending numbers"),
    "many": ([[0.0], list(range(255)), []], "max_bins=255 allows 254 borders per column; column 1 has 255"),
    "width": ([[0.0]], "borders are given for 1 columns; X has 3"),
}


@pytest.mark.parametrize("case", BORDERS)
@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "partitions"])
def test_borders_must_ascend_and_fit_the_table(table, case, lazy):
    borders, message = BORDERS[case]
    with pytest.raises(ValueError, match=message):
        EpiBoostRegressor(engine_params={"borders": borders}, **SMALL).fit(*(in_frame(table) if lazy else table))


# --- sketches


@pytest.mark.parametrize("bins", [64, 255])
def test_bins_of_a_merged_sketch_hold_about_the_same_weight(bins):
    rng = np.random.default_rng(0)
    table = np.stack([rng.normal(size=200_000), rng.exponential(size=200_000)], axis=1)
    cuts = np.sort(rng.integers(0, 200_000, size=30))
    found = Sketch.merged([Sketch.of(part) for part in np.split(table, cuts) if len(part)]).bins(bins)
    for column in range(2):
        ranks = np.searchsorted(np.sort(table[:, column]), found.borders_of(column))
        sizes = np.diff(np.concatenate([[0], ranks, [len(table)]]))
        assert len(sizes) == bins
        assert np.abs(sizes * bins / len(table) - 1).max() < 0.05


def test_thinned_atoms_keep_the_weight_and_shift_no_rank_by_more_than_a_share():
    rng = np.random.default_rng(0)
    atoms = Atoms.of(rng.normal(size=5000), rng.uniform(0.1, 3.0, size=5000))
    thin = atoms.thinned(200)
    assert len(thin.values) <= 200
    total = atoms.weights.sum()
    assert thin.weights.sum() == pytest.approx(total)
    at = rng.normal(size=300)
    ranks = [(one.weights * (one.values[:, np.newaxis] <= at).T).sum(axis=1) for one in (atoms, thin)]
    assert np.abs(ranks[0] - ranks[1]).max() <= 0.5001 * total / 200


def test_rows_of_weight_one_are_thinned_as_weighted_ones(monkeypatch):
    monkeypatch.setattr("epiboost.distributed.sketch._MOST_ATOMS", 50)
    values = np.random.default_rng(0).normal(size=1000).round(2)
    counted, weighted = Atoms.counted(values), Atoms(*np.unique(values, return_counts=True)).thinned(50)
    np.testing.assert_array_equal(counted.values, weighted.values)
    np.testing.assert_allclose(counted.weights, weighted.weights)


def test_an_empty_column_has_no_atoms():
    sketch = Sketch.merged([Sketch.of(np.full((3, 1), np.nan)), Sketch.of(np.empty((0, 1)))])
    assert sketch.bins(255).borders.tolist() == []


# --- lazy answers


ANSWERS = {
    "predict": ("regressor", {}),
    "predict_quantile": ("regressor", {"q": [0.1, 0.5]}),
    "predict_interval": ("regressor", {"coverage": 0.8}),
    "predict_proba": ("classifier", {}),
    "predict_log_proba": ("classifier", {}),
}


@pytest.mark.parametrize("method", ANSWERS)
def test_answers_are_lazy_keep_index_and_divisions_and_are_those_of_the_whole_table(request, table, method):
    fixture, options = ANSWERS[method]
    model = request.getfixturevalue(fixture)
    X, _ = in_frame(table)
    lazy = getattr(model, method)(X, **options)
    assert kind_of(lazy) in {"frame", "series"}
    assert lazy.divisions == X.divisions
    whole = lazy.compute()
    np.testing.assert_array_equal(whole.to_numpy(), getattr(model, method)(table[0], **options))
    pd.testing.assert_index_equal(whole.index, table[0].index)
    compare = pd.testing.assert_series_equal if whole.ndim == 1 else pd.testing.assert_frame_equal
    compare(lazy._meta, whole.iloc[:0])


@pytest.mark.parametrize("method", ANSWERS)
def test_answers_about_arrays_are_arrays(request, table, method):
    fixture, options = ANSWERS[method]
    model = request.getfixturevalue(fixture)
    X = table[0].to_numpy()
    nameless = type(model)(**SMALL).fit(X, model.predict(table[0]))
    lazy = getattr(nameless, method)(da.from_array(X, chunks=(250, 2)), **options)
    expected = getattr(nameless, method)(X, **options)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(lazy.compute(), expected)


def test_names_of_columns_are_text_which_parquet_needs(table, regressor):
    X, y = table
    quantiles = regressor.predict_quantile(in_frame(table)[0], [0.1, 0.5])
    assert quantiles.columns.tolist() == ["quantile_0.1", "quantile_0.5"]
    numbers = EpiBoostClassifier(**SMALL).fit(X, (y > 1).astype(int))
    assert numbers.predict_proba(in_frame(table)[0]).columns.tolist() == ["0", "1"]


def test_labels_are_predicted_with_their_type(table, classifier):
    lazy = classifier.predict(in_frame(table)[0])
    assert lazy.dtype == lazy.compute().dtype
    assert lazy.compute().tolist() == classifier.predict(table[0]).tolist()


@pytest.mark.parametrize("fixture", ["regressor", "classifier"])
def test_uncertainty_is_a_lazy_frame_of_total_data_and_knowledge(request, table, fixture):
    model = request.getfixturevalue(fixture)
    X, _ = in_frame(table)
    lazy = model.predict_uncertainty(X)
    assert lazy.columns.tolist() == ["total", "data", "knowledge"]
    assert lazy.divisions == X.divisions
    expected = model.predict_uncertainty(table[0]).to_frame().set_axis(table[0].index)
    pd.testing.assert_frame_equal(lazy.compute(), expected)
    pd.testing.assert_frame_equal(lazy._meta, expected.iloc[:0])


def test_the_uncertainty_of_an_array_is_a_frame_too(table):
    X, y = table[0].to_numpy(), table[1]
    model = EpiBoostRegressor(**SMALL).fit(X, y)
    lazy = model.predict_uncertainty(da.from_array(X, chunks=(250, 3)))
    pd.testing.assert_frame_equal(lazy.compute(), model.predict_uncertainty(X).to_frame())


def test_mean_and_deviation_come_as_two(table, regressor):
    lazy = regressor.predict(in_frame(table)[0], return_std=True)
    for one, expected in zip(lazy, regressor.predict(table[0], return_std=True), strict=True):
        np.testing.assert_array_equal(one.compute(), expected)


def test_several_coverages_have_a_pair_of_columns_each(table, regressor):
    lazy = regressor.predict_interval(in_frame(table)[0], [0.5, 0.9])
    assert lazy.columns.tolist() == ["lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    np.testing.assert_array_equal(lazy.compute(), regressor.predict_interval(table[0], [0.5, 0.9]).reshape(ROWS, 4))


def test_calibrated_models_answer_lazily_too(table, regressor, classifier):
    X, _ = in_frame(table)
    calibrated = regressor.calibrate(*table)
    np.testing.assert_array_equal(calibrated.predict_interval(X).compute(), calibrated.predict_interval(table[0]))
    sets = classifier.calibrate(table[0], classifier.predict(table[0]))
    lazy = sets.predict_set(X)
    assert lazy.columns.tolist() == classifier.classes_.tolist()
    np.testing.assert_array_equal(lazy.compute(), sets.predict_set(table[0]))


def test_partitions_without_rows_have_answers_without_rows(table, regressor):
    X, _ = in_frame(table, 20)
    few = X[X["a"] > 2]
    assert 0 in few.map_partitions(len).compute().tolist()
    pd.testing.assert_index_equal(regressor.predict_uncertainty(few).compute().index, few.compute().index)


def test_categories_are_known_in_partitions(table):
    X, y = table
    X = X.assign(town=np.where(X["a"] > 0, "Oslo", "Lima"))
    model = EpiBoostRegressor(**SMALL).fit(X, y)
    lazy = model.predict(dd.from_pandas(X, npartitions=3))
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))


def test_what_is_computed_later_is_of_the_model_as_it_was(table):
    X, y = table
    model = EpiBoostRegressor(**SMALL).fit(X, y)
    expected = model.predict(X)
    lazy = model.predict(in_frame(table)[0])
    model.fit(X, -y)
    np.testing.assert_array_equal(lazy.compute(), expected)


def test_columns_that_are_missing_are_told_at_once(table, regressor):
    with pytest.raises(ValueError, match="feature names"):
        regressor.predict(in_frame(table)[0][["a", "b"]])


def test_a_posterior_is_not_lazy_and_says_so(table, regressor):
    with pytest.raises(TypeError, match="X is a Dask frame, which need not fit into memory"):
        regressor.predict_posterior(in_frame(table)[0])


def test_a_model_that_is_not_fitted_says_so_at_once(table):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        EpiBoostRegressor().predict(in_frame(table)[0])


def test_without_dask_nothing_is_a_collection(monkeypatch, table):
    X, _ = in_frame(table)
    assert kind_of(X) == "frame"
    monkeypatch.delitem(sys.modules, "dask")
    assert kind_of(X) is None


def test_without_a_client_the_error_says_how_to_get_one(table):
    pytest.importorskip("distributed")
    with pytest.raises(ClusterError, match=r"fit inside `with distributed.Client\(...\):`"):
        EpiBoostRegressor(**{**SMALL, "n_jobs": "dask"}).fit(*table)


def test_without_distributed_the_error_names_the_extra(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"n_jobs='dask' needs the package 'distributed'; .*'epiboost\[dask\]'"):
        EpiBoostRegressor(**{**SMALL, "n_jobs": "dask"}).fit(*table)
