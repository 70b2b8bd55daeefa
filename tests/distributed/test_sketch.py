"""Sketches of the distribution of a column, merged over partitions."""

import numpy as np
import pytest

from epiboost.distributed.sketch import QuantileSummary, Sketch


@pytest.mark.parametrize("bins", [64, 255])
def test_bins_of_a_merged_sketch_have_about_the_same_weight(bins):
    rng = np.random.default_rng(0)
    table = np.stack([rng.normal(size=200_000), rng.exponential(size=200_000)], axis=1)
    cuts = np.sort(rng.integers(0, 200_000, size=30))
    found = Sketch.merge([Sketch.from_table(part) for part in np.split(table, cuts) if len(part)]).bins(bins)
    for column in range(2):
        ranks = np.searchsorted(np.sort(table[:, column]), found.borders_of(column))
        sizes = np.diff(np.concatenate([[0], ranks, [len(table)]]))
        assert len(sizes) == bins
        assert np.abs(sizes[4:-4] / sizes[4:-4].mean() - 1).max() < 0.05
        assert (np.diff(sizes[:4]) > -0.05 * sizes[4]).all()  # the ends are finer


def test_thinned_atoms_keep_the_total_weight_and_almost_keep_ranks():
    rng = np.random.default_rng(0)
    atoms = QuantileSummary.from_weighted(rng.normal(size=5000), rng.uniform(0.1, 3.0, size=5000))
    thin = atoms.prune(200)
    assert len(thin.values) <= 200
    total = atoms.weights.sum()
    assert thin.weights.sum() == pytest.approx(total)
    at = rng.normal(size=300)
    ranks = [(one.weights * (one.values[:, np.newaxis] <= at).T).sum(axis=1) for one in (atoms, thin)]
    assert np.abs(ranks[0] - ranks[1]).max() <= 0.5001 * total / 200


def test_counted_values_are_thinned_like_weighted_values(monkeypatch):
    monkeypatch.setattr("epiboost.distributed.sketch._MAX_POINTS", 50)
    values = np.random.default_rng(0).normal(size=1000).round(2)
    counted, weighted = (
        QuantileSummary.from_values(values),
        QuantileSummary(*np.unique(values, return_counts=True)).prune(50),
    )
    np.testing.assert_array_equal(counted.values, weighted.values)
    np.testing.assert_allclose(counted.weights, weighted.weights)


def test_an_empty_column_has_no_borders():
    sketch = Sketch.merge([Sketch.from_table(np.full((3, 1), np.nan)), Sketch.from_table(np.empty((0, 1)))])
    assert sketch.bins(255).borders.tolist() == []
