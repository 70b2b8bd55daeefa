"""Model files with out-of-fold chains: a loaded model is the same, and files whose parts do not fit are refused."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, TimeSeriesSplit

from epiboost import EpiBoostClassifier, EpiBoostRegressor, load
from epiboost._files import model_file
from epiboost._files.model_file import ModelFileError
from tests.support.cities import city_target, draw
from tests.support.compare import parameters_of
from tests.support.forgeries import change, drop, lack, put, with_value
from tests.support.models import ESTIMATOR_OF, every_task
from tests.support.out_of_fold import ATTRIBUTES, X, Y, fitted, model_of
from tests.support.tables import target_for


def assert_same_model(one, other, table):
    """Assert that two models with out-of-fold chains predict the same bits."""
    np.testing.assert_array_equal(parameters_of(one, table), parameters_of(other, table))
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), strict=True)
    assert one.out_of_fold_.recalibration == other.out_of_fold_.recalibration
    assert one.prefixes_ == other.prefixes_
    np.testing.assert_array_equal(one.n_iter_, other.n_iter_)
    predict = "predict_set" if isinstance(one, EpiBoostClassifier) else "predict_interval"
    for guarantee in (False,) if one.out_of_fold_.chains is None else (False, True):
        found, expected = (getattr(model, predict)(table, [0.5, 0.9], guarantee=guarantee) for model in (one, other))
        np.testing.assert_array_equal(found, expected)


# Saving and loading


@every_task
@pytest.mark.parametrize("keep_folds", [False, True])
@pytest.mark.parametrize("ensemble", ["sglb", "virtual", "single"])
def test_a_model_with_chains_is_the_same_after_saving_and_loading(path, task, keep_folds, ensemble):
    model = fitted(task, keep_folds=keep_folds, ensemble=ensemble, out_of_fold=3)
    model.save(path)
    again = load(path)
    assert_same_model(again, model, X)
    assert again.get_params() == model.get_params()


@every_task
@pytest.mark.parametrize("keep_folds", [False, True])
def test_a_model_with_categories_and_chains_is_the_same_after_loading(path, task, keep_folds):
    frame, y = draw(n=240, known=12)
    model = model_of(task, keep_folds=keep_folds).fit(frame, city_target(task, y))
    model.save(path)
    new, _ = draw(seed=1, n=100, known=20)  # with cities that were not seen
    assert_same_model(load(path), model, new)


def test_a_loaded_model_with_chains_is_saved_to_the_same_bytes(path, tmp_path):
    fitted("multiclass", keep_folds=True, out_of_fold=12).save(path)  # "fold1" is not the beginning of "fold10"
    load(path).save(tmp_path / "again.epib")
    assert (tmp_path / "again.epib").read_bytes() == path.read_bytes()


def test_rows_without_a_prediction_have_none_after_loading(path):
    model = model_of("regression").fit(X, Y, sample_weight=np.arange(len(X)) % 3)
    model.save(path)
    np.testing.assert_array_equal(load(path).oof_prediction_, model.oof_prediction_)


def test_a_model_without_chains_has_none_after_loading(path):
    model = fitted("regression", out_of_fold=0)
    model.save(path)
    again = load(path)
    assert again.out_of_fold_ is None
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_a_file_from_before_out_of_fold_chains_can_be_loaded(path):
    fitted("regression", out_of_fold=0).save(path)
    header, arrays = model_file.read(path)
    del header["out_of_fold"], header["parameters"]["out_of_fold"], header["parameters"]["keep_folds"]
    del header["capacity"], header["parameters"]["max_leaves"], arrays["parent"]  # all trees were symmetric
    model_file.write(path, header, arrays)
    np.testing.assert_array_equal(load(path).predict(X), fitted("regression", out_of_fold=0).predict(X))


@pytest.mark.parametrize("engine", ["lightgbm", "forest"])
def test_chains_of_other_engines_are_restored(path, engine):
    if engine == "lightgbm":
        pytest.importorskip("lightgbm")
    options = {"engine": engine, "ensemble": "sgb", "n_members": 5, "n_estimators": 10, "random_state": 0, "n_jobs": 1}
    classifier = EpiBoostClassifier(**options, keep_folds=True).fit(X, target_for("multiclass", Y))
    classifier.save(path)
    assert_same_model(load(path), classifier, X)
    regressor = EpiBoostRegressor(**options).fit(X, Y)
    regressor.save(path)
    np.testing.assert_array_equal(load(path).oof_prediction_, regressor.oof_prediction_)
    assert load(path).oof_score_ == regressor.oof_score_
    np.testing.assert_array_equal(load(path).oof_loss_, regressor.oof_loss_)


@pytest.mark.parametrize("folds", [KFold(3), TimeSeriesSplit(3), KFold(3).split(X)], ids=["KFold", "time", "iterator"])
def test_a_splitter_is_not_saved_with_the_model(path, folds):
    model = fitted("regression", out_of_fold=folds, keep_folds=True)
    model.save(path)
    again = load(path)
    assert_same_model(again, model, X)
    assert again.out_of_fold is None
    with pytest.raises(ValueError, match=r"out_of_fold must be 'auto', a number of folds, .* got None"):
        again.fit(X, Y)


def test_pairs_are_saved_with_the_model(path):
    model = fitted("regression", out_of_fold=list(KFold(3).split(X)))
    model.save(path)
    assert_same_model(load(path).fit(X, Y), model, X)


def test_a_calibrated_model_keeps_the_chains_of_its_model(path):
    model = fitted("regression", keep_folds=True)
    calibrated = model.calibrate(X, Y)
    calibrated.save(path)
    again = load(path)
    np.testing.assert_array_equal(again.predict_interval(X), calibrated.predict_interval(X))
    assert_same_model(again.estimator_, model, X)


# Forged files

MODELS = {"regression": {}, "multiclass": {}, "cities": {}, "virtual": {"ensemble": "virtual"}}
OF = "out_of_fold"
FORGERIES = {
    **{f"no {key}": drop(OF, key) for key in ["loss", "score", "n_trees", "recalibration", "chains"]},
    "out-of-fold part that is a list": put(OF, value=[1]),
    "loss that is text": put(OF, "loss", value="small"),
    "score that is null": put(OF, "score", value=None),
    "recalibration that is null": put(OF, "recalibration", value=None),
    "recalibration that is a list": put(OF, "recalibration", value=[1.0, 1.0]),
    "no knowledge factor": drop(OF, "recalibration", "knowledge"),
    "negative knowledge": put(OF, "recalibration", "knowledge", value=-0.1),
    "knowledge that is text": put(OF, "recalibration", "knowledge", value="much"),
    "no trees in use": put(OF, "n_trees", value=0),
    "negative trees in use": put(OF, "n_trees", value=-3),
    "more trees in use than there are": put(OF, "n_trees", value=21),
    "fraction of trees in use": put(OF, "n_trees", value=2.5),
    "trees in use that are text": put(OF, "n_trees", value="all"),
    "other trees in use than the prefixes": put(OF, "n_trees", value=3),
    "no chains in the list": put(OF, "chains", value=[]),
    "chains that are text": put(OF, "chains", value="four"),
    "chains that are null": put(OF, "chains", value=[None] * 4),
    "one chain more": lambda header, _arrays: header[OF]["chains"].append(header[OF]["chains"][0]),
    "chain without its objective": drop(OF, "chains", 1, "objective"),
    "chain of another objective": put(OF, "chains", 1, "objective", value={"name": "bernoulli", "log_odds": 0.0}),
    "chain of other classes": put(
        OF, "chains", 1, "objective", value={"name": "categorical", "log_shares": [-1.5] * 4}
    ),
    **{f"no array {name}": lack(name) for name in ["oof_predicted", "oof_scores", "fold0_scores", "fold3_leaf"]},
    "scores that descend": change("oof_scores", lambda a: a[::-1]),
    "score that is not a number": change("oof_scores", with_value(0, np.nan)),
    "score that is infinite": change("oof_scores", with_value(-1, np.inf)),
    "scores of another type": change("oof_scores", lambda a: a.astype(np.float32)),
    "scores in two dimensions": change("oof_scores", lambda a: a[np.newaxis]),
    "scores of a chain that descend": change("fold2_scores", lambda a: a[::-1]),
    "score of a chain that is infinite": change("fold2_scores", with_value(-1, np.inf)),
    "predictions of fewer outputs": change("oof_predicted", lambda a: a[:, :1]),
    "predictions of more outputs": change("oof_predicted", lambda a: np.hstack([a, a])),
    "predictions in one dimension": change("oof_predicted", np.ravel),
    "predictions of another type": change("oof_predicted", lambda a: a.astype(np.float32)),
    "leaf of a chain that is not a number": change("fold1_leaf", with_value((0, 0, 0, 0), np.nan)),
    "split of a chain on a far column": change("fold1_feature", with_value((0, 0, 0), 65535)),
    "chain with fewer columns": change("fold1_offsets", lambda a: a[:-1]),
}  # fmt: skip
NUMBER_FORGERIES = {
    "factor of zero": put(OF, "recalibration", "factor", value=0.0),
    "negative factor": put(OF, "recalibration", "factor", value=-1.0),
    "reference of zero": put(OF, "recalibration", "reference", value=0.0),
    "limit of zero": put(OF, "recalibration", "limit", value=0.0),
    "no limit": drop(OF, "recalibration", "limit"),
    "negative power": put(OF, "recalibration", "power", value=-1.0),
    "huge power": put(OF, "recalibration", "power", value=10**400),
    "temperature in place of a factor": put(OF, "recalibration", value={"temperature": 1.0, "knowledge": 1.0}),
}
LABEL_FORGERIES = {
    "temperature of zero": put(OF, "recalibration", "temperature", value=0.0),
    "negative temperature": put(OF, "recalibration", "temperature", value=-1.0),
    "no temperature": drop(OF, "recalibration", "temperature"),
}
CASES = [
    (model, forgery)
    for model in MODELS
    for forgery in [*FORGERIES, *(LABEL_FORGERIES if model == "multiclass" else NUMBER_FORGERIES)]
]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    """Return files of real models with kept chains, by name."""
    folder = tmp_path_factory.mktemp("genuine")
    for name, changes in MODELS.items():
        model = model_of(
            "multiclass" if name == "multiclass" else "regression", keep_folds=True, out_of_fold=4, **changes
        )
        if name == "cities":
            frame, y = draw(n=240, known=12)
            model.fit(frame, y)
        else:
            model.fit(X, target_for("multiclass" if name == "multiclass" else "regression", Y))
        model.save(folder / f"{name}.epib")
    return folder


def estimator_of(model):
    return ESTIMATOR_OF["multiclass" if model == "multiclass" else "regression"]


def test_the_files_to_forge_can_be_loaded(genuine):
    for model in MODELS:
        assert len(estimator_of(model).load(genuine / f"{model}.epib").out_of_fold_.chains.forests) == 4


@pytest.mark.parametrize(("model", "forgery"), CASES)
def test_a_forged_file_with_chains_is_refused(genuine, path, model, forgery):
    header, arrays = model_file.read(genuine / f"{model}.epib")
    {**FORGERIES, **NUMBER_FORGERIES, **LABEL_FORGERIES}[forgery](header, arrays)
    model_file.write(path, header, arrays)
    with pytest.raises(ModelFileError, match=r"model\.epib"):
        estimator_of(model).load(path)


FOREIGN_CHAINS = {
    "another family": ("binary", "regression", "must be of the family of the members"),
    "another number of classes": ("multiclass", "four classes", "must have the outputs of the target"),
    "other columns": ("regression", "two columns", "must have the columns of the members"),
    "other categories": ("cities", "more cities", "must have the columns of the members"),
}


def kept_model(name):
    """Return a fitted model that keeps its chains."""
    if name in {"cities", "more cities"}:
        return model_of("regression", keep_folds=True).fit(*draw(n=240, known=12 if name == "cities" else 20))
    task = name if name in {"binary", "multiclass"} else "regression"
    if name == "four classes":
        return model_of("multiclass", keep_folds=True).fit(X, np.digitize(Y, [-1.0, 0.0, 1.0]))
    return model_of(task, keep_folds=True).fit(X[:, :2] if name == "two columns" else X, target_for(task, Y))


@pytest.mark.parametrize("case", FOREIGN_CHAINS)
def test_a_chain_of_another_model_is_refused(path, tmp_path, case):
    own, foreign, message = FOREIGN_CHAINS[case]
    kept_model(own).save(path)
    kept_model(foreign).save(tmp_path / "foreign.epib")
    header, arrays = model_file.read(path)
    foreign_header, foreign_arrays = model_file.read(tmp_path / "foreign.epib")
    header[OF]["chains"][0] = foreign_header[OF]["chains"][0]
    arrays = {name: array for name, array in arrays.items() if not name.startswith("fold0_")}
    arrays |= {name: array for name, array in foreign_arrays.items() if name.startswith("fold0_")}
    model_file.write(path, header, arrays)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_chain_with_fewer_trees_than_are_in_use_is_refused(genuine, path):
    header, arrays = model_file.read(genuine / "multiclass.epib")
    for name in ("feature", "threshold", "parent", "leaf"):
        arrays[f"fold0_{name}"] = arrays[f"fold0_{name}"][:, :1].copy()
    arrays["fold0_count"][:] = 1
    model_file.write(path, header, arrays)
    assert header[OF]["n_trees"] > 1
    with pytest.raises(ModelFileError, match="prefixes must ascend"):
        EpiBoostClassifier.load(path)


@pytest.mark.parametrize("n_trees", [0, -1, 21, 2.0, "2"])
def test_more_trees_in_use_than_the_members_have_are_refused(path, n_trees):
    fitted("binary").save(path)
    header, arrays = model_file.read(path)
    header[OF]["n_trees"], header["prefixes"] = n_trees, [n_trees]
    model_file.write(path, header, arrays)
    with pytest.raises(ModelFileError, match="the trees in use must be among those of the chains"):
        load(path)
