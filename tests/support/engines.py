"""Small models of any engine, for the contract tests."""

from epiboost.engines.registry import engine_named

LIBRARIES = ("catboost", "lightgbm", "xgboost")
"""Engines that need an optional library of the same name."""

ENSEMBLES = ("sglb", "sgb", "virtual", "single")
NOISE_IN_UNITS_OF_THE_TARGET = {"catboost"}  # CatBoost adds the noise itself, others in the Fisher metric
SMALL = {"n_members": 3, "n_estimators": 12, "max_depth": 3, "learning_rate": 0.3, "n_jobs": 1, "random_state": 0}


def capabilities_of(engine):
    return engine_named(engine, n_jobs=1).capabilities


def supported(engine, settings):
    """Return the settings without the parameters that the engine does not support."""
    return {name: value for name, value in settings.items() if name not in capabilities_of(engine).unsupported}


def small_model(estimator, engine, **params):
    """Return a small estimator; the ensemble is the engine's first unless it is given."""
    settings = {"ensemble": capabilities_of(engine).ensembles[0], **supported(engine, SMALL)}
    return estimator(engine=engine, **{**settings, **params})
