"""Methods of the posterior of numbers: those of one distribution per sample, the mixture of the members."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from epiboost._boosting.objectives import Distribution, distribution_named
from epiboost._posterior.knowledge_only import MEAN_ALONE
from epiboost._posterior.levels import check_quantiles, interval_ends
from epiboost._posterior.numbers import mixtures
from epiboost._posterior.numbers.quadrature import expectation
from epiboost._posterior.parameters import real_numbers
from epiboost._typing import Family, Floats, LibraryObject


class NumberMethods:
    """What a posterior of numbers can be asked; one of classes or of means alone refuses."""

    __slots__ = ()

    parameters: Floats
    family: Family
    distribution: Distribution | None

    @property
    def is_numeric(self) -> bool:
        """Whether the members predict a distribution of numbers, with a variance."""
        return self.family not in {"categorical", "mean"}

    def quantile(self, q: float | npt.ArrayLike) -> Floats:
        """Return the values below which the target falls with probability ``q``. Of numbers only.

        The quantiles are those of the mixture, exact to rounding, and not those of one distribution fitted to it. For
        counts they are the smallest count that is reached with at least this probability.

        Parameters
        ----------
        q : float or array of shape (k,)
            Probabilities strictly between 0 and 1.

        Returns
        -------
        quantiles : array of shape (samples,) or (samples, k)
            One column per probability; a larger probability never has a smaller quantile.

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal").quantile([0.05, 0.5]).round(3)
        array([[-1.282,  2.   ]])
        """
        self._check_numbers("quantile")
        return mixtures.quantile(self.distribution, self.parameters, check_quantiles(q))

    def interval(self, coverage: float | npt.ArrayLike = 0.9) -> Floats:
        """Return the central interval that contains the target with probability ``coverage``. Of numbers only.

        Parameters
        ----------
        coverage : float or sequence of shape (k,), default=0.9
            Strictly between 0 and 1; both tails have the same probability.

        Returns
        -------
        interval : array of shape (samples, 2), or (samples, k, 2) for k coverages
            Lower and upper end; an interval of larger coverage contains those of smaller coverage.

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[10.0, 4.0]]]), family="normal").interval(0.95).round(2)
        array([[ 6.08, 13.92]])
        """
        self._check_numbers("interval")
        ends = interval_ends(coverage)
        return self.quantile(ends.ravel()).reshape(-1, *ends.shape)

    def cdf(self, y: npt.ArrayLike) -> Floats:
        """Return the probability that the target is at most ``y``. Of numbers only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            One value for all samples, one value per sample, or k values per sample.

        Returns
        -------
        probability : array of shape (samples,) or (samples, k)
            Between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal").cdf(2.0)
        array([0.5])
        """
        self._check_numbers("cdf")
        return mixtures.cdf(self.distribution, self.parameters, self._check_y(y))

    def sf(self, y: npt.ArrayLike) -> Floats:
        """Return the probability of a target above ``y``; small ones keep their digits. Of numbers only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            As for `cdf`.

        Returns
        -------
        probability : array of shape (samples,) or (samples, k)

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[0.0, 1.0]], [[4.0, 1.0]]]), family="normal").sf([40.0])[0] > 0.0
        np.True_
        """
        self._check_numbers("sf")
        return mixtures.sf(self.distribution, self.parameters, self._check_y(y))

    def probability_above(self, threshold: npt.ArrayLike) -> Floats:
        """Return the probability that the target is above a threshold; the same as `sf`. Of numbers only.

        Parameters
        ----------
        threshold : float, or array of shape (samples,) or (samples, k)
            Of counts, a count of exactly the threshold is not above it.

        Returns
        -------
        probability : array of shape (samples,) or (samples, k)

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[3.0]]]), family="poisson").probability_above(0).round(3)  # 1 - exp(-3)
        array([0.95])
        """
        self._check_numbers("probability_above")
        return self.sf(threshold)

    def logpdf(self, y: npt.ArrayLike) -> Floats:
        """Return the logarithm of the density at ``y``, or of the probability of a count. Of numbers only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            As for `cdf`.

        Returns
        -------
        log_density : array of shape (samples,) or (samples, k)
            In nats; infinite at the mean of a member of zero variance.

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[0.0, 1.0]]]), family="normal").logpdf(0.0).round(4)
        array([-0.9189])
        """
        self._check_numbers("logpdf")
        return mixtures.logpdf(self.distribution, self.parameters, self._check_y(y))

    def pdf(self, y: npt.ArrayLike) -> Floats:
        """Return the density at ``y``, or the probability of a count. Of numbers only.

        Parameters
        ----------
        y : float, or array of shape (samples,) or (samples, k)
            As for `cdf`.

        Returns
        -------
        density : array of shape (samples,) or (samples, k)

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> Posterior(np.array([[[0.0, 1.0]]]), family="normal").pdf(0.0).round(4)
        array([0.3989])
        """
        self._check_numbers("pdf")
        density: Floats = np.exp(self.logpdf(y))
        return density

    def expected(self, function: Callable[[Floats], npt.ArrayLike]) -> Floats:
        """Return the expectation of a function of the target. Of numbers only.

        Counts are summed one by one, exactly but for a probability of 1e-12 on either side. For other families the
        expectation is a Gauss–Legendre quadrature over 384 quantiles of each member, out to probabilities of 1e-15. Its
        error is about 1e-9 of the function's size in the bulk if the function is smooth, up to 1e-4 standard deviations
        times the change of slope at a kink, and up to 0.01 of a jump's height: for the probability of a range use
        `cdf`. An expectation that is infinite, or that values beyond these quantiles decide, comes out too small.

        Parameters
        ----------
        function : callable
            Takes an array of any shape and returns one finite value for each.

        Returns
        -------
        expectation : array of shape (samples,)

        Examples
        --------
        The expected cost of missing demand, at 2 per unit above a stock of 5:

        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> posterior = Posterior(np.array([[[3.0]]]), family="poisson")
        >>> posterior.expected(lambda y: 2.0 * np.maximum(y - 5.0, 0.0)).round(4)
        array([0.2692])
        """
        self._check_numbers("expected")

        def checked(y: Floats) -> Floats:
            values = real_numbers(function(y), "the values of the function")
            if values.shape != y.shape:
                message = (
                    f"function must return one value for each of its values, shape {y.shape}, got {values.shape}; "
                    "write it with functions of NumPy"
                )
                raise ValueError(message)
            if not np.isfinite(values).all():
                message = "function must return finite values for everything that the target may be"
                raise ValueError(message)
            return values

        expected: Floats = expectation(self._law, self.parameters, checked).mean(axis=0)
        return expected

    def to_scipy(self) -> LibraryObject:
        """Return the posterior as a frozen distribution of SciPy, one per sample. Of numbers only.

        Returns
        -------
        distribution : frozen ``rv_continuous``, or ``rv_discrete`` for counts
            With ``pdf`` (``pmf``), ``cdf``, ``sf``, ``ppf``, ``rvs``, ``mean``, ``std`` and more. Its shape is
            (samples,): arguments broadcast against it, so k values for every sample have the shape (k, 1), and
            ``rvs(size=(k, samples))`` are k draws of each. Draws of different samples are independent of each other;
            those of `sample` share their member.

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import Posterior
        >>> distribution = Posterior(np.array([[[0.0, 1.0], [9.0, 4.0]]]), family="normal").to_scipy()
        >>> distribution.ppf([[0.5], [0.975]]).round(2)
        array([[ 0.  ,  9.  ],
               [ 1.96, 12.92]])
        """
        from epiboost._posterior.numbers.scipy_view import frozen  # noqa: PLC0415 (scipy.stats is slow to import)

        self._check_numbers("to_scipy")
        return frozen(self._law, self.parameters, self._mean_of_mixture(), self._variance_of_mixture())

    def _mean_of_mixture(self) -> Floats:
        mean: Floats = self._law.mean(self.parameters).mean(axis=0)
        return mean

    def _variance_of_mixture(self) -> Floats:
        data, means = self._law.variance(self.parameters).mean(axis=0), self._law.mean(self.parameters)
        return np.asarray(data + means.var(axis=0))

    @property
    def _law(self) -> Distribution:
        """The distribution of a member, also of a Normal one."""
        return distribution_named("normal") if self.distribution is None else self.distribution

    def _check_numbers(self, method: str) -> None:
        if self.family == "mean":
            message = (
                f"{method} needs members that predict a variance; these {MEAN_ALONE}. Use the mean and "
                "uncertainty().knowledge, or a model that predicts a variance, such as one of engine='native'"
            )
            raise ValueError(message)
        if self.family == "categorical":
            message = f"{method} needs a posterior of numbers, got a categorical one"
            raise ValueError(message)

    def _check_y(self, y: npt.ArrayLike) -> Floats:
        y, n_samples = real_numbers(y, "y"), int(self.parameters.shape[1])
        if y.ndim == 0:
            return np.full(n_samples, y)
        if y.ndim not in (1, 2) or len(y) != n_samples:
            message = f"y must be a number or of shape ({n_samples},) or ({n_samples}, k), got {y.shape}"
            raise ValueError(message)
        return y
