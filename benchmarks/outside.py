"""Compare the defaults, untuned, with published figures, and with other libraries after tuning.

EPIBOOST_DATA=folder python benchmarks/outside.py ibug      NGBoost, PGBM and IBUG: CRPS, NLL and RMSE
EPIBOOST_DATA=folder python benchmarks/outside.py dropout   MC dropout: RMSE and NLL
EPIBOOST_DATA=folder python benchmarks/outside.py flows     TreeFlow, PGBM and XGBDistribution: NLL
EPIBOOST_DATA=folder python benchmarks/outside.py gaps      deep ensembles on gap and tail splits: NLL and detection
EPIBOOST_DATA=folder python benchmarks/outside.py peers     CatBoost, LightGBM and XGBoost, tuned here (many hours)

Several parts can be named; models that two of them need are trained once. Default: all but the last. Tables are printed
as Markdown, progress goes to the standard error.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import outside_libraries
import outside_peers
import outside_published as published
import outside_splits
from outside_published import Published
from outside_runs import Options, Scores, Store, digits, print_counts, print_head, print_row
from outside_splits import Rows, RowSplit

from epiboost import EpiBoostRegressor
from epiboost.metrics import crps_loss, ood_auc_score

THREADS, TRIALS = 2, 30
MODEL = "The default regressor, untuned, ten members"
PROTOCOLS = {
    "standard": outside_splits.standard,
    "shuffled": outside_splits.shuffled,
    "gap": outside_splits.gaps,
    "tail": outside_splits.tails,
}


def fit(name: str, rows: Rows, seed: int, threads: int) -> EpiBoostRegressor:
    """Train the default regressor on rows of a dataset."""
    table = outside_splits.table(name)
    return EpiBoostRegressor(n_jobs=threads, random_state=seed).fit(table.X[rows], table.y[rows])


def errors(model: EpiBoostRegressor, name: str, rows: Rows) -> Scores:
    """Return RMSE, negative log-likelihood and CRPS on rows of a dataset."""
    table = outside_splits.table(name)
    y, posterior = table.y[rows], model.predict_posterior(table.X[rows])
    return {
        "rmse": float(np.sqrt(np.mean((posterior.mean - y) ** 2))),
        "nll": -float(posterior.logpdf(y).mean()),
        "crps": crps_loss(y, posterior),
    }


def detection(name: str, split: RowSplit, seed: int, threads: int) -> float:
    """Return the AUC of knowledge uncertainty: test rows of a split against a random tenth of its training rows.

    The model is trained on the other nine tenths.
    """
    train, outside = split
    kept, inside = outside_splits.hold_out(train, seed)
    rows = np.concatenate([inside, outside])
    knowledge = fit(name, kept, seed, threads).predict_uncertainty(outside_splits.table(name).X[rows]).knowledge
    return ood_auc_score(np.arange(len(rows)) >= len(inside), knowledge)


def measure_split(name: str, protocol: str, threads: int, index: int) -> Scores:
    """Return the scores of the default regressor on one split; with detection for gaps and tails."""
    split = PROTOCOLS[protocol](name)[index]
    scores = errors(fit(name, split[0], index, threads), name, split[1])
    if protocol in {"gap", "tail"}:
        scores["auc"] = detection(name, split, index, threads)
    return scores


def mean_scores(name: str, protocol: str, store: Store, options: Options) -> tuple[Scores, int]:
    """Return the scores of the default regressor, averaged over the splits of a protocol, and the number of splits."""
    n_splits = len(PROTOCOLS[protocol](name)[: options.splits])
    scores = store.get(f"{protocol}/{name}", n_splits, partial(measure_split, name, protocol, options.threads))
    return {key: float(np.mean([one[key] for one in scores])) for key in scores[0]}, n_splits


def compare(protocol: str, columns: Sequence[Published], source: str, store: Store, options: Options) -> None:
    """Print our figures beside published ones, and on how many datasets ours are at most those."""
    print(f"\n{MODEL}, mean over {protocol} splits. Published: {source}.\n")
    measures = {measure: [one for one in columns if one.measure == measure] for measure in (c.measure for c in columns)}
    heads = [head for measure, others in measures.items() for head in _heads(measure, others)]
    print_head("table", "splits", *heads)
    outcomes: dict[str, list[bool]] = {}
    for name in options.select(columns[0].figures):
        ours, n_splits = mean_scores(name, protocol, store, options)
        cells = []
        for measure, others in measures.items():
            cells += [digits(ours[measure]), *(digits(other.figures.get(name)) for other in others)]
        print_row(name, str(n_splits), *cells)
        for other in columns:
            if name in other.figures:
                is_met = ours[other.measure] <= other.figures[name]
                outcomes.setdefault(f"{other.measure.upper()}, {other.method}", []).append(is_met)
    print_counts(outcomes)


def compare_gaps(store: Store, options: Options) -> None:
    """Print likelihoods on random, gap and tail splits beside published ones, and detection of gaps and tails."""
    print(f"\n{MODEL}. Random splits are the standard ones; there is one gap split and one tail split per continuous")
    print(f"feature. AUC: knowledge uncertainty of rows in the gap or tail. Published: {published.GAPS_SOURCE}.\n")
    heads = [head for one in published.GAPS for head in (f"NLL {one.method}, ours", "deep ensembles")]
    print_head("table", "features", *heads, "AUC gap", "AUC tail")
    outcomes: dict[str, list[bool]] = {}
    for name in options.select(published.GAPS[0].figures):
        cells, detections, n_splits = [], [], 0
        for other in published.GAPS:
            protocol = published.GAP_PROTOCOLS[other.method]
            ours, n_splits = mean_scores(name, protocol, store, options)
            cells += [digits(ours["nll"]), digits(other.figures[name])]
            detections += [digits(ours["auc"])] if "auc" in ours else []
            outcomes.setdefault(f"NLL, {other.method}", []).append(ours["nll"] <= other.figures[name])
        print_row(name, str(n_splits), *cells, *detections)
    print_counts(outcomes)


def _heads(measure: str, others: Sequence[Published]) -> list[str]:
    """Return the heads of the columns of one measure."""
    return [f"{measure.upper()}, ours", *(other.method for other in others)]


PARTS: dict[str, Callable[[Store, Options], None]] = {
    "ibug": partial(compare, "shuffled", published.IBUG, published.IBUG_SOURCE),
    "dropout": partial(compare, "standard", published.DROPOUT, published.DROPOUT_SOURCE),
    "flows": partial(compare, "standard", published.FLOWS, published.FLOWS_SOURCE),
    "gaps": compare_gaps,
    "peers": outside_peers.compare,
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    all_peers = tuple(outside_libraries.PEERS)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one of {', '.join(PARTS)}; default: all but peers")
    parser.add_argument("--splits", type=int, metavar="N", help="first N splits only; default: the full protocol")
    parser.add_argument("--tables", type=_names, default=(), metavar="A,B", help="these datasets only")
    parser.add_argument("--peers", type=_names, default=all_peers, metavar="A,B", help=f"of {', '.join(all_peers)}")
    parser.add_argument("--trials", type=int, default=TRIALS, metavar="N", help="random trials per peer, default 30")
    parser.add_argument("--threads", type=int, default=THREADS, metavar="N", help="threads of each model, default 2")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="JSON file of scores; splits that it holds are not measured again"
    )
    arguments = vars(parser.parse_args())
    parts, file = arguments.pop("parts") or list(PARTS)[:-1], arguments.pop("save")
    options = Options(**arguments)
    names = {"part": PARTS, "table": outside_peers.TABLES, "peer": outside_libraries.PEERS}
    for kind, given, known in zip(names, (parts, options.tables, options.peers), names.values(), strict=True):
        if unknown := [one for one in given if one not in known]:
            parser.error(f"there is no {kind} {unknown[0]!r}; choose from {', '.join(known)}")
    store = Store.read(file)
    for part in parts:
        PARTS[part](store, options)


if __name__ == "__main__":
    main()
