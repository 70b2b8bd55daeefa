"""The facts of a model: what it was made of, when, and with what."""

import platform
from typing import Any

import numpy as np

from epiboost._estimators.base import BaseEpiBoost
from epiboost._estimators.calibrated.base import BaseCalibrated
from epiboost._estimators.provenance import version_of
from epiboost._inputs.raw_values import names_of
from epiboost._posterior.unwrap import UnwrappedModel
from epiboost.report.formatting import count, distinct, number, words
from epiboost.report.predictions import Answers

_LONGEST = 200
_MOST_NAMED = 12


def inner_of(model: Any) -> Any:  # noqa: ANN401 (any model)
    """Return the model that a calibrated one holds, or the model itself."""
    return model.model_ if isinstance(model, BaseCalibrated) else model


def title_of(model: Any) -> str:  # noqa: ANN401 (any model)
    """Return the heading of a report that was given none."""
    return f"Can this {'classifier' if hasattr(model, 'classes_') else 'regressor'} be trusted?"


def model_facts(asked: UnwrappedModel, answers: Answers) -> tuple[tuple[str, str], ...]:
    """Return recipe, trees, seed, training and versions, by name."""
    model = asked.estimator
    inner = inner_of(model)
    facts = [("Model", type(model).__name__)]
    if isinstance(model, BaseCalibrated):
        facts.append(("Calibrated on", f"{len(model.scores_):,} rows, besides those that the scales were learned from"))
    if asked.classes is not None:
        facts.append(("Classes", _some([words(label) for label in asked.classes.tolist()])))
    if isinstance(inner, BaseEpiBoost):
        facts += _recipe_facts(inner, answers)
    training = getattr(inner, "training_", None)
    if training is not None:
        facts.append(("Training rows", f"{training.n_rows:,}"))
        facts.append(("Training time", f"{number(training.seconds)} s"))
        facts.append(("Versions at training", ", ".join(f"{name} {text}" for name, text in training.versions)))
    now = [("epiboost", version_of("epiboost")), ("Python", platform.python_version()), ("NumPy", np.__version__)]
    facts.append(("Versions of this report", ", ".join(f"{name} {text}" for name, text in now)))
    return tuple((name, words(text, _LONGEST)) for name, text in facts)


def _recipe_facts(model: BaseEpiBoost, answers: Answers) -> list[tuple[str, str]]:
    trees = sorted({int(n) for n in np.ravel(model.n_trees_)})
    n_trees = f"{trees[0]:,}" if len(trees) == 1 else f"{trees[0]:,} to {trees[-1]:,}"
    seed = "none was given" if model.random_state is None else str(model.random_state)
    if isinstance(model.random_state, np.random.RandomState):
        seed = "a generator, which has no number"
    return [
        ("Recipe", f"{model.ensemble}, {count(answers.posterior.n_members, 'member')}, engine {model.engine}"),
        ("Trees a chain", f"{n_trees}, depth {model.max_depth}, learning rate {model.learning_rate:g}"),
        ("Features", _some(list(distinct(names_of(model, int(model.n_features_in_)))))),
        ("Seed", seed),
    ]


def parameters_of(model: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 (any model)
    """Return all parameters of a model, by name."""
    parameters = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return tuple((name, words(value, _LONGEST)) for name, value in sorted(parameters.items()))


def _some(texts: list[str], most: int = _MOST_NAMED) -> str:
    """Return how many there are, and the first by name."""
    named = ", ".join(texts[:most])
    return f"{len(texts)}: {named}" + (" …" if len(texts) > most else "")
