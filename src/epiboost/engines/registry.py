"""The table of engines: which name stands for which, and whether an engine can do what is asked of it.

An engine is registered with two callables, or with the places to import them from when they are first asked for:

- the engine, called with ``n_jobs`` and the user's ``engine_params`` as keywords;
- the reader of its model files, called with a header, arrays and ``n_jobs``: what `Forest.to_file` gave.

>>> engine_named("native", n_jobs=1)
NativeEngine(n_jobs=1)
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from epiboost._typing import AnyArray
from epiboost.engines.base import Engine, Forest


@dataclass(frozen=True, slots=True)
class _Entry:
    engine: str | Callable[..., Engine]
    read_forest: str | Callable[..., Forest]


def _own(module: str, name: str) -> _Entry:
    return _Entry(f"epiboost.engines.{module}:{name}Engine", f"epiboost.engines.{module}:{name}Forest.from_file")


_TABLE = {
    "native": _own("native.engine", "Native"),
    "catboost": _own("libraries.catboost", "CatBoost"),
    "lightgbm": _own("libraries.lightgbm", "LightGBM"),
    "xgboost": _own("xgboost.engine", "XGBoost"),
    "forest": _Entry(
        "epiboost.engines.random_forest.engine:ForestEngine",
        "epiboost.engines.random_forest.forest:SklearnForest.from_file",
    ),
}


def register_engine(
    name: str, engine: str | Callable[..., Engine], read_forest: str | Callable[..., Forest], *, replace: bool = False
) -> None:
    """Make an engine known by name: ``EpiBoostRegressor(engine=name)`` then trains with it.

    Parameters
    ----------
    name : str
        What users write.
    engine : callable or str
        ``engine(n_jobs=..., **engine_params)`` returns an `Engine`; a class will do. Text is where to import it from,
        ``"package.module:name"``, which happens when a user first asks for the engine.
    read_forest : callable or str
        ``read_forest(header, arrays, n_jobs)`` returns the `Forest` whose `Forest.to_file` gave header and arrays, or
        raises a ValueError if they do not fit together.
    replace : bool, default=False
        Whether the name may be one that is taken.

    Examples
    --------
    >>> from epiboost.engines import register_engine
    >>> register_engine("steam", "steam.boosters:SteamEngine", "steam.boosters:SteamForest.from_file")
    >>> "steam" in engine_names()
    True
    >>> unregister_engine("steam")
    """
    if not isinstance(name, str) or not name:
        message = f"the name of an engine must be text; got {name!r}"
        raise ValueError(message)
    for part in (engine, read_forest):
        if not callable(part) and not (isinstance(part, str) and ":" in part):
            message = f"an engine and its reader must be callables or 'package.module:name'; got {part!r}"
            raise TypeError(message)
    if name in _TABLE and not replace:
        message = f"there is an engine {name!r} already; replace=True puts another in its place"
        raise ValueError(message)
    _TABLE[name] = _Entry(engine, read_forest)


def unregister_engine(name: str) -> None:
    """Forget an engine; models that were trained by it can no longer be loaded."""
    _entry(name)
    del _TABLE[name]


def engine_names() -> tuple[str, ...]:
    """Return the names that ``engine=`` may have."""
    return tuple(_TABLE)


def engine_named(engine: str | Engine, *, n_jobs: int | str | None, params: Mapping[str, Any] | None = None) -> Engine:
    """Return the engine of that name with its own parameters, or the engine itself."""
    if params is not None and not (isinstance(params, Mapping) and all(isinstance(name, str) for name in params)):
        message = f"engine_params must be None or a dictionary from names to values; got {params!r}"
        raise ValueError(message)
    if isinstance(engine, Engine) and not isinstance(engine, type) and not hasattr(engine, "predict"):
        if params:
            message = "engine_params are for an engine that is given by name; give them to the Engine itself"
            raise ValueError(message)
        return engine
    make = _imported(_entry(engine).engine)
    if "n_jobs" in (params or {}):
        message = "engine_params must not hold 'n_jobs': it is set by n_jobs"
        raise ValueError(message)
    try:
        inspect.signature(make).bind(n_jobs=n_jobs, **(params or {}))
    except TypeError as error:
        found = inspect.signature(make).parameters.values()
        known = [one.name for one in found if one.name != "n_jobs" and one.kind is not one.VAR_KEYWORD]
        message = f"engine_params must be among {known} for engine={engine!r}; got {dict(params or {})}"
        raise ValueError(message) from error
    made: Engine = make(n_jobs=n_jobs, **(params or {}))
    return made


def check_asked(engine: Engine, name: str, asked: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Refuse what an engine cannot honour: an ensemble it has none of, a parameter that is not at its default."""
    kinds = getattr(engine, "ensembles", None)
    if kinds is not None and asked["ensemble"] not in kinds:
        allowed = ", ".join(map(repr, kinds))
        message = f"engine={name!r} has the ensembles {allowed}; got ensemble={asked['ensemble']!r}"
        raise ValueError(message)
    for parameter in sorted(getattr(engine, "cannot", ())):
        if parameter == "structure_rows" and asked[parameter] is None:
            continue  # all rows: what every engine can do
        if parameter in asked and asked[parameter] != defaults[parameter]:
            message = (
                f"engine={name!r} cannot honour {parameter}={asked[parameter]!r}; leave it at its default, "
                f"{defaults[parameter]!r}"
            )
            raise ValueError(message)


def forest_from_file(
    engine: str, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], *, n_jobs: int | str | None
) -> Forest:
    """Return the forest that an engine's `Forest.to_file` described; a ValueError if the parts do not fit."""
    forest: Forest = _imported(_entry(engine).read_forest)(header, arrays, n_jobs)
    return forest


def _entry(engine: object) -> _Entry:
    if not isinstance(engine, str) or engine not in _TABLE:
        names = ", ".join(map(repr, _TABLE))
        known = f"{names}, a name that epiboost.engines.register_engine was given, or an Engine"
        message = f"engine must be one of {known}; got {engine!r}"
        if hasattr(engine, "predict"):
            message += "; posterior_from takes models of other libraries once they are fitted"
        raise ValueError(message)
    return _TABLE[engine]


def _imported(part: str | Callable[..., Any]) -> Callable[..., Any]:
    if not isinstance(part, str):
        return part
    module, _, path = part.partition(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    called: Callable[..., Any] = found
    return called
