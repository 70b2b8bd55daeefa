"""distribution="auto" takes the family under which rows that a chain has not seen are most likely."""

import numpy as np
import pytest

from epiboost import EpiBoostRegressor, load
from epiboost._boosting.objectives import distribution_named, number_families
from epiboost._estimators.family_choice import FamilyChoice
from epiboost._estimators.out_of_fold.families import possible_families, row_losses, width_of
from epiboost.datasets import make_family

SMALL = {"n_members": 2, "n_estimators": 20, "max_depth": 4, "out_of_fold": 4, "random_state": 0}
COUNTS = make_family(400, distribution="poisson", random_state=0)
FAMILIES = [name for name in number_families() if name != "histogram"]
NEARLY = 2.5
"""Standard errors: neighbours such as Laplace and Student differ by little on a table of this size."""


def choice_of(table, **parameters):
    return EpiBoostRegressor(distribution="auto", **{**SMALL, **parameters}).fit(table.X, table.y).family_choice_


class TestOnGeneratedTables:
    @pytest.mark.parametrize("family", FAMILIES)
    def test_the_true_family_is_the_most_likely_or_nearly_so(self, family):
        choice = choice_of(make_family(1500, distribution=family, random_state=0))
        best = min(choice.losses.values())
        assert choice.losses[family] - best <= NEARLY * choice.errors[family]

    @pytest.mark.parametrize("family", ["lognormal", "poisson", "beta", "negative_binomial"])
    def test_families_that_have_no_near_neighbour_are_found(self, family):
        assert choice_of(make_family(1500, distribution=family, random_state=1)).name == family

    def test_two_peaks_are_found_where_there_are_many_rows(self):
        table = make_family(2500, distribution="histogram", random_state=0)
        assert choice_of(table).name == "histogram"
        assert "histogram" not in possible_families(table.y[:1000])

    def test_a_normal_is_far_less_likely_for_amounts_with_a_long_tail(self):
        choice = choice_of(make_family(1500, distribution="lognormal", random_state=0))
        assert choice.losses["normal"] > choice.losses["lognormal"] + 0.1


class TestCandidates:
    def test_only_families_whose_support_holds_all_targets_are_compared(self):
        assert {"poisson", "normal"} <= set(possible_families(np.array([0.0, 2.0, 1.0])))
        assert not {"gamma", "lognormal", "beta"} & set(possible_families(np.array([0.0, 2.0, 1.0])))
        assert {"gamma", "beta", "lognormal"} <= set(possible_families(np.array([0.2, 0.9])))
        assert {"poisson", "gamma", "beta"}.isdisjoint(possible_families(np.array([-1.0, 2.0])))

    def test_targets_of_an_eval_set_count_too(self):
        X, y = COUNTS.X, COUNTS.y + 1.0
        model = EpiBoostRegressor(distribution="auto", **SMALL).fit(X, y, eval_set=(X[:9], -y[:9]))
        assert set(model.family_choice_.losses) <= {"normal", "student", "laplace"}

    @pytest.mark.parametrize("engine", ["catboost", "forest"])
    def test_an_engine_that_learns_no_other_family_leaves_a_normal(self, engine):
        parameters = {"max_depth": "auto", "engine": engine, "ensemble": "sgb", "n_members": 2, "n_estimators": 5}
        if engine == "catboost":
            pytest.importorskip("catboost")
        choice = choice_of(COUNTS, **{**parameters, "out_of_fold": 0})
        assert choice.name == "normal"
        assert not choice.losses

    def test_fewer_than_forty_rows_leave_a_normal(self):
        model = EpiBoostRegressor(distribution="auto", n_members=2, n_estimators=5).fit(COUNTS.X[:30], COUNTS.y[:30])
        assert model.distribution_ == "normal"
        assert "nothing to compare" in str(model.family_choice_)

    def test_copies_of_features_leave_together_in_a_table_of_counts(self, recwarn):
        X = np.repeat(np.arange(4.0), 60)[:, np.newaxis]
        y = np.random.default_rng(0).poisson(1.0 + X[:, 0]).astype(float)
        model = EpiBoostRegressor(distribution="auto", n_members=2, n_estimators=20, random_state=0).fit(X, y)
        assert model.family_choice_.losses
        assert not recwarn.list


class TestLosses:
    @pytest.mark.parametrize("family", ["normal", "student", "laplace"])
    def test_probabilities_of_all_counts_add_up_to_one(self, family):
        parameters = np.array([[1.2, 2.0, 4.0]])[:, : distribution_named(family).n_parameters]
        counts = np.arange(20_000.0)
        losses = row_losses(distribution_named(family), np.repeat(parameters, len(counts), axis=0), counts, 1.0)
        assert np.exp(-losses).sum() == pytest.approx(1.0, abs=1e-6)

    def test_a_small_width_gives_the_density(self):
        normal, y = distribution_named("normal"), np.linspace(-3.0, 3.0, 7)
        parameters = np.tile([0.5, 1.5], (7, 1))
        assert row_losses(normal, parameters, y, 1e-4) == pytest.approx(-normal.logpdf(parameters, y), abs=1e-6)

    def test_a_loss_far_in_either_tail_is_finite_and_large(self):
        losses = row_losses(distribution_named("normal"), np.tile([0.0, 1.0], (2, 1)), np.array([-50.0, 50.0]), 0.1)
        assert np.isfinite(losses).all()
        assert (losses > 25.0).all()

    def test_prices_in_tens_are_judged_by_intervals_of_ten(self):
        assert width_of(np.repeat([-10.0, 20.0, 30.0], 9)) == 10.0
        assert width_of(np.linspace(0.1, 1.0, 9) ** 2) == 0.0


class TestTheChoice:
    def test_one_of_fewer_parameters_wins_if_the_losses_are_within_an_error(self):
        losses = {"student": 1.0, "normal": 1.01, "laplace": 1.02}
        sizes = {"student": 3, "normal": 2, "laplace": 2}
        for error, chosen in ((0.02, "normal"), (0.002, "student")):
            errors = {"student": 0.0, "normal": error, "laplace": 0.001}
            assert FamilyChoice(losses, errors, sizes, 100, 0.0).name == chosen

    def test_it_is_the_same_for_the_same_seed_and_at_any_number_of_threads(self):
        first, second = (choice_of(COUNTS, n_jobs=jobs) for jobs in (1, 2))
        assert first.losses == second.losses

    def test_it_does_not_depend_on_the_order_of_the_rows(self):
        order = np.random.default_rng(0).permutation(len(COUNTS.y))
        turned = type(COUNTS)(COUNTS.X[order], COUNTS.y[order], COUNTS.parameters[order])
        assert choice_of(turned).losses == choice_of(COUNTS).losses

    def test_it_trains_the_model_that_its_name_would(self):
        auto = EpiBoostRegressor(distribution="auto", **SMALL).fit(COUNTS.X, COUNTS.y)
        named = EpiBoostRegressor(distribution=auto.distribution_, **SMALL).fit(COUNTS.X, COUNTS.y)
        assert auto.predict(COUNTS.X).tobytes() == named.predict(COUNTS.X).tobytes()

    def test_it_is_in_the_file(self, tmp_path):
        model = EpiBoostRegressor(distribution="auto", **SMALL).fit(COUNTS.X, COUNTS.y)
        model.save(tmp_path / "model.epib")
        loaded = load(tmp_path / "model.epib")
        assert loaded.family_choice_.losses == model.family_choice_.losses
        assert loaded.distribution_ == model.distribution_
        assert str(loaded.family_choice_) == str(model.family_choice_)

    def test_a_named_family_has_no_choice(self):
        assert EpiBoostRegressor(distribution="poisson", **SMALL).fit(COUNTS.X, COUNTS.y).family_choice_ is None

    def test_it_is_printed_if_asked_for(self, capsys):
        choice_of(COUNTS, verbose=1)
        assert "by the out-of-fold likelihood of" in capsys.readouterr().err

    def test_rows_held_out_to_stop_early_have_the_family_too(self):
        model = EpiBoostRegressor(distribution="auto", **SMALL, validation_fraction=0.2, refit=True)
        assert model.fit(COUNTS.X, COUNTS.y).history_.validation_loss is not None

    @pytest.mark.parametrize(
        "change",
        [{"losses": {"normal": np.nan}}, {"errors": {}}, {"losses": {"gauss": 1.0}}, {"errors": {"normal": -1.0}}],
    )
    def test_a_damaged_choice_is_an_error(self, change):
        header = FamilyChoice({"normal": 1.0}, {"normal": 0.0}, {"normal": 2}, 10, 0.0).to_header()
        with pytest.raises(ValueError, match=r"must be finite|there must be a loss"):
            FamilyChoice.from_header({**header, **change})


def test_an_offset_needs_a_named_family():
    with pytest.raises(ValueError, match="name the family"):
        EpiBoostRegressor(distribution="auto", **SMALL).fit(COUNTS.X, COUNTS.y, offset=np.ones(len(COUNTS.y)))


def test_a_model_is_not_continued_with_another_family():
    model = EpiBoostRegressor(distribution="poisson", **SMALL, warm_start=True).fit(COUNTS.X, COUNTS.y)
    with pytest.raises(ValueError, match="continues a model of distribution='poisson'"):
        model.set_params(distribution="normal", n_estimators=30).fit(COUNTS.X, COUNTS.y)
    continued = model.set_params(distribution="auto").fit(COUNTS.X, COUNTS.y)
    assert continued.distribution_ == "poisson"
