"""The experiments and their cells."""

from epiboost.paper.experiments import cell_keys, expand_name
from epiboost.paper.problem import CLASSIFICATION, REGRESSION


def test_an_experiment_has_one_cell_per_dataset_fold_and_method():
    assert len(cell_keys("regression", engine="native", datasets=["yacht", "protein"])) == 3 * (20 + 5)
    assert len(cell_keys("table:prediction", engine="native", datasets=["yacht"], folds=2)) == 4
    keys = cell_keys("table:forest", engine="catboost", datasets=["kick"])
    assert {(key.engine, key.method) for key in keys} == {
        ("catboost", "sglb"),
        ("forest", "forest"),
        ("forest", "forests"),
    }


def test_groups_have_all_datasets_of_their_task():
    assert {key.dataset for key in cell_keys("regression", engine="native")} == set(REGRESSION)
    assert {key.dataset for key in cell_keys("classification", engine="native")} == set(CLASSIFICATION)
    assert len(expand_name("all")) == 8
