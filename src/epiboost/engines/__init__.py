"""Engines by name.

>>> engine_named("native", n_jobs=1)
NativeEngine(n_jobs=1)
"""

import importlib
from collections.abc import Mapping
from typing import Any

from epiboost._typing import AnyArray
from epiboost.engines.base import Engine, Forest

__all__ = ["Engine", "Forest", "engine_named", "forest_from_file"]

_ENGINES = {"native": "epiboost.engines.native:NativeEngine"}
_FORESTS = {"native": "epiboost.engines.native:NativeForest"}


def engine_named(engine: str | Engine, *, n_jobs: int | None) -> Engine:
    """Return the engine of that name, or the engine itself."""
    if isinstance(engine, Engine) and not isinstance(engine, type):
        return engine
    if not isinstance(engine, str) or engine not in _ENGINES:
        message = f"engine must be one of {', '.join(map(repr, _ENGINES))} or an Engine; got {engine!r}"
        raise ValueError(message)
    made: Engine = _imported(_ENGINES[engine])(n_jobs=n_jobs)
    return made


def forest_from_file(
    engine: str, header: Mapping[str, Any], arrays: Mapping[str, AnyArray], *, n_jobs: int | None
) -> Forest:
    """Return the forest that an engine's `Forest.to_file` described; a ValueError if the parts do not fit."""
    forest: Forest = _imported(_FORESTS[engine]).from_file(header, arrays, n_jobs)
    return forest


def _imported(path: str) -> Any:  # noqa: ANN401 (a class)
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
