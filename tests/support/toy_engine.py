"""An engine of a third party, in NumPy: each tree asks one random question of one random column."""

from dataclasses import dataclass

import numpy as np

from epiboost._boosting.langevin import LangevinObjective
from epiboost._boosting.objectives import Objective, objective_from_header
from epiboost._boosting.rows import learning_rows
from epiboost._boosting.scores import parameters_of
from epiboost._boosting.step_sizes import steps_of
from epiboost._boosting.truncation import check_prefixes


@dataclass(frozen=True)
class ToyForest:
    column: np.ndarray  # (members, trees)
    border: np.ndarray  # (members, trees)
    leaf: np.ndarray  # (members, trees, 2, outputs)
    objective: Objective
    decay: float
    n_features: int
    evaluation: np.ndarray

    @property
    def n_trees(self):
        return np.full(len(self.column), self.column.shape[1])

    def predict(self, table, *, prefixes=None):
        trees = self.column.shape[1]
        ends = (trees,) if prefixes is None else check_prefixes(prefixes, trees)
        parts = []
        for column, border, leaf in zip(self.column, self.border, self.leaf, strict=True):
            steps = leaf[np.arange(len(column)), (table[:, column] > border).astype(int)].cumsum(axis=1)
            scores = [self.objective.start + self.decay**end * steps[:, end - 1] for end in ends]
            parts += [parameters_of(self.objective, score) for score in scores]
        return np.stack(parts)

    def to_file(self):
        header = {"objective": self.objective.to_header(), "decay": self.decay, "n_features": self.n_features}
        return header, {name: getattr(self, name) for name in ("column", "border", "leaf", "evaluation")}

    @classmethod
    def from_file(cls, header, arrays, _n_jobs):
        own = {name: arrays[name] for name in ("column", "border", "leaf", "evaluation")}
        return cls(objective=objective_from_header(header["objective"]), decay=header["decay"],
                   n_features=header["n_features"], **own)  # fmt: skip


@dataclass(frozen=True)
class ToyEngine:
    n_jobs: int | None = None
    quantiles: int = 19  # the engine's own parameter: how many questions a column has
    cannot = ("max_depth", "max_bins", "structure_rows", "early_stopping_rounds")

    def fit(self, data, specs, progress):
        rows = learning_rows(data)
        steps = steps_of(specs[0], rows.objective, rows.total)
        chains = [self._chain(LangevinObjective(rows, steps, spec)) for spec in specs]
        progress(len(specs), len(specs))
        column, border, leaf = map(np.stack, zip(*chains, strict=True))
        return ToyForest(column, border, leaf, rows.objective, steps.decay, rows.X.shape[1], np.empty((len(specs), 0)))

    def _chain(self, chain):
        rng = np.random.default_rng(chain.spec.seed)
        X, trees = chain.rows.X, chain.spec.n_estimators
        questions = np.nanquantile(X, np.linspace(0, 1, self.quantiles + 2)[1:-1], axis=0)
        column = rng.integers(X.shape[1], size=trees)
        border = questions[rng.integers(len(questions), size=trees), column]
        raw = np.zeros((len(X), len(chain.rows.objective.start)))
        leaf = np.empty((trees, 2, raw.shape[1]))
        for tree in range(trees):
            gradient, hessian = chain.gradients(raw, tree)
            side = (X[:, column[tree]] > border[tree]).astype(int)
            sums = [[np.bincount(side, of[:, k], 2) for k in range(raw.shape[1])] for of in (gradient, hessian)]
            leaf[tree] = -chain.steps.rate * (np.array(sums[0]) / (np.array(sums[1]) + chain.steps.l2 + 1e-9)).T
            raw += leaf[tree, side]
        return column, border, leaf
