"""Which rows say when an ensemble has enough trees: those of an eval_set, rows held out, or those of the folds."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from epiboost._boosting.parameter_checks import is_auto, require_number
from epiboost._estimators.training.history import StoppingRows
from epiboost._estimators.training_rows import TrainingRows
from epiboost._inputs.sparse_table import SparseTable
from epiboost._typing import AnyArray, Integers

_USUAL_FRACTION = 0.1
_MANY_ROWS = 50_000  # from here on "auto" does not stop: chains of the usual length are not too long
_SPLITS = 3  # names the random numbers of the split; 0 to 2 are those of the chains


@dataclass(frozen=True, slots=True)
class StoppingOptions:
    """What the user asks of early stopping; checked on construction.

    Attributes
    ----------
    early_stopping : "auto" or bool
    rounds : int or None
        The parameter ``early_stopping_rounds``.
    validation_fraction : float or None
    refit : bool
    has_eval_set : bool
    is_virtual : bool
        Whether the ensemble is virtual.
    """

    early_stopping: Any
    rounds: int | None
    validation_fraction: float | None
    refit: bool
    has_eval_set: bool
    is_virtual: bool

    def __post_init__(self) -> None:
        """Check every parameter, and that they agree."""
        if not (is_auto(self.early_stopping) or isinstance(self.early_stopping, bool | np.bool_)):
            message = f"early_stopping must be 'auto', True or False; got {self.early_stopping!r}"
            raise ValueError(message)
        if not isinstance(self.refit, bool | np.bool_):
            message = f"refit must be True or False; got {self.refit!r}"
            raise ValueError(message)  # noqa: TRY004 (scikit-learn's checks of parameters raise ValueErrors)
        if self.validation_fraction is not None:
            require_number("validation_fraction", self.validation_fraction, above=0.0, at_most=0.9)
            if self.has_eval_set:
                message = "give an eval_set or validation_fraction, not both: one set of rows says when to stop"
                raise ValueError(message)
        if self.refit and self.has_eval_set:
            message = "refit=True is for rows held out, not for an eval_set; leave one of them out"
            raise ValueError(message)
        asked = [name for name, value in self._asked.items() if value is not None]
        if not self._may_stop and asked:
            message = f"early_stopping=False contradicts {' and '.join(asked)}; leave one or the other at its default"
            raise ValueError(message)
        if self.is_virtual and self.wanted:
            message = (
                "ensemble='virtual' takes its members from the second half of one whole chain, which early stopping "
                "would cut off; leave early_stopping_rounds and validation_fraction at None, or use ensemble='sglb'"
            )
            raise ValueError(message)

    @property
    def wanted(self) -> bool:
        """Whether the user asks for early stopping."""
        asked = any(value is not None for value in self._asked.values())
        return asked or (self._may_stop and not is_auto(self.early_stopping))

    @property
    def fraction(self) -> float:
        """Share of the rows to hold out, if rows are held out."""
        return _USUAL_FRACTION if self.validation_fraction is None else float(self.validation_fraction)

    def rows(self, *, has_folds: bool, has_auto_length: bool, stops_early: bool, n_rows: float) -> StoppingRows | None:
        """Return which rows say when to stop; None if training does not stop early.

        Parameters
        ----------
        has_folds : bool
            Whether there are out-of-fold chains.
        has_auto_length : bool
            Whether ``n_estimators`` is "auto".
        stops_early : bool
            Whether the engine saves time by stopping.
        n_rows : float
            Weight of all rows.
        """
        if self.wanted:
            if self.has_eval_set:
                return "eval_set"
            holds_out = self.validation_fraction is not None or self.refit
            return "out_of_fold" if has_folds and not holds_out else "validation"
        by_default = is_auto(self.early_stopping) and has_folds and has_auto_length and stops_early
        return "out_of_fold" if by_default and n_rows < _MANY_ROWS else None

    @property
    def _may_stop(self) -> bool:
        return is_auto(self.early_stopping) or bool(self.early_stopping)

    @property
    def _asked(self) -> dict[str, object]:
        refit = True if self.refit else None
        return {"early_stopping_rounds": self.rounds, "validation_fraction": self.validation_fraction, "refit": refit}


def hold_out(rows: TrainingRows, fraction: float, seed: int) -> TrainingRows:
    """Return the rows without a random part of them, which becomes their evaluation rows.

    Groups are not torn apart, and each class keeps its share if it has rows enough.
    """
    data = rows.data
    if not isinstance(data.X, np.ndarray | SparseTable):
        message = "early stopping on rows held out needs them in memory; give an eval_set with a Dask collection"
        raise ValueError(message)  # noqa: TRY004 (the type is allowed elsewhere)
    groups = None if rows.groups is None else rows.groups[rows.kept]
    random_state = int(np.random.SeedSequence([seed, _SPLITS]).generate_state(1)[0])
    train, held_out = _split(len(data.y), fraction, data.y if data.n_classes else None, groups, random_state)
    if data.n_classes:
        train, held_out = _with_every_class(train, held_out, data.y, groups)
    if not (len(train) and len(held_out)):
        message = f"validation_fraction={fraction:g} of {len(data.y)} rows leaves none to train on or to hold out"
        raise ValueError(message)
    kept = np.zeros_like(rows.kept)
    kept[np.flatnonzero(rows.kept)[train]] = True
    evaluation = replace(data.take(held_out), evaluation=None)
    offset = None if rows.offset is None else rows.offset[train]
    return replace(rows, data=replace(data.take(train), evaluation=evaluation), kept=kept, offset=offset)


def _split(
    n: int, fraction: float, codes: AnyArray | None, groups: Integers | None, random_state: int
) -> tuple[Integers, Integers]:
    """Return the rows to train on and those to hold out, both in ascending order."""
    from sklearn.model_selection import (  # noqa: PLC0415 (slow to import, and imports packages that are optional here)
        GroupShuffleSplit,
        ShuffleSplit,
        StratifiedShuffleSplit,
    )

    options = {"n_splits": 1, "test_size": fraction, "random_state": random_state}
    positions = np.arange(n)
    if groups is not None:
        splitter: Any = GroupShuffleSplit(**options)
    elif codes is not None and _is_stratifiable(codes, fraction):
        splitter = StratifiedShuffleSplit(**options)
    else:
        splitter = ShuffleSplit(**options)
    try:
        train, held_out = next(splitter.split(positions, codes, groups))
    except ValueError as error:
        what = f"{n} rows" if groups is None else f"{n} rows of {len(np.unique(groups))} group(s)"
        message = f"validation_fraction={fraction:g} cannot split {what}: {error}"
        raise ValueError(message) from error
    return np.sort(train), np.sort(held_out)


def _with_every_class(
    train: Integers, held_out: Integers, codes: AnyArray, groups: Integers | None
) -> tuple[Integers, Integers]:
    """Return the split after moving rows of classes that would not be trained on, with their groups."""
    for label in np.setdiff1d(codes[held_out], codes[train]):
        first = held_out[codes[held_out] == label][0]
        moves = held_out == first if groups is None else groups[held_out] == groups[first]
        train, held_out = np.sort(np.concatenate([train, held_out[moves]])), held_out[~moves]
    return train, held_out


def _is_stratifiable(codes: AnyArray, fraction: float) -> bool:
    """Return whether every class has a row for both parts, and both parts have room for every class."""
    counts = np.bincount(codes.astype(np.int64))
    smaller = min(fraction, 1.0 - fraction) * len(codes)
    return bool(counts.min() >= 2 and smaller >= len(counts))  # noqa: PLR2004 (one row on each side)
