"""What both calibrated models share: the split of the rows, the quantiles, files."""

import copy
import math
import os
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from epiboost._estimators.base import BaseEpiBoost, of_another_kind
from epiboost._files import model_file
from epiboost._posterior.conformal import check_share, conformal_quantile, rows_for
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._typing import AnyArray, Floats, Integers
from epiboost.distributed.scoring import lazily

_FEWEST_ROWS = 4
_STEPS = 20
_LEEWAY = 0.15
_MISFIT = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)


class BaseCalibrated(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What both calibrated models share; the classes that users see are the two below."""

    def __init__(self, model: Any, *, scale_share: float = 0.25, random_state: int | None = 0) -> None:  # noqa: ANN401
        self.model = model
        self.scale_share = scale_share
        self.random_state = random_state

    @lazily
    def predict_uncertainty(self, X: Any) -> Uncertainty:  # noqa: ANN401 (anything a user may pass)
        """Split each row's calibrated uncertainty into data and knowledge.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        Uncertainty
            Of the calibrated posterior.
        """
        return self.predict_posterior(X).uncertainty()

    def predict_posterior(self, X: Any) -> Posterior:  # noqa: ANN401 (anything a user may pass)
        """Return what every member says of every row, calibrated."""
        raise NotImplementedError

    def calibrate(self, X_cal: Any, y_cal: Any, *, random_state: int | None = 0) -> Self:  # noqa: ANN401
        """Calibrate the same model on other rows; what was learned from the rows before is not used.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            Rows that the model has not been trained or early-stopped on.
        y_cal : array of shape (n,)
        random_state : int or None, default=0
            The seed of the split of these rows.

        Returns
        -------
        a new calibrated model
        """
        check_is_fitted(self, "scores_")
        anew = type(self)(self.model_, scale_share=self.scale_share, random_state=random_state)
        calibrated: Self = anew.fit(X_cal, y_cal)
        return calibrated

    @property
    def n_features_in_(self) -> int:
        """Number of columns that the model reads."""
        return int(self._kept.n_features_in_)

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of these columns, if they had any."""
        names: AnyArray = self._kept.feature_names_in_
        return names

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model and its calibration to one file: arrays and a JSON header, no pickle.

        Parameters
        ----------
        path : str or path
            By custom it ends in ``.epib``.
        """
        check_is_fitted(self, "scores_")
        header, arrays = self.model_._to_file()
        seed = int(self.random_state) if isinstance(self.random_state, int | np.integer) else None
        own_header: dict[str, Any] = {
            "estimator": type(self).__name__,
            "parameters": {"scale_share": float(self.scale_share), "random_state": seed},
            "model": header,
        }
        model_file.write(path, own_header, {**arrays, **self._calibration_to_file()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a calibrated model from a file that `save` wrote.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        the calibrated model

        Raises
        ------
        ModelFileError
            If the file is damaged, or is not a model of this class.
        """
        return cls._read(path, *model_file.read(path))

    @classmethod
    def _read(cls, path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        """Make the model of what a file holds."""
        if header.get("estimator") != cls.__name__:
            raise of_another_kind(path, header.get("estimator"), cls.__name__)
        try:
            return cls._from_file(header, arrays)
        except _MISFIT as error:
            message = f"{os.fspath(path)}: the parts of the model do not fit together: {error}"
            raise model_file.ModelFileError(message) from error

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        kind = BaseEpiBoost._kinds[header["model"]["estimator"]]
        calibrated = cls(kind._from_file(header["model"], arrays), **header["parameters"])
        calibrated._keep_model()
        scores = arrays["calibration_scores"]
        if scores.dtype != np.float64 or scores.ndim != 1 or not scores.size or (np.diff(scores) < 0.0).any():
            message = "scores must be numbers in order"
            raise ValueError(message)
        if not np.isfinite(scores).all() or scores[0] < 0.0:
            message = "scores must be finite and not negative"
            raise ValueError(message)
        calibrated.scores_ = scores
        calibrated._calibration_from_file(arrays)
        return calibrated

    def __sklearn_clone__(self) -> Self:
        """Keep the model: it is given, and not learned here."""
        return type(self)(self.model, scale_share=self.scale_share, random_state=self.random_state)

    def __sklearn_tags__(self) -> Tags:
        """Say that values may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _parts(self, n_samples: int) -> tuple[Integers, Integers]:
        """Return the rows to learn scales from and those that guarantee."""
        check_share(self.scale_share, "scale_share")
        if n_samples < _FEWEST_ROWS:
            message = f"at least {_FEWEST_ROWS} rows are needed to calibrate, got {n_samples}"
            raise ValueError(message)
        n_guarantee = _round_number(n_samples, 1.0 - self.scale_share)
        order: Integers = np.random.default_rng(self.random_state).permutation(n_samples)
        return order[n_guarantee:], order[:n_guarantee]

    def _quantiles(self, coverage: float | npt.ArrayLike) -> Floats:
        """Return the conformal quantile of each coverage, in the shape of the coverages."""
        check_is_fitted(self, "scores_")
        levels = np.asarray(coverage, dtype=np.float64)
        if levels.ndim > 1 or not levels.size:
            message = f"coverage must be a number or a sequence of numbers, got the shape {levels.shape}"
            raise ValueError(message)
        quantiles = [self._quantile(float(level)) for level in np.atleast_1d(levels)]
        return np.array(quantiles).reshape(levels.shape)

    def _quantile(self, coverage: float) -> float:
        check_share(coverage, "coverage")
        needed = rows_for(coverage)
        if needed > len(self.scores_):
            message = (
                f"a coverage of {coverage} cannot be guaranteed: it takes {needed} rows besides those that the scales "
                f"are learned from, and there are {len(self.scores_)}; calibrate with "
                f"{_rows_in_all(needed, 1.0 - self.scale_share)} rows in all"
            )
            raise ValueError(message)
        return conformal_quantile(self.scores_, coverage)

    def _rows(self, X: Any, y: Any) -> tuple[AnyArray, Posterior]:  # noqa: ANN401 (anything a user may pass)
        """Return the targets of the calibration rows and what the model says of them."""
        self._keep_model()
        target, posterior = self.model_._check_target(y), self.model_.predict_posterior(X)
        if posterior.n_samples != len(target):
            message = f"X and y must have the same number of rows, got {posterior.n_samples} and {len(target)}"
            raise ValueError(message)
        return target, posterior

    @property
    def _kept(self) -> Any:  # noqa: ANN401 (the two have models of their own)
        return getattr(self, "model_", self.model)

    def _keep_model(self) -> None:
        """Keep the model as it is now: fitting it anew replaces what it has learned, and does not reach the copy."""
        family = getattr(self.model, "_family", None)
        if not isinstance(self.model, BaseEpiBoost) or family != self._family:
            message = f"{type(self).__name__} calibrates a {self._family} model of this package, got {self.model!r}"
            raise ValueError(message)
        self.model._require_fitted()
        self.model_ = copy.copy(self.model)

    model_: BaseEpiBoost
    scores_: Floats

    # What the two do differently.
    _family: str

    def _calibration_to_file(self) -> dict[str, AnyArray]:
        return {"calibration_scores": self.scores_}

    def _calibration_from_file(self, arrays: dict[str, AnyArray]) -> None:
        """Take what `_calibration_to_file` gave."""
        raise NotImplementedError


def _round_number(n_samples: int, share: float) -> int:
    """Return how many rows guarantee: about a share, if it can be one less than a multiple of 20.

    Of n rows a coverage is rounded up to a multiple of 1 / (n + 1), and intervals are the wider for it. With a multiple
    of 20 the usual coverages, 0.5, 0.8, 0.9 and 0.95, are met exactly.

    >>> _round_number(69, 0.75), _round_number(10, 0.75), _round_number(1000, 0.75)
    (59, 8, 759)
    """
    wanted = min(max(round(share * n_samples), 1), n_samples - 1)
    below = (wanted + 1) // _STEPS * _STEPS - 1
    near = [n for n in (below, below + _STEPS) if abs(n / n_samples - share) <= _LEEWAY and 0 < n < n_samples]
    return min(near, key=lambda n: abs(n - wanted), default=wanted)


def _rows_in_all(needed: int, share: float) -> int:
    """Return a number of calibration rows of which so many guarantee.

    >>> _rows_in_all(9, 0.75), _rows_in_all(99, 0.75)
    (12, 132)
    """
    n_samples = max(math.ceil(needed / share), needed + 1)
    while _round_number(n_samples, share) < needed:
        n_samples += 1
    return n_samples
