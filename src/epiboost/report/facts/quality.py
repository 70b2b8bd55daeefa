"""Accuracy of the predictions, for all rows and per class."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quality:
    """Accuracy of the predictions, compared with a constant prediction.

    Attributes
    ----------
    error : float
        Share of wrong predictions, or root mean squared error.
    baseline : float
        The same error for the most frequent class, or the mean, of these rows.
    losses : tuple of (str, float)
        Other losses by name; lower is better.
    baseline_losses : tuple of float or None
        The same losses for the class frequencies, or the mean and variance, of these targets.
    gain : float or None
        Number of standard errors by which the error is below the baseline; None with too few rows, or if the
        difference is the same in all rows.
    likelihood_gain : float or None
        The same for the log-likelihood of the classes; None for a regressor.
    constant_target : str
        The target, if it is the same in all rows; empty if not.
    """

    error: float
    baseline: float
    losses: tuple[tuple[str, float], ...]
    baseline_losses: tuple[float | None, ...]
    gain: float | None
    likelihood_gain: float | None
    constant_target: str


@dataclass(frozen=True, slots=True)
class ClassQuality:
    """How well one class is predicted.

    Attributes
    ----------
    label : str
        The class.
    n_rows : int
        Number of rows of this class.
    n_predicted : int
        Number of rows that are predicted to be of this class.
    n_correct : int
        Number of rows of this class that are predicted correctly.
    auc : float or None
        Probability that a row of the class has a larger predicted probability of it than a row of another class; None
        if all rows or no rows are of this class.
    """

    label: str
    n_rows: int
    n_predicted: int
    n_correct: int
    auc: float | None

    @property
    def recall(self) -> float | None:
        """Share of the class that is predicted correctly; None without rows of this class."""
        return self.n_correct / self.n_rows if self.n_rows else None

    @property
    def precision(self) -> float | None:
        """Share of the predictions of this class that are correct; None without such predictions."""
        return self.n_correct / self.n_predicted if self.n_predicted else None
