"""Layout of the tables: their blocks, datasets, metrics and methods, and the names that are printed."""

from dataclasses import dataclass

from epiboost.paper.problem import CLASSIFICATION, REGRESSION

_BOOSTED = ("sgb_single", "sglb_single", "sgb_ensemble", "sglb_ensemble", "vsglb")
_FORESTS = ("sglb_single", "rf_single", "sglb_ensemble", "rf_ensemble")
_FOREST_ENSEMBLES = ("vsglb", "vrf", "sglb_ensemble", "rf_ensemble")
_PRR = ("prr_total", "prr_knowledge")
_OOD_AUC = ("ood_auc_total", "ood_auc_knowledge")

METHOD_NAMES = {
    "sgb_single": "SGB",
    "sglb_single": "SGLB",
    "sgb_ensemble": "SGB ensemble",
    "sglb_ensemble": "SGLB ensemble",
    "vsglb": "vSGLB",
    "rf_single": "RF",
    "rf_ensemble": "RF ensemble",
    "vrf": "vRF",
    "deep_ensembles": "Deep Ensembles",
    "ngboost": "NGBoost",
    "catboost_sgb": "SGB",
    "single": "one model",
    "short_10": "10 chains of 100 trees",
    "short_20": "20 chains of 50 trees",
}
METRIC_NAMES = {
    "nll": "NLL",
    "rmse": "RMSE",
    "error_percent": "error, %",
    "prr_total": "PRR, total",
    "prr_knowledge": "PRR, knowledge",
    "ood_auc_total": "OOD AUC, total",
    "ood_auc_knowledge": "OOD AUC, knowledge",
    "train_seconds": "training, CPU s",
}
DATASET_NAMES = {
    "adult": "Adult",
    "amazon": "Amazon",
    "click": "Click",
    "internet": "Internet",
    "appetency": "KDD-Appetency",
    "churn": "KDD-Churn",
    "upselling": "KDD-Upselling",
    "kick": "Kick",
    "boston": "Boston",
    "concrete": "Concrete",
    "energy": "Energy",
    "kin8nm": "Kin8nm",
    "naval": "Naval",
    "power": "Power",
    "protein": "Protein",
    "wine": "Wine",
    "yacht": "Yacht",
    "year": "Year MSD",
}
TITLES = {
    "uncertainty": "Detection of errors (PRR) and of out-of-domain rows (OOD AUC)",
    "prediction": "Negative log-likelihood, RMSE and error",
    "comparison": "Comparison with NGBoost and Deep Ensembles",
    "forest": "Comparison with random forests",
    "budget": "A budget of one thousand trees",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a table.

    It has one row per dataset and metric, and one column per method.

    Attributes
    ----------
    title, source : str
        The heading, and the name of the published table in ``published.csv``; empty if the paper has none.
    datasets, methods : tuple of str
        Keys of `DATASET_NAMES` and `METHOD_NAMES`.
    metrics : tuple of tuples of str
        Groups of metrics. Metrics of a group are compared with each other, as the paper does with total and knowledge
        uncertainty.
    renamed : tuple of (published, ours)
        Published methods that have another name among our results.
    """

    title: str
    source: str
    datasets: tuple[str, ...]
    metrics: tuple[tuple[str, ...], ...]
    methods: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()


TABLES: dict[str, tuple[Block, ...]] = {
    "uncertainty": (
        Block("Classification", "uncertainty", CLASSIFICATION, (_PRR, _OOD_AUC), _BOOSTED),
        Block("Regression", "uncertainty", REGRESSION, (_PRR, _OOD_AUC), _BOOSTED),
    ),
    "prediction": (
        Block("Classification", "prediction", CLASSIFICATION, (("nll",), ("error_percent",)), _BOOSTED),
        Block("Regression", "prediction", REGRESSION, (("nll",), ("rmse",)), _BOOSTED),
    ),
    "comparison": (
        Block(
            "Regression",
            "comparison",
            REGRESSION,
            (("rmse",), ("nll",)),
            ("deep_ensembles", "ngboost", "catboost_sgb"),
            renamed=(("catboost_sgb", "sgb_single"),),
        ),
    ),
    "forest": (
        Block(
            "Classification: NLL and error",
            "rf_classification",
            CLASSIFICATION,
            (("nll",), ("error_percent",)),
            _FORESTS,
        ),
        Block("Regression: RMSE", "rf_regression", REGRESSION, (("rmse",),), _FORESTS),
        Block("Classification: detection", "uncertainty_rf", CLASSIFICATION, (_PRR, _OOD_AUC), _FOREST_ENSEMBLES),
        Block("Regression: detection", "uncertainty_rf", REGRESSION, (_PRR, _OOD_AUC), _FOREST_ENSEMBLES),
    ),
    "budget": tuple(
        Block(
            title,
            "",
            datasets,
            (("nll",), (error,), _PRR, _OOD_AUC, ("train_seconds",)),
            ("single", "vsglb", "short_10", "short_20"),
        )
        for title, datasets, error in (
            ("Classification", CLASSIFICATION, "error_percent"),
            ("Regression", REGRESSION, "rmse"),
        )
    ),
}
