"""Results for a pandas frame keep its index, so that a join matches rows; each table is read once."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import Posterior, Uncertainty, posterior_from
from epiboost.decisions import DomainDetector
from epiboost.explain import attribute
from epiboost.metrics import disagreement
from tests.support.models import every_estimator, small_estimator, small_regressor
from tests.support.tables import TARGETS, X, Y

NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES, index=[f"row {row}" for row in range(len(X))])
TRAIN, TEST = train_test_split(FRAME, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    """Return a model of each estimator that was fitted to the frame, by name."""
    return {name: small_estimator(name).fit(FRAME, target) for name, target in TARGETS.items()}


@pytest.mark.parametrize("novelty", [False, True])
@every_estimator
def test_a_join_after_a_random_split_matches_rows(fitted, estimator, novelty):
    model = fitted[estimator]
    joined = TEST.join(model.predict_uncertainty(TEST, novelty=novelty).to_frame())
    for label, row in joined.iterrows():
        alone = model.predict_uncertainty(FRAME.loc[[label]])
        assert row["total"] == pytest.approx(alone.total[0], rel=1e-12)


@every_estimator
def test_the_posterior_and_its_results_keep_the_index(fitted, estimator):
    posterior = fitted[estimator].predict_posterior(TEST)
    for result in (posterior, posterior.uncertainty(), disagreement(posterior)):
        assert result.index is TEST.index
    assert disagreement(posterior).to_frame().index.equals(TEST.index)


@every_estimator
def test_a_calibrated_model_keeps_the_index(fitted, estimator):
    calibrated = fitted[estimator].calibrate(FRAME, TARGETS[estimator])
    assert calibrated.predict_uncertainty(TEST, novelty=True).to_frame().index.equals(TEST.index)


@pytest.mark.parametrize("forest", [RandomForestRegressor, RandomForestClassifier])
def test_the_posterior_of_a_model_of_another_library_keeps_the_index(forest):
    target = TARGETS["regressor" if forest is RandomForestRegressor else "classifier"]
    model = forest(5, random_state=0).fit(FRAME, target)
    assert posterior_from(model, TEST, n_members=2).uncertainty().to_frame().index.equals(TEST.index)


@pytest.mark.filterwarnings("ignore:In .* of the rows a value is more than:UserWarning")  # columns are alike
def test_explanations_keep_the_index_of_the_frame_that_a_pipeline_takes():
    pipeline = make_pipeline(StandardScaler(), small_regressor()).fit(FRAME, Y)
    assert attribute(pipeline, TEST[:3], n_coalitions=16).to_frame().index.equals(TEST.index[:3])
    explained = DomainDetector(pipeline, measure="novelty").fit().explain(TEST[:3])
    assert explained.to_frame().index.equals(TEST.index[:3])


def test_lazy_results_of_a_dask_frame_keep_the_index(fitted):
    dd = pytest.importorskip("dask.dataframe")
    lazy = fitted["regressor"].predict_uncertainty(dd.from_pandas(TEST, npartitions=2, sort=False), novelty=True)
    in_memory = fitted["regressor"].predict_uncertainty(TEST, novelty=True).to_frame()
    pd.testing.assert_frame_equal(lazy.compute(), in_memory, check_index_type=False)


@pytest.mark.parametrize("table", [X, X.tolist(), pl.DataFrame(X)], ids=["array", "list", "polars"])
def test_a_table_without_an_index_has_results_without_one(table):
    model = small_regressor().fit(X, Y) if not isinstance(table, pl.DataFrame) else small_regressor().fit(table, Y)
    uncertainty = model.predict_uncertainty(table)
    assert uncertainty.index is None
    assert uncertainty.to_frame().index.equals(pd.RangeIndex(len(X)))


def test_frames_of_other_libraries_have_no_index(fitted):
    uncertainty = fitted["regressor"].predict_uncertainty(TEST)
    assert uncertainty.to_frame("polars").columns == uncertainty.to_frame("pyarrow").column_names


@pytest.mark.parametrize("copied", [copy.copy, lambda result: pickle.loads(pickle.dumps(result))])  # noqa: S301 (own)
@pytest.mark.parametrize("family", ["mean", "normal"])
def test_copies_keep_the_index(copied, family):
    index = pd.Index(["x", "y"])
    posterior = Posterior(np.ones((2, 2, 1 if family == "mean" else 2)), family, index=index)
    assert copied(posterior).index.equals(index)
    assert copied(posterior.uncertainty().with_novelty(np.zeros(2))).index.equals(index)


def test_an_index_of_another_length_is_refused():
    two, three = np.zeros(2), pd.RangeIndex(3)
    with pytest.raises(ValueError, match="index must have one label per sample, 2; got 3"):
        Uncertainty(two, two, two, "nats", index=three)
    for family in ("mean", "normal"):
        with pytest.raises(ValueError, match="index must have one label per sample, 2; got 3"):
            Posterior(np.ones((2, 2, 1 if family == "mean" else 2)), family, index=three)


def test_a_duplicated_index_is_kept_as_it_is(fitted):
    twice = pd.concat([TEST, TEST])
    assert fitted["regressor"].predict_uncertainty(twice).to_frame().index.equals(twice.index)


@pytest.mark.parametrize(
    "predict",
    [
        lambda model: model.predict_uncertainty(X, novelty=True),
        lambda model: model.calibrate(FRAME, Y).predict_uncertainty(X, novelty=True),
        lambda model: DomainDetector(model, measure="novelty").fit().score_samples(X),
        lambda model: DomainDetector(model).fit(FRAME).score_samples(X),
    ],
    ids=["novelty", "calibrated", "detector", "combined"],
)
def test_missing_names_are_warned_of_once(fitted, predict):
    with pytest.warns(UserWarning, match="X does not have valid feature names") as warned:
        predict(fitted["regressor"])
    assert len(warned) == 1
