"""Reports on models of families beside the Normal."""

import pytest

from epiboost.metrics import crps_loss, negative_log_likelihood_loss
from epiboost.report import report
from tests.support.family_models import FAMILIES, family_model


@pytest.mark.parametrize("family", FAMILIES)
def test_the_report_has_the_losses_and_the_coverage_of_the_family(family):
    model, X, y = family_model(family)
    found = report(model, X, y, X_ood=X[:50] + 4.0, explain=False)
    posterior = model.predict_posterior(X)
    losses, baseline = dict(found.facts.quality.losses), found.facts.quality.baseline_losses
    assert losses["negative log-likelihood (nats)"] == pytest.approx(negative_log_likelihood_loss(y, posterior))
    assert losses["CRPS (units of the target)"] == pytest.approx(crps_loss(y, posterior))
    assert losses["negative log-likelihood (nats)"] < baseline[1] < losses["negative log-likelihood (nats)"] + 2.0
    assert found.facts.calibration.observed == pytest.approx(0.9, abs=0.06)
    assert found.facts.calibration.width > 0.0
