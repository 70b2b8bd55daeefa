"""The paper's methods on boosted trees: SGB, SGLB, single and ensemble, the virtual ensemble, and short chains."""

import copy
from typing import Any

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._posterior.posterior import Posterior
from epiboost._typing import AnyArray, Floats
from epiboost.paper.methods.clock import Clock
from epiboost.paper.methods.measures import measure
from epiboost.paper.problem import Fold
from epiboost.paper.protocol import LARGEST_RATE, SHORT_CHAINS, Protocol

Model = EpiBoostRegressor | EpiBoostClassifier
Parts = dict[str, Any]


class Trainer:
    """Trains models of one engine on one fold, by the paper's rules: no guard of the variance, splits from all rows."""

    def __init__(self, fold: Fold, protocol: Protocol, engine: str, seed: int, n_jobs: int | None) -> None:
        self.fold = fold
        self.protocol = protocol
        self.seed = seed
        self.parameters: dict[str, Parts] = {}
        self.common: dict[str, Any] = {
            "engine": engine,
            "n_jobs": n_jobs,
            "random_state": seed,
            "categorical_features": list(fold.categorical) or None,
        }
        if fold.task == "regression":
            self.common["temperature"] = protocol.temperature(fold.y)
        if engine == "native":
            self.common["structure_rows"] = None
            if fold.task == "regression":
                self.common["variance_guard"] = 0.0

    def train(self, X: Floats, y: AnyArray, **options: Any) -> Model:  # noqa: ANN401 (parameters of the estimators)
        """Train a model; options are those in which models of a fold differ."""
        kind = EpiBoostRegressor if self.fold.task == "regression" else EpiBoostClassifier
        model: Model = kind(**{"n_estimators": self.protocol.n_estimators, **self.common, **options})
        return model.fit(X, y)

    def choose(self, ensemble: str) -> tuple[Parts, list[dict[str, float]]]:
        """Return depth and rate of the least validation loss, and the losses of the whole grid."""
        fold, tried = self.fold, []
        X, y, X_valid, y_valid = fold.X[fold.fit], fold.y[fold.fit], fold.X[fold.validation], fold.y[fold.validation]
        for depth in self.protocol.depths:
            for rate in self.protocol.rates:
                model = self.train(X, y, ensemble=ensemble, n_members=1, max_depth=depth, learning_rate=rate)
                loss = -float(log_density(model.predict_posterior(X_valid), y_valid).mean())
                tried.append({"max_depth": depth, "learning_rate": rate, "validation_nll": loss})
        best = min(tried, key=lambda one: one["validation_nll"])
        return {name: best[name] for name in ("max_depth", "learning_rate")}, tried

    def record(self, name: str, model: Model) -> None:
        """Take note of all parameters of a model, those that were left to their defaults among them."""
        self.parameters[name] = parameters_of(model)

    def judge(self, model: Model) -> dict[str, Any]:
        """Return the figures of a model on the fold."""
        return measure(model.predict_posterior(self.fold.X_test), self._outside(model), self.fold)

    def _outside(self, model: Model) -> Posterior | None:
        return None if self.fold.X_out is None else model.predict_posterior(self.fold.X_out)


def parameters_of(model: Model) -> Parts:
    """Return the parameters that the figures of a model rest on; threads are not among them."""
    return {name: value for name, value in model.get_params().items() if name not in {"n_jobs", "verbose"}}


def log_density(posterior: Posterior, y: AnyArray) -> Floats:
    """Return the logarithm of the density, or of the probability of the class."""
    return posterior.logpdf(y) if posterior.family == "normal" else posterior.log_probability(y)


def sgb(trainer: Trainer, clock: Clock) -> Parts:
    """Stochastic gradient boosting: each tree sees half of the rows."""
    with clock("grid"):
        chosen, tried = trainer.choose("sgb")
    results = {
        "sgb_single": _run(trainer, clock, "sgb_single", ensemble="sgb", n_members=1, **chosen),
        "sgb_ensemble": _run(
            trainer, clock, "sgb_ensemble", ensemble="sgb", n_members=trainer.protocol.n_members, **chosen
        ),
    }
    return {"chosen": chosen, "grid": tried, "parameters": trainer.parameters, "results": results}


def sglb(trainer: Trainer, clock: Clock) -> Parts:
    """Stochastic gradient Langevin boosting: an ensemble, and one chain as single model and as virtual ensemble."""
    with clock("grid"):
        chosen, tried = trainer.choose("sglb")
    members = trainer.protocol.n_members
    results = {"sglb_ensemble": _run(trainer, clock, "sglb_ensemble", ensemble="sglb", n_members=members, **chosen)}
    fold = trainer.fold
    with clock("vsglb"):
        virtual = trainer.train(fold.X, fold.y, ensemble="virtual", n_members=members, **chosen)
    trainer.record("vsglb", virtual)
    whole = copy.copy(virtual)
    whole.prefixes_ = None  # the chain as it is at its end: the single model
    with clock("judge"):
        results |= {"vsglb": trainer.judge(virtual), "sglb_single": trainer.judge(whole)}
    return {
        "chosen": chosen,
        "temperature": trainer.common.get("temperature", 1.0),
        "grid": tried,
        "parameters": trainer.parameters,
        "results": results,
    }


def budget(trainer: Trainer, clock: Clock, chosen: Parts) -> Parts:
    """As many trees in all as one chain has: one model without noise, and short chains at a higher rate.

    The virtual ensemble of one chain, which they are compared with, is a part of `sglb`, which chose depth and rate.
    """
    results = {"single": _run(trainer, clock, "single", ensemble="single", **chosen)}
    for members, times in SHORT_CHAINS:
        trees = max(1, trainer.protocol.n_estimators // times)
        rate = min(chosen["learning_rate"] * times, LARGEST_RATE)
        name = f"short_{members}"
        results[name] = _run(
            trainer,
            clock,
            name,
            ensemble="sglb",
            n_members=members,
            n_estimators=trees,
            **{**chosen, "learning_rate": rate},
        )
        results[name]["n_estimators"], results[name]["learning_rate"] = trees, rate
    return {"chosen": chosen, "parameters": trainer.parameters, "results": results}


def _run(trainer: Trainer, clock: Clock, name: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 (parameters)
    with clock(name):
        model = trainer.train(trainer.fold.X, trainer.fold.y, **options)
    trainer.record(name, model)
    with clock("judge"):
        return trainer.judge(model)
