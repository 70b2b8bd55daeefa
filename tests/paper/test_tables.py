"""Published results, results of cells, and the tables that are built from both."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from epiboost.paper.cells.compression import compress
from epiboost.paper.tables import build as build_module
from epiboost.paper.tables import render
from epiboost.paper.tables.build import build
from epiboost.paper.tables.cpu_time import cpu_time_table
from epiboost.paper.tables.engine_comparison import engine_comparison
from epiboost.paper.tables.layout import TABLES
from epiboost.paper.tables.published import published, published_spread
from epiboost.paper.tables.results import Results, collect
from tests.support.paper_results import CONTENT, results_of


class TestPublishedResults:
    def test_all_of_them_are_there(self):
        assert len(published()) == 868
        assert published()["uncertainty", "energy", "ood_auc_knowledge", "sglb_ensemble"].value == 100
        assert published()["uncertainty", "boston", "prr_total", "vsglb"].highlighted
        assert published_spread("energy", "nll") == 1.28
        assert published_spread("adult", "nll") is None

    def test_each_of_them_is_in_a_table(self):
        shown = {
            (block.source, dataset, metric, method)
            for blocks in TABLES.values()
            for block in blocks
            for dataset in block.datasets
            for metrics in block.metrics
            for metric in metrics
            for method in block.methods
        }
        assert set(published()) <= shown

    def test_they_are_in_one_file(self):
        package = Path(build_module.__file__).parent
        assert [path.name for path in package.glob("*.csv")] == ["published.csv"]


class TestResults:
    def test_with_one_split_significance_is_tested_over_rows_and_ratios_have_one_best(self):
        rng = np.random.default_rng(0)
        losses = rng.gamma(1.0, size=500)
        losses_of = {"a": losses, "b": losses + 0.001 * rng.normal(size=500), "c": losses + 0.5}
        content = {
            **CONTENT,
            "engine": "native",
            "dataset": "adult",
            "fold": 0,
            "method": "x",
            "results": {
                name: {"nll": float(values.mean()), "prr_total": float(i), "rows": {"nll": compress(values)}}
                for i, (name, values) in enumerate(losses_of.items())
            },
        }
        results = collect([content], "native")
        results.folds["adult", "d"] = {"prr_total": np.array([np.nan])}
        assert results.best("adult", ["nll"], ["a", "b", "c"]) == {("nll", "a"), ("nll", "b")}
        assert results.best("adult", ["prr_total"], ["a", "b", "c"]) == {("prr_total", "c")}

    def test_cells_of_another_engine_are_left_out(self):
        content = {**CONTENT, "engine": "catboost", "dataset": "yacht", "fold": 0, "method": "sglb"}
        assert collect([content], "native").folds == {}
        assert collect([content], "catboost").mean("yacht", "nll", "sglb_ensemble") == 0.5


class TestEntries:
    def test_an_entry_has_the_published_result_and_the_difference(self):
        results = results_of(sglb_ensemble={"nll": [1.0, 1.5]}, vsglb={"nll": [3.0, 3.6]})
        entries = [entry for entry in build("prediction", results) if entry.dataset == "energy"]
        entry = next(entry for entry in entries if (entry.metric, entry.method) == ("nll", "sglb_ensemble"))
        assert (entry.value, entry.published.value, entry.folds, entry.best) == (1.25, 1.52, 2, True)
        assert entry.difference is None  # it is of other folds
        assert "**1.25 [2]** (1.52)" in render.markdown("prediction", entries)
        entries[entries.index(entry)] = entry = replace(entry, folds=20)
        assert entry.difference == pytest.approx(-0.27)
        assert "**1.25** (1.52, −0.27)" in render.markdown("prediction", entries)
        assert "\\textbf{1.25} (1.52, $-$0.27)" in render.latex("prediction", entries)
        lines = render.table_csv("prediction", entries, engine="native").splitlines()
        line = next(line for line in lines if "sglb_ens" in line)
        assert line == "prediction,native,Regression,energy,nll,sglb_ensemble,1.25,0.25,20,1,1.52,,1,-0.27"

    def test_total_and_knowledge_are_compared_with_each_other_as_in_the_paper(self):
        results = results_of(
            sglb_ensemble={"ood_auc_total": [50.0, 52.0, 51.0], "ood_auc_knowledge": [90.0, 93.0, 91.5]},
            vsglb={"ood_auc_total": [50.0, 51.0, 52.0], "ood_auc_knowledge": [60.0, 63.0, 61.0]},
        )
        entries = build("uncertainty", results) + build("budget", results)
        assert {(entry.metric, entry.method) for entry in entries if entry.best and entry.dataset == "energy"} == {
            ("ood_auc_knowledge", "sglb_ensemble"),
            ("ood_auc_knowledge", "vsglb"),  # among the methods of the budget
        }
        assert not [entry for entry in entries if entry.best and entry.metric == "ood_auc_total"]


class TestNotes:
    def test_datasets_without_cells_are_listed_and_keep_their_published_results(self):
        text = render.markdown("prediction", build("prediction", results_of(vsglb={"nll": [3.0, 3.6]})))
        assert "Not run, only published results: Adult" in text
        assert "Year MSD" in text.split("Not run")[1]
        assert "Energy" not in text.split("Not run")[1]
        assert "| Year MSD | NLL | — (3.43) |" in text

    def test_methods_that_were_not_run_are_quoted(self):
        results = results_of(sgb_single={"nll": [1.0, 2.0], "rmse": [1.0, 2.0]}, ngboost={"nll": [1.0, 2.5]})
        text = render.markdown("comparison", build("comparison", results))
        assert "Not run here, published results quoted: Deep Ensembles." in text

    def test_a_table_that_was_not_published_has_no_datasets_without_cells(self):
        text = render.markdown("budget", build("budget", results_of(vsglb={"nll": [3.0, 3.6]})))
        assert "only published results" not in text
        assert "Click" not in text


def test_cpu_time_of_another_engine_excludes_methods_that_do_not_use_it():
    results = Results(seconds={("yacht", "forest vrf"): (9.0, 9.0), ("boston", "sgb sgb_single"): (1.0, 1.0)})
    assert "one forest" in cpu_time_table(results)
    text = cpu_time_table(results, all_methods=False)
    assert "forest" not in text
    assert "Yacht" not in text
    assert "| dataset | one chain |" in text


class TestEngineComparison:
    def test_it_uses_the_folds_that_all_engines_have_run(self):
        native = results_of(sglb_ensemble={"nll": [1.0, 2.0, 9.0]})
        other = results_of(sglb_ensemble={"nll": [3.0, 5.0]})
        other.folds["energy", "sglb_ensemble"]["nll"] = np.full(3, np.nan)
        other.folds["energy", "rf_single"] = {"rmse": np.array([1.0])}
        text = engine_comparison({"native": native, "catboost": other})
        assert "| Concrete [2] | NLL | 1.50 | 4.00 | 3.05 |" in text
        assert "Energy" not in text
        assert engine_comparison({"native": native}) == ""

    def test_methods_may_have_different_numbers_of_folds(self):
        native = results_of(sglb_ensemble={"nll": [1.0, 2.0]}, sgb_ensemble={"nll": [5.0]})
        other = results_of(sglb_ensemble={"nll": [3.0, 5.0]}, sgb_ensemble={"nll": [6.0]})
        text = engine_comparison({"native": native, "catboost": other})
        assert "| Concrete [2] | NLL | 1.50 | 4.00 | 3.05 | 5.00 [1] | 6.00 [1] | 3.05 |" in text
