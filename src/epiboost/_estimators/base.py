"""Base class of the regressor and the classifier: training, prediction, and model files."""

import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from epiboost._boosting.capacity import Auto
from epiboost._boosting.parameter_checks import require_integer, warn_of_large_leaves
from epiboost._boosting.recipe import EnsembleKind, Recipe, draw_seed, thread_count
from epiboost._estimators.estimator_file import fitted_attributes, parameters_of, to_file
from epiboost._estimators.family_choice import AUTO_FAMILY
from epiboost._estimators.fitted_model import FittedModel
from epiboost._estimators.provenance import Provenance
from epiboost._estimators.training.ensemble import EnsembleTraining
from epiboost._estimators.training.rounds import Callback, check_callbacks
from epiboost._estimators.training.stopping import StoppingOptions
from epiboost._estimators.training_rows import GivenRows, RowReader, TrainingRows, evaluation_parts, is_collection
from epiboost._estimators.warm_start import EarlierFit
from epiboost._inputs.class_weights import ClassWeight
from epiboost._inputs.constraints import InteractionConstraints, MonotonicConstraints, resolve_constraints
from epiboost._inputs.offset import require_matching_offset
from epiboost._inputs.sparse_table import SparseZeros
from epiboost._inputs.target import Target
from epiboost._typing import AnyArray, Column, Device, LibraryObject, Table
from epiboost.engines.base import Engine
from epiboost.engines.registry import check_data, check_parameters, engine_named

_MIN_ROWS = 2  # for a standard deviation


class BaseEpiBoost(FittedModel):
    """Base class of `EpiBoostRegressor` and `EpiBoostClassifier`: training, prediction, and model files."""

    _target_type: ClassVar[type[Target]]
    class_weight: ClassWeight = None  # a parameter of the classifier
    distribution: str = "normal"  # a parameter of the regressor

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
        self.ensemble = ensemble
        self.n_members = n_members
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.subsample = subsample
        self.l2 = l2
        self.max_bins = max_bins
        self.temperature = temperature
        self.random_strength = random_strength
        self.structure_rows = structure_rows
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.monotonic_constraints = monotonic_constraints
        self.interaction_constraints = interaction_constraints
        self.early_stopping = early_stopping
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.out_of_fold = out_of_fold
        self.keep_folds = keep_folds
        self.reference_rows = reference_rows
        self.engine = engine
        self.engine_params = engine_params
        self.device = device
        self.categorical_features = categorical_features
        self.sparse_zeros = sparse_zeros
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Table,
        y: Column,
        sample_weight: Column = None,
        eval_set: Table = None,
        groups: Column = None,
        *,
        offset: Column = None,
        callbacks: Sequence[Callback] = (),
    ) -> Self:
        """Train the ensemble.

        Parameters
        ----------
        X : table of shape (n, features)
            Numbers and categories, as an array or a pandas, polars or Arrow frame. NaN and null are missing values.
            Sparse arrays and matrices of SciPy too. Arrays of CuPy, PyTorch and cuDF are copied to the host.
            The engines ``"native"`` and ``"xgboost"`` take Dask arrays and frames of numbers too.
        y : array of shape (n,)
            Numbers for the regressor. Labels for the classifier: numbers, booleans or text.
        sample_weight : array of shape (n,), optional
            Weight of each row. If all columns are numeric, weight two is the same as the row twice. If there are
            categories, this holds only if the table looks like a table of counts: whole numbers as weights, no row
            repeated, and most rows differ from another row in the target alone. Weights that are below one on average
            are scaled to an average of one.
        eval_set : (X, y) or (X, y, sample_weight), optional
            Rows on which the loss is measured during training; with ``early_stopping``, they say when to stop.
            (X, y, sample_weight, offset) beside an ``offset``.
        groups : array of shape (n,), optional
            Rows of one group are left out by the same out-of-fold chain, see ``out_of_fold``, and held out together.
        offset : number or array of shape (n,), or (n, classes) for three classes or more, optional
            A known part of the mean of each row in units of y, of the log-odds of the second class, or of the scores of
            the classes; the trees learn the rest. Predictions need it too. A classifier needs the native engine for it.
        callbacks : sequence of callables, optional
            Each is called with a `TrainingRound` every ten trees or more often; training stops if one returns True.

        Returns
        -------
        self

        Warns
        -----
        NumbersAsTextWarning
            If "auto" takes a text column as categories in which nearly all values are numbers.
        """
        if not self.warm_start:  # if training fails, the model is not fitted; one that is continued stays as it was
            for name in ("forest_", "out_of_fold_", "reference_rows_", "history_"):
                self.__dict__.pop(name, None)
        start = time.perf_counter()
        if y is None:
            message = f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            raise ValueError(message)
        require_integer("reference_rows", self.reference_rows, 0)
        require_integer("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, 0)
        recipe = self._recipe()
        engine = self._checked_engine()
        if self.distribution == AUTO_FAMILY and offset is not None:
            message = "distribution='auto' takes no offset, which means another thing for each family; name the family"
            raise ValueError(message)
        evaluation = evaluation_parts(eval_set)
        stopping = self._stopping_options(has_eval_set=evaluation is not None)
        earlier = EarlierFit.of(self, engine, recipe) if self.warm_start else None
        if earlier is not None:
            require_matching_offset(offset, trained_with_offset=self.trained_with_offset_)
            earlier.refuse_stopping(is_wanted=stopping.wanted)
        given = GivenRows(X, y, sample_weight, evaluation, groups, offset)
        rows = self._read_rows(given.on_host(), engine, earlier)
        if len(rows.data.X) < _MIN_ROWS:
            n_rows = len(rows.data.X)
            message = f"Found {n_rows} sample(s) of positive weight while a minimum of {_MIN_ROWS} is required."
            raise ValueError(message)
        check_data(engine, str(self.engine), rows.data)
        warn_of_large_leaves(recipe.min_samples_leaf, rows.n_weighted)
        constraints = resolve_constraints(
            self.monotonic_constraints, self.interaction_constraints, rows.schema, rows.data.n_classes
        )
        threads = thread_count(self.n_jobs)
        training = EnsembleTraining(
            engine=engine,
            recipe=replace(recipe, constraints=constraints),
            seed=draw_seed(self.random_state) if earlier is None else earlier.beginning.seed,
            folds=self.out_of_fold,
            keep_folds=self.keep_folds,
            stopping=stopping,
            callbacks=check_callbacks(callbacks),
            n_reference_rows=self.reference_rows,
            verbose=int(self.verbose),
            threads=threads,
            earlier=earlier,
            distribution=self.distribution,
        )
        handed_over = [rows]
        del rows  # the engine gets the only reference, so that it can free a large table
        ensemble = training(handed_over)
        trained = ensemble.trained
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        self.__dict__.update(ensemble.schema.estimator_attributes(), target_=ensemble.target)
        self.out_of_fold_ = ensemble.out_of_fold
        if earlier is None:
            self.family_choice_ = ensemble.choice
        self.trained_with_offset_ = offset is not None
        self.prefixes_ = trained.prefixes
        self.history_ = trained.history
        self.forest_ = trained.forest
        self.capacity_ = ensemble.capacity
        self.beginning_ = ensemble.beginning
        self.reference_rows_ = ensemble.reference_rows(self._uncertainty_of, threads)
        self.provenance_ = Provenance(time.perf_counter() - start, ensemble.n_rows)
        return self

    def _read_rows(self, given: GivenRows, engine: Engine, earlier: EarlierFit | None = None) -> TrainingRows:
        """Return what `fit` was given as schema, target and dataset."""
        columns = (self.categorical_features, type(self).__name__)
        reader = RowReader(
            self._target_type, *columns, self.class_weight, self.sparse_zeros, earlier, self.distribution
        )
        if is_collection(given.X):
            return reader.read_partitions(given, engine, str(self.engine), self.max_bins)
        return reader.read(given)

    def _stopping_options(self, *, has_eval_set: bool) -> StoppingOptions:
        return StoppingOptions(
            self.early_stopping,
            self.early_stopping_rounds,
            self.validation_fraction,
            self.refit,
            has_eval_set,
            self.ensemble == "virtual",
        )

    def _recipe(self) -> Recipe:
        return Recipe.of(self.get_params(deep=False))

    def _checked_engine(self) -> Engine:
        """Return the engine after checking that it supports the parameters."""
        engine = engine_named(self.engine, n_jobs=self.n_jobs, params=self.engine_params, device=self.device)
        defaults = {name: of.default for name, of in inspect.signature(type(self).__init__).parameters.items()}
        check_parameters(engine, str(self.engine), self.get_params(deep=False), defaults)
        return engine

    def _to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        self._require_fitted()
        return to_file(self)

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        model = cls(**parameters_of(header))
        for name, value in fitted_attributes(model, header, arrays).items():
            setattr(model, name, value)
        return model
