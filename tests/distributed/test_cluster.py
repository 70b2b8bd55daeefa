"""Training on a cluster of two worker processes gives the same bits as training here."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor
from epiboost.engines.native import engine as native
from epiboost.engines.native import quick_trees
from epiboost.engines.native.training import train_here, train_on_cluster
from tests.support.compare import assert_same_trees
from tests.support.dask_tables import dd, in_partitions, pd, quadratic_frame
from tests.support.models import small_estimator, small_regressor
from tests.support.training import at_the_first_report

pytestmark = pytest.mark.filterwarnings("ignore::epiboost.NumbersAsTextWarning")  # some categories are numerals

pytest.importorskip("distributed")

SIZE = {"n_members": 4, "n_estimators": 15, "max_depth": 4}


@pytest.fixture(scope="module")
def table():
    return quadratic_frame(2000)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(
    ("estimator", "ensemble"), [("regressor", "sglb"), ("regressor", "virtual"), ("classifier", "sgb")]
)
def test_members_trained_on_a_cluster_have_the_same_bits(table, estimator, ensemble):
    X, y = table
    target = y if estimator == "regressor" else np.digitize(y, [0, 1])
    local, distributed = (
        small_estimator(estimator, ensemble=ensemble, **SIZE, n_jobs=n_jobs).fit(X, target) for n_jobs in (1, "dask")
    )
    assert_same_trees(distributed, local)


@pytest.mark.usefixtures("client")
def test_categories_and_an_evaluation_set_are_sent_to_the_workers(table):
    X, y = table
    X = X.assign(town=np.random.default_rng(1).integers(0, 40, size=len(X)).astype(str))
    options = {**SIZE, "early_stopping_rounds": 3}
    local, distributed = (
        small_regressor(**options, n_jobs=n_jobs).fit(X, y, eval_set=(X[:500], 1.3 * y[:500])) for n_jobs in (1, "dask")
    )
    assert_same_trees(distributed, local)
    np.testing.assert_array_equal(distributed.evaluation_loss_, local.evaluation_loss_)


@pytest.mark.usefixtures("client")
def test_trials_of_feature_crosses_run_in_this_process(table, monkeypatch):
    X, y = table
    rng = np.random.default_rng(1)
    town, trade = rng.integers(0, 16, size=(2, len(X)))
    X, y = X.assign(town=town.astype(str), trade=trade.astype(str)), y + 3.0 * ((town + trade) % 2)
    on_cluster, here = [], []
    monkeypatch.setattr(
        native,
        "train_on_cluster",
        lambda tables, **rest: on_cluster.append(len(tables[0].seeds)) or train_on_cluster(tables, **rest),
    )
    monkeypatch.setattr(
        quick_trees, "train_here", lambda tables, *rest: here.append(len(tables[0].seeds)) or train_here(tables, *rest)
    )
    distributed = small_regressor(**SIZE, n_jobs="dask").fit(X, y)
    assert (on_cluster, here) == ([4], [1, 1])  # a trial trains on each half of the rows
    assert_same_trees(distributed, small_regressor(**SIZE).fit(X, y))


def test_the_table_is_sent_to_each_worker_once(client, table):
    def count():
        from epiboost.engines.native.chains import ChainTable

        ChainTable.arrivals = 0
        take = ChainTable.__setstate__

        def counted(table, state):
            ChainTable.arrivals += 1
            take(table, state)

        ChainTable.__setstate__ = counted

    def arrivals():
        from epiboost.engines.native.chains import ChainTable

        return ChainTable.arrivals

    client.run(count)
    small_regressor(**{**SIZE, "n_members": 8, "n_estimators": 40, "out_of_fold": 0}, n_jobs="dask").fit(*table)
    assert max(client.run(arrivals).values()) == 1


@pytest.mark.usefixtures("client")
def test_progress_is_reported_as_members_finish(table, monkeypatch):
    with at_the_first_report(monkeypatch, lambda: None) as reports:
        small_regressor(**SIZE, n_jobs="dask").fit(*table)
    assert reports == [(15, 60), (30, 60), (45, 60), (60, 60)]


def test_fits_inside_tasks_of_the_cluster_do_not_block_each_other(client, table):
    def nested(X, y):
        return small_regressor(**SIZE, n_jobs="dask").fit(X, y).predict(X)

    results = client.gather([client.submit(nested, *table, pure=False) for _ in range(3)])
    expected = small_regressor(**SIZE).fit(*table).predict(table[0])
    for result in results:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.usefixtures("client")
def test_partitions_read_by_workers_give_the_same_bits(table):
    X, y = table
    local = small_regressor(**SIZE).fit(X, y)
    assert_same_trees(small_regressor(**SIZE, n_jobs="dask").fit(*in_partitions(table, 5)), local)


@pytest.mark.usefixtures("client")
def test_uncertainty_computed_by_workers_is_the_same(table):
    X, y = table
    model = small_regressor(**SIZE).fit(X, y)
    lazy = model.predict_uncertainty(dd.from_pandas(X, npartitions=5))
    pd.testing.assert_frame_equal(lazy.compute(), model.predict_uncertainty(X).to_frame())


@pytest.mark.usefixtures("client")
def test_a_model_trained_on_a_cluster_can_be_saved_and_loaded(table, tmp_path):
    X, y = table
    model = small_regressor(**SIZE, n_jobs="dask").fit(X, y)
    model.save(tmp_path / "model.epib")
    again = EpiBoostRegressor.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_other_engines_refuse_to_train_members_on_a_cluster(table):
    with pytest.raises(ValueError, match="n_jobs='dask' is for engine='native'"):
        small_regressor(engine="forest", ensemble="sgb", n_jobs="dask").fit(*table)
