"""Scores of a posterior on a fold agree with values computed by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from epiboost._posterior.posterior import Posterior
from epiboost.paper.methods.evaluation import evaluate

REGRESSION = SimpleNamespace(task="regression", y_test=np.array([0.0, 1.0, 2.0, 6.0]), single_split=False)
MEANS = np.array([[0.0, 1.0, 1.0, 2.0], [0.0, 1.2, 2.0, 6.0]])
VARIANCES = np.array([[0.5, 0.5, 1.0, 2.0], [0.5, 0.5, 1.0, 2.0]])
IN_DOMAIN = Posterior(np.stack([MEANS, VARIANCES], axis=-1), "normal")
OUT_OF_DOMAIN = Posterior(np.stack([MEANS * [[-9.0], [9.0]] + [[-9.0], [9.0]], 9 * VARIANCES], axis=-1), "normal")


def test_scores_of_a_regression():
    scores = evaluate(IN_DOMAIN, OUT_OF_DOMAIN, REGRESSION)
    y = REGRESSION.y_test
    density = 0.5 * (norm.pdf(y, MEANS[0], VARIANCES[0] ** 0.5) + norm.pdf(y, MEANS[1], VARIANCES[1] ** 0.5))
    assert scores["nll"] == pytest.approx(-np.log(density).mean())
    assert scores["nll"] > 0
    assert scores["rmse"] == pytest.approx(np.sqrt((0 + 0.1**2 + 0.5**2 + 2**2) / 4))
    # Variances and disagreement grow with the error, and are larger out of the domain.
    assert scores["prr_total"] == scores["prr_knowledge"] == pytest.approx(100)
    assert scores["ood_auc_total"] == scores["ood_auc_knowledge"] == pytest.approx(100)
    assert set(scores) == {"nll", "rmse", "prr_total", "prr_knowledge", "ood_auc_total", "ood_auc_knowledge"}


def test_the_area_is_zero_if_in_domain_rows_are_the_more_uncertain_ones():
    assert evaluate(OUT_OF_DOMAIN, IN_DOMAIN, REGRESSION)["ood_auc_knowledge"] == pytest.approx(0)


def test_scores_of_a_classification():
    ones = np.array([[0.9, 0.8, 0.9, 0.4], [0.9, 0.9, 0.7, 0.8]])
    fold = SimpleNamespace(task="classification", y_test=np.array([1, 1, 1, 0]), single_split=True)
    agreeing = Posterior(np.stack([1 - ones, ones], axis=-1), "categorical")
    disagreeing = Posterior(np.array([[[0.99, 0.01]] * 4, [[0.01, 0.99]] * 4]), "categorical")
    scores = evaluate(agreeing, disagreeing, fold)
    assert scores["nll"] == pytest.approx(-np.log([0.9, 0.85, 0.8, 0.4]).mean())
    assert scores["error_percent"] == 25
    assert scores["prr_total"] == scores["prr_knowledge"] == pytest.approx(100)
    assert scores["ood_auc_total"] == scores["ood_auc_knowledge"] == pytest.approx(100)
    assert evaluate(disagreeing, agreeing, fold)["ood_auc_total"] == pytest.approx(0)
    assert set(scores["rows"]) == {"nll", "error_percent"}
