"""The parameters of the estimators as options of ``epiboost fit``: one entry of a table per parameter.

A new parameter of `EpiBoostRegressor` or `EpiBoostClassifier` needs one entry here. Its option has its name, with
hyphens: ``max_depth`` is ``--max-depth``. The estimators, which are slow to import, check the values;
`epiboost._cli.parameter_options` lets their errors name options.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import typer

ValueKind: TypeAlias = Literal["integer", "number", "text", "flag", "yes|no", "json"]

_READERS: dict[ValueKind, Callable[[str], object]] = {
    "integer": int,
    "number": float,
    "text": str,
    "yes|no": {"yes": True, "no": False}.__getitem__,
    "json": json.loads,
}
_WORDS: dict[ValueKind, str] = {
    "integer": "a whole number",
    "number": "a number",
    "yes|no": "yes or no",
    "json": "JSON",
}
_PANEL = "Training parameters"


@dataclass(frozen=True, slots=True)
class TrainingParameter:
    """A parameter of the estimators and its option.

    Attributes
    ----------
    name : str
        The name of the parameter.
    kind : {"integer", "number", "text", "flag", "yes|no", "json"}
        What the value of the option is.
    default : object
        That of the estimators.
    help : str
    words : tuple of str
        Values that are words, such as "auto"; "none" stands for None. For text, the allowed values; none for any.
    short : str or None
        Another, shorter name of the option.
    """

    name: str
    kind: ValueKind
    default: object
    help: str
    words: tuple[str, ...] = ()
    short: str | None = None

    @property
    def option(self) -> str:
        """Name of the option."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def annotation(self) -> object:
        """Annotation that makes Typer read the option."""
        names = (self.option,) if self.short is None else (self.option, self.short)
        settings: dict[str, Any] = {"help": self.help, "rich_help_panel": _PANEL}
        if self.kind == "flag":
            return Annotated[bool, typer.Option(*names, **settings)]
        if self.kind == "text":
            return Annotated[Literal[self.words] if self.words else str, typer.Option(*names, **settings)]
        metavar = "|".join((self.kind, *self.words))
        return Annotated[str | None, typer.Option(*names, parser=self.parse, metavar=metavar, **settings)]

    def parse(self, text: str) -> object:
        """Return the value that a text stands for.

        >>> depth = TrainingParameter("max_depth", "integer", "auto", "", ("auto", "none"))
        >>> [depth.parse(text) for text in ("6", "auto", "none")]
        [6, 'auto', None]
        """
        if not isinstance(text, str):  # Typer parses defaults too
            return text
        if text in self.words:
            return None if text == "none" else text
        try:
            return _READERS[self.kind](text)
        except (ValueError, KeyError):
            allowed = " or ".join(filter(None, (", ".join(self.words), _WORDS[self.kind])))
            message = f"must be {allowed}; got {text!r}"
            raise typer.BadParameter(message) from None


PARAMETERS: tuple[TrainingParameter, ...] = (
    TrainingParameter(
        "ensemble", "text", "sglb", "How the members are trained.", ("sglb", "sgb", "virtual", "bootstrap", "single")
    ),
    TrainingParameter(
        "distribution",
        "text",
        "normal",
        "Distribution of each row (regression): normal, student, laplace, lognormal, gamma, weibull, poisson, "
        "negative_binomial, beta, histogram; auto takes the most likely.",
    ),
    TrainingParameter("n_members", "integer", 10, "Number of ensemble members.", short="--members"),
    TrainingParameter(
        "n_estimators",
        "integer",
        "auto",
        "Number of trees per member; auto fits the table.",
        ("auto",),
        short="--trees",
    ),
    TrainingParameter(
        "learning_rate",
        "number",
        "auto",
        "Learning rate: above 0, at most 1; auto fits the number of trees.",
        ("auto",),
        short="--rate",
    ),
    TrainingParameter(
        "max_depth",
        "integer",
        "auto",
        "Depth of trees, 1 to 8 without --max-leaves; auto fits the table.",
        ("auto", "none"),
        short="--depth",
    ),
    TrainingParameter(
        "max_leaves",
        "integer",
        "auto",
        "Leaves of leaf-wise trees, from 2 to 255; none is for symmetric trees, auto fits the table.",
        ("auto", "none"),
        short="--leaves",
    ),
    TrainingParameter(
        "subsample", "number", None, "Share of the rows per tree; by default 0.5 for sgb and 1 for others.", ("none",)
    ),
    TrainingParameter("l2", "number", 3.0, "L2 regularisation of leaf values."),
    TrainingParameter("max_bins", "integer", 255, "Maximum number of bins per column, from 2 to 255."),
    TrainingParameter("temperature", "number", 1.0, "Factor on the variance of the Langevin noise."),
    TrainingParameter("random_strength", "number", 1.0, "Noise on the scores of candidate splits; 0 is none."),
    TrainingParameter(
        "variance_guard", "number", 1.0, "Keeps the variance from overfitting; 0 switches it off (regression)."
    ),
    TrainingParameter(
        "structure_rows",
        "integer",
        "auto",
        "Rows on which each tree chooses its splits; none is all, auto fits the trees.",
        ("auto", "none"),
    ),
    TrainingParameter("min_samples_leaf", "integer", 1, "Least number of rows of a leaf."),
    TrainingParameter("max_features", "number", 1.0, "Share of the columns that each tree may split on."),
    TrainingParameter(
        "monotonic_constraints",
        "json",
        None,
        "Columns along which the prediction never decreases (1) or increases (-1), such as '{\"dose\": 1}'.",
        ("none",),
    ),
    TrainingParameter(
        "interaction_constraints",
        "json",
        None,
        'Sets of columns that may interact, such as \'[["dose", "age"], ["weight"]]\'.',
        ("pairwise", "no_interactions", "none"),
    ),
    TrainingParameter(
        "class_weight",
        "json",
        None,
        "Weights of the classes (classification): balanced, or JSON such as '{\"yes\": 5}'.",
        ("none", "balanced"),
    ),
    TrainingParameter(
        "early_stopping",
        "yes|no",
        "auto",
        "Stop when the ensemble gets no better, by --valid, rows held out or the out-of-fold chains.",
        ("auto",),
    ),
    TrainingParameter(
        "early_stopping_rounds",
        "integer",
        None,
        "Number of trees without a better loss before training stops; none is half of the best number.",
        ("none",),
    ),
    TrainingParameter(
        "validation_fraction",
        "number",
        None,
        "Share of the rows to hold out to say when to stop; none is for --valid or the out-of-fold chains.",
        ("none",),
    ),
    TrainingParameter("refit", "flag", False, "Train again on all rows after rows were held out."),  # noqa: FBT003 (the default)
    TrainingParameter(
        "out_of_fold",
        "integer",
        "auto",
        "Number of folds whose chains recalibrate the uncertainties; 0 is none.",
        ("auto",),
    ),
    TrainingParameter("keep_folds", "flag", False, "Keep the chains of the folds, for epiboost predict --guarantee."),  # noqa: FBT003 (the default)
    TrainingParameter(
        "reference_rows",
        "integer",
        4000,
        "Largest number of training rows to keep, for novelty and drift. They become part of the model file; 0 keeps "
        "none.",
    ),
    TrainingParameter(
        "engine",
        "text",
        "native",
        "Library that trains the trees: native, catboost, lightgbm, xgboost, forest or a registered one.",
    ),
    TrainingParameter(
        "engine_params",
        "json",
        None,
        "Options of the engine as a JSON object, such as '{\"verbosity\": 1}'.",
        ("none",),
    ),
    TrainingParameter(
        "device",
        "text",
        "cpu",
        "Where the native engine trains: the processor, an NVIDIA GPU, or a GPU where there is one and it is faster.",
        ("cpu", "cuda", "auto"),
    ),
    TrainingParameter(
        "n_jobs", "integer", None, "Number of threads; by default one per core.", ("none",), short="--jobs"
    ),
    TrainingParameter(
        "random_state",
        "integer",
        None,
        "Seed; the same seed gives the same model.",
        ("none",),
        short="--seed",
    ),
)
"""All parameters with an option, in the order of the help."""

WITHOUT_OPTION = {
    "sparse_zeros": "files hold dense tables",
    "warm_start": "a command trains once",
    "categorical_features": "--categorical adds to the columns of text",
    "verbose": "training shows its progress on a terminal",
}
"""Parameters without an option, and why."""
