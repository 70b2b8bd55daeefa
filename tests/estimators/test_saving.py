"""A saved model comes back as it was; a file that is damaged or forged is refused, and never crashes."""

import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from epiboost._files import model_file
from epiboost._files.model_file import ModelFileError
from epiboost.engines.native.engine import NativeEngine

KINDS = ["single", "sgb", "sglb", "virtual"]
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3)).round(2)
X[RANDOM.uniform(size=X.shape) < 0.05] = np.nan
Y = np.where(np.isnan(X[:, 0]), 0.0, X[:, 0]) + RANDOM.normal(scale=0.2, size=80)
CLASSES = np.digitize(Y, [-0.5, 0.5])

TARGETS = {
    "numbers": Y,
    "two whole labels": CLASSES % 2 + 5,
    "whole labels": CLASSES - 1,
    "text labels": np.array(["low", "middle", "high — Ω"])[CLASSES],
    "boolean labels": CLASSES > 0,
    "text objects": np.array(["low", "middle", "high"], dtype=object)[CLASSES],
    "float labels": CLASSES.astype(float),
}

every_kind = pytest.mark.parametrize("kind", KINDS)
every_target = pytest.mark.parametrize("target", sorted(TARGETS))


def trained(target="numbers", kind="sglb", *, table=X, **parameters):
    estimator = EpiBoostRegressor if target == "numbers" else EpiBoostClassifier
    defaults = {"n_members": 3, "n_estimators": 6, "max_depth": 3, "learning_rate": 0.3, "n_jobs": 1, "random_state": 0}
    return estimator(ensemble=kind, **{**defaults, **parameters}).fit(table, TARGETS[target])


def assert_same_model(one, other, table=X):
    np.testing.assert_array_equal(
        one.predict_posterior(table).parameters, other.predict_posterior(table).parameters, strict=True
    )
    np.testing.assert_array_equal(one.predict(table), other.predict(table), strict=True)
    assert one.get_params() == other.get_params()
    for name in ("n_features_in_", "prefixes_"):
        assert getattr(one, name) == getattr(other, name)
    np.testing.assert_array_equal(one.n_trees_, other.n_trees_, strict=True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.epib"


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """Thousands of small files are written here, and none has to outlive a power cut."""
    monkeypatch.setattr(model_file.os, "fsync", lambda _file: None)


# What goes in comes out


@every_kind
@every_target
def test_a_saved_model_comes_back_as_it_was(path, target, kind):
    model = trained(target, kind)
    model.save(path)
    again = type(model).load(path)
    assert_same_model(again, model)
    if target != "numbers":
        np.testing.assert_array_equal(again.classes_, model.classes_, strict=True)


@every_kind
def test_a_model_saved_twice_is_the_same_file(path, tmp_path, kind):
    trained(kind=kind).save(path)
    EpiBoostRegressor.load(path).save(tmp_path / "again.epib")
    assert (tmp_path / "again.epib").read_bytes() == path.read_bytes()


def test_every_parameter_comes_back(path):
    model = trained(
        kind="sgb", n_members=2, n_estimators=7, learning_rate=0.05, max_depth=2, subsample=0.7, l2=0.5, max_bins=20,
        temperature=3.0, variance_guard=0.25, n_jobs=2, random_state=12, verbose=0,
    )  # fmt: skip
    model.save(path)
    assert EpiBoostRegressor.load(path).get_params() == model.get_params()


def test_parameters_of_numpy_come_back_as_plain_numbers(path):
    trained(n_members=np.int64(2), learning_rate=np.float64(0.25), max_depth=np.int32(2)).save(path)
    parameters = EpiBoostRegressor.load(path).get_params()
    assert (parameters["n_members"], parameters["learning_rate"], parameters["max_depth"]) == (2, 0.25, 2)
    assert type(parameters["n_members"]) is int


def test_a_random_generator_is_not_saved_and_the_model_is(path):
    model = trained(random_state=np.random.RandomState(3))
    model.save(path)
    again = EpiBoostRegressor.load(path)
    assert again.random_state is None
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_names_of_columns_come_back_and_are_compared(path):
    frame = pd.DataFrame(X, columns=["länge", "b c", ""])
    model = trained(table=frame)
    model.save(path)
    again = EpiBoostRegressor.load(path)
    assert again.feature_names_in_.tolist() == ["länge", "b c", ""]
    assert again.feature_names_in_.dtype == object
    assert_same_model(again, model, frame)
    np.testing.assert_array_equal(again.predict(frame[["b c", "länge", ""]]), model.predict(frame))
    with pytest.raises(ValueError, match="unseen at fit time"):
        again.predict(frame.rename(columns={"b c": "d"}))


def test_a_model_without_names_comes_back_without(path):
    trained().save(path)
    assert not hasattr(EpiBoostRegressor.load(path), "feature_names_in_")


def test_losses_and_stopped_chains_come_back(path):
    options = {"n_estimators": 40, "learning_rate": 1.0, "l2": 0.0, "variance_guard": 0.0, "early_stopping_rounds": 2}
    model = EpiBoostRegressor(n_members=3, random_state=0, n_jobs=1, **options)
    model.fit(X[:40], Y[:40], eval_set=(X[40:], Y[40:])).save(path)
    assert model.n_trees_.max() < 40
    again = EpiBoostRegressor.load(path)
    assert_same_model(again, model)
    np.testing.assert_array_equal(again.evaluation_loss_, model.evaluation_loss_)


def test_a_loaded_model_can_be_trained_again(path):
    model = trained()
    model.save(path)
    assert_same_model(EpiBoostRegressor.load(path).fit(X, Y), model)


def test_a_model_replaces_the_file_that_was_there(path):
    trained("whole labels").save(path)
    model = trained()
    model.save(path)
    assert_same_model(EpiBoostRegressor.load(path), model)


def test_another_process_reads_the_same_bits(path, tmp_path):
    model = trained(kind="virtual")
    model.save(path)
    np.save(tmp_path / "table.npy", X)
    code = f"""
        import numpy as np
        from epiboost import EpiBoostRegressor
        model = EpiBoostRegressor.load({str(path)!r})
        print(model.predict_posterior(np.load({str(tmp_path / "table.npy")!r})).parameters.tobytes().hex())
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert bytes.fromhex(ended.stdout.strip()) == model.predict_posterior(X).parameters.tobytes()


# What cannot be saved or is not there


def test_a_model_that_was_not_trained_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        EpiBoostRegressor().save(path)
    assert not path.exists()


def test_a_folder_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        trained().save(tmp_path / "nowhere" / "model.epib")
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_is_no_model_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        trained().save(tmp_path)
    with pytest.raises(IsADirectoryError):
        EpiBoostRegressor.load(tmp_path)


def test_a_file_that_is_not_there_cannot_be_loaded(path):
    with pytest.raises(FileNotFoundError):
        EpiBoostRegressor.load(path)


def test_a_model_of_an_engine_without_a_name_cannot_be_saved(path):
    with pytest.raises(ValueError, match="only models of an engine that has a name can be saved"):
        trained(engine=NativeEngine(n_jobs=1)).save(path)
    assert not path.exists()


def test_labels_that_a_file_cannot_hold_are_refused(path):
    model = EpiBoostClassifier(n_members=2, n_estimators=3, n_jobs=1).fit(X, (CLASSES > 0).astype(int))
    model.classes_ = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    with pytest.raises((TypeError, ValueError), match=r"classes|labels"):
        model.save(path)
    assert not path.exists()


def test_a_model_of_the_other_class_is_refused(path):
    trained().save(path)
    with pytest.raises(ModelFileError, match="holds a model of 'EpiBoostRegressor', not of 'EpiBoostClassifier'"):
        EpiBoostClassifier.load(path)
    trained("whole labels").save(path)
    with pytest.raises(ModelFileError, match="holds a model of 'EpiBoostClassifier', not of 'EpiBoostRegressor'"):
        EpiBoostRegressor.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"EPIB", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(200), b"{}" * 100, b"EPIB" + bytes(500), b"a,b\n1,2\n"],
)
def test_foreign_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.epib"):
        EpiBoostRegressor.load(path)


def test_a_model_file_of_something_else_is_refused(path):
    for header in ({}, {"estimator": None}, {"estimator": ["EpiBoostRegressor"]}, {"estimator": "EpiBoostRegressor"}):
        model_file.write(path, header, {})
        with pytest.raises(ModelFileError, match=r"model\.epib"):
            EpiBoostRegressor.load(path)


# Damage


@pytest.fixture(scope="module")
def model_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.epib"
    trained("text labels", max_depth=2, n_members=2, n_estimators=3, max_bins=8).save(path)
    return path.read_bytes()


def flip_bit(content, random):
    damaged = bytearray(content)
    damaged[random.integers(len(content))] ^= 1 << int(random.integers(8))
    return bytes(damaged)


def flip_bits(content, random):
    for _ in range(random.integers(2, 20)):
        content = flip_bit(content, random)
    return content


def cut_off(content, random):
    return content[: random.integers(len(content))]


def append(content, random):
    return content + random.bytes(int(random.integers(1, 200)))


def overwrite(content, random):
    first = int(random.integers(len(content) - 8))
    return content[:first] + random.bytes(8) + content[first + 8 :]


def leave_out(content, random):
    first = int(random.integers(len(content) - 1))
    return content[:first] + content[first + int(random.integers(1, 80)) :]


def insert(content, random):
    place = int(random.integers(len(content)))
    return content[:place] + random.bytes(int(random.integers(1, 80))) + content[place:]


@pytest.mark.parametrize(
    ("damage", "times"),
    [
        (flip_bit, 500),
        (flip_bits, 100),
        (cut_off, 200),
        (append, 150),
        (overwrite, 150),
        (leave_out, 150),
        (insert, 100),
    ],
)
def test_a_damaged_file_is_refused(path, model_bytes, damage, times):
    random = np.random.default_rng(7)
    for _ in range(times):
        damaged = damage(model_bytes, random)
        if damaged == model_bytes:
            continue
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"model\.epib"):
            EpiBoostClassifier.load(path)


def test_a_file_cut_off_anywhere_near_its_ends_is_refused(path, model_bytes):
    for length in [*range(80), *range(len(model_bytes) - 80, len(model_bytes))]:
        path.write_bytes(model_bytes[:length])
        with pytest.raises(ModelFileError, match=r"model\.epib"):
            EpiBoostClassifier.load(path)


# Forgery: files with a right checksum whose parts do not fit together


MODELS = {
    "regressor": ("numbers", "sglb"),
    "single regressor": ("numbers", "single"),
    "virtual regressor": ("numbers", "virtual"),
    "binary classifier": ("boolean labels", "sgb"),
    "classifier": ("text labels", "sglb"),
    "virtual classifier": ("text objects", "virtual"),
}


def put(*keys, value):
    """Return a forgery that sets one place of the header."""

    def forge(header, _arrays):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return forge


def drop(*keys):
    """Return a forgery that removes one place of the header."""

    def forge(header, _arrays):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return forge


def change(name, alter):
    """Return a forgery that replaces one array."""

    def forge(_header, arrays):
        arrays[name] = alter(arrays[name].copy())

    return forge


def lack(name):
    """Return a forgery that removes one array."""

    def forge(_header, arrays):
        del arrays[name]

    return forge


def with_value(place, value):
    """Return a change of one element."""

    def alter(array):
        array[place] = value
        return array

    return alter


def fewer_features(header, arrays):
    """Drop the last column's borders, though trees may split on it; the header agrees."""
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
    "too deep": put("parameters", "max_depth", value=99),
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
    "no kind of labels": lack("classes_are_objects"),
    "label twice": change("classes", lambda a: np.concatenate([a[:1], a[:-1]])),
    "one label less": change("classes", lambda a: a[:-1]),
    "one label more": change("classes", lambda a: np.append(a.astype(str), "zebra")),
    "labels in two dimensions": change("classes", lambda a: a[:, np.newaxis]),
    "labels without dimension": change("classes", lambda a: a[0]),
    "labels that are not numbers": change("classes", lambda a: np.array([*range(len(a) - 1), np.nan])),
    "kinds of labels": change("classes_are_objects", lambda a: np.repeat(a, 2)),
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

ENSEMBLE_FORGERIES = {
    "one member more": put("parameters", "n_members", value=4),
    "one member less": put("parameters", "n_members", value=2),
    "another kind of ensemble": lambda header, _arrays: header["parameters"].update(
        ensemble="sglb" if header["parameters"]["ensemble"] == "virtual" else "virtual"
    ),
}

CASES = [
    (model, forgery)
    for model in MODELS
    for forgery in [
        *FORGERIES,
        *(NUMBER_FORGERIES if "regressor" in model else LABEL_FORGERIES),
        *(() if model == "single regressor" else ENSEMBLE_FORGERIES),
    ]
]

# A reader that trusts these reads memory that is not its own: tried in another process.
COLUMN_COUNTS = [0, -1, 1, 2, 4, 100_000, 10**30, None, "three", 3.5]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    """Return the files of some real models, by name."""
    folder = tmp_path_factory.mktemp("genuine")
    files = {}
    for name, (target, kind) in MODELS.items():
        files[name] = folder / f"{name}.epib"
        trained(target, kind).save(files[name])
    return files


def forge(genuine, model, forgery, path):
    """Write a file with a right checksum in which one thing is wrong."""
    header, arrays = model_file.read(genuine[model])
    {**FORGERIES, **LABEL_FORGERIES, **NUMBER_FORGERIES, **ENSEMBLE_FORGERIES}[forgery](header, arrays)
    model_file.write(path, header, arrays)


def estimator_of(model):
    return EpiBoostRegressor if "regressor" in model else EpiBoostClassifier


def test_the_forgeries_are_many_and_begin_with_files_that_load(genuine):
    assert len(CASES) >= 300
    for model, path in genuine.items():
        assert np.isfinite(estimator_of(model).load(path).predict_posterior(X).parameters).all()


@pytest.mark.parametrize(("model", "forgery"), CASES)
def test_a_forged_file_is_refused(genuine, path, model, forgery):
    forge(genuine, model, forgery, path)
    with pytest.raises(ModelFileError, match=r"model\.epib"):
        estimator_of(model).load(path)


def test_a_file_that_lies_about_its_columns_is_refused_and_does_not_crash(genuine, tmp_path):
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
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_whatever_bytes_the_arrays_hold_the_file_is_refused_or_the_model_predicts(genuine, path):
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


def test_a_file_that_was_copied_is_the_same_model(genuine, path):
    shutil.copy(genuine["regressor"], path)
    assert_same_model(EpiBoostRegressor.load(path), trained())
