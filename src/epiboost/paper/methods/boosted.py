"""The paper's methods on boosted trees: SGB and SGLB (single and ensemble), virtual ensembles, and short chains."""

import copy
from typing import Any

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats
from epiboost.paper.methods.evaluation import evaluate
from epiboost.paper.methods.inputs import EVALUATION, MethodInputs, MethodOutputs
from epiboost.paper.problem import Fold
from epiboost.paper.protocol import LARGEST_RATE, SHORT_CHAINS, Protocol

Model = EpiBoostRegressor | EpiBoostClassifier
Parameters = dict[str, Any]


class Trainer:
    """Trains models of one engine on one fold as in the paper: no guard, no recalibration, splits chosen on all rows.

    Attributes
    ----------
    common : dict
        Parameters that all models of the fold share.
    """

    def __init__(self, fold: Fold, protocol: Protocol, *, engine: str, seed: int, n_jobs: int | None) -> None:
        self.fold = fold
        self.protocol = protocol
        self.common: Parameters = {
            "engine": engine,
            "n_jobs": n_jobs,
            "random_state": seed,
            "categorical_features": list(fold.categorical) or None,
            "out_of_fold": 0,
        }
        if engine == "native":
            self.common["structure_rows"] = None
            if fold.task == "regression":
                self.common["variance_guard"] = 0.0

    def train(self, X: Floats, y: AnyArray, parameters: Parameters) -> Model:
        """Train a model; ``parameters`` are added to the common ones."""
        estimator = EpiBoostRegressor if self.fold.task == "regression" else EpiBoostClassifier
        model: Model = estimator(**{"n_estimators": self.protocol.n_estimators, **self.common, **parameters})
        return model.fit(X, y)

    def train_on_all_rows(self, parameters: Parameters) -> Model:
        """Train a model on all training rows of the fold."""
        return self.train(self.fold.X, self.fold.y, parameters)

    def choose(self, ensemble: str) -> tuple[Parameters, list[dict[str, float]]]:
        """Return depth and rate of the smallest validation loss, and the losses of the whole grid."""
        fold, grid = self.fold, []
        X, y, X_valid, y_valid = fold.X[fold.fit], fold.y[fold.fit], fold.X[fold.validation], fold.y[fold.validation]
        for depth in self.protocol.depths:
            for rate in self.protocol.rates:
                pair = {"max_depth": depth, "learning_rate": rate}
                model = self.train(X, y, {"ensemble": ensemble, "n_members": 1, **pair})
                loss = -float(log_likelihood(model.predict_posterior(X_valid), y_valid).mean())
                grid.append({**pair, "validation_nll": loss})
        best = min(grid, key=lambda point: point["validation_nll"])
        return {name: best[name] for name in ("max_depth", "learning_rate")}, grid

    def evaluate(self, model: Model) -> dict[str, Any]:
        """Return the scores of a model on the fold."""
        X_ood = self.fold.X_ood
        posterior_ood = None if X_ood is None else model.predict_posterior(X_ood)
        return evaluate(model.predict_posterior(self.fold.X_test), posterior_ood, self.fold)


def parameters_of(model: Model) -> Parameters:
    """Return all parameters of a model that its results depend on, defaults included."""
    return {name: value for name, value in model.get_params().items() if name not in {"n_jobs", "verbose"}}


def log_likelihood(posterior: Posterior, y: AnyArray) -> Floats:
    """Return the log density of each target, or the log probability of each class."""
    return posterior.logpdf(y) if posterior.family == "normal" else posterior.log_probability(y)


def sgb(inputs: MethodInputs) -> MethodOutputs:
    """Run stochastic gradient boosting, where each tree is trained on half of the rows: single model and ensemble."""
    trainer = _trainer(inputs)
    with inputs.timer("grid"):
        chosen, grid = trainer.choose("sgb")
    models = {
        "sgb_single": {"ensemble": "sgb", "n_members": 1, **chosen},
        "sgb_ensemble": {"ensemble": "sgb", "n_members": inputs.protocol.n_members, **chosen},
    }
    return {"chosen": chosen, "grid": grid, **_train_and_evaluate(trainer, inputs, models)}


def sglb(inputs: MethodInputs) -> MethodOutputs:
    """Run stochastic gradient Langevin boosting: an ensemble, and one chain as virtual ensemble and as single model."""
    trainer, n_members = _trainer(inputs), inputs.protocol.n_members
    with inputs.timer("grid"):
        chosen, grid = trainer.choose("sglb")
    ensemble = {"sglb_ensemble": {"ensemble": "sglb", "n_members": n_members, **chosen}}
    outputs = _train_and_evaluate(trainer, inputs, ensemble)
    with inputs.timer("vsglb"):
        virtual = trainer.train_on_all_rows({"ensemble": "virtual", "n_members": n_members, **chosen})
    single = copy.copy(virtual)
    single.prefixes_ = None  # the chain with all its trees
    with inputs.timer(EVALUATION):
        scores = {"vsglb": trainer.evaluate(virtual), "sglb_single": trainer.evaluate(single)}
    return {
        "chosen": chosen,
        "grid": grid,
        "parameters": outputs["parameters"] | {"vsglb": parameters_of(virtual)},
        "results": outputs["results"] | scores,
    }


def budget(inputs: MethodInputs) -> MethodOutputs:
    """Run ensembles with as many trees in total as one chain: one model without noise, and short chains.

    They are compared with the virtual ensemble of one chain, which is part of `sglb`. Depth and rate are those that
    `sglb` chose; the rate of short chains is higher, because they have fewer trees.
    """
    chosen = inputs.cell_of("sglb")["chosen"]
    models: dict[str, Parameters] = {"single": {"ensemble": "single", **chosen}}
    for n_members, factor in SHORT_CHAINS:
        models[f"short_{n_members}"] = {
            **chosen,
            "ensemble": "sglb",
            "n_members": n_members,
            "n_estimators": max(1, inputs.protocol.n_estimators // factor),
            "learning_rate": min(chosen["learning_rate"] * factor, LARGEST_RATE),
        }
    outputs = _train_and_evaluate(_trainer(inputs), inputs, models)
    results = {
        name: {**scores, **{option: models[name][option] for option in ("n_estimators", "learning_rate")}}
        if name.startswith("short_")
        else scores
        for name, scores in outputs["results"].items()
    }
    return {"chosen": chosen, "parameters": outputs["parameters"], "results": results}


def _trainer(inputs: MethodInputs) -> Trainer:
    return Trainer(inputs.fold, inputs.protocol, engine=inputs.engine, seed=inputs.seed, n_jobs=inputs.n_jobs)


def _train_and_evaluate(trainer: Trainer, inputs: MethodInputs, models: dict[str, Parameters]) -> MethodOutputs:
    """Train models on all training rows, and return their parameters and scores by name."""
    used, scores = {}, {}
    for name, parameters in models.items():
        with inputs.timer(name):
            model = trainer.train_on_all_rows(parameters)
        used[name] = parameters_of(model)
        with inputs.timer(EVALUATION):
            scores[name] = trainer.evaluate(model)
    return {"parameters": used, "results": scores}
