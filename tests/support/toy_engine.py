"""An engine of a third party, in NumPy: each tree is one random split of one random column."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from epiboost.engines import (
    Capabilities,
    LangevinObjective,
    Objective,
    check_prefixes,
    learning_rows,
    objective_from_header,
    step_sizes,
    with_variance_guard,
)

ARRAYS = ("column", "border", "leaf")


@dataclass(frozen=True)
class ToyForest:
    column: np.ndarray  # (members, trees)
    border: np.ndarray  # (members, trees)
    leaf: np.ndarray  # (members, trees, 2, outputs)
    objective: Objective
    decay: float
    n_codes: tuple[int, ...]

    @property
    def family(self):
        return self.objective.family

    @property
    def n_features(self):
        return len(self.n_codes)

    @property
    def n_trees(self):
        return np.full(len(self.column), self.column.shape[1])

    @property
    def evaluation(self):
        return np.empty((len(self.column), 0))

    def predict(self, table, *, prefixes=None):
        trees = self.column.shape[1]
        ends = (trees,) if prefixes is None else check_prefixes(prefixes, trees)
        members = []
        for column, border, leaf in zip(self.column, self.border, self.leaf, strict=True):
            sums = leaf[np.arange(trees), (table[:, column] > border).astype(int)].cumsum(axis=1)
            scores = [self.objective.start + self.decay**end * sums[:, end - 1] for end in ends]
            members += [self.objective.parameters(score) for score in scores]
        return np.stack(members)

    def to_file(self):
        header = {"objective": self.objective.to_header(), "decay": self.decay, "n_codes": list(self.n_codes)}
        return header, {name: getattr(self, name) for name in ARRAYS}

    @classmethod
    def from_file(cls, header, arrays, _n_jobs):
        objective = objective_from_header(header["objective"])
        return cls(*(arrays[name] for name in ARRAYS), objective, header["decay"], tuple(header["n_codes"]))


@dataclass(frozen=True)
class ToyEngine:
    n_jobs: int | None = None
    quantiles: int = 19  # the engine's own parameter: number of possible splits per column

    capabilities: ClassVar[Capabilities] = Capabilities(
        unsupported=(
            "max_depth",
            "max_leaves",
            "max_bins",
            "random_strength",
            "structure_rows",
            "early_stopping_rounds",
            "min_samples_leaf",
            "max_features",
            "monotonic_constraints",
            "interaction_constraints",
        ),
        evaluation_set=False,
    )

    def fit(self, data, specs, progress):
        rows = learning_rows(data)
        steps = step_sizes(specs[0], rows.objective, rows.total)
        chains = [self._train_chain(LangevinObjective(rows, steps, spec)) for spec in specs]
        progress(len(specs), len(specs))
        column, border, leaf = map(np.stack, zip(*chains, strict=True))
        return ToyForest(column, border, leaf, rows.objective, steps.decay, rows.codes_per_column)

    def _train_chain(self, chain):
        objective, rng = with_variance_guard(chain), np.random.default_rng(chain.spec.seed)
        X, trees = chain.rows.X, chain.spec.n_estimators
        borders = np.nanquantile(X, np.linspace(0, 1, self.quantiles + 2)[1:-1], axis=0)
        column = rng.integers(X.shape[1], size=trees)
        border = borders[rng.integers(len(borders), size=trees), column]
        raw = np.zeros((len(X), len(chain.rows.objective.start)))
        leaf = np.empty((trees, 2, raw.shape[1]))
        for tree in range(trees):
            gradient, hessian = objective.gradients(raw, tree)
            side = (X[:, column[tree]] > border[tree]).astype(int)
            sums = [[np.bincount(side, values.T[k], 2) for k in range(raw.shape[1])] for values in (gradient, hessian)]
            leaf[tree] = -chain.steps.rate * (np.array(sums[0]) / (np.array(sums[1]) + chain.steps.l2 + 1e-9)).T
            raw += leaf[tree, side]
        return column, border, leaf
