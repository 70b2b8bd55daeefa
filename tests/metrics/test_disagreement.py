"""Measures of disagreement equal their definitions, computed by NumPy or by quadrature."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import entr

from epiboost import Posterior
from epiboost.metrics import disagreement, probability_integral_transform
from tests.support.posteriors import CATEGORICAL, N_CLASSES, N_SAMPLES, NORMAL, rows_of


def kl(one, other):
    return (one * np.log(one / other)).sum(axis=-1)


def log_ratio_term(one, other, x):
    """Return the integrand of the divergence of one posterior from another."""
    return np.exp(one.logpdf([x])[0]) * (one.logpdf([x])[0] - other.logpdf([x])[0])


def test_measures_of_classes_equal_their_definitions():
    measures = disagreement(CATEGORICAL)
    p, mean = CATEGORICAL.parameters, CATEGORICAL.mean
    assert measures.mutual_information == pytest.approx(entr(mean).sum(axis=1) - entr(p).sum(axis=2).mean(axis=0))
    assert measures.reverse_mutual_information == pytest.approx(kl(mean, p).mean(axis=0))
    assert measures.expected_pairwise_kl == pytest.approx(kl(p[:, None], p[None]).mean(axis=(0, 1)))
    assert measures.variance_of_means == pytest.approx(p.var(axis=0).sum(axis=1))
    odds = np.log(p[..., :, None] / p[..., None, :]).var(axis=0)
    assert measures.variance_of_logits == pytest.approx(odds.sum(axis=(1, 2)) / (N_CLASSES * (N_CLASSES - 1)))


def test_measures_of_normals_equal_their_definitions():
    measures = disagreement(NORMAL)
    assert measures.variance_of_means == pytest.approx(NORMAL.parameters[:, :, 0].var(axis=0))
    assert measures.variance_of_logits is None
    for row in range(4):
        mixture = rows_of(NORMAL, [row])
        members = [Posterior(member[np.newaxis], "normal") for member in mixture.parameters]
        divergences = [
            quad(lambda x: log_ratio_term(one, mixture, x), -40, 40, limit=300)[0]  # noqa: B023 (called in this loop)
            for one in members
        ]
        assert measures.mutual_information[row] == pytest.approx(np.mean(divergences), abs=1e-6)
    pairwise = measures.mutual_information + measures.reverse_mutual_information
    assert measures.expected_pairwise_kl == pytest.approx(pairwise)


@pytest.mark.parametrize("ratio", [1, 3, 5, 10, 30, 1000])
@pytest.mark.parametrize("distance", [0.0, 2.0, 40.0])
def test_mutual_information_resolves_narrow_members_beside_wide_ones(ratio, distance):
    members = np.array([[0.0, 1.0], [distance, ratio**2], [1.0, 4.0]])
    x = np.unique(np.concatenate([mean + np.sqrt(v) * np.linspace(-12, 12, 20_001) for mean, v in members]))
    logs = np.array([Posterior([[one]], "normal").logpdf(x[np.newaxis])[0] for one in members])
    divergence = (np.exp(logs) * (logs - np.logaddexp.reduce(logs) + np.log(3))).mean(axis=0)
    exact = np.sum(np.diff(x) * (divergence[1:] + divergence[:-1])) / 2
    measures = disagreement(members[:, np.newaxis], family="normal")
    assert measures.mutual_information[0] == pytest.approx(exact, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("posterior", [NORMAL, CATEGORICAL], ids=["normal", "categorical"])
def test_equal_members_do_not_disagree_by_any_measure(posterior):
    equal = Posterior(np.repeat(posterior.parameters[:1], 3, axis=0), posterior.family)
    for name, values in disagreement(equal).columns().items():
        assert values == pytest.approx(0.0, abs=1e-12), name


def test_the_mutual_information_of_distant_members_is_log_of_their_number():
    apart = np.array([[[0.0, 1.0], [0.0, 0.0]], [[1e9, 1.0], [1.0, 0.0]]])
    assert disagreement(apart, family="normal").mutual_information == pytest.approx(np.log(2))


def test_a_class_of_probability_zero_makes_the_variance_of_logits_infinite():
    measures = disagreement(np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]]]), family="categorical")
    assert measures.variance_of_logits.tolist() == [np.inf, 0.0]
    assert np.isfinite(measures.mutual_information).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_column_per_measure(backend):
    assert disagreement(CATEGORICAL).to_frame(backend).shape == (N_SAMPLES, 5)


@pytest.mark.parametrize(
    ("prediction", "message"),
    [(np.empty((2, 0, 2)), "empty|at least one sample"), (np.full((2, 3, 2), np.nan), "finite")],
    ids=["empty", "nan"],
)
def test_empty_predictions_and_nan_are_refused(prediction, message):
    for family in ("normal", "categorical"):
        with pytest.raises(ValueError, match=message):
            disagreement(prediction, family=family)
    with pytest.raises(ValueError, match=message):
        probability_integral_transform(np.zeros(prediction.shape[1]), prediction)
