"""Claims about the results, and large differences from the published results."""

from epiboost.paper.tables.claims import check_claims
from epiboost.paper.tables.large_differences import find_large_differences, markdown_list
from tests.support.paper_results import results_of


def claim_starting_with(start, results):
    return next(claim for claim in check_claims(results) if claim.text.startswith(start))


class TestClaims:
    def test_datasets_are_sorted_by_whether_a_claim_holds(self):
        scores = {"nll": [1.0], "rmse": [0.54], "prr_total": [30.0], "prr_knowledge": [20.0]}
        areas = {"ood_auc_total": [80.0], "ood_auc_knowledge": [90.0]}
        results = results_of(sglb_ensemble=scores | areas, vsglb={"ood_auc_knowledge": [95.0]})
        nll = claim_starting_with("The SGLB ensemble's NLL is at most the published", results)
        assert set(nll.holds) == {"energy", "concrete"}
        prr = claim_starting_with("The SGLB ensemble's PRR of total uncertainty is within five points", results)
        assert str(prr).endswith("on 0 of 2 datasets; not on Concrete, Energy.")
        assert not claim_starting_with("The SGLB ensemble detects", results).holds
        assert claim_starting_with("Knowledge", results).fails == ()

    def test_differences_that_are_not_significant_or_below_chance_are_named(self):
        total, similar = [40.0, 42.0, 44.0], [40.1, 41.5, 45.0]
        results = results_of(sglb_ensemble={"ood_auc_total": total, "ood_auc_knowledge": similar})
        assert str(claim_starting_with("Knowledge", results)).endswith(
            "on 2 of 2 datasets; the difference is not significant on Concrete, Energy; "
            "both are below one half on Concrete, Energy."
        )
        results = results_of(sglb_ensemble={"ood_auc_total": total, "ood_auc_knowledge": [60.0, 62.5, 64.0]})
        assert str(claim_starting_with("Knowledge", results)).endswith("on 2 of 2 datasets.")


class TestLargeDifferences:
    def test_results_ten_points_from_the_published_ones_are_listed_with_a_reason(self):
        results = results_of(sglb_ensemble={"ood_auc_total": [79.2] * 20}, vsglb={"ood_auc_total": [60.0] * 20})
        found = find_large_differences(results)
        # Published for concrete: 81 and 78; for energy: 89 and 69.
        assert [(one.dataset, one.methods) for one in found] == [("concrete", ("vsglb",))]
        assert (
            markdown_list(found)
            == "- **Concrete, OOD AUC, total**: vSGLB 60.0 (published 78); the reason is not known.\n"
        )

    def test_results_of_fewer_folds_are_not_listed(self):
        assert find_large_differences(results_of(vsglb={"ood_auc_total": [10.0] * 3})) == []
