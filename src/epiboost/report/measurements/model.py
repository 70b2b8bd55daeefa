"""Properties of the model: class, ensemble, trees, seed, training and versions."""

import numpy as np

from epiboost._estimators.base import BaseEpiBoost
from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.provenance import VERSIONS
from epiboost._estimators.unwrap import UnwrappedModel
from epiboost._inputs.user_table import fitted_feature_names
from epiboost._typing import Estimator
from epiboost.report.formatting import count, number, text, unique_names
from epiboost.report.predictions import Predictions

_MAX_LENGTH = 200
_MAX_NAMES = 12


def trained_model(estimator: Estimator) -> Estimator:
    """Return the model inside a calibrated one, or the model itself."""
    return estimator.estimator_ if isinstance(estimator, BaseCalibrated) else estimator


def default_title(estimator: Estimator) -> str:
    """Return the title of a report without a given one."""
    return f"Can this {'classifier' if hasattr(estimator, 'classes_') else 'regressor'} be trusted?"


def model_properties(wrapped: UnwrappedModel, predictions: Predictions) -> tuple[tuple[str, str], ...]:
    """Return names and values of the model's properties."""
    model = wrapped.estimator
    trained = trained_model(model)
    properties = [("Model", type(model).__name__)]
    if isinstance(model, BaseCalibrated):
        properties.append(("Calibration rows", f"{len(model.scores_):,}, without those that the scales are fitted to"))
    if wrapped.classes is not None:
        properties.append(("Classes", _first_names([text(label) for label in wrapped.classes.tolist()])))
    if isinstance(trained, BaseEpiBoost):
        properties += _ensemble_properties(trained, predictions)
    if getattr(trained, "out_of_fold_", None) is not None:
        properties.append(("Out of fold", _out_of_fold(trained)))
    training = getattr(trained, "provenance_", None)
    if training is not None:
        properties.append(("Training rows", f"{training.n_rows:,}"))
        properties.append(("Training time", f"{number(training.seconds)} s"))
        properties.append(("Versions at training", _version_list(training.versions)))
    properties.append(("Versions of this report", _version_list(VERSIONS)))
    return tuple((name, text(value, _MAX_LENGTH)) for name, value in properties)


def model_parameters(estimator: Estimator) -> tuple[tuple[str, str], ...]:
    """Return names and values of all parameters of a model."""
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return tuple((name, text(value, _MAX_LENGTH)) for name, value in sorted(parameters.items()))


def _ensemble_properties(model: BaseEpiBoost, predictions: Predictions) -> list[tuple[str, str]]:
    trees = sorted({int(n) for n in np.ravel(model.n_iter_)})
    n_trees = f"{trees[0]:,}" if len(trees) == 1 else f"{trees[0]:,} to {trees[-1]:,}"
    seed = "none" if model.random_state is None else str(model.random_state)
    if isinstance(model.random_state, np.random.RandomState):
        seed = "a random number generator"
    return [
        ("Ensemble", f"{model.ensemble}, {count(predictions.posterior.n_members, 'member')}, engine {model.engine}"),
        ("Trees per chain", f"{n_trees}, {model.capacity_.size}, learning rate {model.capacity_.learning_rate:g}"),
        ("Distribution", _distribution(model)),
        ("Features", _first_names(list(unique_names(fitted_feature_names(model, int(model.n_features_in_)))))),
        ("Seed", seed),
    ]


def _distribution(model: BaseEpiBoost) -> str:
    """Return the family that members predict, and how it was chosen."""
    choice = model.family_choice_
    if choice is None or not choice.losses:
        return model.distribution_
    return f"{model.distribution_}, of {len(choice.losses)} by the likelihood of {count(choice.n_rows, 'row')} left out"


def _out_of_fold(model: BaseEpiBoost) -> str:
    """Return the scores of the training rows, each predicted by a chain that has not seen it."""
    score = f"{'accuracy' if hasattr(model, 'classes_') else 'R²'} {number(model.oof_score_)}"
    loss = "" if np.isnan(model.oof_loss_) else f", negative log-likelihood {number(model.oof_loss_)}"
    return f"{score}{loss}, measured on rows that the chain had not seen"


def _version_list(versions: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions)


def _first_names(names: list[str]) -> str:
    """Return the number of names, and the first ones."""
    return f"{len(names)}: {', '.join(names[:_MAX_NAMES])}" + (" …" if len(names) > _MAX_NAMES else "")
