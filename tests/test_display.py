"""Results print as short text, and as a small table in notebooks."""

import html

import numpy as np
import pandas as pd
import pytest

from epiboost import Posterior, Uncertainty
from epiboost.datasets import make_heart
from epiboost.decisions import DomainDetector
from epiboost.explain import Attribution
from epiboost.metrics import disagreement, rejection_curve, reliability_curve
from tests.support.models import every_estimator, small_estimator
from tests.support.tables import TARGETS, X, regression_table

HOSTILE = "<script>alert('a & b')</script>"
N_ROWS = 40
RNG = np.random.default_rng(0)


def normal_posterior(n_samples=N_ROWS, index=None):
    parameters = np.stack([RNG.normal(size=(3, n_samples)), np.ones((3, n_samples))], axis=2)
    return Posterior(parameters, "normal", index=index)


def test_the_text_of_a_posterior_has_its_family_its_size_and_medians():
    posterior = Posterior(np.array([[[1.0, 2.0], [3.0, 2.0]], [[1.0, 2.0], [5.0, 2.0]]]), "normal")
    text = "Posterior(normal, 2 members, 2 samples; medians: mean=2.5, total=2.5, data=2, knowledge=0.5)"
    assert repr(posterior) == text


def test_the_text_of_a_posterior_without_variances_has_what_is_known():
    posterior = Posterior(np.array([[[1.0]], [[3.0]]]), "mean")
    assert repr(posterior) == "Posterior(mean, 2 members, 1 sample; medians: mean=2, knowledge=1)"


def test_the_text_of_an_uncertainty_has_medians():
    uncertainty = Uncertainty(np.array([1.0, 2.0, 99.0]), np.zeros(3), np.array([1.0, 2.0, 99.0]), "nats")
    assert repr(uncertainty) == "Uncertainty(3 samples, in nats; medians: total=2, data=0, knowledge=2)"


def test_results_without_samples_print():
    posterior = normal_posterior(0)
    assert "0 samples; medians: mean=nan" in repr(posterior)
    assert "<table>" in posterior._repr_html_()
    assert "0 samples" in repr(posterior.uncertainty())


RESULTS = {
    "posterior": lambda index: normal_posterior(index=index),
    "uncertainty": lambda index: normal_posterior(index=index).uncertainty(),
    "disagreement": lambda index: disagreement(normal_posterior(index=index)),
    "attribution": lambda index: Attribution(
        np.ones((N_ROWS, 1)), np.zeros(N_ROWS), np.zeros((N_ROWS, 1)), (HOSTILE,), "knowledge", "nats", index=index
    ),
}
"""Results of N_ROWS rows with an index, by name."""


class TestHtml:
    @pytest.mark.parametrize("result", RESULTS)
    def test_a_table_has_ten_rows_and_says_how_many_more_there_are(self, result):
        page = RESULTS[result](None)._repr_html_()
        assert page.count("<tr>") == 11
        assert "and 30 more rows" in page

    @pytest.mark.parametrize("result", RESULTS)
    def test_labels_of_rows_are_shown_and_escaped(self, result):
        page = RESULTS[result](pd.Index([HOSTILE, *range(1, N_ROWS)]))._repr_html_()
        assert f"<td>{html.escape(HOSTILE)}</td>" in page
        assert "<script>" not in page

    def test_labels_of_classes_are_escaped(self):
        posterior = Posterior(np.array([[[0.9, 0.1]]]), "categorical", classes=np.array([HOSTILE, "no"]))
        assert f"<td>{html.escape(HOSTILE)}</td><td>0.9</td>" in posterior._repr_html_()

    def test_a_drift_test_and_an_explanation_are_tables(self):
        rows, y = regression_table(60)
        frame = pd.DataFrame(rows, columns=[HOSTILE, "b", "c"])
        detector = DomainDetector(small_estimator("regressor").fit(frame, y), measure="novelty").fit()
        for result in (detector.explain(frame[:3]), detector.drift(frame)):
            page = result._repr_html_()
            assert html.escape(HOSTILE) in page
            assert "<script>" not in page


@every_estimator
def test_fitted_attributes_print_no_long_arrays(estimator):
    model = small_estimator(estimator, out_of_fold=3, keep_folds=True).fit(X, TARGETS[estimator])
    for name in ("forest_", "schema_", "out_of_fold_", "reference_rows_", "feature_ranges_"):
        assert len(repr(getattr(model, name))) < 500, name
    assert "shape (60, " in repr(model.out_of_fold_)


def test_curves_and_datasets_print_no_long_arrays():
    posterior, y = normal_posterior(), RNG.normal(size=N_ROWS)
    for result in (reliability_curve(y, posterior), rejection_curve(y, y + 1.0, y), make_heart(5, random_state=0)):
        assert len(repr(result)) < 300
        assert " of shape (" in repr(result)
