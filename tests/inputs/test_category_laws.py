"""Invariances of training on categories: order of rows, weights, threads, members and names."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from epiboost.engines.native import engine as native
from epiboost.engines.native import rows as binned
from tests.support.cities import FRAME, N, Y, city_model, city_target
from tests.support.compare import parameters_of
from tests.support.models import every_ensemble, every_task


@every_task
@every_ensemble
def test_the_order_of_rows_does_not_change_a_model_with_categories(task, ensemble):
    order = np.random.default_rng(0).permutation(N)
    y = city_target(task)
    model = city_model(task, ensemble, n_estimators=20).fit(FRAME, y)
    other = city_model(task, ensemble, n_estimators=20).fit(FRAME.iloc[order], y[order])
    np.testing.assert_array_equal(parameters_of(other, FRAME), parameters_of(model, FRAME))


@every_task
@every_ensemble
def test_integer_weights_are_equivalent_to_repeated_rows_with_categories(task, ensemble):
    rng = np.random.default_rng(7)
    city = np.repeat(np.char.add("c", np.arange(40).astype(str)), 3)
    y = np.tile([0, 1, 2], 40) if task != "binary" else np.tile([0, 1, 1], 40)
    counts = rng.integers(1, 9, size=120)
    number = np.tile([0.0, 0.0, 1.0], 40) if task == "binary" else np.zeros(120)
    frame = pd.DataFrame({"city": city, "number": number})
    rows = np.repeat(np.arange(120), counts)
    counted = city_model(task, ensemble, n_estimators=20).fit(frame, y, sample_weight=counts)
    repeated = city_model(task, ensemble, n_estimators=20).fit(frame.iloc[rows], y[rows])
    np.testing.assert_array_equal(parameters_of(repeated, frame), parameters_of(counted, frame))


@every_task
def test_the_number_of_threads_does_not_change_a_model_with_categories(task):
    y = city_target(task)
    one = parameters_of(city_model(task, n_members=5, n_jobs=1).fit(FRAME, y), FRAME)
    np.testing.assert_array_equal(parameters_of(city_model(task, n_members=5, n_jobs=3).fit(FRAME, y), FRAME), one)


@pytest.mark.parametrize("ensemble", ["sgb", "sglb"])
def test_more_members_do_not_change_the_first_members_with_categories(ensemble):
    few, more = (
        parameters_of(city_model(ensemble=ensemble, n_members=n_members, out_of_fold=0).fit(FRAME, Y), FRAME)
        for n_members in (2, 7)
    )
    np.testing.assert_array_equal(more[:2], few)


@pytest.mark.parametrize("ensemble", ["sgb", "sglb"])
def test_more_members_do_not_change_how_the_first_members_predict_unseen_categories(ensemble):
    new = FRAME[:50].assign(city="Atlantis", colour="pink")
    few, more = (
        parameters_of(city_model(ensemble=ensemble, n_members=n_members, out_of_fold=0).fit(FRAME, Y), new)
        for n_members in (2, 7)
    )
    np.testing.assert_array_equal(more[:2], few)


def test_members_of_different_row_orders_see_different_target_statistics():
    without_noise = city_model(n_members=5, temperature=0.0).fit(FRAME, Y)  # only the statistics can differ
    members = parameters_of(without_noise, FRAME)
    for place, one in enumerate(members):
        for other in members[:place]:
            assert not np.array_equal(one, other)


@pytest.mark.parametrize(("cells", "orders"), [(1 << 28, 5), (1, 3)])
def test_members_share_three_row_orders_when_more_would_need_too_much_memory(monkeypatch, cells, orders):
    seen = []
    monkeypatch.setattr(binned, "_MAX_ENCODED_CELLS", cells)
    monkeypatch.setattr(
        native, "bin_rows", lambda *args, **more: seen.append(binned.bin_rows(*args, **more)) or seen[-1]
    )
    city_model(n_members=5, out_of_fold=0).fit(FRAME, Y)
    assert len(seen[-1].tables) == orders  # the last call; trials of feature crosses come before it


def test_renamed_categories_in_the_same_order_give_the_same_model():
    renamed = FRAME.assign(city="x" + FRAME["city"], colour=FRAME["colour"] + "!")
    np.testing.assert_array_equal(
        parameters_of(city_model().fit(renamed, Y), renamed), parameters_of(city_model().fit(FRAME, Y), FRAME)
    )


@every_task
def test_pipelines_and_cross_validation_accept_categories(task):
    y = city_target(task)
    pipeline = make_pipeline("passthrough", city_model(task)).fit(FRAME, y)
    np.testing.assert_array_equal(
        parameters_of(pipeline[-1], FRAME), parameters_of(city_model(task).fit(FRAME, y), FRAME)
    )
    assert cross_val_score(city_model(task), FRAME, y, cv=3).min() > 0.5


def test_fit_and_predict_do_not_change_a_frame_with_categories():
    before = FRAME.copy(deep=True)
    city_model(n_estimators=5).fit(FRAME, Y).predict(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)
