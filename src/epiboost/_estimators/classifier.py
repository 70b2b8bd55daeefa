"""The classifier: every member predicts class probabilities per row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from epiboost._boosting.capacity import Auto
from epiboost._boosting.recipe import EnsembleKind
from epiboost._estimators.calibrated import CalibratedClassifier
from epiboost._estimators.class_sets import ClassSets
from epiboost._estimators.predictions import ClassPredictions
from epiboost._inputs.class_weights import ClassWeight
from epiboost._inputs.constraints import InteractionConstraints, MonotonicConstraints
from epiboost._inputs.sparse_table import SparseZeros
from epiboost._inputs.target import Classes
from epiboost._typing import Column, Device, LibraryObject, Table
from epiboost.engines.base import Engine


class EpiBoostClassifier(ClassifierMixin, ClassSets, ClassPredictions):  # type: ignore[misc]  # scikit-learn has no types
    """Gradient-boosted classification with data and knowledge uncertainty.

    An ensemble of gradient-boosted trees. Each member predicts class probabilities. Data uncertainty is the mean
    entropy of the members. Knowledge uncertainty is the mutual information: the entropy of the mean less the mean
    entropy.

    Parameters
    ----------
    ensemble : {"sglb", "sgb", "virtual", "bootstrap", "single"}, default="sglb"
        ``"sglb"``: independent chains with Langevin noise, samples of a posterior. ``"sgb"``: independent chains whose
        trees are trained on random halves of the rows. ``"virtual"``: truncations of one chain, at a tenth of the cost
        of ten chains. ``"bootstrap"``: independent chains, each on a bootstrap sample of the rows. ``"single"``:
        one model, without knowledge uncertainty.
    n_members : int, default=10
        Number of members. For ``"virtual"`` at most the number of trees in the second half of the chain.
    n_estimators : int or "auto", default="auto"
        Number of trees per chain. "auto" is 120 divided by the learning rate, or fewer if short out-of-fold chains are
        best before their end.
    learning_rate : float or "auto", default="auto"
        Shrinkage of each tree; above 0, at most 1. Steps are relative to the curvature of the
        loss at its start, p (1 − p) for two classes. "auto" is 0.2, or what fits a given ``n_estimators``.
    max_depth : int, None or "auto", default="auto"
        Depth of symmetric trees, from 1 to 8: all leaves of a level have the same split. With ``max_leaves``, a bound
        on the depth of the leaves, or None. With "auto" the out-of-fold chains choose the size of the trees; without
        them it follows the number of rows.
    max_leaves : int, None or "auto", default="auto"
        Leaves of leaf-wise trees, from 2 to 255: the leaf whose split gains most is split next. None is for symmetric
        trees; "auto" as in ``max_depth``.
    subsample : float, optional
        Share of the rows that each tree is trained on. None is 0.5 for ``"sgb"`` and 1 for all others.
    l2 : float, default=3.0
        L2 regularisation of leaf values, relative to the curvature of the loss.
    max_bins : int, default=255
        Maximum number of bins per column, from 2 to 255; missing values have one more.
    temperature : float, default=1.0
        Factor on the variance of the Langevin noise; 1 is the paper's.
    random_strength : float, default=1.0
        Noise on the scores of candidate splits, as in CatBoost, so that the structures of the members differ. It
        vanishes as the chain grows, after about ``log(n) / learning_rate`` trees. 0 switches it off.
    structure_rows : int, None or "auto", default="auto"
        Rows on which each tree chooses its splits: a new random sample of a larger table. Leaf values always come from
        all rows, and so do the splits with None. "auto" is 62,000, or 800 per leaf of leaf-wise trees if that is more.
    min_samples_leaf : int, default=1
        Least number of rows of a leaf, where a row of weight two counts twice: a split that would leave fewer is not
        made. Leaves of symmetric trees may be empty, since all leaves of a level have the same split.
    max_features : float, default=1.0
        Share of the columns that each tree may split on, a new random draw per tree; above 0, at most 1.
    monotonic_constraints : dict or array of shape (features,), optional
        For two classes: 1 for columns along which the probability of the second never decreases, -1 for those along
        which it never increases, 0 for others. A dictionary has names of columns as its keys.
    interaction_constraints : {"pairwise", "no_interactions"} or list of sets, optional
        Sets of columns that may split the same path of a tree. Columns that are in no set form one more.
    class_weight : None, "balanced" or dict, default=None
        Weight of each class, by which the weights of its rows are multiplied, those of ``eval_set`` too. A dictionary
        from labels to positive numbers; classes that it leaves out have weight one. "balanced" gives all classes the
        same weight in sum. Probabilities, ``oof_score_`` and ``oof_loss_`` are those of the weighted classes.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the ensemble does not get better. All members stop together: by the loss of their mixture
        on ``eval_set`` or on rows held out, or by the loss of the ensemble as estimated from the out-of-fold chains.
        "auto" stops by out-of-fold chains if ``n_estimators`` is "auto" (native engine, fewer than 50,000 rows), and
        otherwise if ``early_stopping_rounds`` or ``validation_fraction`` are given.
    early_stopping_rounds : int, optional
        Number of trees without a better loss before training stops. None is half of the best number, at least 50.
    validation_fraction : float, optional
        Share of the rows to hold out to say when to stop. None: ``eval_set``, the out-of-fold chains, or 0.1.
    refit : bool, default=False
        Whether to train again on all rows, with the number of trees found on the rows held out.
    out_of_fold : "auto", int, splitter or iterable of (train, test), default="auto"
        Number of folds. Beside the members, which see all rows, one chain per fold is trained without the rows of its
        fold, and two more that measure how much models differ. They recalibrate the uncertainties, give intervals that
        hold, and the attributes ``oof_prediction_``, ``oof_score_`` and ``oof_loss_``; the price is that of about four
        more members. "auto" is 4 for ensembles of five members or more, 0 for ``"single"`` and ``"virtual"``, and for
        fewer than 40 rows or 4 groups; ``out_of_fold_`` is None then. 0 switches it off. A splitter of scikit-learn, as
        ``TimeSeriesSplit``, sets the folds; `fit` takes ``groups``.
    keep_folds : bool, default=False
        Whether the model keeps the chains of the folds, for intervals with a guarantee.
    reference_rows : int, default=4000
        Largest number of training rows that the model keeps, to tell what is novel. They take no more memory than its
        trees, and are part of its file. 0 keeps none.
    engine : {"native", "catboost", "lightgbm", "xgboost", "forest"}, other name or Engine, default="native"
        Trains the trees. Parameters that an engine does not support must be left at their defaults.
    engine_params : dict, optional
        Options of the engine.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where the native engine trains and predicts: a GPU gives the same bits; "auto" takes one where it pays.
    categorical_features : "auto", None or list of str and int, default="auto"
        Categorical columns, by name or position. "auto" takes the columns that are not numeric. A list must hold every
        text column. None takes none. Missing values are a category of their own. A category that was not seen in
        training raises knowledge uncertainty with the native engine; other engines treat it as missing or guess.
    sparse_zeros : {"values", "missing"}, default="values"
        What entries are that a sparse table does not store. Stored zeros are zeros.
    warm_start : bool, default=False
        Whether `fit` continues the chains of a fitted model, up to ``n_estimators`` trees (native engine).
    n_jobs : int or "dask", optional
        Number of threads; None is all cores. ``"dask"`` trains members on the workers of the Dask cluster in use
        (native engine). The result does not depend on it, except for the last digits of XGBoost's in memory.
    random_state : int, RandomState or None
        Seed; the same seed gives bit-identical models.
    verbose : int, default=0
        1 shows a progress bar on a terminal or in a notebook, and logs ten lines elsewhere (logger "epiboost"). A
        number above 1 logs a line every so many trees, with the losses that are measured.

    Attributes
    ----------
    classes_ : array of shape (classes,)
        Labels, in the order of the probabilities.
    n_features_in_ : int
    feature_names_in_ : array of shape (features,)
        Only if the columns had names.
    capacity_ : Capacity
        ``n_estimators``, ``learning_rate``, ``max_depth`` and ``max_leaves`` that were given to the engine.
    n_iter_ : array of shape (chains,)
        Number of trees in use per chain.
    out_of_fold_ : OutOfFold or None
        What the out-of-fold chains have measured; None if there are none. The next three need it.
    oof_prediction_ : array of shape (n,) or (n, classes)
        Prediction of each training row by a chain that has not seen it; NaN for rows that all have
        seen, such as those of a class of fewer rows than folds.
    oof_score_, oof_loss_ : float
        Accuracy and mean negative log-likelihood of these predictions.
    evaluation_loss_ : array of shape (chains, trees) or None
        Negative log-likelihood on ``eval_set`` after each tree.
    history_ : TrainingHistory or None
        Losses of the ensemble by number of trees; None if none were measured.
    categories_ : list of arrays, or None for a numeric column
        Categories of each column, in the order of their codes.
    feature_importances_ : array of shape (features,)
        Importance of each column for the prediction; the sum is one. For the native engine the mean absolute Shapley
        value over kept training rows, where a feature cross is shared equally by its columns. For other engines the
        library's gain; ``"forest"`` has none.
    feature_ranges_ : FeatureRanges or None
        Smallest and largest number of each column; None for a Dask collection, and if the model's file has none.
    schema_ : ColumnSchema
        Names, categories and ranges of the columns.
    forest_ : Forest
        The trained trees.
    reference_rows_ : ReferenceRows or None
        Training rows that the model keeps.
    prefixes_ : tuple of int or None
        Tree counts of the members of a virtual ensemble.
    provenance_ : Provenance or None
        Duration, rows and versions of the training; None if the model's file has none.

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
    target_: Classes

    def __init__(
        self,
        *,
        ensemble: EnsembleKind = "sglb",
        n_members: int = 10,
        n_estimators: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        max_depth: int | Auto | None = "auto",
        max_leaves: int | Auto | None = "auto",
        subsample: float | None = None,
        l2: float = 3.0,
        max_bins: int = 255,
        temperature: float = 1.0,
        random_strength: float = 1.0,
        structure_rows: int | Auto | None = "auto",
        min_samples_leaf: int = 1,
        max_features: float = 1.0,
        monotonic_constraints: MonotonicConstraints = None,
        interaction_constraints: InteractionConstraints = None,
        class_weight: ClassWeight = None,
        early_stopping: bool | Auto = "auto",
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        refit: bool = False,
        out_of_fold: str | int | LibraryObject = "auto",
        keep_folds: bool = False,
        reference_rows: int = 4000,
        engine: str | Engine = "native",
        engine_params: Mapping[str, Any] | None = None,
        device: Device = "cpu",
        categorical_features: str | Sequence[str | int] | None = "auto",
        sparse_zeros: SparseZeros = "values",
        warm_start: bool = False,
        n_jobs: int | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            ensemble=ensemble,
            n_members=n_members,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaves=max_leaves,
            subsample=subsample,
            l2=l2,
            max_bins=max_bins,
            temperature=temperature,
            random_strength=random_strength,
            structure_rows=structure_rows,
            min_samples_leaf=min_samples_leaf,
            max_features=max_features,
            monotonic_constraints=monotonic_constraints,
            interaction_constraints=interaction_constraints,
            early_stopping=early_stopping,
            early_stopping_rounds=early_stopping_rounds,
            validation_fraction=validation_fraction,
            refit=refit,
            out_of_fold=out_of_fold,
            keep_folds=keep_folds,
            reference_rows=reference_rows,
            engine=engine,
            engine_params=engine_params,
            device=device,
            categorical_features=categorical_features,
            sparse_zeros=sparse_zeros,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def calibrate(
        self,
        X_cal: Table,
        y_cal: Column,
        sample_weight: Column = None,
        *,
        groups: Column = None,
        per_class: bool = False,
        random_state: int | None = 0,
    ) -> CalibratedClassifier:
        """Return a calibrated model, whose prediction sets have guaranteed coverage.

        Parameters
        ----------
        X_cal : table of shape (n, features)
            At least 4 rows that were not used for training or early stopping: the guarantee needs that.
        y_cal : array of shape (n,)
        sample_weight : array of shape (n,), optional
            How many rows each row stands for: weight two is the same as the row twice, zero as no row.
        groups : str, int or array of shape (n,), optional
            Column of X, by name or position, or one label per row: the coverage is guaranteed for each group. Labels
            of new rows go into ``predict_set(X, groups=...)``; a column is found in X.
        per_class : bool, default=False
            Whether the coverage is guaranteed for the rows of each class.
        random_state : int or None, default=0
            Seed of the split of these rows: one part fits the temperature, the rest gives the guarantee.

        Returns
        -------
        CalibratedClassifier

        Raises
        ------
        ValueError
            For fewer than 4 rows, X and y of different lengths, and labels that the model does not know.
        """
        self._require_fitted()
        calibrated = CalibratedClassifier(self, per_class=per_class, random_state=random_state)
        return calibrated.fit(X_cal, y_cal, sample_weight, groups)
