"""Posteriors that several tests share: random ones, hand-made ones, and Hypothesis strategies for their parameters."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from epiboost import Posterior

law = settings(deadline=None, max_examples=50)

N_MEMBERS, N_SAMPLES, N_CLASSES = 4, 30, 3
_RANDOM = np.random.default_rng(0)
NORMAL = Posterior(
    np.stack(
        [_RANDOM.normal(size=(N_MEMBERS, N_SAMPLES)), _RANDOM.gamma(2.0, size=(N_MEMBERS, N_SAMPLES))],
        axis=2,
    ),
    "normal",
)
CATEGORICAL = Posterior(_RANDOM.dirichlet(np.ones(N_CLASSES), size=(N_MEMBERS, N_SAMPLES)), "categorical")
Y = _RANDOM.normal(size=N_SAMPLES)
LABELS = _RANDOM.integers(N_CLASSES, size=N_SAMPLES)

probabilities = st.floats(1e-6, 1.0 - 1e-6)
means = st.floats(-1e3, 1e3)
standard_deviations = st.floats(1e-2, 1e2)


def normal_posterior(mean, std):
    """Return a posterior of means and standard deviations of shape (members, samples)."""
    return Posterior(np.stack([mean, np.square(std)], axis=2), family="normal")


def one_sample(*members):
    """Return a posterior of one sample from the (mean, variance) of each member."""
    return Posterior(np.array(members, dtype=float)[:, np.newaxis], family="normal")


def rows_of(posterior, rows):
    """Return the posterior of some rows."""
    return Posterior(posterior.parameters[:, rows], posterior.family)


@st.composite
def mixtures(draw, smallest_std=1e-2):
    """Draw means and standard deviations of shape (members, samples)."""
    shape = draw(array_shapes(min_dims=2, max_dims=2, max_side=6))
    mean = draw(arrays(np.float64, shape, elements=means))
    std = draw(arrays(np.float64, shape, elements=st.one_of(st.just(smallest_std), standard_deviations)))
    return mean, std


@st.composite
def normal_parameters(draw, smallest_variance=0.0):
    """Draw means and variances of shape (members, samples, 2)."""
    members, samples = draw(array_shapes(min_dims=2, max_dims=2, max_side=5))
    mean = draw(arrays(np.float64, (members, samples), elements=means))
    variance = draw(arrays(np.float64, (members, samples), elements=st.floats(smallest_variance, 1e3)))
    return np.stack([mean, variance], axis=2)


@st.composite
def categorical_parameters(draw, smallest_weight=0.0):
    """Draw probabilities of shape (members, samples, classes)."""
    members, samples = draw(array_shapes(min_dims=2, max_dims=2, max_side=5))
    classes = draw(st.integers(2, 4))
    weights = draw(arrays(np.float64, (members, samples, classes), elements=st.floats(smallest_weight, 1.0)))
    weights[weights.sum(axis=2) < 1e-3] = 1.0
    return weights / weights.sum(axis=2, keepdims=True)
