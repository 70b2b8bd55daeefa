"""Saves models to files and loads them: one registry of the classes that a file may name."""

import os
from abc import ABC, abstractmethod
from typing import Any, Self, TypeVar

from epiboost._files import model_file
from epiboost._files.model_file import ModelFileError
from epiboost._native import instruction_set
from epiboost._typing import AnyArray, Estimator

Model = TypeVar("Model", bound="SavedModel")

_CLASSES: "dict[str, type[SavedModel]]" = {}

_MISFIT = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class SavedModel(ABC):
    """A model that can be written to a file and read back."""

    def __init_subclass__(cls, **options: object) -> None:
        """Register the class, so that a file can name it."""
        super().__init_subclass__(**options)
        known = _CLASSES.get(cls.__name__)
        if known is None or known.__module__ == cls.__module__:  # a class that was defined again replaces itself
            _CLASSES[cls.__name__] = cls

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and a JSON header, no pickle.

        The file is complete or absent: it is written under a temporary name and then moved into place.

        Parameters
        ----------
        path : str or path
            By convention it ends in ``.epib``.
        """
        model_file.write(path, *self._to_file())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted model of this class from a file that `save` wrote.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        the fitted model

        Raises
        ------
        ModelFileError
            If the file is damaged, or holds a model of another class.
        """
        header, arrays = model_file.read(path)
        found = header.get("estimator")
        if found != cls.__name__:
            message = f"{os.fspath(path)}: holds a model of {found!r}, not of {cls.__name__!r}"
            if isinstance(found, str) and _is_public(found):
                message += f"; read it with epiboost.load or {found}.load"
            raise ModelFileError(message)
        return _built(cls, path, header, arrays)

    @abstractmethod
    def _to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """Return the header and the arrays of the model's file."""

    @classmethod
    @abstractmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        """Return the model that `_to_file` described; an error means that the parts are not valid."""


def load(path: str | os.PathLike[str]) -> Estimator:
    """Read any fitted model from a file that its ``save`` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    EpiBoostRegressor, EpiBoostClassifier, CalibratedRegressor or CalibratedClassifier

    Raises
    ------
    ModelFileError
        If the file is damaged or is not a model file.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import epiboost
    >>> model = epiboost.EpiBoostRegressor(n_members=2, n_estimators=3, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.epib"
    >>> model.save(path)
    >>> epiboost.load(path)
    EpiBoostRegressor(n_estimators=3, n_members=2, random_state=0)
    """
    header, arrays = model_file.read(path)
    found = header.get("estimator")
    if not isinstance(found, str) or not _is_public(found):
        known = ", ".join(sorted(name for name in _CLASSES if _is_public(name)))
        message = f"{os.fspath(path)}: holds a model of {found!r}; known are {known}"
        raise ModelFileError(message)
    return _built(_CLASSES[found], path, header, arrays)


def model_from_file(header: dict[str, Any], arrays: dict[str, AnyArray]) -> SavedModel:
    """Return the model that a header names, where it is part of another model's file."""
    return _CLASSES[header["estimator"]]._from_file(header, arrays)  # noqa: SLF001 (defined above)


def _built(
    model_class: type[Model], path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, AnyArray]
) -> Model:
    instruction_set()  # a wrong choice of it is no fault of the file
    try:
        return model_class._from_file(header, arrays)  # noqa: SLF001 (defined above)
    except _MISFIT as error:
        message = f"{os.fspath(path)}: the parts of the model do not fit together: {error}"
        raise ModelFileError(message) from error


def _is_public(name: str) -> bool:
    """Return whether a class of models has this name; base classes do not count."""
    return name in _CLASSES and not _CLASSES[name].__abstractmethods__
