"""Registry of engines, and checks of parameters and data against an engine's capabilities.

An engine is registered with two callables, or with the text ``"package.module:name"`` that says where to import them
from when they are first used:

- the engine, called with ``n_jobs`` and the user's ``engine_params`` as keywords;
- the reader of its model files, called with a header, arrays and ``n_jobs``; it returns the forest whose
  `Forest.to_file` gave header and arrays.

>>> engine_named("native", n_jobs=1)
NativeEngine(n_jobs=1)
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from epiboost._boosting.objectives import DISTRIBUTIONS
from epiboost._boosting.recipe import ON_CLUSTER
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.sparse_table import SparseTable, too_large
from epiboost._typing import AnyArray, Device
from epiboost.engines.base import BinnedEngine, Engine, Forest
from epiboost.engines.cuda.choice import check_device_name, check_engine

EngineFactory: TypeAlias = Callable[..., Engine]
ForestReader: TypeAlias = Callable[..., Forest]
_Loader: TypeAlias = Callable[[], tuple[EngineFactory, ForestReader]]
"""Imports an engine and its reader, so that importing this package does not import the libraries."""


def _native() -> tuple[EngineFactory, ForestReader]:
    from epiboost.engines.native.engine import NativeEngine  # noqa: PLC0415 (on first use)
    from epiboost.engines.native.forest import NativeForest  # noqa: PLC0415 (on first use)

    return NativeEngine, NativeForest.from_file


def _catboost() -> tuple[EngineFactory, ForestReader]:
    from epiboost.engines.libraries.catboost import CatBoostEngine, CatBoostForest  # noqa: PLC0415 (on first use)

    return CatBoostEngine, CatBoostForest.from_file


def _lightgbm() -> tuple[EngineFactory, ForestReader]:
    from epiboost.engines.libraries.lightgbm import LightGBMEngine, LightGBMForest  # noqa: PLC0415 (on first use)

    return LightGBMEngine, LightGBMForest.from_file


def _xgboost() -> tuple[EngineFactory, ForestReader]:
    from epiboost.engines.xgboost.engine import XGBoostEngine, XGBoostForest  # noqa: PLC0415 (on first use)

    return XGBoostEngine, XGBoostForest.from_file


def _random_forest() -> tuple[EngineFactory, ForestReader]:
    from epiboost.engines.random_forest.engine import ForestEngine  # noqa: PLC0415 (on first use)
    from epiboost.engines.random_forest.forest import SklearnForest  # noqa: PLC0415 (on first use)

    return ForestEngine, SklearnForest.from_file


_OWN = frozenset({"n_jobs", "device"})
"""Parameters of engines that are parameters of the estimators too, and no ``engine_params``."""

_LOADERS: dict[str, _Loader] = {
    "native": _native,
    "catboost": _catboost,
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "forest": _random_forest,
}


def register_engine(
    name: str, engine: str | EngineFactory, read_forest: str | ForestReader, *, replace: bool = False
) -> None:
    """Register an engine by name: ``EpiBoostRegressor(engine=name)`` then trains with it.

    Parameters
    ----------
    name : str
        The value of ``engine`` that stands for it.
    engine : callable or str
        ``engine(n_jobs=..., **engine_params)`` returns an `Engine`; a class will do. Text says where to import it from,
        ``"package.module:name"``; it is imported when the engine is first used.
    read_forest : callable or str
        ``read_forest(header, arrays, n_jobs)`` returns the `Forest` whose `Forest.to_file` gave header and arrays, or
        raises a ValueError if they do not fit together.
    replace : bool, default=False
        Whether to replace an engine of the same name.

    Examples
    --------
    >>> from epiboost.engines import engine_names, register_engine, unregister_engine
    >>> register_engine("steam", "steam.boosters:SteamEngine", "steam.boosters:SteamForest.from_file")
    >>> "steam" in engine_names()
    True
    >>> unregister_engine("steam")
    """
    if not isinstance(name, str) or not name:
        message = f"the name of an engine must be a text that is not empty; got {name!r}"
        raise ValueError(message)
    for part in (engine, read_forest):
        if not callable(part) and not (isinstance(part, str) and ":" in part):
            message = f"an engine and its reader must be callables or 'package.module:name'; got {part!r}"
            raise TypeError(message)
    if name in _LOADERS and not replace:
        message = f"there is an engine {name!r} already; replace it with replace=True"
        raise ValueError(message)
    _LOADERS[name] = partial(_load, engine, read_forest)


def unregister_engine(name: str) -> None:
    """Remove an engine; models that it has trained can no longer be loaded."""
    _loader(name)
    del _LOADERS[name]


def engine_names() -> tuple[str, ...]:
    """Return the registered names, the values that ``engine`` may have."""
    return tuple(_LOADERS)


def engine_named(
    engine: str | Engine, *, n_jobs: int | str | None, params: Mapping[str, Any] | None = None, device: Device = "cpu"
) -> Engine:
    """Return a new engine of that name with ``engine_params``; an `Engine` is returned as it is.

    A ``device`` other than "cpu" is given to engines that declare it, and refused for others.
    """
    check_device_name(device)
    if device != "cpu":
        made = engine_named(engine, n_jobs=n_jobs, params=params)
        check_engine(engine, device, is_known=made.capabilities.device, is_given=made is engine, n_jobs=n_jobs)
        return _loader(engine)()[0](n_jobs=n_jobs, device=device, **(params or {}))
    if params is not None and not (isinstance(params, Mapping) and all(isinstance(name, str) for name in params)):
        message = f"engine_params must be None or a dictionary from names to values; got {params!r}"
        raise ValueError(message)
    if isinstance(engine, Engine) and not isinstance(engine, type):
        if params:
            message = "engine_params are for an engine that is given by name; give them to the Engine itself"
            raise ValueError(message)
        return engine
    factory, _ = _loader(engine)()
    for name in _OWN.intersection(params or {}):
        message = f"engine_params must not hold {name!r}: it is set by {name}"
        raise ValueError(message)
    try:
        inspect.signature(factory).bind(n_jobs=n_jobs, **(params or {}))
    except TypeError as error:
        parameters = inspect.signature(factory).parameters.values()
        known = [one.name for one in parameters if one.name not in _OWN and one.kind is not one.VAR_KEYWORD]
        message = f"engine_params must be among {known} for engine={engine!r}; got {dict(params or {})}"
        raise ValueError(message) from error
    made = factory(n_jobs=n_jobs, **(params or {}))
    if not isinstance(made, Engine):
        message = f"engine={engine!r} is registered with {factory!r}, whose result has no capabilities or no fit"
        raise TypeError(message)
    return made


def forest_from_file(
    engine: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
    *,
    n_codes: tuple[int, ...],
    n_jobs: int | str | None,
) -> Forest:
    """Return the forest that an engine's `Forest.to_file` described; a ValueError if the parts do not fit.

    ``n_codes`` is the number of codes per column that the forest must have. What the header says of them is compared
    first: a library allocates memory for as many categories as a model claims.
    """
    if "sizes" in header and header["sizes"] != list(n_codes):
        message = "the columns do not have as many categories as the trees have codes"
        raise ValueError(message)
    _, read_forest = _loader(engine)()
    return read_forest(header, arrays, n_jobs)


def require_engine_of(forest: Forest, engine: str) -> None:
    """Raise a ValueError if the reader of an engine's files cannot read this forest, which another has trained."""
    _, read_forest = _loader(engine)()
    forest_class = getattr(read_forest, "__self__", None)
    if isinstance(forest_class, type) and not isinstance(forest, forest_class):
        message = f"engine={engine!r} has not trained this model"
        raise ValueError(message)  # noqa: TRY004 (the value of engine is wrong)


def check_parameters(engine: Engine, name: str, parameters: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse an ensemble or a parameter that the engine does not support; parameters at their defaults pass."""
    capabilities = engine.capabilities
    if parameters["ensemble"] not in capabilities.ensembles:
        allowed = ", ".join(map(repr, capabilities.ensembles))
        message = f"engine={name!r} supports the ensembles {allowed}; got ensemble={parameters['ensemble']!r}"
        raise ValueError(message)
    if parameters["n_jobs"] == ON_CLUSTER and not capabilities.cluster:
        message = (
            f"n_jobs='dask' is for engine='native', not for engine={name!r} (XGBoost uses the cluster without it where "
            "X is a Dask collection)"
        )
        raise ValueError(message)
    for parameter in sorted(capabilities.unsupported):
        if parameter in {"structure_rows", "max_leaves"} and parameters[parameter] is None:
            continue  # all rows, or no leaf-wise trees, which every engine supports
        if parameter in parameters and _differs(parameters[parameter], defaults[parameter]):
            message = (
                f"engine={name!r} does not support {parameter}={parameters[parameter]!r}; leave it at its default, "
                f"{defaults[parameter]!r}"
            )
            raise ValueError(message)


def partitions_of(engine: Engine, name: str, *, has_evaluation: bool) -> Literal["bins", "rows"]:
    """Return how the engine takes a Dask collection; a TypeError or ValueError if it does not."""
    partitions = engine.capabilities.partitions
    if partitions is None:
        message = f"engine={name!r} needs X in memory; 'native' and 'xgboost' take Dask collections"
        raise TypeError(message)
    if partitions == "rows" and has_evaluation:
        message = f"engine={name!r} does not take an eval_set beside a Dask collection"
        raise ValueError(message)
    if partitions == "bins" and not isinstance(engine, BinnedEngine):
        message = f"engine={name!r} declares partitions='bins' and needs the method given_bins"
        raise TypeError(message)
    return partitions


def check_data(engine: Engine, name: str, data: Dataset) -> None:
    """Refuse data that the engine does not support: a large sparse table, evaluation rows, categories or weights."""
    capabilities = engine.capabilities
    for table in (data.X, None if data.evaluation is None else data.evaluation.X):
        if isinstance(table, SparseTable) and not capabilities.sparse:
            message = f"engine={name!r} needs dense numbers, and {too_large(table)}; use engine='native'"
            raise ValueError(message)
    if data.evaluation is not None and not capabilities.evaluation_set:
        message = f"engine={name!r} does not support eval_set; leave it out"
        raise ValueError(message)
    if data.objective in DISTRIBUTIONS and not capabilities.distributions:
        message = (
            f"engine={name!r} cannot learn distribution={data.objective!r}; its members predict "
            f"{_alternative(engine)}; use engine='native', 'lightgbm' or 'xgboost'"
        )
        raise ValueError(message)
    if data.offset is not None and not capabilities.class_offset:
        message = f"engine={name!r} does not support the offset of a classifier; use engine='native'"
        raise ValueError(message)
    if any(data.n_codes) and not capabilities.categories:
        message = f"engine={name!r} does not support categorical columns; turn them into numbers"
        raise ValueError(message)
    if not capabilities.sample_weight and bool((np.asarray(data.weight) != 1.0).any()):
        message = f"engine={name!r} does not support sample_weight; leave it out"
        raise ValueError(message)


def _alternative(engine: Engine) -> str:
    return "a Normal, by a loss of the library itself" if engine.capabilities.variance else "a mean alone"


def _differs(value: object, default: object) -> bool:
    """Return whether a parameter, which may be an array, is not at its default."""
    return value is not None if default is None else bool(value != default)


def _loader(engine: object) -> _Loader:
    if not isinstance(engine, str) or engine not in _LOADERS:
        names = ", ".join(map(repr, _LOADERS))
        others = "a name that was registered with epiboost.engines.register_engine, or an Engine"
        message = f"engine must be one of {names}, {others}; got {engine!r}"
        if hasattr(engine, "predict"):
            message += "; posterior_from takes fitted models of other libraries"
        raise ValueError(message)
    return _LOADERS[engine]


def _load(engine: str | EngineFactory, read_forest: str | ForestReader) -> tuple[EngineFactory, ForestReader]:
    return _imported(engine), _imported(read_forest)


def _imported(part: str | Callable[..., Any]) -> Callable[..., Any]:
    """Import ``"package.module:name"``; a callable is returned as it is."""
    if not isinstance(part, str):
        return part
    module, _, path = part.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    called: Callable[..., Any] = found
    return called
