"""The pieces of the paper's experiments: folds, foreign rows, encoding, cells, significance, tables."""

import io
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel
from tests.support import paper_files

from epiboost import EpiBoostRegressor
from epiboost._boosting.recipe import Recipe
from epiboost.paper import experiments, runner
from epiboost.paper.cells import cell as cells
from epiboost.paper.cells import provenance as origin
from epiboost.paper.cells.cell import DamagedCellError, CellKey
from epiboost.paper.cells.compression import pack, unpack
from epiboost.paper.tables.results import Results, collect
from epiboost.paper.methods import boosted, forests
from epiboost.paper.methods.timer import Timer
from epiboost.paper.problem import CLASSIFICATION, REGRESSION, n_folds, out_of_domain_rows, problem
from epiboost.paper.progress import Forecast, view
from epiboost.paper.protocol import PAPER, QUICK
from epiboost.paper.runner import Event
from epiboost.paper.tables import build as tables
from epiboost.paper.tables import findings, render, sentences
from epiboost.paper.tables.cpu_time import cpu_time_table
from epiboost.paper.tables.large_differences import far_from_published, listed
from epiboost.paper.tables.engine_comparison import engine_comparison
from epiboost.paper.tables.published import published, spread_of
from epiboost.paper.tables.significance import not_different

pytest.importorskip("pandas")

KEY = CellKey("native", "yacht", 2, "sglb")
CONTENT = {
    "results": {"sglb_ensemble": {"nll": 0.5, "rmse": 1.0}},
    "seconds": {"grid": {"wall": 1.0, "cpu": 0.5}},
    "protocol": PAPER.to_json(),
    "outside": True,
    "seed": 1,
    "versions": {},
    "machine": {},
}


pytestmark = pytest.mark.usefixtures("folder")


# The protocol


def test_the_protocol_is_the_papers():
    assert (PAPER.n_estimators, PAPER.n_members, PAPER.forest_depth) == (1000, 10, 10)
    assert (PAPER.depths, PAPER.rates) == ((3, 4, 5, 6), (0.001, 0.01, 0.1))
    assert Recipe(ensemble="virtual", n_members=10, n_estimators=1000).prefixes == tuple(range(550, 1001, 50))
    assert [n_folds(name) for name in ("protein", "yacht", "year", "kick")] == [5, 20, 1, 1]


def test_validation_rows_of_a_regression_are_the_last_fifth_of_the_training_rows():
    fold = problem("yacht").fold(0)
    assert np.array_equal(np.concatenate([fold.fit, fold.validation]), np.arange(len(fold.y)))
    assert len(fold.validation) == len(fold.y) - int(0.8 * len(fold.y))


@pytest.mark.parametrize("name", ["adult", "kick"])
def test_a_classification_is_split_65_15_20(name):
    fold = problem(name).fold(0)
    shares = np.array([len(fold.fit), len(fold.validation), len(fold.y_test)]) / paper_files.ROWS
    assert np.allclose(shares, [0.65, 0.15, 0.20], atol=0.011)
    assert not set(fold.fit) & set(fold.validation)


def test_a_given_split_is_taken(folder):
    test = np.loadtxt(folder / "splits" / "kick_test_idx.txt").astype(int)
    assert np.array_equal(problem("kick").fold(0).y_test, problem("kick").y[test])


@pytest.mark.parametrize("name", ["yacht", "kick", "churn"])
def test_foreign_rows_have_the_means_and_deviations_of_the_training_columns(name):
    fold = problem(name).fold(0)
    numbers = [c for c in range(fold.X.shape[1]) if c not in fold.categorical and np.nanstd(fold.X[:, c]) > 0]
    assert fold.X_ood.shape == fold.X_test.shape
    assert np.allclose(fold.X_ood[:, numbers].mean(axis=0), np.nanmean(fold.X[:, numbers], axis=0))
    assert np.allclose(fold.X_ood[:, numbers].std(axis=0), np.nanstd(fold.X[:, numbers], axis=0))


def test_foreign_categories_are_drawn_uniformly_from_those_of_the_training_part():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [5.0], [7.0]])
    drawn = out_of_domain_rows(X, (0,), 3000, source_of="adult", seed=0)[:, 0]
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [0.0, 5.0, 7.0]
    assert (np.abs(counts - 1000) < 110).all()


def test_foreign_rows_are_the_same_each_time_and_others_for_another_fold():
    first, second = problem("yacht").fold(0), problem("yacht").fold(0)
    assert np.array_equal(first.X_ood, second.X_ood)
    assert not np.array_equal(first.X_ood, problem("yacht").fold(1).X_ood)


def test_column_j_of_foreign_rows_comes_from_column_j_of_the_source(folder):
    source = np.loadtxt(folder / "msd" / "timbre_4680x90.csv", delimiter=",", skiprows=1)
    rows = out_of_domain_rows(np.random.default_rng(0).normal(size=(9, 3)), (), len(source), source_of="yacht", seed=0)
    for column in range(3):
        own, theirs = (np.sort((x - x.mean()) / x.std()) for x in (rows[:, column], source[:, column]))
        assert np.allclose(own, theirs)


# Methods


def trainer(name="yacht", protocol=QUICK, engine="native"):
    return boosted.Trainer(problem(name).fold(0), protocol, engine, 3, 1)


def test_the_grid_takes_the_pair_of_least_validation_loss():
    own = trainer(protocol=replace(QUICK, depths=(1, 3), rates=(0.001, 0.3)))
    chosen, tried = own.choose("sglb")
    assert len(tried) == 4
    best = min(tried, key=lambda one: one["validation_nll"])
    assert chosen == {"max_depth": best["max_depth"], "learning_rate": best["learning_rate"]}
    assert chosen["learning_rate"] == 0.3


def test_the_single_model_is_the_first_chain_of_the_ensemble():
    own = trainer()
    found = boosted.sglb(own, Timer())["results"]
    options = {"n_estimators": 20, "max_depth": 3, "learning_rate": 0.1, "variance_guard": 0.0, "n_jobs": 1}
    options["temperature"] = min(1.0, 1 / np.var(own.fold.y))
    model = EpiBoostRegressor(ensemble="sglb", n_members=2, structure_rows=None, random_state=3, **options)
    mean = model.fit(own.fold.X, own.fold.y).predict_posterior(own.fold.X_test).parameters[0, :, 0]
    assert found["sglb_single"]["rmse"] == pytest.approx(np.sqrt(np.mean((mean - own.fold.y_test) ** 2)))
    assert "prr_knowledge" not in found["sglb_single"]
    assert found["vsglb"]["rmse"] != found["sglb_single"]["rmse"]


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_noise_is_in_the_units_of_the_target_as_in_the_paper_but_never_above_one_deviation(scale):
    fold = problem("yacht").fold(0)
    own = boosted.Trainer(replace(fold, y=scale * fold.y), QUICK, "native", 3, 1)
    assert own.common["temperature"] == pytest.approx(min(1.0, 1 / np.var(scale * fold.y)))
    assert (own.common["temperature"] == 1.0) == (scale == 0.01)
    assert "temperature" not in trainer("adult").common


def test_the_guard_of_the_variance_is_off():
    assert trainer().common["variance_guard"] == 0.0
    assert "variance_guard" not in trainer(engine="catboost").common  # it has none
    assert "variance_guard" not in trainer("adult").common


def test_budgets_have_as_many_trees_in_all_and_a_rate_of_at_most_one():
    found = boosted.budget(trainer(), Timer(), {"max_depth": 3, "learning_rate": 0.06})["results"]
    assert [(found[name]["n_estimators"], found[name]["learning_rate"]) for name in ("short_10", "short_20")] == [
        (2, pytest.approx(0.6)),
        (1, 1.0),
    ]
    assert 10 * found["short_10"]["n_estimators"] == 20 * found["short_20"]["n_estimators"] == QUICK.n_estimators


def test_leave_one_out_is_the_mean_of_the_other_rows_times_noise():
    codes, y = np.array([3, 3, 3, 8, 8, 9]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    train, test = forests.leave_one_out(codes, y, np.array([3, 8, 9, 4]), seed=5)
    mean = 4 / 6
    plain = np.array([1.0, 0.5, 0.5, 1.0, 0.0, mean])
    assert np.allclose(train, plain * np.random.default_rng(5).normal(1.0, 0.3, size=6))
    assert np.allclose(test, [2 / 3, 1 / 2, mean, mean])


def test_a_forest_in_parts_is_the_forest():
    found = forests.forest(problem("yacht").fold(0), QUICK, 0, 1, Timer())["results"]
    assert found["vrf"]["rmse"] == pytest.approx(found["rf_single"]["rmse"])
    assert "nll" not in found["vrf"]  # a forest of regression has no variance
    assert "prr_total" not in found["vrf"]
    assert "prr_knowledge" in found["vrf"]


def test_deep_ensembles_learn_mean_and_variance_and_repeat_themselves():
    pytest.importorskip("torch")
    from epiboost.paper.methods.deep_ensembles import Networks

    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 7.0, size=(955, 13))
    spread = 0.3 + 0.5 * (X[:, 1] > 3)
    y = 50 + 20 * (np.sin(X[:, 0] / 7) + spread * rng.normal(size=955))
    first, second = (Networks(X[:455], y[:455], units=50, seed=1).predict(X[455:]) for _ in range(2))
    assert first.shape == (5, 500, 2)
    assert np.array_equal(first, second)
    assert np.sqrt(np.mean((first[..., 0].mean(axis=0) - y[455:]) ** 2)) < 0.8 * y.std()
    assert np.corrcoef(first[..., 1].mean(axis=0), spread[455:])[0, 1] > 0.2


# Cells


def test_a_cell_is_read_as_it_was_written(tmp_path):
    path = cells.write(tmp_path, KEY, CONTENT)
    assert path == tmp_path / "native" / "yacht" / "02-sglb.json"
    content = cells.read(tmp_path, KEY)
    assert {name: content[name] for name in CONTENT} == CONTENT
    assert cells.read(tmp_path, replace(KEY, fold=3)) is None


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda _: "", "not JSON"),
        (lambda _: "[]", "not a cell"),
        (lambda text: text.replace('"rmse": 1.0', '"rmse": 0.9'), "changed since it was written"),
        (lambda text: json.dumps({n: v for n, v in json.loads(text).items() if n != "digest"}), "changed since"),
    ],
)
def test_a_damaged_cell_is_named_and_is_to_be_done_again(tmp_path, damage, reason):
    path = cells.write(tmp_path, KEY, CONTENT)
    path.write_text(damage(path.read_text()))
    with pytest.raises(DamagedCellError, match=reason):
        cells.read(tmp_path, KEY)
    left, found = runner.pending(tmp_path, [KEY], PAPER)
    assert left == [KEY]
    assert str(path) in found[0].text


def test_a_cell_in_the_place_of_another_is_damaged(tmp_path):
    path = cells.write(tmp_path, KEY, CONTENT)
    path.rename(path.with_name("03-sglb.json"))
    with pytest.raises(DamagedCellError, match="not a cell of yacht, fold 3, sglb"):
        cells.read(tmp_path, replace(KEY, fold=3))


def test_a_cell_of_another_protocol_or_without_foreign_rows_is_done_again(tmp_path):
    cells.write(tmp_path, KEY, CONTENT)
    assert runner.pending(tmp_path, [KEY], PAPER) == ([], [])
    assert runner.pending(tmp_path, [KEY], QUICK) == ([KEY], [])
    cells.write(tmp_path, KEY, {**CONTENT, "outside": False})
    assert runner.pending(tmp_path, [KEY], PAPER) == ([KEY], [])


def test_drafts_of_a_killed_run_are_passed_over(tmp_path):
    path = cells.write(tmp_path, KEY, CONTENT)
    path.with_name(".02-sglb.77.json").write_text("{")
    assert [content["fold"] for content in cells.all_cells(tmp_path)[0]] == [2]
    assert cells.all_cells(tmp_path)[1] == []


def test_methods_of_a_fold_stay_together_and_in_the_order_they_build_on_each_other():
    keys = [CellKey("native", "yacht", fold, method) for method in ("budget", "sglb", "sgb") for fold in (0, 1)]
    assert [[key.method for key in unit] for unit in runner._units(keys)] == [["sgb", "sglb", "budget"]] * 2


# Packing and significance


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
def test_packed_losses_are_within_a_step(scale):
    values = scale * np.random.default_rng(0).gamma(0.3, size=2000)
    packed = json.loads(json.dumps(pack(values)))
    assert np.abs(unpack(packed) - values).max() <= packed["step"] / 2 * (1 + 1e-9)
    assert packed["step"] < values.std() / 60
    assert np.abs(unpack(packed).mean() - values.mean()) < 1e-3 * values.std()


def test_packed_errors_are_exact_and_small():
    errors = (np.random.default_rng(0).uniform(size=10_000) < 0.1).astype(float)
    assert np.array_equal(unpack(pack(errors)), errors)
    assert len(pack(errors)["steps"]) < 2500


def test_packing_takes_equal_values_and_nothing_at_all():
    assert unpack(pack(np.full(5, 0.25))) == pytest.approx(0.25, rel=1e-3)
    assert unpack(pack(np.zeros(3))).tolist() == [0.0] * 3


def test_methods_are_told_apart_by_a_paired_test_and_not_by_their_spread():
    rng = np.random.default_rng(0)
    fold = 10 * rng.normal(size=20)
    samples = {
        "best": fold,
        "worse": fold + 0.5 + 0.1 * rng.normal(size=20),
        "alike": fold + rng.normal(size=20) + 0.05,
    }
    assert not_different(samples, smaller_is_better=True) == {"best", "alike"}
    assert ttest_rel(samples["best"], samples["worse"]).pvalue < 0.05


def test_larger_may_be_better():
    samples = {"a": np.array([1.0, 2.0, 3.1]), "b": np.array([11.0, 12.0, 13.0])}
    assert not_different(samples, smaller_is_better=False) == {"b"}


def test_methods_of_fewer_folds_are_compared_on_those_that_both_have():
    rng = np.random.default_rng(0)
    whole = np.arange(10.0)
    alike, worse = whole[:5] + 0.1 * rng.normal(size=5), whole[:5] + 1 + 0.1 * rng.normal(size=5)
    assert not_different({"whole": whole, "alike": alike}, smaller_is_better=True) == {"whole", "alike"}
    assert not_different({"whole": whole, "worse": worse}, smaller_is_better=True) == {"whole"}  # though 3 < 4.5


def test_a_few_folds_of_one_method_do_not_decide_between_the_others():
    rng = np.random.default_rng(0)
    best = 90 + rng.normal(size=20)
    samples = {
        "best": best,
        "alike": best + rng.normal(size=20),
        "worse": best - 40 + 3 * rng.normal(size=20),
        "few": best[:3] + np.array([5.0, 30.0, -9.0]),  # the largest mean of the shared folds, and of a wide spread
        "one": best[:1] + 50,
    }
    assert not_different(samples, smaller_is_better=False) == {"best", "alike", "few"}


def test_a_method_of_few_folds_that_is_better_on_them_is_marked_and_takes_no_mark_away():
    whole = np.arange(20.0)
    few = whole[:4] - np.array([1.0, 1.1, 0.9, 1.0])
    assert not_different({"whole": whole, "few": few}, smaller_is_better=True) == {"whole", "few"}


def test_methods_that_are_the_same_are_not_different():
    assert not_different({"a": np.arange(4.0), "same": np.arange(4.0)}, smaller_is_better=True) == {"a", "same"}


# Published figures, tables


def test_all_published_figures_are_there():
    assert len(published()) == 868
    assert published()["uncertainty", "energy", "ood_auc_knowledge", "sglb_ensemble"].value == 100
    assert published()["uncertainty", "boston", "prr_total", "vsglb"].highlighted
    assert spread_of("energy", "nll") == 1.28
    assert spread_of("adult", "nll") is None


def test_every_published_figure_has_its_place_in_a_table():
    shown = {
        (block.source, dataset, metric, method)
        for blocks in tables.TABLES.values()
        for block in blocks
        for dataset in block.datasets
        for group in block.groups
        for metric in group
        for method in block.methods
    }
    assert set(published()) <= shown


def result_of(**methods):
    """Return results of two folds of energy and concrete."""
    return Results(
        folds={
            (dataset, method): {name: np.asarray(values, dtype=float) for name, values in found.items()}
            for dataset in ("energy", "concrete")
            for method, found in methods.items()
        }
    )


def test_an_entry_stands_beside_the_published_one_and_their_difference():
    results = result_of(sglb_ensemble={"nll": [1.0, 1.5]}, vsglb={"nll": [3.0, 3.6]})
    entries = [one for one in tables.build("prediction", results) if one.dataset == "energy"]
    own = next(one for one in entries if (one.metric, one.method) == ("nll", "sglb_ensemble"))
    assert (own.value, own.published.value, own.folds, own.best) == (1.25, 1.52, 2, True)
    assert own.difference is None  # it is of other folds
    assert "**1.25 [2]** (1.52)" in render.markdown("prediction", entries)
    entries[entries.index(own)] = own = replace(own, folds=20)
    assert own.difference == pytest.approx(-0.27)
    assert "**1.25** (1.52, −0.27)" in render.markdown("prediction", entries)
    assert "\\textbf{1.25} (1.52, $-$0.27)" in render.latex("prediction", entries)
    line = next(
        line for line in render.table_csv("prediction", entries, engine="native").splitlines() if "sglb_ens" in line
    )
    assert line == "prediction,native,Regression,energy,nll,sglb_ensemble,1.25,0.25,20,1,1.52,,1,-0.27"


def test_a_dataset_without_cells_is_said_to_be_missing_and_keeps_its_published_figures():
    text = render.markdown("prediction", tables.build("prediction", result_of(vsglb={"nll": [3.0, 3.6]})))
    assert "Missing, published figures alone: Adult" in text
    assert "Year MSD" in text.split("Missing")[1]
    assert "Energy" not in text.split("Missing")[1]
    assert "| Year MSD | NLL | — (3.43) |" in text


def test_methods_that_were_not_run_are_said_to_be_quoted():
    results = result_of(sgb_single={"nll": [1.0, 2.0], "rmse": [1.0, 2.0]}, ngboost={"nll": [1.0, 2.5]})
    text = render.markdown("comparison", tables.build("comparison", results))
    assert "Quoted as published, not run here: Deep Ensembles." in text


def test_total_and_knowledge_are_compared_with_each_other_as_in_the_paper():
    results = result_of(
        sglb_ensemble={"ood_auc_total": [50.0, 52.0, 51.0], "ood_auc_knowledge": [90.0, 93.0, 91.5]},
        vsglb={"ood_auc_total": [50.0, 51.0, 52.0], "ood_auc_knowledge": [60.0, 63.0, 61.0]},
    )
    entries = tables.build("uncertainty", results) + tables.build("budget", results)
    assert {(one.metric, one.method) for one in entries if one.best and one.dataset == "energy"} == {
        ("ood_auc_knowledge", "sglb_ensemble"),
        ("ood_auc_knowledge", "vsglb"),  # of the budget's methods
    }
    assert not [one for one in entries if one.best and one.metric == "ood_auc_total"]


def test_a_table_without_published_figures_has_none_to_stand_alone():
    text = render.markdown("budget", tables.build("budget", result_of(vsglb={"nll": [3.0, 3.6]})))
    assert "published figures alone" not in text
    assert "Click" not in text


def test_other_engines_do_not_pay_for_methods_that_need_none():
    results = Results(seconds={("yacht", "forest vrf"): (9.0, 9.0), ("boston", "sgb sgb_single"): (1.0, 1.0)})
    assert "one forest" in costs(results)
    text = costs(results, others=False)
    assert "forest" not in text
    assert "Yacht" not in text
    assert "| dataset | one chain |" in text


def test_of_one_split_rows_decide_and_ratios_have_one_best():
    rng = np.random.default_rng(0)
    losses = rng.gamma(1.0, size=500)
    packed = {"a": losses, "b": losses + 0.001 * rng.normal(size=500), "c": losses + 0.5}
    contents = [
        {
            **CONTENT,
            "engine": "native",
            "dataset": "adult",
            "fold": 0,
            "method": "x",
            "results": {
                name: {"nll": float(values.mean()), "prr_total": float(i), "rows": {"nll": pack(values)}}
                for i, (name, values) in enumerate(packed.items())
            },
        }
    ]
    results = collect(contents, "native")
    results.folds["adult", "d"] = {"prr_total": np.array([np.nan])}
    assert results.best("adult", ["nll"], ["a", "b", "c"]) == {("nll", "a"), ("nll", "b")}
    assert results.best("adult", ["prr_total"], ["a", "b", "c"]) == {("prr_total", "c")}


def test_cells_of_another_engine_are_left_out():
    content = {**CONTENT, "engine": "catboost", "dataset": "yacht", "fold": 0, "method": "sglb"}
    assert collect([content], "native").folds == {}
    assert collect([content], "catboost").mean("yacht", "nll", "sglb_ensemble") == 0.5


def test_engines_are_compared_on_the_folds_that_both_have_run():
    nan = np.nan
    native = result_of(sglb_ensemble={"nll": [1.0, 2.0, 9.0]})
    other = result_of(sglb_ensemble={"nll": [3.0, 5.0]})
    other.folds["energy", "sglb_ensemble"]["nll"] = np.array([nan, nan, nan])
    other.folds["energy", "rf_single"] = {"rmse": np.array([1.0])}
    text = beside({"native": native, "catboost": other})
    assert "| Concrete [2] | NLL | 1.50 | 4.00 | 3.05 |" in text
    assert "Energy" not in text
    assert beside({"native": native}) == ""


def test_engines_are_compared_though_one_method_has_fewer_folds_than_another():
    native = result_of(sglb_ensemble={"nll": [1.0, 2.0]}, sgb_ensemble={"nll": [5.0]})
    other = result_of(sglb_ensemble={"nll": [3.0, 5.0]}, sgb_ensemble={"nll": [6.0]})
    text = beside({"native": native, "catboost": other})
    assert "| Concrete [2] | NLL | 1.50 | 4.00 | 3.05 | 5.00 [1] | 6.00 [1] | 3.05 |" in text


def test_findings_say_where_a_claim_fails():
    figures = {"nll": [1.0], "rmse": [0.54], "prr_total": [30.0], "prr_knowledge": [20.0]}
    auc = {"ood_auc_total": [80.0], "ood_auc_knowledge": [90.0]}
    results = result_of(sglb_ensemble=figures | auc, vsglb={"ood_auc_knowledge": [95.0]})
    found = {one.claim: one for one in findings.findings(results)}
    nll = next(
        one for claim, one in found.items() if claim.startswith("The SGLB ensemble's NLL is at most the published")
    )
    assert set(nll.holds) == {"energy", "concrete"}
    assert str(
        found["The SGLB ensemble's PRR of total uncertainty is within five points of the published one"]
    ).endswith("on 0 of 2 datasets; not on Concrete, Energy.")
    assert not next(one for claim, one in found.items() if claim.startswith("The SGLB ensemble finds")).holds
    assert next(one for claim, one in found.items() if claim.startswith("Knowledge")).fails == ()


def test_findings_say_where_a_claim_holds_by_less_than_the_test_tells_apart_and_below_one_half():
    total, narrow = [40.0, 42.0, 44.0], [40.1, 41.5, 45.0]
    found = findings.findings(result_of(sglb_ensemble={"ood_auc_total": total, "ood_auc_knowledge": narrow}))
    (line,) = [str(one) for one in found if one.claim.startswith("Knowledge")]
    assert line.endswith(
        "on 2 of 2 datasets; by less than the paired test tells apart on Concrete, Energy; "
        "though both are below one half on Concrete, Energy."
    )
    clear = result_of(sglb_ensemble={"ood_auc_total": total, "ood_auc_knowledge": [60.0, 62.5, 64.0]})
    (line,) = [str(one) for one in findings.findings(clear) if one.claim.startswith("Knowledge")]
    assert line.endswith("on 2 of 2 datasets.")


# Sentences


def test_what_is_ten_points_from_the_published_figure_is_listed_with_its_reason():
    whole = result_of(sglb_ensemble={"ood_auc_total": [79.2] * 20}, vsglb={"ood_auc_total": [60.0] * 20})
    far = far_from_published(whole)
    assert [(one.dataset, one.methods) for one in far] == [("concrete", ("vsglb",))]  # 81 and 78; energy: 89 and 69
    assert listed(far) == "- **Concrete, OOD AUC, total**: vSGLB 60.0 (published 78); why is not known.\n"


def test_figures_of_fewer_folds_are_not_listed_as_far():
    assert far_from_published(result_of(vsglb={"ood_auc_total": [10.0] * 3})) == []


def test_sentences_on_budgets_follow_the_figures():
    def told(short, rate):
        return sentences.budget(
            result_of(
                short_10={"ood_auc_knowledge": [short], "nll": [rate]},
                short_20={"nll": [3.0]},
                vsglb={"ood_auc_knowledge": [70.0], "nll": [-1.0]},
                sglb_ensemble={"ood_auc_knowledge": [90.0]},
            )
        )

    text = told(80.0, 2.0)
    assert "on 2 of 2 datasets. Beside ten chains of 1000 trees they are between −10.0" in text
    assert "on 0 datasets, worse on Concrete (2 against −1), Energy (2 against −1)." in text
    assert text.endswith("Twenty chains of 50 trees have a worse NLL than ten of 100 on Concrete, Energy.")
    assert "on 0 of 2 datasets." in told(60.0, 2.0)
    assert "on 2 datasets." in told(60.0, -2.0)


def test_sentences_on_forests_name_what_was_run_and_what_was_not():
    results = result_of(sglb_ensemble={"nll": [1.0]}, rf_ensemble={"prr_knowledge": [1.0, 2.0]})
    results.folds["concrete", "rf_single"] = {"rmse": np.full(20, 5.5)}
    results.folds["adult", "rf_single"] = {"nll": np.array([0.5])}
    text = sentences.forests(results)
    published_rmse = published()["rf_regression", "concrete", "rmse", "rf_single"].value
    assert f"all folds of Concrete; its RMSE is within {abs(5.5 - published_rmse):.2f} of" in text
    assert "not run on all folds of Energy." in text
    assert "Adult's forest has an NLL of 0.500 against" in text
    assert text.endswith("Ensembles of ten forests were run on Concrete (2 of 20 folds), Energy (2 of 20 folds).")


def test_sentences_on_an_engine_name_its_folds_and_what_is_furthest_from_the_paper():
    other = result_of(sglb_ensemble={"nll": [1.0], "ood_auc_total": [60.0], "ood_auc_knowledge": [92.0]})
    text = sentences.other_engine({"catboost": other}, "catboost", ["wine", "energy"])
    assert text.startswith("Run: Concrete (1 of 20 folds), Energy (1 of 20 folds). Not run: Wine.")
    assert text.endswith("is Energy, OOD AUC, total: 60 against 89.")


def test_the_origin_of_cells_is_told():
    key = {"engine": "native", "dataset": "yacht", "fold": 0, "method": "sglb"}
    made = {"machine": {"processor": "Z", "cores": 2}, "versions": {"python": "3.11"}, "date": "2026-01-02"}
    new = CONTENT | key | made | {"seed": origin.seed_of(CellKey(*key.values())), "revision": origin.REVISION}
    old = {name: value for name, value in new.items() if name != "revision"} | {"date": "2026-01-01"}
    assert sentences.origin_of([new]) == "1 cells, made on Z, 2 cores, with Python 3.11, 2026-01-02."
    assert "2026-01-01 to 2026-01-02. 1 of them are of an earlier revision" in sentences.origin_of([new, old])
    assert "`regression` took 1 s" in sentences.times([new], "native")


# Experiments, and the view


def test_an_experiment_has_a_cell_for_each_dataset_fold_and_method():
    assert len(experiments.keys_of("regression", engine="native", datasets=["yacht", "protein"])) == 3 * (20 + 5)
    assert len(experiments.keys_of("table:prediction", engine="native", datasets=["yacht"], folds=2)) == 4
    keys = experiments.keys_of("table:forest", engine="catboost", datasets=["kick"])
    assert {(key.engine, key.method) for key in keys} == {
        ("catboost", "sglb"),
        ("forest", "forest"),
        ("forest", "forests"),
    }


def test_groups_are_of_all_datasets_of_their_kind():
    assert {key.dataset for key in experiments.keys_of("regression", engine="native")} == set(REGRESSION)
    assert {key.dataset for key in experiments.keys_of("classification", engine="native")} == set(CLASSIFICATION)
    assert len(experiments.named("all")) == 8


def test_the_forecast_rests_on_cells_that_are_done_and_on_rows():
    keys = [CellKey("native", name, fold, "sglb") for name in ("yacht", "concrete") for fold in (0, 1)]
    forecast = Forecast(keys, jobs=2)
    assert forecast.seconds() == (0.0, False)
    forecast.done(Event("done", keys[0], seconds=3.08))
    assert forecast.seconds() == (pytest.approx((3.08 + 2 * 10.30) / 2), True)


def test_the_forecast_is_a_lower_bound_as_long_as_a_method_is_new():
    keys = [CellKey("native", "yacht", fold, method) for fold in (0, 1) for method in ("sglb", "sgb")]
    forecast = Forecast(keys, jobs=1)
    forecast.done(Event("done", keys[0], seconds=3.0))
    assert forecast.seconds() == (pytest.approx(3.0), False)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_the_view_says_what_is_done_what_runs_and_what_is_left(stream, monkeypatch):
    if stream is Terminal:
        pytest.importorskip("rich")
    shown = stream()
    monkeypatch.setattr("sys.stderr", shown)
    keys = [CellKey("native", "yacht", fold, "sglb") for fold in (0, 1)]
    with view(keys, jobs=1) as note:
        note(Event("started", keys[0]))
        note(Event("done", keys[0], seconds=61.0))
        note(Event("started", keys[1]))
        time.sleep(0.6 if stream is Terminal else 0.0)  # it is drawn twice a second
    text = shown.getvalue()
    assert "yacht, fold 1, sglb (native)," in text or stream is io.StringIO
    assert ("1 of 2 cells" if stream is Terminal else "1/2 yacht, fold 0, sglb (native): 61.0 s") in text
    assert "1 min 1 s left" in text


def test_published_figures_live_in_one_file():
    package = Path(tables.__file__).parent
    assert [path.name for path in package.glob("*.csv")] == ["published.csv"]
