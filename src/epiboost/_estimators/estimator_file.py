"""The file of a trained estimator: its parameters, schema, target and trees, and the checks that they fit together."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from epiboost._boosting.capacity import Capacity
from epiboost._boosting.recipe import Recipe, thread_count
from epiboost._estimators.family_choice import FamilyChoice
from epiboost._estimators.out_of_fold.file import from_file as out_of_fold_from_file
from epiboost._estimators.out_of_fold.file import to_file as out_of_fold_to_file
from epiboost._estimators.provenance import Provenance
from epiboost._estimators.reference_rows import ReferenceRows
from epiboost._estimators.training.history import TrainingHistory
from epiboost._estimators.warm_start import Beginning
from epiboost._files.requirements import require_facts
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.target import Target
from epiboost._typing import AnyArray
from epiboost.engines.base import Forest
from epiboost.engines.registry import forest_from_file, require_engine_of

_MAX_DRAWS = 10_000_000  # of known categories, one per member and column, for a row whose categories are all unseen


def to_file(model: BaseEstimator) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """Return the header and the arrays of a fitted estimator's file."""
    if not isinstance(model.engine, str):
        message = f"only models of an engine that has a name can be saved; this one was trained by {model.engine!r}"
        raise ValueError(message)  # noqa: TRY004 (the type is allowed, the file is not)
    _require_parameters_of_fit(model)
    forest, trees = model.forest_.to_file()
    schema, columns = model.schema_.to_file()
    measured, measurements = out_of_fold_to_file(model.out_of_fold_)
    reference = {} if model.reference_rows_ is None else model.reference_rows_.to_file()
    history, losses = (None, {}) if model.history_ is None else model.history_.to_file()
    header: dict[str, Any] = {
        "estimator": type(model).__name__,
        "parameters": {name: _to_json(value) for name, value in model.get_params(deep=False).items()},
        "capacity": model.capacity_.to_header(),
        "prefixes": None if model.prefixes_ is None else [int(prefix) for prefix in model.prefixes_],
        "forest": forest,
        "training": None if model.provenance_ is None else model.provenance_.to_header(),
        "out_of_fold": measured,
        "history": history,
        "offset": model.trained_with_offset_,
        "families": None if model.family_choice_ is None else model.family_choice_.to_header(),
        "beginning": None if model.beginning_ is None else model.beginning_.to_header(),
        **schema,
    }
    return header, {**trees, **columns, **measurements, **reference, **losses, **model.target_.to_file()}


def _require_parameters_of_fit(model: BaseEstimator) -> None:
    """Raise a ValueError if parameters were changed after `fit` such that the file could not be read."""
    try:
        require_engine_of(model.forest_, model.engine)
        recipe = Recipe.of(model.get_params(deep=False)).with_capacity(model.capacity_)
        _prefixes_in_use(None if model.prefixes_ is None else list(model.prefixes_), recipe, model.forest_)
        _check_shape(model.forest_, recipe, model.schema_, model.target_)
    except ValueError as error:
        message = (
            f"parameters were changed after fit ({error}), so the model cannot be saved; set them back or fit again"
        )
        raise ValueError(message) from error


def parameters_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator in a file."""
    parameters = dict(header["parameters"])
    if "device" in parameters:
        parameters["device"] = "cpu"  # a model that was trained on a GPU needs none
    n_jobs = parameters.get("n_jobs")
    if type(n_jobs) is int and n_jobs > 0:  # the file may come from a larger machine, or from a stranger
        parameters["n_jobs"] = min(n_jobs, thread_count(None))
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(map(tuple, parameters["class_weight"]))
    return parameters


def fitted_attributes(model: BaseEstimator, header: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """Return the fitted attributes of an estimator from its file; a ValueError if the parts do not fit together."""
    parameters = model.get_params(deep=False)
    capacity = Capacity.from_header(header.get("capacity") or Capacity.fields_of(parameters))
    recipe = Recipe.of(parameters).with_capacity(capacity)
    schema = ColumnSchema.from_file(header, arrays, owner=type(model).__name__)
    target = model._target_type.from_file(arrays)  # noqa: SLF001 (its own class)
    n_codes = schema.n_codes or (0,) * schema.n_features
    forest = forest_from_file(str(model.engine), header["forest"], arrays, n_codes=n_codes, n_jobs=model.n_jobs)
    prefixes = _prefixes_in_use(header["prefixes"], recipe, forest)
    measured = out_of_fold_from_file(
        header.get("out_of_fold"),
        arrays,
        engine=str(model.engine),
        forest=forest,
        target=target,
        prefixes=prefixes,
        n_jobs=model.n_jobs,
    )
    in_use = prefixes if measured is None else measured.prefixes(prefixes)
    require_facts(
        {
            f"the trees are for {forest.n_features} columns, the header says {schema.n_features}": (
                forest.n_features == schema.n_features
            ),
            f"the chain has {forest.n_trees[0]} trees, the parameters say {recipe.n_estimators}": (
                recipe.ensemble != "virtual" or recipe.n_estimators == forest.n_trees[0]
            ),
            "the columns do not have as many categories as the encoding has codes": (forest.n_codes == n_codes),
            f"{recipe.n_posterior_members} members are too many for that many categorical columns": (
                recipe.n_posterior_members * sum(map(bool, n_codes)) <= _MAX_DRAWS
            ),
            "the prefixes are not those of the out-of-fold chains": prefixes == in_use,
        }
    )
    _check_shape(forest, recipe, schema, target)
    return {
        **schema.estimator_attributes(),
        "target_": target,
        "forest_": forest,
        "capacity_": capacity,
        "prefixes_": in_use,
        "out_of_fold_": measured,
        "reference_rows_": ReferenceRows.from_file(arrays, n_codes),
        "trained_with_offset_": bool(header.get("offset", False)),  # older files have none
        "beginning_": Beginning.from_header(header.get("beginning")),
        "provenance_": Provenance.from_header(header.get("training")),
        "family_choice_": FamilyChoice.from_header(header.get("families")),  # older files have none
        "history_": TrainingHistory.from_file(header.get("history"), arrays),
    }


def _prefixes_in_use(stored: list[int] | None, recipe: Recipe, forest: Forest) -> tuple[int, ...] | None:
    """Return the tree counts of the members: those of a virtual ensemble, or one at which all chains are truncated."""
    prefixes = None if stored is None else tuple(stored)
    if prefixes == recipe.prefixes:
        return prefixes
    n_trees = int(forest.n_trees.min())
    one = prefixes is not None and len(prefixes) == 1 and isinstance(prefixes[0], int) and 0 < prefixes[0] <= n_trees
    if recipe.prefixes is not None or not one:
        message = "the trees in use must be among those of the chains, and virtual members those of the parameters"
        raise ValueError(message)
    return prefixes


def _check_shape(forest: Forest, recipe: Recipe, schema: ColumnSchema, target: Target) -> None:
    """Raise a ValueError if the trees predict for another number of members or outputs."""
    probe = forest.predict(np.empty((0, schema.n_features)), prefixes=recipe.prefixes)
    n_outputs = 1 if forest.family == "mean" else target.n_outputs
    if forest.family not in {target.family, "mean"} or probe.shape != (recipe.n_posterior_members, 0, n_outputs):
        message = "the family, members or classes disagree"
        raise ValueError(message)


def _to_json(value: object) -> object:
    """Return a parameter as JSON values; a random generator and a splitter have no such form and are left out."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.RandomState | Iterator) or (hasattr(value, "split") and not isinstance(value, str)):
        return None
    if isinstance(value, set | frozenset):  # in an order that does not depend on hashes
        value = sorted(value, key=lambda entry: (isinstance(entry, str), entry))
    if isinstance(value, list | tuple | np.ndarray):
        return [_to_json(entry) for entry in value]
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):  # labels of classes; names of JSON are text
            return [[_to_json(name), _to_json(entry)] for name, entry in value.items()]
        return {name: _to_json(entry) for name, entry in value.items()}
    return value
