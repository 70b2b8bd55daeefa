"""The generated tables have the properties that their documentation states."""

import numpy as np
import pytest

from epiboost.datasets import make_heart, make_spiral, spiral_features


def test_heart_has_the_given_number_of_rows_in_each_cell_outside_and_none_inside():
    heart = make_heart(n_per_cell=7, random_state=0)
    rows = np.zeros((9, 9), dtype=int)
    np.add.at(rows, tuple(heart.X.T), 1)
    assert (rows[heart.cells.inside] == 0).all()
    assert (rows[~heart.cells.inside] == 7).all()


def test_heart_has_a_thousand_rows_per_cell_by_default():
    heart = make_heart(random_state=0)
    assert len(heart.y) == 1000 * np.count_nonzero(~heart.cells.inside)


def test_every_value_of_both_features_occurs_outside_the_heart():
    outside = ~make_heart(n_per_cell=1).cells.inside
    assert outside.any(axis=0).all()
    assert outside.any(axis=1).all()


def test_heart_rows_have_the_mean_and_variance_of_their_cell():
    heart = make_heart(n_per_cell=4000, random_state=1)
    cell = heart.X @ [9, 1]
    counts = np.bincount(cell, minlength=81).reshape(9, 9)
    outside = ~heart.cells.inside
    with np.errstate(invalid="ignore"):
        mean = np.bincount(cell, heart.y, minlength=81).reshape(9, 9) / counts
        square = np.bincount(cell, heart.y**2, minlength=81).reshape(9, 9) / counts
    variance = square - mean**2
    # Four standard errors of a mean, and of a variance, of 4000 Normal rows.
    scale = np.sqrt(heart.cells.data_uncertainty[outside])
    assert (np.abs(mean - heart.cells.mean)[outside] < 4 * scale / np.sqrt(4000)).all()
    assert variance[outside] == pytest.approx(heart.cells.data_uncertainty[outside], rel=4 * np.sqrt(2 / 4000))


def test_heart_means_are_between_zero_and_one_and_nan_inside():
    cells = make_heart(n_per_cell=1, random_state=2).cells
    assert ((cells.mean >= 0) & (cells.mean <= 1))[~cells.inside].all()
    assert np.isnan(cells.mean[cells.inside]).all()
    assert np.isnan(cells.data_uncertainty[cells.inside]).all()


def test_cells_are_listed_row_by_row():
    cells = make_heart(n_per_cell=1).cells
    assert cells.X[:, 0].reshape(9, 9).tolist() == [[row] * 9 for row in range(9)]
    assert cells.X[:, 1].reshape(9, 9).tolist() == [list(range(9))] * 9


def test_heart_is_symmetric():
    inside = make_heart(n_per_cell=1).cells.inside
    assert (inside == inside[:, ::-1]).all()


@pytest.mark.parametrize("make", [make_heart, make_spiral])
def test_the_same_seed_gives_the_same_table_and_another_seed_another(make):
    first, again, other = make(30, random_state=3), make(30, random_state=3), make(30, random_state=4)
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert not np.array_equal(first.X, other.X)


def test_spiral_arms_are_equal_in_size_to_within_one_row():
    counts = np.bincount(make_spiral(1000, random_state=0).y)
    assert len(counts) == 3
    assert np.ptp(counts) <= 1


def test_spiral_without_noise_repeats_itself_every_third_of_a_turn():
    spiral = make_spiral(3000, noise=0.0, random_state=0)
    radius = np.hypot(*spiral.points.T)
    # Rotated back by a third of a turn per arm, all rows lie on one curve, whose angle grows with the radius.
    angle = np.angle(spiral.points @ [1, 1j] * np.exp(-2j * np.pi * spiral.y / 3)) % (2 * np.pi)
    order = np.argsort(radius)
    assert (np.diff(angle[order]) >= -1e-9).all()


def test_spiral_features_are_the_point_its_rotation_and_its_radius():
    points = np.array([[3.0, 4.0], [-1.0, 0.0]])
    features = spiral_features(points)
    assert features.shape == (2, 5)
    assert features[:, :2].tolist() == points.tolist()
    assert np.hypot(features[:, 2], features[:, 3]) == pytest.approx([5.0, 1.0])
    assert features[:, 4] == pytest.approx([5.0, 1.0])


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (make_heart, {"n_per_cell": 0}),
        (make_heart, {"n_per_cell": 2.5}),
        (make_spiral, {"n_samples": 2}),
        (make_spiral, {"noise": -1.0}),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(make, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=rf"{name} must be .*; got {value}"):
        make(**wrong)
