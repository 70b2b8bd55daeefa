"""What a model says of a table, asked once and then told to all that want to know."""

from dataclasses import dataclass

from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Measure, Uncertainty
from epiboost._typing import AnyArray, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a model says of each row.

    Attributes
    ----------
    posterior : Posterior
    uncertainty : Uncertainty
    prediction : array of shape (n,)
        Labels, or means.
    """

    posterior: Posterior
    uncertainty: Uncertainty
    prediction: AnyArray

    @classmethod
    def of(cls, posterior: Posterior) -> "Answers":
        """Take a posterior apart."""
        prediction: AnyArray = posterior.mean
        if posterior.classes is not None:
            prediction = posterior.classes[prediction.argmax(axis=1)]
        return cls(posterior, posterior.uncertainty(), prediction)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.posterior.n_samples

    @property
    def deciding(self) -> Measure:
        """The uncertainty that a case is handed over by: total, where members know it."""
        return "knowledge" if self.posterior.family == "mean" else "total"

    @property
    def doubt(self) -> Floats:
        """That uncertainty, shape (n,)."""
        doubt: Floats = getattr(self.uncertainty, self.deciding)
        return doubt

    @property
    def data(self) -> Floats | None:
        """Data uncertainty, shape (n,); None if the members do not know it."""
        return None if self.posterior.family == "mean" else self.uncertainty.data


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A model whose tables are answers already given: what decides may be asked without predicting anew.

    >>> from epiboost.decisions import DomainDetector
    >>> rows = Answers.of(Posterior([[[0.0, 1.0]] * 30, [[0.1, 1.0]] * 30], "normal"))
    >>> DomainDetector(Told()).fit(rows).predict(rows).min()
    np.int64(1)
    """

    classes_: AnyArray | None = None

    def predict(self, answers: Answers) -> AnyArray:
        """Return the predictions."""
        return answers.prediction

    def predict_uncertainty(self, answers: Answers) -> Uncertainty:
        """Return the uncertainty."""
        return answers.uncertainty
