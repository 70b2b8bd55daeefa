"""Models that are reported."""

import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from tests.support import report_cards, report_tables


@pytest.fixture(scope="session")
def models():
    """Return models of each kind, with the targets of all rows."""
    return report_tables.train_models()


@pytest.fixture(scope="session")
def regressor():
    """Return a regressor of the first 500 rows."""
    return EpiBoostRegressor(**report_cards.SMALL).fit(report_cards.A[:500], report_cards.Y[:500])


@pytest.fixture(scope="session")
def measured():
    """Return a regressor of the first 500 rows with out-of-fold chains."""
    options = {**report_cards.SMALL, "n_members": 10}
    return EpiBoostRegressor(**options).fit(report_cards.A[:500], report_cards.Y[:500])


@pytest.fixture(scope="session")
def forgetful():
    """Return a regressor of the first 500 rows that keeps none of them."""
    return EpiBoostRegressor(**report_cards.SMALL, reference_rows=0).fit(report_cards.A[:500], report_cards.Y[:500])


@pytest.fixture(scope="session")
def classifier():
    """Return a classifier of the first 500 rows."""
    return EpiBoostClassifier(**report_cards.SMALL).fit(report_cards.A[:500], report_cards.GRADE[:500])
