"""Predictions of a model for a table, computed once and used by all measurements."""

from dataclasses import dataclass

from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Measure, Uncertainty
from epiboost._typing import AnyArray, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Predictions and uncertainties, one per row.

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
    def from_posterior(cls, posterior: Posterior) -> "Predictions":
        """Compute predictions and uncertainties."""
        prediction: AnyArray = posterior.mean
        if posterior.classes is not None:
            prediction = posterior.classes[prediction.argmax(axis=1)]
        return cls(posterior, posterior.uncertainty(), prediction)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.posterior.n_samples

    @property
    def measure(self) -> Measure:
        """The uncertainty that abstention uses: total, or knowledge if the members predict a mean alone."""
        return "knowledge" if self.posterior.family == "mean" else "total"

    @property
    def score(self) -> Floats:
        """The uncertainty that abstention uses, shape (n,)."""
        score: Floats = getattr(self.uncertainty, self.measure)
        return score

    @property
    def data(self) -> Floats | None:
        """Data uncertainty, shape (n,); None if the members predict a mean alone."""
        return None if self.posterior.family == "mean" else self.uncertainty.data


@dataclass(frozen=True, slots=True, eq=False)
class PrecomputedModel:
    """A model whose tables are `Predictions`, so that an abstainer can be fitted without predicting again.

    >>> import numpy as np
    >>> from epiboost.decisions import Abstainer
    >>> shares = np.linspace(0.5, 0.99, 30)
    >>> labels = np.array(["no", "yes"])
    >>> posterior = Posterior(np.stack([shares, 1 - shares], axis=1)[np.newaxis], "categorical", labels)
    >>> abstainer = Abstainer(PrecomputedModel(labels), coverage=0.9)
    >>> rows = Predictions.from_posterior(posterior)
    >>> int(abstainer.fit(rows, np.repeat("no", 30)).accept(rows).sum())
    28
    """

    classes_: AnyArray | None = None

    def predict(self, predictions: Predictions) -> AnyArray:
        """Return labels or means, shape (n,)."""
        return predictions.prediction

    def predict_uncertainty(self, predictions: Predictions) -> Uncertainty:
        """Return the uncertainty."""
        return predictions.uncertainty
