"""What the recalibrations of regressors and classifiers have in common: a few numbers, saved in a file's header."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, astuple, dataclass, fields
from typing import Any, Self

import numpy as np

from epiboost._files.requirements import require_facts
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import Floats, LibraryObject


@dataclass(frozen=True, slots=True)
class Recalibration:
    """Changes the distribution parameters of the members; every field is a number."""

    @abstractmethod
    def apply(self, parameters: Floats, *, threads: int = 1) -> Floats:
        """Return the recalibrated parameters, in the shape of the given ones, on up to so many threads."""

    @abstractmethod
    def uncertainty(self, parameters: Floats, *, index: LibraryObject = None, threads: int = 1) -> Uncertainty:
        """Return the uncertainty of the recalibrated parameters; the rows have the labels of the index."""

    @abstractmethod
    def requirements(self) -> dict[str, bool]:
        """Return what must hold for the numbers, and whether it does."""

    def to_header(self) -> dict[str, float]:
        """Return the numbers for a JSON header."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Self:
        """Return what `to_header` described; a ValueError if the numbers are not possible."""
        made = cls(**{field.name: _number_of(field, header) for field in fields(cls)})
        is_finite = bool(np.isfinite(astuple(made)).all())
        require_facts({"the recalibration must be finite": is_finite, **made.requirements()})
        return made


def _number_of(field: Field[Any], header: Mapping[str, Any]) -> float:
    """Return the number of a field; files of earlier versions have none for fields with a default."""
    return float(header[field.name] if field.default is MISSING else header.get(field.name, field.default))
