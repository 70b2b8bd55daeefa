"""Sentences of the paper's page follow the results."""

import numpy as np
import pytest

from epiboost.paper.cells.cell import CellKey
from epiboost.paper.cells.provenance import REVISION, seed_of
from epiboost.paper.tables.published import published
from tests.support.paper_page import load_script
from tests.support.paper_results import CONTENT, results_of


@pytest.fixture(scope="module")
def sentences():
    return load_script("paper_sentences")


def test_budgets_are_compared_with_the_virtual_ensemble_and_long_chains(sentences):
    def text_for(area, nll):
        return sentences.budget(
            results_of(
                short_10={"ood_auc_knowledge": [area], "nll": [nll]},
                short_20={"nll": [3.0]},
                vsglb={"ood_auc_knowledge": [70.0], "nll": [-1.0]},
                sglb_ensemble={"ood_auc_knowledge": [90.0]},
            )
        )

    text = text_for(80.0, 2.0)
    assert "on 2 of 2 datasets. Compared with ten chains of 1000 trees, their AUC differs by −10.0" in text
    assert "on 0 datasets, worse on Concrete (2 against −1), Energy (2 against −1)." in text
    assert text.endswith("Twenty chains of 50 trees have a worse NLL than ten of 100 on Concrete, Energy.")
    assert "on 0 of 2 datasets." in text_for(60.0, 2.0)
    assert "on 2 datasets." in text_for(60.0, -2.0)


def test_forests_that_were_run_and_not_run_are_named(sentences):
    results = results_of(sglb_ensemble={"nll": [1.0]}, rf_ensemble={"prr_knowledge": [1.0, 2.0]})
    results.folds["concrete", "rf_single"] = {"rmse": np.full(20, 5.5)}
    results.folds["adult", "rf_single"] = {"nll": np.array([0.5])}
    text = sentences.forests(results)
    published_rmse = published()["rf_regression", "concrete", "rmse", "rf_single"].value
    assert f"all folds of Concrete; its RMSE is within {abs(5.5 - published_rmse):.2f} of" in text
    assert "not run on all folds of Energy." in text
    assert "The forest's NLL on Adult is 0.500; the published one is" in text
    assert text.endswith("Ensembles of ten forests were run on Concrete (2 of 20 folds), Energy (2 of 20 folds).")


def test_another_engine_is_described_by_its_folds_and_its_largest_difference(sentences):
    other = results_of(sglb_ensemble={"nll": [1.0], "ood_auc_total": [60.0], "ood_auc_knowledge": [92.0]})
    text = sentences.other_engine({"catboost": other}, "catboost", ["wine", "energy"])
    assert text.startswith("Run: Concrete (1 of 20 folds), Energy (1 of 20 folds). Not run: Wine.")
    assert text.endswith("is Energy, OOD AUC, total: 60, published 89.")


def test_provenance_names_machine_dates_and_outdated_cells(sentences):
    key = {"engine": "native", "dataset": "yacht", "fold": 0, "method": "sglb"}
    origin = {"machine": {"processor": "Z", "cores": 2}, "versions": {"python": "3.11"}, "date": "2026-01-02"}
    new = CONTENT | key | origin | {"seed": seed_of(CellKey(*key.values())), "revision": REVISION}
    old = {name: value for name, value in new.items() if name != "revision"} | {"date": "2026-01-01"}
    assert sentences.provenance([new]) == "1 cells, computed on Z, 2 cores, with Python 3.11, 2026-01-02."
    assert "2026-01-01 to 2026-01-02. 1 of them are of an earlier revision" in sentences.provenance([new, old])
    assert "`regression` took 1 s" in sentences.times([new], "native")
