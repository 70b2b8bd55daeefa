"""The out-of-fold part of a model file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from epiboost._boosting.objectives import DISTRIBUTIONS
from epiboost._estimators.out_of_fold.categorical import CategoricalRecalibration
from epiboost._estimators.out_of_fold.cross_conformal import FoldChains
from epiboost._estimators.out_of_fold.measurement import OutOfFold
from epiboost._estimators.out_of_fold.normal import NormalRecalibration
from epiboost._estimators.out_of_fold.numbers import NumberRecalibration
from epiboost._estimators.out_of_fold.recalibration import Recalibration
from epiboost._files.requirements import require_arrays, require_facts
from epiboost._inputs.target import Target
from epiboost._typing import AnyArray, Floats
from epiboost.engines.base import Forest
from epiboost.engines.registry import forest_from_file

_RECALIBRATIONS: dict[str, type[Recalibration]] = {
    **dict.fromkeys(DISTRIBUTIONS, NumberRecalibration),
    "normal": NormalRecalibration,
    "categorical": CategoricalRecalibration,
}


def to_file(measured: OutOfFold | None) -> tuple[dict[str, Any] | None, dict[str, AnyArray]]:
    """Return the header and the arrays; None and no arrays without out-of-fold chains."""
    if measured is None:
        return None, {}
    recalibration = measured.recalibration
    header: dict[str, Any] = {
        "loss": measured.loss if np.isfinite(measured.loss) else None,
        "score": measured.score,
        "n_trees": measured.n_trees,
        "recalibration": None if recalibration is None else recalibration.to_header(),
        "chains": None,
    }
    arrays = {"oof_predicted": measured.predicted, "oof_scores": measured.scores}
    if measured.chains is not None:
        parts = [forest.to_file() for forest in measured.chains.forests]
        header["chains"] = [chain for chain, _ in parts]
        for number, (_, trees) in enumerate(parts):
            arrays |= {f"fold{number}_{name}": array for name, array in trees.items()}
            arrays[f"fold{number}_scores"] = measured.chains.scores[number]
    return header, arrays


def from_file(
    header: Mapping[str, Any] | None,
    arrays: Mapping[str, AnyArray],
    *,
    engine: str,
    forest: Forest,
    target: Target,
    prefixes: tuple[int, ...] | None,
    n_jobs: int | str | None,
) -> OutOfFold | None:
    """Return what `to_file` described; a ValueError if the parts do not fit together."""
    if header is None:
        return None
    require_arrays(arrays, {"oof_predicted": (np.float64, 2), "oof_scores": (np.float64, 1)})
    predicted, n_trees = arrays["oof_predicted"], header["n_trees"]
    n_outputs = 1 if forest.family == "mean" else target.n_outputs
    require_facts(
        {
            "out-of-fold predictions must have the outputs of the target": predicted.shape[1] == n_outputs,
            "out-of-fold scores must be finite and ascend": _ascend(arrays["oof_scores"]),
            "the trees in use must be among those of the chains": n_trees is None
            or (isinstance(n_trees, int) and 0 < n_trees <= int(forest.n_trees.min())),
            "a recalibration must belong to the family": (header["recalibration"] is None)
            == (forest.family not in _RECALIBRATIONS),
        }
    )
    recalibration = None
    if header["recalibration"] is not None:
        recalibration = _RECALIBRATIONS[forest.family].from_header(header["recalibration"])
    measured = OutOfFold(
        predicted,
        float("nan") if header["loss"] is None else float(header["loss"]),
        float(header["score"]),
        recalibration,
        arrays["oof_scores"],
        n_trees,
    )
    if header["chains"] is None:
        return measured
    forests, scores = _read_chains(header["chains"], arrays, engine, forest.n_codes, n_jobs)
    chains = FoldChains(forests, scores, measured.prefixes(prefixes))
    probe = np.empty((0, forest.n_features))
    require_facts(
        {
            "there must be out-of-fold chains": len(chains.forests) > 0 and chains.n_scores > 0,
            "the out-of-fold chains must have the columns of the members": all(
                (chain.n_features, chain.n_codes) == (forest.n_features, forest.n_codes) for chain in chains.forests
            ),
            "the out-of-fold chains must be of the family of the members": all(
                chain.family == forest.family for chain in chains.forests
            ),
        }
    )
    if any(chain.predict(probe, prefixes=chains.prefixes).shape[1:] != (0, n_outputs) for chain in chains.forests):
        message = "the out-of-fold chains must have the outputs of the target"
        raise ValueError(message)
    return measured.with_chains(chains)


def _read_chains(
    headers: list[dict[str, Any]],
    arrays: Mapping[str, AnyArray],
    engine: str,
    n_codes: tuple[int, ...],
    n_jobs: int | str | None,
) -> tuple[tuple[Forest, ...], tuple[Floats, ...]]:
    """Return the chains and the scores of each fold."""
    forests, scores = [], []
    for number, header in enumerate(headers):
        prefix = f"fold{number}_"
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        require_arrays(own, {"scores": (np.float64, 1)})
        if not _ascend(own["scores"]):
            message = "the scores of a fold must be finite and ascend"
            raise ValueError(message)
        scores.append(own.pop("scores"))
        forests.append(forest_from_file(engine, header, own, n_codes=n_codes, n_jobs=n_jobs))
    return tuple(forests), tuple(scores)


def _ascend(scores: Floats) -> bool:
    return bool(np.isfinite(scores).all() and (np.diff(scores) >= 0.0).all())
