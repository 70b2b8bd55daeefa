"""Base class of the regressor and the classifier: training, prediction, and model files."""

import functools
import inspect
import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from epiboost._boosting.recipe import EnsembleKind, Recipe, draw_seed
from epiboost._estimators.estimator_file import fitted_attributes, to_file
from epiboost._estimators.fitted import FittedAttributes
from epiboost._estimators.provenance import Provenance
from epiboost._estimators.saving import SavedModel
from epiboost._inputs.dask_collections import dask_kind, require_in_memory
from epiboost._inputs.dataset import Dataset
from epiboost._inputs.schema import ColumnSchema
from epiboost._inputs.target import Target
from epiboost._inputs.weights import check_weights
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._progress import progress_bar
from epiboost._typing import AnyArray, Column, Floats, Table
from epiboost.distributed.fit import PartitionReader, partitioned_schema
from epiboost.distributed.scoring import score_lazily
from epiboost.engines.base import BinnedEngine, Engine
from epiboost.engines.registry import check_data, check_parameters, engine_named, partitions_of

Method = TypeVar("Method", bound=Callable[..., Any])

_MIN_ROWS = 2  # for a standard deviation


def takes_dask(method: Method) -> Method:
    """Let a method of a fitted model, ``method(X, ...)``, take Dask collections; its result is then lazy."""

    @functools.wraps(method)
    def called(model: "UncertaintyModel", X: Table, *arguments: object, **options: object) -> object:
        if _is_collection(X):
            return score_lazily(method.__name__, model, X, arguments, options)
        return method(model, X, *arguments, **options)

    return called  # type: ignore[return-value]  # it has the method's own signature


class UncertaintyModel(SavedModel, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model with a posterior."""

    @abstractmethod
    def predict(self, X: Table) -> AnyArray:
        """Predict the target of each row."""

    @abstractmethod
    def predict_posterior(self, X: Table) -> Posterior:
        """Return the predictive distribution of every member for every row."""

    @takes_dask
    def predict_uncertainty(self, X: Table) -> Uncertainty:
        """Split the uncertainty of each row into data and knowledge uncertainty.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        Uncertainty
            ``total``, ``data`` and ``knowledge``, each of shape (n,); ``total = data + knowledge``. Variances for a
            regressor, entropies in nats for a classifier.
        """
        return self.predict_posterior(X).uncertainty()

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that values may be missing."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class BaseEpiBoost(FittedAttributes, UncertaintyModel):
    """Base class of `EpiBoostRegressor` and `EpiBoostClassifier`: training, prediction, and model files."""

    _target_type: ClassVar[type[Target]]

    def __init__(
        self,
        *,
        ensemble: EnsembleKind = "sglb",
        n_members: int = 10,
        n_estimators: int = 1000,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        subsample: float | None = None,
        l2: float = 3.0,
        max_bins: int = 255,
        temperature: float = 1.0,
        random_strength: float = 1.0,
        structure_rows: int | None = 62_000,
        early_stopping_rounds: int | None = None,
        engine: str | Engine = "native",
        engine_params: Mapping[str, Any] | None = None,
        categorical_features: str | Sequence[str | int] | None = "auto",
        n_jobs: int | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.ensemble = ensemble
        self.n_members = n_members
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.subsample = subsample
        self.l2 = l2
        self.max_bins = max_bins
        self.temperature = temperature
        self.random_strength = random_strength
        self.structure_rows = structure_rows
        self.early_stopping_rounds = early_stopping_rounds
        self.engine = engine
        self.engine_params = engine_params
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Table, y: Column, sample_weight: Column = None, eval_set: Table = None) -> Self:
        """Train the ensemble.

        Parameters
        ----------
        X : table of shape (n, features)
            Numbers and categories, as an array or a pandas, polars or Arrow frame. NaN and null are missing values.
            The engines ``"native"`` and ``"xgboost"`` take Dask arrays and frames of numbers too.
        y : array of shape (n,)
            Numbers for the regressor. Labels for the classifier: numbers, booleans or text.
        sample_weight : array of shape (n,), optional
            Weight of each row. If all columns are numeric, weight two is the same as the row twice. If there are
            categories, this holds only if the table looks like a table of counts: whole numbers as weights, no row
            repeated, and most rows differ from another row in the target alone. Weights that are below one on average
            are scaled to an average of one.
        eval_set : (X, y) or (X, y, sample_weight), optional
            Rows on which the loss is measured after every tree.

        Returns
        -------
        self
        """
        self.__dict__.pop("forest_", None)  # if training fails, the model is not fitted
        start = time.perf_counter()
        if y is None:
            message = f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            raise ValueError(message)
        recipe = self._recipe()
        engine = self._checked_engine()
        evaluation = _evaluation_parts(eval_set)
        if recipe.early_stopping_rounds is not None and evaluation is None:
            message = "early_stopping_rounds needs an eval_set; fit(X, y, eval_set=(X_valid, y_valid))"
            raise ValueError(message)
        if _is_collection(X):
            schema, target, data = self._read_partitions(engine, X, y, sample_weight, evaluation)
        else:
            schema, target, data = self._read_rows(X, y, sample_weight, evaluation)
        n_rows = len(data.X)
        if n_rows < _MIN_ROWS:
            message = f"Found {n_rows} sample(s) of positive weight while a minimum of {_MIN_ROWS} is required."
            raise ValueError(message)
        check_data(engine, str(self.engine), data)
        if isinstance(data.X, np.ndarray):
            schema = schema.with_ranges(data.X)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        self.__dict__.update(schema.estimator_attributes(), target_=target)
        rows = [data]
        del data  # the engine gets the only reference, so that it can free a large table
        with progress_bar("Training") if self.verbose else nullcontext(_ignore_progress) as progress:
            self.forest_ = engine.fit(rows.pop(), recipe.specs(draw_seed(self.random_state)), progress)
        self.prefixes_ = recipe.prefixes
        self.provenance_ = Provenance(time.perf_counter() - start, n_rows)
        return self

    def predict_posterior(self, X: Table) -> Posterior:
        """Return the predictive distribution of every member for every row.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        Posterior
            ``parameters`` has shape (members, n, outputs): mean and variance, or class probabilities.
        """
        self._require_fitted()
        parameters = self.forest_.predict(self.schema_.transform(X), prefixes=self.prefixes_)
        return Posterior(parameters, self.forest_.family, getattr(self, "classes_", None))

    def _read_rows(
        self, X: Table, y: Column, sample_weight: Column, evaluation: tuple[Any, Any, Any] | None
    ) -> tuple[ColumnSchema, Target, Dataset]:
        """Return the schema, the target and the training rows of a table in memory."""
        if "dask" in sys.modules:
            for name, column in (("y", y), ("sample_weight", sample_weight)):
                require_in_memory(column, name, "compute it, or give X as a Dask collection too")
        owner = type(self).__name__
        schema, table = ColumnSchema.fit(X, categorical_features=self.categorical_features, owner=owner)
        n_rows = len(table)
        table, y, weight = _positive_rows(table, self._target_type.check(y), sample_weight)
        if len(table) < n_rows:
            schema, table = schema.without_unused(table)
        target = self._target_type.fit(y)
        evaluation_rows = None if evaluation is None else _read_evaluation_rows(schema, target, *evaluation)
        data = Dataset(
            table, target.encode(y), weight, target.n_classes, target.objective, evaluation_rows, schema.n_codes
        )
        return schema, target, data

    def _read_partitions(
        self, engine: Engine, X: Table, y: Column, sample_weight: Column, evaluation: tuple[Any, Any, Any] | None
    ) -> tuple[ColumnSchema, Target, Dataset]:
        """Return the schema, the target and the training rows of a Dask collection."""
        partitions = partitions_of(engine, str(self.engine), has_evaluation=evaluation is not None)
        owner = type(self).__name__
        schema = partitioned_schema(X, categorical_features=self.categorical_features, owner=owner)
        reader = PartitionReader(schema, self._target_type, self.max_bins)
        if partitions == "rows":
            return schema, *reader.read_in_place(X, y, sample_weight)
        bins = cast("BinnedEngine", engine).given_bins(self.max_bins)
        target, data = reader.read_bins(X, y, sample_weight, bins)
        if evaluation is None:
            return schema, target, data
        if _is_collection(evaluation[0]):
            evaluation_rows = reader.evaluation(target, *evaluation, data.X.bins)
        else:
            evaluation_rows = _read_evaluation_rows(schema, target, *evaluation)
        return schema, target, replace(data, evaluation=evaluation_rows)

    def _require_fitted(self) -> None:
        if not hasattr(self, "forest_"):  # scikit-learn's own check takes as long as a prediction of one row
            check_is_fitted(self, "forest_")

    def _recipe(self) -> Recipe:
        return Recipe.of(self.get_params(deep=False))

    def _checked_engine(self) -> Engine:
        """Return the engine after checking that it supports the parameters."""
        engine = engine_named(self.engine, n_jobs=self.n_jobs, params=self.engine_params)
        defaults = {name: of.default for name, of in inspect.signature(type(self).__init__).parameters.items()}
        check_parameters(engine, str(self.engine), self.get_params(deep=False), defaults)
        return engine

    def _to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        self._require_fitted()
        return to_file(self)

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        model = cls(**header["parameters"])
        for name, value in fitted_attributes(model, header, arrays).items():
            setattr(model, name, value)
        return model


def _ignore_progress(done: int, total: int, /) -> None:
    """Report nothing."""


def _is_collection(X: Table) -> bool:
    return "dask" in sys.modules and dask_kind(X) is not None


def _evaluation_parts(eval_set: Table) -> tuple[Any, Any, Any] | None:
    """Return X, y and weight of an eval_set: (X, y) or (X, y, weight), alone or as the only entry of a list."""
    if eval_set is None:
        return None
    parts = eval_set[0] if isinstance(eval_set, list) and len(eval_set) == 1 else eval_set
    if not isinstance(parts, tuple) or len(parts) not in {2, 3}:
        message = "eval_set must be (X, y) or (X, y, sample_weight)"
        raise ValueError(message)
    return (*parts, None)[:3]


def _read_evaluation_rows(schema: ColumnSchema, target: Target, X: Table, y: Column, weight: Column) -> Dataset:
    table, y, weight = _positive_rows(schema.transform(X), type(target).check(y), weight)
    return Dataset(table, target.encode(y, name="eval_set"), weight, target.n_classes, target.objective)


def _positive_rows(table: AnyArray, y: AnyArray, weight: Column) -> tuple[AnyArray, AnyArray, Floats]:
    """Return the rows of positive weight, after checking that the parts have equal length."""
    check_consistent_length(table, y)
    checked = np.ones(len(table)) if weight is None else check_weights(weight, len(table))
    positive = checked > 0
    if positive.all():
        return table, y, checked
    return table[positive], y[positive], checked[positive]
