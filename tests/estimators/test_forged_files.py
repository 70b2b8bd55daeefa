"""Model files with a right checksum whose parts do not fit together are refused."""

import numpy as np
import pytest

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._files import model_file
from epiboost._files.model_file import ModelFileError
from tests.support.forgeries import change, drop, lack, put, with_value
from tests.support.processes import run_python
from tests.support.saved_models import X, fitted

MODELS = {
    "regressor": ("numbers", "sglb"),
    "single regressor": ("numbers", "single"),
    "virtual regressor": ("numbers", "virtual"),
    "binary classifier": ("boolean labels", "sgb"),
    "classifier": ("text labels", "sglb"),
    "virtual classifier": ("text objects", "virtual"),
    "leaf-wise regressor": ("numbers", "sglb"),
}
LEAF_WISE = {"max_depth": None, "max_leaves": 6}


def fewer_features(header, arrays):
    """Remove the borders of the last column, on which trees split; the header agrees."""
    arrays["offsets"] = arrays["offsets"][:-1].copy()
    arrays["borders"] = arrays["borders"][: arrays["offsets"][-1]].copy()
    arrays["feature"][:] = 2
    header["n_features"] = 2


FOREST_ARRAYS = ["borders", "offsets", "feature", "threshold", "leaf", "count", "evaluation"]

LAST = (-1, -1, -1, -1)

FORGERIES = {
    **{f"header without {key}": drop(key) for key in
       ["estimator", "parameters", "n_features", "feature_names", "prefixes", "forest"]},
    **{f"forest without {key}": drop("forest", key) for key in ["objective", "decay"]},
    "estimator of another name": put("estimator", value="EpiBoostRanker"),
    "estimator that is a list": put("estimator", value=["EpiBoostRegressor"]),
    "parameters that are a list": put("parameters", value=[1, 2]),
    "parameters that are null": put("parameters", value=None),
    "unknown parameter": put("parameters", "colour", value="blue"),
    "unknown ensemble": put("parameters", "ensemble", value="forest"),
    "ensemble that is a list": put("parameters", "ensemble", value=["sglb"]),
    "unknown engine": put("parameters", "engine", value="steam"),
    "engine that is null": put("parameters", "engine", value=None),
    "engine that is a list": put("parameters", "engine", value=["native"]),
    "no members": put("parameters", "n_members", value=0),
    "no trees": put("parameters", "n_estimators", value=0),
    "fraction of trees": put("parameters", "n_estimators", value=6.5),
    "too deep": put("parameters", "max_depth", value=999),
    "negative rate": put("parameters", "learning_rate", value=-0.1),
    "rate that is text": put("parameters", "learning_rate", value="fast"),
    "negative l2": put("parameters", "l2", value=-1.0),
    "negative temperature": put("parameters", "temperature", value=-1.0),
    "too many bins": put("parameters", "max_bins", value=256),
    "no rows to see": put("parameters", "subsample", value=0.0),
    "no rows for the splits": put("parameters", "structure_rows", value=0),
    "no patience": put("parameters", "early_stopping_rounds", value=0),
    "no threads": put("parameters", "n_jobs", value=0),
    "threads that are text": put("parameters", "n_jobs", value="all"),
    "forest that is null": put("forest", value=None),
    "forest that is a list": put("forest", value=[]),
    "objective that is null": put("forest", "objective", value=None),
    "objective without a name": drop("forest", "objective", "name"),
    "unknown objective": put("forest", "objective", "name", value="poisson"),
    "objective without numbers": put("forest", "objective", value={"name": "normal"}),
    "decay of zero": put("forest", "decay", value=0.0),
    "negative decay": put("forest", "decay", value=-0.5),
    "decay above one": put("forest", "decay", value=1.5),
    "decay that is null": put("forest", "decay", value=None),
    "decay that is text": put("forest", "decay", value="slow"),
    "fewer names": put("feature_names", value=["a", "b"]),
    "more names": put("feature_names", value=["a", "b", "c", "d"]),
    "names that are one text": put("feature_names", value="abcd"),
    "names that are one text of as many letters": put("feature_names", value="abc"),
    "names that are numbers": put("feature_names", value=[1, 2, 3]),
    "names that are lists": put("feature_names", value=[["a"], ["b"], ["c"]]),
    "names that are one number": put("feature_names", value=3),
    "prefixes past the end": put("prefixes", value=[4, 5, 7]),
    "prefixes that descend": put("prefixes", value=[6, 5, 4]),
    "no prefixes": put("prefixes", value=[]),
    "prefixes that are text": put("prefixes", value="456"),
    "negative prefixes": put("prefixes", value=[-1, 5, 6]),
    "another count of prefixes": put("prefixes", value=[5, 6]),
    **{f"no array {name}": lack(name) for name in FOREST_ARRAYS},
    **{f"{name} of another type": change(name, lambda a: a.astype(np.float16)) for name in FOREST_ARRAYS},
    **{f"{name} with one more axis": change(name, lambda a: a[np.newaxis]) for name in FOREST_ARRAYS},
    **{f"{name} without the last axis": change(name, lambda a: a[..., 0]) for name in FOREST_ARRAYS[:-1]},
    "split on a column that is not there": change("feature", with_value((0, 0, 0), 3)),
    "split on a far column": change("feature", with_value((-1, -1, -1), 65535)),
    "fewer trees of splits": change("feature", lambda a: a[:, :-1]),
    "fewer members of splits": change("feature", lambda a: a[:-1]),
    "no splits": change("feature", lambda a: a[:, :, :0]),
    "no trees of splits": change("feature", lambda a: a[:, :0]),
    "fewer thresholds": change("threshold", lambda a: a[:, :-1]),
    "leaf that is not a number": change("leaf", with_value((0, 0, 0, 0), np.nan)),
    "leaf that is infinite": change("leaf", with_value(LAST, -np.inf)),
    "parents of no member": change("parent", lambda a: a[:0]),
    "parents of fewer trees": change("parent", lambda a: a[:, :-1]),
    "fewer leaves": change("leaf", lambda a: a[:, :, :-1]),
    "fewer trees of leaves": change("leaf", lambda a: a[:, :-1]),
    "another number of outputs": change("leaf", lambda a: np.concatenate([a, a], axis=3)),
    "count of zero": change("count", with_value(0, 0)),
    "negative count": change("count", with_value(-1, -4)),
    "count past the end": change("count", with_value(0, 7)),
    "count of another length": change("count", lambda a: np.concatenate([a, a])),
    "border that is not a number": change("borders", with_value(0, np.nan)),
    "border that is infinite": change("borders", with_value(-1, np.inf)),
    "borders that descend": change("borders", lambda a: a[::-1]),
    "borders that are equal": change("borders", lambda a: np.repeat(a[:1], len(a))),
    "one border less": change("borders", lambda a: a[:-1]),
    "one border more": change("borders", lambda a: np.append(a, a[-1] + 1.0)),
    "offsets that do not begin at zero": change("offsets", with_value(0, 1)),
    "offsets that descend": change("offsets", lambda a: np.array([0, a[2], a[1], a[3]])),
    "negative offset": change("offsets", with_value(1, -5)),
    "huge offset": change("offsets", with_value(1, 2**62)),
    "smallest offset": change("offsets", with_value(1, -(2**63))),
    "offsets past the end": change("offsets", with_value(-1, 10**6)),
    "one offset": change("offsets", lambda a: a[:1]),
    "no offsets": change("offsets", lambda a: a[:0]),
    "losses of fewer members": change("evaluation", lambda a: a[:0]),
    "trees of a column that is gone": fewer_features,
}  # fmt: skip

LABEL_FORGERIES = {
    "no labels": lack("classes"),
    "no type of labels": lack("classes_are_objects"),
    "label twice": change("classes", lambda a: np.concatenate([a[:1], a[:-1]])),
    "one label less": change("classes", lambda a: a[:-1]),
    "one label more": change("classes", lambda a: np.append(a.astype(str), "zebra")),
    "labels in two dimensions": change("classes", lambda a: a[:, np.newaxis]),
    "labels without dimension": change("classes", lambda a: a[0]),
    "labels that are not numbers": change("classes", lambda a: np.array([*range(len(a) - 1), np.nan])),
    "two types of labels": change("classes_are_objects", lambda a: np.repeat(a, 2)),
    "objective of a regression": put("forest", "objective", value={"name": "normal", "location": 0.0, "scale": 1.0}),
    "another number of shares": put("forest", "objective", value={"name": "categorical", "log_shares": [-1.0] * 4}),
    "shares that are text": put("forest", "objective", value={"name": "categorical", "log_shares": ["a", "b", "c"]}),
    "log-odds that are null": put("forest", "objective", value={"name": "bernoulli", "log_odds": None}),
}

NUMBER_FORGERIES = {
    "scale of zero": put("forest", "objective", "scale", value=0.0),
    "negative scale": put("forest", "objective", "scale", value=-1.0),
    "scale that is null": put("forest", "objective", "scale", value=None),
    "no scale": drop("forest", "objective", "scale"),
    "location that is text": put("forest", "objective", "location", value="here"),
    "negative guard": put("parameters", "variance_guard", value=-1.0),
    "objective of two classes": put("forest", "objective", value={"name": "bernoulli", "log_odds": 0.0}),
    "objective of three classes": put("forest", "objective", value={"name": "categorical", "log_shares": [-1.0] * 3}),
}

CAPACITY_FORGERIES = {
    "capacity that is a list": put("capacity", value=[6, 0.3, 3, None]),
    "capacity without trees": drop("capacity", "n_estimators"),
    "automatic capacity": put("capacity", "n_estimators", value="auto"),
    "automatic depth": put("capacity", "max_depth", value="auto"),
    "fraction of trees in the capacity": put("capacity", "n_estimators", value=6.5),
    "rate that is null": put("capacity", "learning_rate", value=None),
}

PARENT_FORGERIES = {
    "no array parent": lack("parent"),
    "parent of another type": change("parent", lambda a: a.astype(np.float16)),
    "parent without the last axis": change("parent", lambda a: a[..., 0]),
    "fewer parents": change("parent", lambda a: a[:, :, :-1]),
    "parent that comes later": change("parent", with_value((0, 0, 1), 2)),
    "first split of another leaf": change("parent", with_value((0, 0, 0), 1)),
    "split that is not made between others": change("parent", with_value((0, 0, 1), 255)),
}

ENSEMBLE_FORGERIES = {
    "one member more": put("parameters", "n_members", value=4),
    "one member less": put("parameters", "n_members", value=2),
    "another ensemble": lambda header, _arrays: header["parameters"].update(
        ensemble="sglb" if header["parameters"]["ensemble"] == "virtual" else "virtual"
    ),
}

CASES = [
    (model, forgery)
    for model in MODELS
    for forgery in [
        *FORGERIES,
        *CAPACITY_FORGERIES,
        *(PARENT_FORGERIES if "leaf-wise" in model else {}),
        *(NUMBER_FORGERIES if "regressor" in model else LABEL_FORGERIES),
        *(() if model == "single regressor" else ENSEMBLE_FORGERIES),
    ]
]

# A reader that trusts these reads memory that is not its own, so they are tried in another process.
COLUMN_COUNTS = [0, -1, 1, 2, 4, 100_000, 10**30, None, "three", 3.5]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    """Return files of real models, by name."""
    folder = tmp_path_factory.mktemp("genuine")
    files = {}
    for name, (target, ensemble) in MODELS.items():
        files[name] = folder / f"{name}.epib"
        fitted(target, ensemble, **(LEAF_WISE if "leaf-wise" in name else {})).save(files[name])
    return files


def forge(genuine, model, forgery, path):
    """Write a file with a right checksum and one forgery."""
    header, arrays = model_file.read(genuine[model])
    {
        **FORGERIES,
        **CAPACITY_FORGERIES,
        **PARENT_FORGERIES,
        **LABEL_FORGERIES,
        **NUMBER_FORGERIES,
        **ENSEMBLE_FORGERIES,
    }[forgery](header, arrays)
    model_file.write(path, header, arrays)


def estimator_of(model):
    return EpiBoostRegressor if "regressor" in model else EpiBoostClassifier


def test_the_files_to_forge_can_be_loaded(genuine):
    assert len(CASES) >= 300
    for model, path in genuine.items():
        assert np.isfinite(estimator_of(model).load(path).predict_posterior(X).parameters).all()


@pytest.mark.parametrize(("model", "forgery"), CASES)
def test_a_forged_file_is_refused(genuine, path, model, forgery):
    forge(genuine, model, forgery, path)
    with pytest.raises(ModelFileError, match=r"model\.epib"):
        estimator_of(model).load(path)


def test_a_wrong_number_of_columns_is_refused_without_a_crash(genuine, tmp_path):
    header, arrays = model_file.read(genuine["regressor"])
    for count in COLUMN_COUNTS:
        model_file.write(tmp_path / f"{count}.epib", {**header, "n_features": count}, arrays)
    code = f"""
        from pathlib import Path
        import numpy as np
        from epiboost import EpiBoostRegressor
        from epiboost._files.model_file import ModelFileError
        for path in Path({str(tmp_path)!r}).glob("*.epib"):
            try:
                model = EpiBoostRegressor.load(path)
            except ModelFileError:
                continue
            print(path.stem, "is loaded", flush=True)
            model.predict(np.ones((1, model.n_features_in_)))
    """
    ended = run_python(code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_random_bytes_in_the_arrays_are_refused_or_the_model_predicts(genuine, path):
    random = np.random.default_rng(11)
    refused = 0
    for _ in range(300):
        header, arrays = model_file.read(genuine["classifier"])
        name = FOREST_ARRAYS[random.integers(len(FOREST_ARRAYS))]
        scrambled = arrays[name].copy()
        raw = scrambled.reshape(-1).view(np.uint8)
        if len(raw):
            raw[random.integers(len(raw), size=4)] = random.integers(0, 256, size=4)
        model_file.write(path, header, {**arrays, name: scrambled})
        try:
            model = EpiBoostClassifier.load(path)
        except ModelFileError:
            refused += 1
            continue
        with np.errstate(all="ignore"):
            probabilities = model.forest_.predict(X, prefixes=model.prefixes_)
        assert probabilities.shape == (3, 80, 3)
    assert refused > 100
