"""Losses, intervals, calibration and disagreement: closed forms against integrals, weights as counts, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import entr
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from epiboost import EpiBoostClassifier, EpiBoostRegressor, Posterior, Uncertainty
from epiboost.metrics import (
    brier_loss,
    crps_loss,
    disagreement,
    expected_calibration_error,
    interval_coverage_score,
    interval_width,
    negative_log_likelihood_loss,
    ood_auc_score,
    prediction_rejection_score,
    probability_integral_transform,
    reliability_curve,
    scorer,
)

RANDOM = np.random.default_rng(0)
N, M, K = 30, 4, 3
NORMAL = Posterior(np.stack([RANDOM.normal(size=(M, N)), RANDOM.gamma(2.0, size=(M, N))], axis=2), "normal")
CLASSES = Posterior(RANDOM.dirichlet(np.ones(K), size=(M, N)), "categorical")
Y = RANDOM.normal(size=N)
LABELS = RANDOM.integers(K, size=N)
WEIGHT = RANDOM.integers(0, 4, size=N)
INTERVAL = NORMAL.interval(0.6)

METRICS = {
    "normal likelihood": lambda y, rows, weight: negative_log_likelihood_loss(y[0], normal(rows), sample_weight=weight),
    "class likelihood": lambda y, rows, weight: negative_log_likelihood_loss(y[1], classes(rows), sample_weight=weight),
    "crps": lambda y, rows, weight: crps_loss(y[0], normal(rows), sample_weight=weight),
    "brier": lambda y, rows, weight: brier_loss(y[1], classes(rows), sample_weight=weight),
    "coverage": lambda y, rows, weight: interval_coverage_score(y[0], INTERVAL[rows], sample_weight=weight),
    "width": lambda _, rows, weight: interval_width(INTERVAL[rows], sample_weight=weight),
    "normal calibration": lambda y, rows, weight: expected_calibration_error(y[0], normal(rows), sample_weight=weight),
    "class calibration": lambda y, rows, weight: expected_calibration_error(
        y[1], classes(rows), n_bins=4, sample_weight=weight
    ),
    "class calibration in quantiles": lambda y, rows, weight: expected_calibration_error(
        y[1], classes(rows), n_bins=4, strategy="quantile", sample_weight=weight
    ),
}
every_metric = pytest.mark.parametrize("metric", sorted(METRICS))


def normal(rows):
    return Posterior(NORMAL.parameters[:, rows], "normal")


def classes(rows):
    return Posterior(CLASSES.parameters[:, rows], "categorical")


def value(metric, rows, weight=None):
    return METRICS[metric]((Y[rows], LABELS[rows]), rows, weight)


@every_metric
def test_a_weight_is_a_number_of_repetitions(metric):
    repeated = np.repeat(np.arange(N), WEIGHT)
    assert value(metric, np.arange(N), WEIGHT) == pytest.approx(value(metric, repeated), rel=1e-12)
    assert value(metric, repeated) != pytest.approx(value(metric, np.arange(N)), rel=1e-6)


@every_metric
def test_the_order_of_rows_is_irrelevant(metric):
    order = RANDOM.permutation(N)
    assert value(metric, order, WEIGHT[order]) == pytest.approx(value(metric, np.arange(N), WEIGHT), rel=1e-12)


@every_metric
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.full(N, -1.0), "must not be negative, got -1"),
        (np.zeros(N), "zero for every sample"),
        (np.full(N, np.nan), "must be finite"),
        (np.ones(N + 1), "one entry per sample"),
        (np.full(N, 1e308), "must have a finite sum"),
    ],
)
def test_weights_that_are_no_counts_are_refused(metric, weight, words):
    with pytest.raises(ValueError, match=f"sample_weight .*{words}"):
        value(metric, np.arange(N), weight)


@every_metric
def test_an_empty_table_is_refused(metric):
    with pytest.raises(ValueError, match="empty"):
        value(metric, np.arange(0))


def test_a_target_that_is_missing_is_refused():
    missing = np.full(N, np.nan)
    for metric in (crps_loss, negative_log_likelihood_loss, probability_integral_transform, reliability_curve):
        with pytest.raises(ValueError, match="y_true must be finite, got 30"):
            metric(missing, NORMAL)
    with pytest.raises(ValueError, match="y_true must be finite"):
        interval_coverage_score(missing, INTERVAL)


# Losses


def test_likelihood_is_that_of_the_mixture():
    mean = CLASSES.mean
    assert negative_log_likelihood_loss(LABELS, CLASSES) == pytest.approx(log_loss(LABELS, mean))
    assert negative_log_likelihood_loss(Y, NORMAL) == pytest.approx(-NORMAL.logpdf(Y).mean())


def test_a_class_held_impossible_costs_infinitely_unless_it_has_no_weight():
    sure = [[1.0, 0.0], [1.0, 0.0]]
    assert negative_log_likelihood_loss([0, 1], sure, family="categorical") == np.inf
    assert negative_log_likelihood_loss([0, 1], sure, family="categorical", sample_weight=[1, 0]) == 0.0


def test_what_was_held_impossible_outweighs_point_masses_that_were_hit():
    points = [[0.0, 0.0], [0.0, 0.0]]
    assert negative_log_likelihood_loss([0.0, 0.0], points, family="normal") == -np.inf
    assert negative_log_likelihood_loss([0.0, 1.0], points, family="normal") == np.inf
    assert negative_log_likelihood_loss([0.0, 1.0], points, family="normal", sample_weight=[1, 0]) == -np.inf


@pytest.mark.parametrize("parameters", [[1e308, 1.0], [0.0, 1.7e308]])
def test_crps_of_numbers_too_large_is_refused(parameters):
    with pytest.raises(ValueError, match="too large"):
        crps_loss([-1e308], [[parameters], [[-parameters[0], parameters[1]]]])


def test_crps_too_large_to_be_added_up_is_refused():
    with pytest.raises(ValueError, match="the score is not finite"):
        crps_loss(np.full(3, 1e308), np.tile([0.0, 1.0], (3, 1)))


def test_crps_is_the_integral_of_the_squared_distance_to_the_step():
    for row in range(5):
        single = normal([row])
        integral = sum(
            quad(lambda x: (single.cdf([x])[0] - (x >= y)) ** 2, *limits, epsabs=1e-10, limit=200)[0]  # noqa: B023
            for y in [Y[row]]
            for limits in [(-40.0, y), (y, 40.0)]
        )
        assert crps_loss(Y[[row]], single) == pytest.approx(integral, abs=1e-7)


def test_crps_of_point_masses_is_that_of_a_step_function():
    members = np.array([[[0.0, 0.0]], [[2.0, 0.0]]])
    # F is 1/2 between 0 and 2; with y = 3 the distance is 1/4 there and 1 from 2 to 3
    assert crps_loss([3.0], members) == pytest.approx(2 * 0.25 + 1.0)


def test_crps_scales_with_the_target():
    scaled = Posterior(NORMAL.parameters * np.array([10.0, 100.0]), "normal")
    assert crps_loss(10 * Y, scaled) == pytest.approx(10 * crps_loss(Y, NORMAL))


def test_brier_of_two_classes_is_twice_that_of_one():
    probability = RANDOM.dirichlet([1, 1], size=N)
    y = LABELS % 2
    assert brier_loss(y, probability) == pytest.approx(2 * brier_score_loss(y, probability[:, 1]))


def test_labels_are_found_among_the_classes_in_any_order():
    names = np.array(["b", "c", "a"])
    assert brier_loss(names[LABELS], CLASSES, classes=names) == brier_loss(LABELS, CLASSES)
    with pytest.raises(ValueError, match=r"y_true holds .*'x'.* none of the classes \['b', 'c', 'a'\]"):
        brier_loss(np.full(N, "x"), CLASSES, classes=names)
    with pytest.raises(ValueError, match="name the 3 classes"):
        brier_loss(LABELS, CLASSES, classes=["a", "b"])


def test_an_array_needs_a_family_and_a_posterior_the_right_one():
    with pytest.raises(ValueError, match="family is missing"):
        negative_log_likelihood_loss(Y, NORMAL.parameters)
    with pytest.raises(ValueError, match="prediction must be normal, got a categorical"):
        crps_loss(Y, CLASSES)
    assert negative_log_likelihood_loss(Y, NORMAL.parameters, family="normal") == negative_log_likelihood_loss(
        Y, NORMAL
    )


# Intervals


def test_many_intervals_are_judged_at_once():
    many = np.stack([NORMAL.interval(0.2), NORMAL.interval(0.8)], axis=1)
    coverage, width = interval_coverage_score(Y, many), interval_width(many)
    assert coverage.tolist() == [interval_coverage_score(Y, many[:, k]) for k in range(2)]
    assert width.tolist() == pytest.approx([interval_width(many[:, k]) for k in range(2)])


def test_ends_belong_to_the_interval_and_may_be_infinite():
    assert interval_coverage_score([1.0, 2.0], [[1.0, 1.5], [-np.inf, 2.0]]) == 1.0
    assert interval_width([[-np.inf, 2.0]]) == np.inf
    assert interval_width([[-1e308, 1e308]]) == np.inf


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ([[1.0, 0.0]], "must not have a lower end above"),
        ([[np.nan, 0.0]], "must not be NaN, got 1"),
        ([[np.inf, np.inf]], "a lower end of infinity"),
        ([[-np.inf, -np.inf]], "an upper end of minus infinity"),
        ([1.0, 0.0], r"shape \(n, 2\) or \(n, k, 2\), got \(2,\)"),
    ],
)
def test_what_is_no_interval_is_refused(interval, words):
    with pytest.raises(ValueError, match=words):
        interval_width(interval)


# Calibration


def test_a_true_distribution_is_calibrated_and_a_narrow_one_is_not():
    y = RANDOM.normal(size=5000)
    true, narrow = np.tile([0.0, 1.0], (5000, 1)), np.tile([0.0, 0.1], (5000, 1))
    assert expected_calibration_error(y, true, family="normal") < 0.02
    assert expected_calibration_error(y, narrow, family="normal") > 0.2
    assert np.histogram(probability_integral_transform(y, true), 4)[0] == pytest.approx(1250, abs=150)
    assert np.histogram(probability_integral_transform(y, narrow), 4)[0][[0, 3]].sum() > 4000


def test_intervals_of_the_reliability_curve_are_the_mixtures_own():
    curve = reliability_curve(Y, NORMAL, n_bins=4)
    assert curve.predicted == pytest.approx([0.2, 0.4, 0.6, 0.8])
    assert curve.observed.tolist() == [
        interval_coverage_score(Y, NORMAL.interval(level)) for level in (0.2, 0.4, 0.6, 0.8)
    ]


def test_reliability_of_classes_by_hand():
    probability = [[0.6, 0.4], [0.7, 0.3], [0.1, 0.9], [0.2, 0.8]]
    curve = reliability_curve([0, 1, 1, 1], probability, family="categorical", n_bins=4)
    assert curve.predicted == pytest.approx([0.65, 0.85])
    assert curve.observed == pytest.approx([0.5, 1.0])
    assert curve.weight == pytest.approx([0.5, 0.5])
    assert curve.error == pytest.approx((0.15 + 0.15) / 2)


def test_quantile_bins_hold_equally_many_samples():
    curve = reliability_curve(LABELS, CLASSES, n_bins=3, strategy="quantile")
    assert curve.weight == pytest.approx(np.full(3, 1 / 3))


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n_bins": 0}, "n_bins must be a whole number of at least 1, got 0"), ({"strategy": "even"}, "strategy must be")],
)
def test_what_are_no_bins_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        reliability_curve(LABELS, CLASSES, **options)


# Disagreement


def test_measures_of_classes_are_what_their_names_say():
    found = disagreement(CLASSES)
    p, mean = CLASSES.parameters, CLASSES.mean
    kl = lambda a, b: (a * np.log(a / b)).sum(axis=-1)  # noqa: E731
    assert found.mutual_information == pytest.approx(entr(mean).sum(axis=1) - entr(p).sum(axis=2).mean(axis=0))
    assert found.reverse_mutual_information == pytest.approx(kl(mean, p).mean(axis=0))
    assert found.expected_pairwise_kl == pytest.approx(kl(p[:, None], p[None]).mean(axis=(0, 1)))
    assert found.variance_of_means == pytest.approx(p.var(axis=0).sum(axis=1))
    odds = np.log(p[..., :, None] / p[..., None, :]).var(axis=0)
    assert found.variance_of_logits == pytest.approx(odds.sum(axis=(1, 2)) / (K * (K - 1)))


def test_measures_of_normals_are_what_their_names_say():
    found = disagreement(NORMAL)
    assert found.variance_of_means == pytest.approx(NORMAL.parameters[:, :, 0].var(axis=0))
    assert found.variance_of_logits is None
    for row in range(4):
        members = [normal([row]).parameters[m : m + 1] for m in range(M)]
        mixture = normal([row])
        divergence = [
            quad(lambda x: _relative(Posterior(one, "normal"), mixture, x), -40, 40, limit=300)[0]  # noqa: B023
            for one in members
        ]
        assert found.mutual_information[row] == pytest.approx(np.mean(divergence), abs=1e-6)
    assert found.expected_pairwise_kl == pytest.approx(found.mutual_information + found.reverse_mutual_information)


@pytest.mark.parametrize("ratio", [1, 3, 5, 10, 30, 1000])
@pytest.mark.parametrize("distance", [0.0, 2.0, 40.0])
def test_mutual_information_sees_narrow_members_beside_wide_ones(ratio, distance):
    members = np.array([[0.0, 1.0], [distance, ratio**2], [1.0, 4.0]])
    x = np.unique(np.concatenate([mean + np.sqrt(v) * np.linspace(-12, 12, 20_001) for mean, v in members]))
    logs = np.array([Posterior([[one]], "normal").logpdf(x[np.newaxis])[0] for one in members])
    divergence = (np.exp(logs) * (logs - np.logaddexp.reduce(logs) + np.log(3))).mean(axis=0)
    exact = np.sum(np.diff(x) * (divergence[1:] + divergence[:-1])) / 2
    found = disagreement(members[:, np.newaxis], family="normal")
    assert found.mutual_information[0] == pytest.approx(exact, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    ("prediction", "words"),
    [(np.empty((2, 0, 2)), "empty|at least one sample"), (np.full((2, 3, 2), np.nan), "finite")],
)
def test_what_nobody_predicted_is_refused(prediction, words):
    for family in ("normal", "categorical"):
        with pytest.raises(ValueError, match=words):
            disagreement(prediction, family=family)
    with pytest.raises(ValueError, match=words):
        probability_integral_transform(np.zeros(prediction.shape[1]), prediction)


def _relative(one, other, x):
    return np.exp(one.logpdf([x])[0]) * (one.logpdf([x])[0] - other.logpdf([x])[0])


@pytest.mark.parametrize("posterior", [NORMAL, CLASSES], ids=["normal", "categorical"])
def test_equal_members_do_not_disagree_by_any_measure(posterior):
    equal = Posterior(np.repeat(posterior.parameters[:1], 3, axis=0), posterior.family)
    for name, values in disagreement(equal).columns().items():
        assert values == pytest.approx(0.0, abs=1e-12), name


def test_members_worlds_apart_share_no_information():
    apart = np.array([[[0.0, 1.0], [0.0, 0.0]], [[1e9, 1.0], [1.0, 0.0]]])
    assert disagreement(apart, family="normal").mutual_information == pytest.approx(np.log(2))


def test_a_class_held_impossible_by_some_is_infinitely_disputed():
    found = disagreement(np.array([[[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]]]), family="categorical")
    assert found.variance_of_logits.tolist() == [np.inf, 0.0]
    assert np.isfinite(found.mutual_information).all()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_the_measures_are_one_table(backend):
    frame = disagreement(CLASSES).to_frame(backend)
    assert frame.shape == (N, 5)


# Scorers

X_TABLE = RANDOM.normal(size=(80, 2))
Y_TABLE = X_TABLE[:, 0] + RANDOM.normal(scale=0.3, size=80)
SMALL = {"n_members": 2, "n_estimators": 10, "n_jobs": 1, "random_state": 0}
FAR = {"X_ood": X_TABLE + 5.0}
SCORERS = {
    "negative_log_likelihood_loss": {},
    "crps_loss": {},
    "brier_loss": {},
    "expected_calibration_error": {"n_bins": 5},
    "interval_coverage_score": {"coverage": 0.8},
    "interval_width": {"coverage": 0.8},
    "prediction_rejection_score": {"measure": "knowledge"},
    "ood_auc_score": FAR,
    "ood_average_precision_score": FAR,
    "ood_false_positive_rate": FAR,
}
ONLY = {
    "brier_loss": "classifier",
    **dict.fromkeys(("crps_loss", "interval_coverage_score", "interval_width"), "regressor"),
}


@pytest.mark.parametrize(
    ("metric", "task"),
    [(m, t) for m in SCORERS for t in ("regressor", "classifier") if ONLY.get(m, t) == t],
)
def test_every_metric_searches_a_grid(metric, task):
    scoring = scorer(metric, **SCORERS[metric])
    model, y = (
        (EpiBoostRegressor(**SMALL), Y_TABLE)
        if task == "regressor"
        else (EpiBoostClassifier(**SMALL), np.where(Y_TABLE > 0, "yes", "no"))
    )
    search = GridSearchCV(model, {"max_depth": [1, 3]}, scoring=scoring, cv=2, error_score="raise").fit(X_TABLE, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_score_ == scores.max()
    if metric.endswith(("_loss", "_width", "_rate", "_error")):
        assert (scores <= 0.0).all()


def test_a_loss_is_scored_with_its_sign_turned_and_weights_count():
    model = EpiBoostRegressor(**SMALL).fit(X_TABLE, Y_TABLE)
    weight = np.arange(80.0)
    expected = crps_loss(Y_TABLE, model.predict_posterior(X_TABLE), sample_weight=weight)
    assert scorer("crps_loss")(model, X_TABLE, Y_TABLE, sample_weight=weight) == -expected


def test_coverage_is_scored_by_its_distance_from_what_is_wanted():
    model = EpiBoostRegressor(**SMALL).fit(X_TABLE, Y_TABLE)
    observed = interval_coverage_score(Y_TABLE, model.predict_interval(X_TABLE, 0.5))
    assert scorer("interval_coverage_score", coverage=0.5)(model, X_TABLE, Y_TABLE) == -abs(observed - 0.5)


def test_a_model_at_the_end_of_a_pipeline_reads_what_the_pipeline_makes():
    pipeline = make_pipeline(StandardScaler(), EpiBoostRegressor(**SMALL)).fit(10 * X_TABLE, Y_TABLE)
    scaled = pipeline[:-1].transform(10 * X_TABLE)
    for metric, options in (("crps_loss", {}), ("ood_auc_score", {"X_ood": 10 * X_TABLE + 50})):
        inner = {name: pipeline[:-1].transform(rows) for name, rows in options.items()}
        assert scorer(metric, **options)(pipeline, 10 * X_TABLE, Y_TABLE) == scorer(metric, **inner)(
            pipeline[-1], scaled, Y_TABLE
        )


def test_a_scorer_travels_to_other_processes():
    again = pickle.loads(pickle.dumps(scorer("interval_width", coverage=0.5)))  # noqa: S301 (bytes of our own)
    model = EpiBoostRegressor(**SMALL).fit(X_TABLE, Y_TABLE)
    assert again(model, X_TABLE, Y_TABLE) == scorer("interval_width", coverage=0.5)(model, X_TABLE, Y_TABLE)


def test_a_classifier_has_no_intervals_to_score():
    model = EpiBoostClassifier(**SMALL).fit(X_TABLE, Y_TABLE > 0)
    for metric in ("interval_width", "interval_coverage_score"):
        with pytest.raises(ValueError, match="intervals are for regressors, got EpiBoostClassifier"):
            scorer(metric)(model, X_TABLE, Y_TABLE > 0)


def test_several_scorers_are_used_at_once():
    scoring = {name: scorer(name) for name in ("crps_loss", "prediction_rejection_score")}
    found = cross_validate(EpiBoostRegressor(**SMALL), X_TABLE, Y_TABLE, scoring=scoring, cv=2)
    assert {"test_crps_loss", "test_prediction_rejection_score"} <= set(found)


@pytest.mark.parametrize(
    ("metric", "options", "words"),
    [
        ("accuracy", {}, "metric must be one of negative_log_likelihood_loss, .*; got 'accuracy'"),
        ("crps_loss", {"coverage": 0.9}, "crps_loss has no option coverage; its options are: none"),
        ("ood_auc_score", {}, "ood_auc_score needs the option X_ood"),
        ("prediction_rejection_score", {"measure": "doubt"}, "measure must be one of .* got 'doubt'"),
        ("interval_width", {"coverage": 1.5}, "coverage must be a number strictly between 0 and 1, got 1.5"),
        ("interval_coverage_score", {"coverage": [0.5]}, r"coverage must be a number .*, got \[0.5\]"),
        ("expected_calibration_error", {"n_bins": 0}, "n_bins must be a whole number of at least 1, got 0"),
    ],
)
def test_scorers_that_make_no_sense_are_refused(metric, options, words):
    with pytest.raises(ValueError, match=words):
        scorer(metric, **options)


@pytest.mark.parametrize("labels", [np.array([1, 2, 3]), np.array(["a", "b", "c"]), np.array([True, False])], ids=str)
def test_a_posterior_knows_the_labels_of_its_classes(labels):
    y = labels[np.digitize(Y_TABLE, [-0.5, 0.5]) % len(labels)]
    model = EpiBoostClassifier(n_members=2, n_estimators=10, n_jobs=1, random_state=0).fit(X_TABLE, y)
    lacking = y != model.classes_[-1]  # rows among which the last class does not occur
    for classifier in (model, model.calibrate(X_TABLE, y)):
        posterior = classifier.predict_posterior(X_TABLE[lacking])
        assert posterior.classes.tolist() == sorted(labels.tolist())
        for metric in (negative_log_likelihood_loss, brier_loss, expected_calibration_error):
            assert metric(y[lacking], posterior) == metric(y[lacking], posterior, classes=model.classes_)


def test_labels_without_classes_are_told_how_to_name_them():
    with pytest.raises(ValueError, match="classes="):
        negative_log_likelihood_loss(["a"], [[0.5, 0.5]], family="categorical")
    with pytest.raises(ValueError, match="classes="):
        brier_loss([2], [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("parameters", "family", "classes", "words"),
    [
        ([[[0.5, 0.5]]], "categorical", ["a", "a"], "differ"),
        ([[[0.5, 0.5]]], "categorical", ["a"], "name the 2 classes"),
        ([[[0.5, 0.5]]], "normal", ["a", "b"], "categorical posterior"),
    ],
)
def test_classes_that_do_not_fit_are_refused(parameters, family, classes, words):
    with pytest.raises(ValueError, match=words):
        Posterior(parameters, family, classes)
    with pytest.raises(ValueError, match=words if family == "categorical" else "categorical"):
        brier_loss(["a"], Posterior(parameters, family), classes=classes)


COMPLEX, SOME = np.array([1.0 + 1j, 2.0]), np.array([1.0, 2.0])
PAIR = Posterior([[[1.0, 1.0], [2.0, 1.0]]], "normal")
HELD = Uncertainty(SOME, SOME, 0.0 * SOME, "variance")
NOT_KNOWN = pd.array(["a", pd.NA])


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (lambda: crps_loss(COMPLEX, PAIR), "y_true must be real numbers"),
        (lambda: PAIR.cdf(COMPLEX), "y must be real numbers"),
        (lambda: Posterior([[[1j, 1.0]]], "normal"), "parameters must be real numbers"),
        (lambda: crps_loss(SOME, [[1j, 1.0], [1.0, 1.0]]), "prediction must be real numbers"),
        (lambda: interval_width([COMPLEX]), "interval must be real numbers"),
        (lambda: prediction_rejection_score(COMPLEX, SOME, SOME, loss="squared"), "y_true must be real numbers"),
        (lambda: prediction_rejection_score(SOME, SOME[::-1], HELD), r"got an Uncertainty: pass its \.total"),
        (lambda: ood_auc_score([True, False], HELD), r"got an Uncertainty: pass its \.total"),
        (lambda: prediction_rejection_score(NOT_KNOWN, ["a", "b"], SOME), "y_true holds missing labels"),
        (lambda: prediction_rejection_score(["a", "b"], ["a", None], SOME), "y_pred holds missing labels"),
        (lambda: brier_loss(NOT_KNOWN, [[0.5, 0.5]] * 2, classes=["a", "b"]), "y_true holds missing labels"),
        (
            lambda: crps_loss(pd.array([1.0, pd.NA], dtype=object), PAIR),
            "y_true must be numbers without missing values",
        ),
        (lambda: disagreement(PAIR).to_frame("foo"), "backend must be one of"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_a_word(question, words):
    with pytest.raises(ValueError, match=words):
        question()
