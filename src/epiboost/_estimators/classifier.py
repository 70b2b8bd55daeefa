"""The classifier: class probabilities for every row, from every member."""

from sklearn.base import ClassifierMixin

from epiboost._estimators.base import BaseEpiBoost
from epiboost._estimators.calibrated import CalibratedClassifier
from epiboost._estimators.predictions import ClassPredictions
from epiboost._inputs.target import Classes
from epiboost._typing import AnyArray, Column, Table


class EpiBoostClassifier(ClassifierMixin, ClassPredictions, BaseEpiBoost):  # type: ignore[misc]  # scikit-learn has no types
    """Predict a class, and say how sure that is: overlapping classes and gaps in the knowledge, told apart.

    An ensemble of gradient-boosted trees, each member of which predicts class probabilities. Their mean entropy is data
    uncertainty; what the entropy of their mean has beyond that, the mutual information, is knowledge uncertainty.

    Parameters
    ----------
    ensemble : {"sglb", "sgb", "virtual", "single"}, default="sglb"
        ``"sglb"``: independent chains with Langevin noise, samples of a posterior. ``"sgb"``: independent chains whose
        trees see random halves of the rows. ``"virtual"``: truncations of one chain, a tenth of the price of ten.
        ``"single"``: one model, no knowledge uncertainty.
    n_members : int, default=10
        Members of the ensemble. For ``"virtual"`` at most the trees in the second half of the chain.
    n_estimators : int, default=1000
        Trees a chain.
    learning_rate : float, default=0.1
        How much of each tree is added; above 0, at most 1. Steps are measured by the curvature of the loss at its
        start, p (1 − p) for two classes.
    max_depth : int, default=6
        Levels of a tree, from 1 to 8. All leaves of a level ask the same question.
    subsample : float, optional
        Share of the rows that each tree sees. None is 0.5 for ``"sgb"`` and 1 for all others.
    l2 : float, default=3.0
        What is added to the curvature of every leaf, as rows of zero gradient.
    max_bins : int, default=255
        Bins a column, from 2 to 255; missing values have one more.
    temperature : float, default=1.0
        Multiplies the variance of the Langevin noise; 1 is the paper's.
    structure_rows : int or None, default=62000
        Rows on which each tree chooses its splits: a fresh random sample of a larger table, all of a smaller one. Leaf
        values always come from all rows. None takes all rows for the splits too.
    early_stopping_rounds : int, optional
        Stop a chain after so many trees without a better loss on ``eval_set``, and keep it as it was at its best.
    engine : {"native", "catboost", "lightgbm", "xgboost", "forest"}, other name or Engine, default="native"
        What trains the trees. A parameter that an engine cannot honour must be left at its default.
    engine_params : dict, optional
        Options that only the engine knows.
    categorical_features : "auto", None or list of str and int, default="auto"
        Columns that hold categories, by name or position. "auto" takes those that are not numbers. A list takes its
        place: every column of text must be in it. None takes none. A missing value is a category of its own, and one
        that training has not seen raises knowledge uncertainty with the native engine; others take it for a missing one
        or guess.
    n_jobs : int or "dask", optional
        Threads; None is all cores. ``"dask"`` trains members on the workers of the cluster that is in use (native
        engine). The result does not depend on it, but for the last digits of XGBoost's in memory.
    random_state : int, RandomState or None
        Same number, same bits.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    classes_ : array of shape (classes,)
        Labels, in the order of the probabilities.
    n_features_in_ : int
    feature_names_in_ : array of shape (features,)
        Only if the columns had names.
    n_trees_ : array of shape (chains,)
        Trees that each chain has.
    evaluation_loss_ : array of shape (chains, trees) or None
        Negative log-likelihood on ``eval_set`` after each tree.
    vocabularies_ : tuple
        The values of each column of categories, None for a column of numbers; empty if there are only such.
    forest_ : Forest
        The trained engine's model.
    prefixes_ : tuple of int or None
        Tree counts of the members of a virtual ensemble.
    training_ : Training or None
        Seconds, rows and versions of the training; None if the file that the model is from does not tell.
    ground_ : Ground or None
        Between which values each column lay in training; None for a Dask collection, and if the file does not tell.

    References
    ----------
    Malinin, Prokhorenkova, Ustimenko: Uncertainty in Gradient Boosting via Ensembles. ICLR 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from epiboost import EpiBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> model = EpiBoostClassifier(n_members=5, n_estimators=50, random_state=0).fit(X, y)
    >>> model.predict([[0.9, 0.0], [-0.9, 0.0]])
    array(['right', 'left'], dtype='<U5')
    >>> uncertainty = model.predict_uncertainty([[0.9, 0.0], [0.0, 0.0]])
    >>> bool(uncertainty.total[1] > uncertainty.total[0])
    True
    """

    _target_type = Classes

    @property
    def classes_(self) -> AnyArray:
        """Labels, in the order of the probabilities."""
        return self.target_.labels

    target_: Classes

    def calibrate(self, X_cal: Table, y_cal: Column, *, random_state: int | None = 0) -> CalibratedClassifier:
        """Return a calibrated model, whose sets of classes are guaranteed to hold the true one as often as they say.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            Rows that the model has not been trained or early-stopped on: the guarantee rests on it. At least 4.
        y_cal : array of shape (n,)
        random_state : int or None, default=0
            The seed of the split of these rows: a part says the temperature, the rest guarantees.

        Returns
        -------
        CalibratedClassifier

        Raises
        ------
        ValueError
            For fewer than 4 rows, tables of different lengths, labels that the model does not know.
        """
        return CalibratedClassifier(self, random_state=random_state).fit(X_cal, y_cal)
