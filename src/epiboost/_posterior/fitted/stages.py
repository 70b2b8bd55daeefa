"""At which tree counts a chain is a member, and what users must know of chains that are no samples of a posterior.

>>> stages_of(100, 5)
[60, 70, 80, 90, 100]
"""

import warnings

from sklearn.exceptions import NotFittedError

from epiboost._boosting.truncation import catboost_prefixes


def stages_of(trees: int, n_members: int) -> list[int]:
    """Return tree counts, evenly spaced and ending with the whole chain, all in its second half (as CatBoost does)."""
    return list(catboost_prefixes(trees, n_members))


def not_fitted(model: object) -> NotFittedError:
    """Return the error for a model that has no trees yet."""
    return NotFittedError(f"model must be fitted; this {type(model).__name__} is not")


def warn_of(model: object, *, noisy: bool, stopped: bool) -> None:
    """Say what the stages of a model are not."""
    name = type(model).__name__
    if not noisy:
        warnings.warn(
            f"this {name} was trained without Langevin noise: its stages differ by the progress of the fit alone, and "
            "their spread only hints at knowledge uncertainty (CatBoost trains with noise if posterior_sampling=True, "
            "every engine of EpiBoostRegressor and EpiBoostClassifier that boosts does)",
            UserWarning,
            stacklevel=4,
        )
    if stopped:
        warnings.warn(
            f"this {name} was stopped early: its stages are not those of a chain that has settled, and tell less of "
            "knowledge uncertainty",
            UserWarning,
            stacklevel=4,
        )
