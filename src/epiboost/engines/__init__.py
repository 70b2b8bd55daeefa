"""What trains the trees: engines by name, and the door through which another can be added.

>>> engine_names()[0]
'native'
"""

from epiboost.engines.base import Engine, Forest
from epiboost.engines.registry import (
    check_asked,
    engine_named,
    engine_names,
    forest_from_file,
    register_engine,
    unregister_engine,
)

__all__ = [
    "Engine",
    "Forest",
    "check_asked",
    "engine_named",
    "engine_names",
    "forest_from_file",
    "register_engine",
    "unregister_engine",
]
