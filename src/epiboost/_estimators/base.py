"""What the regressor and the classifier share: parameters, the path from a table to a posterior, files."""

import inspect
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from epiboost._boosting.recipe import EnsembleKind, Recipe
from epiboost._estimators.provenance import Training
from epiboost._estimators.reporting import Reporting
from epiboost._files import model_file
from epiboost._inputs.category_files import vocabularies_from_file, vocabularies_to_file
from epiboost._inputs.columns import Vocabularies, without_unused
from epiboost._inputs.dask_collections import kind_of, refuse_collection
from epiboost._inputs.feature_ranges import Ground
from epiboost._inputs.table import Dataset, check_table, check_weight, evaluation_parts, join
from epiboost._posterior.posterior import Posterior
from epiboost._posterior.uncertainty import Uncertainty
from epiboost._progress import progress_bar
from epiboost._typing import AnyArray, Family, Floats
from epiboost.distributed.fit import PartitionedFit
from epiboost.distributed.members import ON_CLUSTER
from epiboost.distributed.scoring import lazily
from epiboost.engines.base import Engine, Forest
from epiboost.engines.registry import check_data, check_parameters, engine_named, forest_from_file

_KINDS_OF_FILES = ("EpiBoostRegressor", "EpiBoostClassifier", "CalibratedRegressor", "CalibratedClassifier")


class BaseEpiBoost(Reporting, PartitionedFit, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The steps of both estimators; the classes that users see are `EpiBoostRegressor` and `EpiBoostClassifier`."""

    _kinds: ClassVar[dict[str, type["BaseEpiBoost"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401 (whatever scikit-learn takes)
        """Note each kind of estimator, so that a file can name the one it holds."""
        super().__init_subclass__(**options)
        BaseEpiBoost._kinds.setdefault(cls.__name__, cls)

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
        self.structure_rows = structure_rows
        self.early_stopping_rounds = early_stopping_rounds
        self.engine = engine
        self.engine_params = engine_params
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def predict_posterior(self, X: Any) -> Posterior:  # noqa: ANN401 (anything a user may pass)
        """Return what every member says of every row.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        Posterior
            ``parameters`` has shape (members, n, outputs): mean and variance, or class probabilities.
        """
        self._require_fitted()
        table = check_table(self, X, reset=False)
        return Posterior(
            self.forest_.predict(table, prefixes=self.prefixes_), self._known_family, getattr(self, "classes_", None)
        )

    @lazily
    def predict_uncertainty(self, X: Any) -> Uncertainty:  # noqa: ANN401 (anything a user may pass)
        """Split each row's uncertainty into what the data cannot tell and what the model has not seen.

        Parameters
        ----------
        X : table of shape (n, features)

        Returns
        -------
        Uncertainty
            ``total``, ``data`` and ``knowledge``, each of shape (n,); ``total = data + knowledge``. Variances for the
            regressor, entropies in nats for the classifier.
        """
        return self.predict_posterior(X).uncertainty()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and a JSON header, no pickle.

        The file is complete or absent: it is written beside its place and then moved there.

        Parameters
        ----------
        path : str or path
            By custom it ends in ``.epib``.
        """
        model_file.write(path, *self._to_file())

    def _to_file(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        self._require_fitted()
        if not isinstance(self.engine, str):
            message = f"only models of an engine that has a name can be saved; this one was trained by {self.engine!r}"
            raise ValueError(message)  # noqa: TRY004 (the type is allowed, the file is not)
        header, arrays = self.forest_.to_file()
        names = getattr(self, "feature_names_in_", None)
        own_header: dict[str, Any] = {
            "estimator": type(self).__name__,
            "parameters": {name: _plain(value) for name, value in self.get_params(deep=False).items()},
            "n_features": int(self.n_features_in_),
            "feature_names": None if names is None else [str(name) for name in names],
            "prefixes": None if self.prefixes_ is None else [int(prefix) for prefix in self.prefixes_],
            "forest": header,
            "training": None if self.training_ is None else self.training_.to_header(),
        }
        own_header["vocabularies"], texts = vocabularies_to_file(self.vocabularies_)
        ground: Ground | None = getattr(self, "ground_", None)
        known = {} if ground is None else ground.to_file()
        return own_header, {**arrays, **texts, **self._labels_to_file(), **known}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a fitted model from a file that `save` wrote.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        the fitted estimator

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
        except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            message = f"{os.fspath(path)}: the parts of the model do not fit together: {error}"
            raise model_file.ModelFileError(message) from error

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: dict[str, AnyArray]) -> Self:
        model = cls(**header["parameters"])
        recipe = model._recipe()
        model.n_features_in_ = header["n_features"]
        if header["feature_names"] is not None:
            model.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        model.forest_ = forest_from_file(str(model.engine), header["forest"], arrays, n_jobs=model.n_jobs)
        if not isinstance(model.n_features_in_, int) or model.forest_.n_features != model.n_features_in_:
            message = f"the trees are for {model.forest_.n_features} columns, the header says {model.n_features_in_}"
            raise ValueError(message)
        if recipe.ensemble == "virtual" and recipe.n_estimators != model.forest_.n_trees[0]:
            message = f"the chain has {model.forest_.n_trees[0]} trees, the parameters say {recipe.n_estimators}"
            raise ValueError(message)
        model.prefixes_ = recipe.prefixes
        model.vocabularies_ = vocabularies_from_file(header["vocabularies"], arrays)
        if model.vocabularies_ and len(model.vocabularies_) != model.n_features_in_:
            message = f"there are {len(model.vocabularies_)} vocabularies for {model.n_features_in_} columns"
            raise ValueError(message)
        if model.forest_.n_codes != (_sizes(model.vocabularies_) or (0,) * model.n_features_in_):
            message = "the vocabularies do not have as many values as the encoding has codes"
            raise ValueError(message)
        model._labels_from_file(arrays)
        model._note_training()
        model.training_ = Training.from_header(header.get("training"))
        model.ground_ = Ground.from_file(arrays, model.n_features_in_)
        names = header["feature_names"]
        if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            message = "names of columns must be a list of text"
            raise ValueError(message)
        prefixes = header["prefixes"]
        probe = model.forest_.predict(np.full((1, model.n_features_in_), np.nan), prefixes=model.prefixes_)
        if (
            (names is not None and len(names) != model.n_features_in_)
            or (None if prefixes is None else tuple(prefixes)) != recipe.prefixes
            or probe.shape[0] != recipe.n_members_in_all
            or model._known_family not in {model._family, "mean"}
            or probe.shape[2] != (1 if model._known_family == "mean" else model._n_outputs)
        ):
            message = "names, prefixes, members or classes disagree"
            raise ValueError(message)
        return model

    def _train(self, X: Any, y: Any, sample_weight: Any, eval_set: Any) -> Self:  # noqa: ANN401 (anything a user may pass)
        self.__dict__.pop("forest_", None)  # a model that could not be trained anew is none
        start = time.perf_counter()
        recipe = self._recipe()
        engine = self._engine()
        parts = evaluation_parts(eval_set)
        if recipe.early_stopping_rounds is not None and parts is None:
            message = "early_stopping_rounds needs an eval_set to watch; fit(X, y, eval_set=(X_valid, y_valid))"
            raise ValueError(message)
        rows = [
            self._read_rows(X, y, sample_weight, parts)
            if kind_of(X) is None
            else self._read_partitions(engine, X, y, sample_weight, parts)
        ]
        n_rows = len(rows[0].X)
        if n_rows < 2:  # noqa: PLR2004 (a spread needs two)
            message = f"Found {n_rows} sample(s) of positive weight while a minimum of 2 is required."
            raise ValueError(message)
        self.ground_ = self._ground(rows[0].X)
        check_data(engine, str(self.engine), rows[0])
        seed = self._seed()
        with progress_bar("Training", enabled=bool(self.verbose)) as progress:
            # the rows are the engine's own, which may let go of them: of a large table every copy counts
            self.forest_: Forest = engine.fit(rows.pop(), recipe.specs(seed), progress)
        self.prefixes_ = recipe.prefixes
        self._note_training()
        self.training_ = Training.now(time.perf_counter() - start, n_rows)
        return self

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, watched: tuple[Any, Any, Any] | None) -> Dataset:  # noqa: ANN401
        """Return the training rows of a table in memory, and those that are watched."""
        for name, column in (("y", y), ("sample_weight", sample_weight)):
            refuse_collection(column, name, "compute it, or give X as a Dask collection too")
        table = check_table(self, X, y=y, reset=True)
        joined, y, weight = join(table, self._check_target(y), check_weight(sample_weight, len(table)))
        if self.vocabularies_ and len(joined) < len(table):
            joined, self.vocabularies_ = without_unused(joined, self.vocabularies_)
        data = self._learn_target(joined, y, weight)
        evaluation = None if watched is None else self._evaluation(*watched)
        return Dataset(data.X, data.y, data.weight, data.n_classes, evaluation, _sizes(self.vocabularies_))

    def _ground(self, X: Any) -> Ground | None:  # noqa: ANN401 (rows, or partitions of them)
        """Return what the training rows covered; None where they are not in memory as numbers."""
        if not isinstance(X, np.ndarray):
            return None
        return Ground.of(X, [place for place, known in enumerate(self.vocabularies_) if known is not None])

    def _require_fitted(self) -> None:
        if not hasattr(self, "forest_"):  # scikit-learn's own check takes as long as a prediction of one row
            check_is_fitted(self, "forest_")

    def _seed(self) -> int:
        try:
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        except ValueError as error:
            message = (
                f"random_state must be None, a number from 0 to 2^32 - 1 or a RandomState; got {self.random_state!r}"
            )
            raise ValueError(message) from error

    def _recipe(self) -> Recipe:
        return Recipe.of(self.get_params(deep=False))

    def _engine(self) -> Engine:
        """Return the engine, having checked that it can do what is asked."""
        engine = engine_named(self.engine, n_jobs=self.n_jobs, params=self.engine_params)
        defaults = {name: of.default for name, of in inspect.signature(type(self).__init__).parameters.items()}
        check_parameters(engine, str(self.engine), self.get_params(deep=False), defaults)
        if self.n_jobs == ON_CLUSTER and not engine.capabilities.cluster:
            message = (
                f"n_jobs='dask' is for engine='native', not for engine={self.engine!r} (XGBoost uses the cluster "
                "without it where X is a Dask collection)"
            )
            raise ValueError(message)
        return engine

    def _evaluation(self, X: Any, y: Any, weight: Any) -> Dataset:  # noqa: ANN401 (anything a user may pass)
        table = check_table(self, X, reset=False)
        rows = join(table, self._check_target(y), check_weight(weight, len(table)))
        return self._read_target(*rows)

    def _note_training(self) -> None:
        self.n_trees_ = self.forest_.n_trees
        self.evaluation_loss_: Floats | None = self.forest_.evaluation if self.forest_.evaluation.size else None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    vocabularies_: Vocabularies
    training_: Training | None
    ground_: Ground | None

    @property
    def _known_family(self) -> Family:
        """Return what the members predict; a random forest predicts a mean alone."""
        return self.forest_.family

    # What the two estimators do differently.
    _family: Any

    @property
    def _n_outputs(self) -> int:
        """Outputs a member has for a row."""
        raise NotImplementedError

    def _check_target(self, y: Any) -> AnyArray:  # noqa: ANN401 (anything a user may pass)
        raise NotImplementedError

    def _learn_target(self, X: AnyArray, y: AnyArray, weight: Floats) -> Dataset:
        """Return the training rows, having noted what is to be known of the target."""
        return self._read_target(X, y, weight)

    def _read_target(self, X: AnyArray, y: AnyArray, weight: Floats) -> Dataset:
        raise NotImplementedError

    def _labels_to_file(self) -> dict[str, AnyArray]:
        return {}

    def _labels_from_file(self, arrays: dict[str, AnyArray]) -> None:
        """Take what `_labels_to_file` gave."""


def _sizes(vocabularies: Vocabularies) -> tuple[int, ...]:
    """Return how many codes each column has, the one for missing values included; 0 for a column of numbers."""
    return tuple(0 if vocabulary is None else len(vocabulary.values) + 1 for vocabulary in vocabularies)


def of_another_kind(path: str | os.PathLike[str], found: Any, wanted: str) -> model_file.ModelFileError:  # noqa: ANN401
    """Return the error that says what a file holds, and which class reads it."""
    message = f"{os.fspath(path)}: holds a model of {found!r}, not of {wanted!r}"
    if found in _KINDS_OF_FILES:
        message += f"; read it by {found}.load"
    return model_file.ModelFileError(message)


def _plain(value: Any) -> Any:  # noqa: ANN401 (any parameter)
    """Return a parameter as JSON has it; a random generator has no plain form and is left out."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, list | tuple | set | np.ndarray):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return value
