"""The numbers of a report, as plain values: what pictures and sentences are made of."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from epiboost._posterior.uncertainty import Measure
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.metrics import RejectionCurve, ReliabilityCurve
from epiboost.report.ood_facts import Domain, Foreign

Task: TypeAlias = Literal["regression", "classification"]
"""What is predicted."""

Kind: TypeAlias = Literal["noisy", "unfamiliar", "ordinary", "other"]
"""Why a row is uncertain, if it is; a row of the other table is none of the others."""


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the predictions are.

    Attributes
    ----------
    error : float
        Share of wrong predictions, or root mean squared error.
    baseline : float
        The same if one always said the most frequent class of these rows, or their mean.
    losses : tuple of (str, float)
        Other losses by name; lower is better.
    guessing : tuple of float or None
        The same losses if one always said the shares of the classes, or the mean and spread of these targets.
    gain : float or None
        How many standard errors the error lies below that of guessing; None with too few rows, or if all are alike.
    likelihood_gain : float or None
        The same for the likelihood of the classes; None for a regressor.
    only : str
        The target, if all rows have the same; empty if not.
    """

    error: float
    baseline: float
    losses: tuple[tuple[str, float], ...]
    guessing: tuple[float | None, ...]
    gain: float | None
    likelihood_gain: float | None
    only: str


@dataclass(frozen=True, slots=True)
class ClassQuality:
    """How well one class is found.

    Attributes
    ----------
    label : str
    n_rows : int
        Rows of this class.
    n_said : int
        Rows that are said to be of it.
    n_right : int
        Rows that are said to be of it, and are.
    auc : float or None
        Probability that a row of the class has a larger probability of it than one of another class; None without any.
    """

    label: str
    n_rows: int
    n_said: int
    n_right: int
    auc: float | None

    @property
    def found(self) -> float | None:
        """Share of the class that is found (recall); None if there is no row of it."""
        return self.n_right / self.n_rows if self.n_rows else None

    @property
    def right(self) -> float | None:
        """Share of what is said to be of the class that is (precision); None if nothing is."""
        return self.n_right / self.n_said if self.n_said else None


@dataclass(frozen=True, slots=True)
class Honesty:
    """Whether what is said with a probability comes to pass that often.

    Attributes
    ----------
    claimed, observed : float
        Mean confidence and share of right predictions, or the coverage asked for and that of the intervals.
    calibration_error : float
    chance : float
        What the calibration error of a model that says what it knows stays below in 39 of 40 tables of this size.
    width : float or None
        Mean width of the intervals; None for a classifier.
    set_size : float or None
        Mean number of classes in the sets of a calibrated classifier; None for others.
    set_coverage : float or None
        How often these sets hold the true class.
    guaranteed : bool
        Whether the model is calibrated, so that its intervals or sets carry a guarantee.
    """

    claimed: float
    observed: float
    calibration_error: float
    chance: float
    width: float | None
    set_size: float | None
    set_coverage: float | None
    guaranteed: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """What remains when the least sure cases are handed over.

    Attributes
    ----------
    asked : float
        Share of the cases to keep.
    share : float
        Share that is kept; less than asked for where many cases are equally uncertain.
    threshold : float
        A case is handed over if its uncertainty is not below this; infinite if all are kept.
    error : float or None
        Error among the cases kept; None without targets, or if none is kept.
    bound : float or None
        What that error does not exceed, at 95 % confidence; None for a regressor.
    """

    asked: float
    share: float
    threshold: float
    error: float | None
    bound: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The rows that are drawn, one point each.

    Attributes
    ----------
    row : integer array of shape (k,)
        Positions in their table, from 0.
    data, knowledge : arrays of shape (k,)
        ``data`` is None if the members do not know it.
    kind : tuple of str
        "noisy", "unfamiliar", "ordinary" or "other".
    """

    row: Integers
    data: Floats | None
    knowledge: Floats
    kind: tuple[Kind, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Rows that are shown with their values: those of the table, and those under the pointer.

    Attributes
    ----------
    row : integer array of shape (k,)
    other : array of bool, of shape (k,)
        Whether the row is from the other table.
    kind : tuple of str
    prediction : tuple of str
    target : tuple of str or None
        None without targets.
    error : array of shape (k,) or None
        1 for a wrong label, the distance from the target of a number.
    doubt, knowledge : arrays of shape (k,)
    data : array of shape (k,) or None
    reason : tuple of str
        The feature that adds most to what the row is marked for; empty if that was not asked.
    names : tuple of str
        Columns that are shown.
    cells : array of str, of shape (k, columns)
    """

    row: Integers
    other: AnyArray
    kind: tuple[Kind, ...]
    prediction: tuple[str, ...]
    target: tuple[str, ...] | None
    error: Floats | None
    doubt: Floats
    knowledge: Floats
    data: Floats | None
    reason: tuple[str, ...]
    names: tuple[str, ...]
    cells: AnyArray


@dataclass(frozen=True, slots=True)
class Driver:
    """What drives one part of the uncertainty.

    Attributes
    ----------
    other : bool
        Whether rows of the other table are explained, by how they differ from those of this.
    measure : {"data", "knowledge"}
    names : tuple of str
        Features, most important first.
    shares : tuple of float
        What part of all effects each has.
    n_others : int
        Features that are not listed.
    """

    other: bool
    measure: Measure
    names: tuple[str, ...]
    shares: tuple[float, ...]
    n_others: int

    @property
    def pairs(self) -> tuple[tuple[str, float], ...]:
        """Names and shares side by side."""
        return tuple(zip(self.names, self.shares, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """Everything that a report says.

    Attributes
    ----------
    title : str
    task : {"regression", "classification"}
    unit : {"variance", "nats"}
    n_rows, n_columns : int
    deciding : {"total", "knowledge"}
        The uncertainty that a case is handed over by.
    quality, honesty : None without targets; ``honesty`` also for members that predict no distribution
    classes : tuple of ClassQuality
        Empty without targets, and for a regressor.
    finds : float or None
        How many standard errors larger uncertainties go with larger errors; None if there are too few to tell.
    kept : tuple of Kept
    foreign : Foreign
    rejection : dict from str to RejectionCurve
        By measure; empty without targets.
    scores : dict from str to float or None
        Their prediction–rejection ratios; None where one is not defined.
    reliability : ReliabilityCurve or None
    points : Points
    uncertain : Listed
        The most uncertain rows.
    hovered : Listed
        The rows that are drawn, in the order of the points.
    domain : Domain or None
    drivers : tuple of Driver
    n_explained : int
        Rows from which the drivers come.
    model : tuple of (str, str)
        Facts of the model, by name.
    parameters : tuple of (str, str)
        All parameters of the model.
    """

    title: str
    task: Task
    unit: str
    n_rows: int
    n_columns: int
    deciding: Measure
    quality: Quality | None
    honesty: Honesty | None
    classes: tuple[ClassQuality, ...]
    finds: float | None
    kept: tuple[Kept, ...]
    foreign: Foreign
    rejection: dict[str, RejectionCurve]
    scores: dict[str, float | None]
    reliability: ReliabilityCurve | None
    points: Points
    uncertain: Listed
    hovered: Listed
    domain: Domain | None
    drivers: tuple[Driver, ...]
    n_explained: int
    model: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        """Say what they are of; there are thousands of numbers."""
        return f"Facts({self.title!r}, {self.task}, {self.n_rows:,} rows)"
