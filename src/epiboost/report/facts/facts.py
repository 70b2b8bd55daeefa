"""All numbers of a report."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from epiboost._posterior.uncertainty import Measure
from epiboost.metrics import RejectionCurve, ReliabilityCurve
from epiboost.report.facts.abstention import AbstentionLevel
from epiboost.report.facts.calibration import Calibration
from epiboost.report.facts.drivers import Driver
from epiboost.report.facts.out_of_domain import DomainComparison, OutOfDomain
from epiboost.report.facts.quality import ClassQuality, Quality
from epiboost.report.facts.rows import KindThresholds, Points, RowKind, RowTable

Task: TypeAlias = Literal["regression", "classification"]


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """All numbers of a report.

    Attributes
    ----------
    title : str
    task : {"regression", "classification"}
    unit : {"variance", "nats"}
        Unit of the uncertainties.
    n_rows, n_columns : int
    measure : {"total", "knowledge"}
        The uncertainty that abstention uses.
    quality : Quality or None
        None without targets.
    calibration : Calibration or None
        None without targets, and if the members predict no distribution.
    classes : tuple of ClassQuality
        Empty without targets, and for a regressor.
    error_detection : float or None
        Rank correlation of uncertainty and error in standard errors; None with too few rows or errors.
    abstention : tuple of AbstentionLevel
        All rows first, then smaller coverages.
    out_of_domain : OutOfDomain
    rejection : dict from str to RejectionCurve
        By measure; empty without targets.
    rejection_scores : dict from str to float or None
        Prediction-rejection ratios by measure; None where not defined.
    reliability : ReliabilityCurve or None
    kind_thresholds : KindThresholds
    kind_counts : tuple of (RowKind, int)
        Number of rows of this table of each kind.
    points : Points
    uncertain_rows : RowTable
        The most uncertain rows.
    point_rows : RowTable
        The rows of the chart, in the order of ``points``.
    domain : DomainComparison or None
        Comparison with the other table, if there is one.
    drivers : tuple of Driver
    n_explained : int
        Number of rows from which the drivers are computed.
    model : tuple of (str, str)
        Properties of the model, by name.
    parameters : tuple of (str, str)
        All parameters of the model.
    """

    title: str
    task: Task
    unit: str
    n_rows: int
    n_columns: int
    measure: Measure
    quality: Quality | None
    calibration: Calibration | None
    classes: tuple[ClassQuality, ...]
    error_detection: float | None
    abstention: tuple[AbstentionLevel, ...]
    out_of_domain: OutOfDomain
    rejection: dict[str, RejectionCurve]
    rejection_scores: dict[str, float | None]
    reliability: ReliabilityCurve | None
    kind_thresholds: KindThresholds
    kind_counts: tuple[tuple[RowKind, int], ...]
    points: Points
    uncertain_rows: RowTable
    point_rows: RowTable
    domain: DomainComparison | None
    drivers: tuple[Driver, ...]
    n_explained: int
    model: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        """Return title, task and number of rows; the numbers themselves would fill pages."""
        return f"Facts({self.title!r}, {self.task}, {self.n_rows:,} rows)"
