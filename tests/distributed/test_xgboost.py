"""SGLB by distributed training of XGBoost: models are the same for any partitions and workers."""

import os
import signal

import numpy as np
import pytest

from epiboost import EpiBoostClassifier
from epiboost.engines.xgboost import distributed as xgboost_dask
from epiboost.engines.xgboost import workers as xgboost_workers
from epiboost.engines.xgboost.distributed import DistributedObjective
from epiboost.engines.xgboost.workers import WorkerGroup
from tests.support.dask_tables import NAMES, dd, in_partitions, lazy_grades, quadratic_frame
from tests.support.models import small_classifier, small_regressor

dask = pytest.importorskip("dask")
xgboost = pytest.importorskip("xgboost")

SIZE = {"engine": "xgboost", "n_members": 2, "n_estimators": 20, "max_depth": 3}


@pytest.fixture(scope="module")
def table():
    return quadratic_frame(1500)


def boosters_of(model):
    """Return the boosters of a model as bytes."""
    return [bytes(booster.save_raw("ubj")) for booster in model.forest_.boosters]


@pytest.fixture
def placements(monkeypatch):
    """Return a list of the numbers of rows per worker, one entry per matrix that is made."""
    noted = []
    make = WorkerGroup._matrix

    def note_placement(workers):
        matrix = make(workers)
        sizes = {part.key: size for part, size in zip(workers.parts, workers.sizes, strict=True)}
        noted.append(sorted(sum(sizes[part.key] for part in parts) for parts in matrix.worker_map.values()))
        return matrix

    monkeypatch.setattr(WorkerGroup, "_matrix", note_placement)
    return noted


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("ensemble", ["sglb", "sgb"])
def test_partitions_and_their_workers_do_not_change_the_bits(table, placements, monkeypatch, ensemble):
    X, y = table
    options = {**SIZE, "ensemble": ensemble, "max_bins": 50}
    first = small_regressor(**options).fit(*in_partitions(table, 5))
    assert np.corrcoef(first.predict(X), y)[0, 1] > 0.8
    monkeypatch.setattr(
        xgboost_workers, "assign_workers", lambda sizes, workers: [workers[place > 0] for place in range(len(sizes))]
    )
    again, other = (small_regressor(**options).fit(*in_partitions(table, parts)) for parts in (5, 7))
    assert boosters_of(first) == boosters_of(again) == boosters_of(other)
    assert first.forest_.objective == other.forest_.objective
    assert placements == [[600, 900], [300, 1200], [215, 1285]]
    assert boosters_of(first) != boosters_of(
        small_regressor(**{**options, "random_state": 1}).fit(*in_partitions(table, 5))
    )


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_partitions_do_not_change_the_bits_when_values_are_binned(placements):
    large = quadratic_frame(150_000)
    weight = large[0]["a"].abs()
    fits = [
        small_regressor(**SIZE).fit(
            *in_partitions(large, parts), sample_weight=dd.from_pandas(weight, npartitions=parts)
        )
        for parts in (1, 6, 6, 11)
    ]
    assert len({tuple(boosters_of(fit)) for fit in fits}) == 1
    assert [len(placed) for placed in placements] == [1, 2, 2, 2]


@pytest.mark.usefixtures("client")
def test_a_classifier_trained_on_a_cluster_can_be_saved(table, tmp_path):
    X, y = in_partitions(table, 3)
    labels = lazy_grades(y)
    model = small_classifier(**SIZE).fit(X, labels)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    assert model.score(table[0], labels.compute()) > 0.7
    assert model.provenance_.n_rows == 1500
    model.save(tmp_path / "model.epib")
    again = EpiBoostClassifier.load(tmp_path / "model.epib")
    np.testing.assert_array_equal(again.predict_proba(table[0]), model.predict_proba(table[0]))


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_the_variance_guard_uses_the_rows_of_all_workers(table, placements):
    options = {**SIZE, "n_members": 8, "n_estimators": 200, "max_depth": 6, "out_of_fold": 0}
    cluster, process, unguarded = (
        np.median(small_regressor(**options, variance_guard=guard).fit(*rows).predict_uncertainty(table[0]).data)
        for rows, guard in ((in_partitions(table, 4), 1.0), (table, 1.0), (table, 0.0))
    )
    assert placements == [[750, 750]]
    assert cluster == pytest.approx(process, rel=0.1)
    assert unguarded < 0.5 * process


@pytest.mark.usefixtures("client")
def test_a_class_without_rows_of_positive_weight_is_not_learned(table):
    X, y = in_partitions(table, 2)
    model = small_classifier(**SIZE).fit(X, (y > 1).astype(int).where(y > -1, 7), sample_weight=(y > -1).astype(float))
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.usefixtures("client")
def test_frames_of_delayed_tables_are_learned(table):
    X, y = (
        dd.from_delayed([dask.delayed(part[:700]), dask.delayed(part[700:])], meta=part[:0], verify_meta=check)
        for part, check in zip(table, (False, True), strict=True)
    )
    delayed, partitioned = (small_regressor(**SIZE).fit(*rows) for rows in ((X, y), in_partitions(table, 3)))
    assert boosters_of(delayed) == boosters_of(partitioned)


@pytest.mark.usefixtures("client")
@pytest.mark.slow
def test_two_workers_and_one_process_have_likelihoods_within_the_spread_of_seeds(table, placements):
    X, y = table
    test = slice(1000, None)
    train = slice(0, 1000)
    frame = dd.from_pandas(X[train].assign(y=y[train]), npartitions=4)
    losses = {"cluster": [], "process": []}
    for seed in range(5):
        options = {**SIZE, "n_members": 3, "n_estimators": 60, "random_state": seed}
        for name, rows in (("cluster", (frame[NAMES], frame["y"])), ("process", (X[train], y[train]))):
            posterior = small_regressor(**options).fit(*rows).predict_posterior(X[test])
            losses[name].append(-posterior.logpdf(y[test].to_numpy()).mean())
    assert placements == [[500, 500]] * 5
    spread = max(np.std(one, ddof=1) for one in losses.values())
    assert abs(np.mean(losses["cluster"]) - np.mean(losses["process"])) < 3 * spread


def test_a_worker_killed_in_training_does_not_change_the_model(client, table, placements, monkeypatch, tmp_path):
    options = {**SIZE, "n_estimators": 30}
    undisturbed = small_regressor(**options).fit(*in_partitions(table, 5))
    before = set(client.run(os.getpid).values())
    flag = tmp_path / "killed"

    def killing_objective(*arguments):
        objective = DistributedObjective(*arguments)
        calls = []

        def gradients(raw, matrix):
            calls.append(None)
            if len(calls) == 20 and xgboost.collective.get_rank() == 1 and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return objective(raw, matrix)

        return gradients

    monkeypatch.setattr(xgboost_dask, "DistributedObjective", killing_objective)
    model = small_regressor(**options).fit(*in_partitions(table, 5))
    assert flag.exists()
    assert len(placements) == 3, "the member must be started again"
    assert boosters_of(model) == boosters_of(undisturbed)
    client.wait_for_workers(2)
    assert len(before - set(client.run(os.getpid).values())) == 1


# Errors


INVALID_DATA = {
    "infinity": (lambda X, y: (X.assign(a=np.inf), y), "infinity"),
    "lengths": (lambda X, y: (X, y.map_partitions(lambda part: part.iloc[:-1])), "a partition of X has 750 rows"),
    "missing": (lambda X, y: (X, y.where(y < 1)), "y contains NaN"),
    "large": (lambda X, y: (X, 1e160 * y), "rescale y"),
    "weights": (lambda X, y: (X, y, 1e300 * (y**2 + 1)), "must not sum to more than"),
    "no weight": (lambda X, y: (X, y, 0 * y), "zero for every row"),
    "one row": (lambda X, y: (X, y, (y == y.max()).astype(float)), "Found 1 sample"),
    "no rows": (lambda X, y: (X[X["a"] > 99], y[X["a"] > 99]), "Found array with 0 sample"),
}


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("case", INVALID_DATA)
def test_invalid_data_raises_a_clear_error_and_leaves_no_model(table, case):
    spoil, message = INVALID_DATA[case]
    model = small_regressor(**SIZE)
    with pytest.raises(ValueError, match=message):
        model.fit(*spoil(*in_partitions(table, 2)))
    assert not hasattr(model, "forest_")


UNSUPPORTED = {
    "evaluation": ({"eval_set": (np.zeros((2, 3)), np.zeros(2))}, ValueError, "does not take an eval_set"),
    "weights in memory": ({"sample_weight": np.ones(1500)}, TypeError, "sample_weight must be a Dask collection"),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_options_that_are_not_supported_are_refused(table, case):
    options, error, message = UNSUPPORTED[case]
    with pytest.raises(error, match=message):
        small_regressor(**SIZE).fit(*in_partitions(table, 2), **options)


def test_a_target_with_other_partitions_than_the_table_is_refused(table):
    with pytest.raises(ValueError, match="must have the same partitions; they have 2, 3"):
        small_regressor(**SIZE).fit(in_partitions(table, 2)[0], in_partitions(table, 3)[1])
