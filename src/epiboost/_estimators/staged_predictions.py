"""Predictions after each number of trees, by the names of scikit-learn."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from epiboost._estimators.base import BaseEpiBoost
from epiboost._typing import AnyArray, Column, Floats, Table
from epiboost.engines.registry import engine_named


class StagedModel(BaseEpiBoost):
    """A model whose mean is known after each number of trees."""

    def _staged_means(self, X: Table, step: int, offset: Column) -> Iterator[Floats]:
        """Return the mean of the posterior after each number of trees; the last is that of the whole ensemble."""
        from epiboost._estimators.stages import stage_counts, staged_means  # noqa: PLC0415 (imports an engine)

        self._require_fitted()
        engine = engine_named(self.engine, n_jobs=self.n_jobs, params=self.engine_params)
        if not engine.capabilities.prefixes:
            message = f"the trees of engine={self.engine!r} have no order; an ensemble of boosted trees has stages"
            raise ValueError(message)
        table = np.asarray(self.schema_.transform(X))  # a sparse table that is too large is refused
        known = self._known_offset(offset, len(table))
        ends = self.prefixes_ or (int(self.forest_.n_trees.max()),)
        stages = stage_counts(int(min(ends[-1], self.forest_.n_trees.max())), step)
        before = staged_means(
            self.forest_, table, stages[:-1], ends, lambda members: self._posterior(members, offset=known).mean
        )
        return chain(before, (self._posterior_of(table, offset=known).mean for _ in range(1)))


class StagedNumbers(StagedModel):
    """Staged predictions of a regressor."""

    def staged_predict(self, X: Table, *, step: int = 1, offset: Column = None) -> Iterator[Floats]:
        """Predict the mean of the posterior after each number of trees.

        Parameters
        ----------
        X : table of shape (n, features)
        step : int, default=1
            Trees between two predictions.
        offset : number or array of shape (n,), optional
            For a model that was trained with one.

        Yields
        ------
        array of shape (n,)
            After ``step``, ``2 * step``, … trees of every chain, and after all trees, where it is `predict`. A chain
            that was stopped earlier stays as it is at its end; so does a member of a virtual ensemble.

        Examples
        --------
        >>> import numpy as np
        >>> from epiboost import EpiBoostRegressor
        >>> X = np.linspace(0.0, 1.0, 100)[:, np.newaxis]
        >>> model = EpiBoostRegressor(n_members=2, n_estimators=25, random_state=0).fit(X, X[:, 0])
        >>> stages = list(model.staged_predict(X, step=10))
        >>> len(stages), bool((stages[-1] == model.predict(X)).all())
        (3, True)
        """
        return self._staged_means(X, step, offset)


class StagedClasses(StagedModel):
    """Staged predictions of a classifier."""

    def staged_predict_proba(self, X: Table, *, step: int = 1, offset: Column = None) -> Iterator[Floats]:
        """Predict class probabilities after each number of trees.

        Parameters
        ----------
        X : table of shape (n, features)
        step : int, default=1
            Trees between two predictions.
        offset : number or array of shape (n,), optional
            For a model that was trained with one.

        Yields
        ------
        array of shape (n, classes)
            After ``step``, ``2 * step``, … trees of every chain, and after all trees in use, where it is
            `predict_proba`. A chain that was stopped earlier stays as it is at its end; so does a member of a virtual
            ensemble. The recalibration is that of the whole ensemble.
        """
        return self._staged_means(X, step, offset)

    def staged_predict(self, X: Table, *, step: int = 1, offset: Column = None) -> Iterator[AnyArray]:
        """Predict the most probable labels after each number of trees; see `staged_predict_proba`.

        Yields
        ------
        array of shape (n,)
        """
        return (self.target_.decode(probability.argmax(axis=1)) for probability in self._staged_means(X, step, offset))
