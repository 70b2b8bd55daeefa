"""Small generated files in the layout of each dataset of the paper."""

import hashlib
import zipfile

import numpy as np

UCI = {
    "boston": ("bostonHousing", 13),
    "concrete": ("concrete", 8),
    "energy": ("energy", 8),
    "kin8nm": ("kin8nm", 8),
    "naval": ("naval-propulsion-plant", 16),
    "power": ("power-plant", 4),
    "protein": ("protein-tertiary-structure", 9),
    "wine": ("wine-quality-red", 11),
    "yacht": ("yacht", 6),
}
ROWS = 120
KICK = (
    "RefId,IsBadBuy,PurchDate,Auction,VehYear,Make,WheelTypeID,VehOdo,BYRNO,VNZIP1,VNST,VehBCost,IsOnlineSale,"
    "WarrantyCost"
)
CLICK = (
    "click,impression,url_hash,ad_id,advertiser_id,depth,position,query_id,keyword_id,title_id,description_id,user_id"
)


def write_all(folder):
    """Write every dataset, the sources of out-of-domain rows, and the checksums of all files."""
    rng = np.random.default_rng(0)
    for name in UCI:
        write_uci(folder, name, rng)
    write_songs(folder, rng)
    write_slices(folder, rng)
    write_classification(folder, rng)
    write_checksums(folder)
    return folder


def write_uci(folder, name, rng):
    files, columns = folder / "uci" / UCI[name][0], UCI[name][1]
    files.mkdir(parents=True)
    X = rng.normal(size=(ROWS, columns))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.3, size=ROWS)
    np.savetxt(files / "data.txt", np.column_stack([X, y]))
    np.savetxt(files / "index_features.txt", np.arange(columns), fmt="%d")
    np.savetxt(files / "index_target.txt", [columns], fmt="%d")
    n_splits = 5 if name == "protein" else 20
    np.savetxt(files / "n_splits.txt", [n_splits], fmt="%d")
    for split in range(n_splits):
        order = rng.permutation(ROWS)
        np.savetxt(files / f"index_train_{split}.txt", order[ROWS // 10 :], fmt="%d")
        np.savetxt(files / f"index_test_{split}.txt", order[: ROWS // 10], fmt="%d")


def write_songs(folder, rng):
    (folder / "msd").mkdir(exist_ok=True)
    songs = np.column_stack([rng.integers(1922, 2012, size=50), rng.gamma(2.0, size=(50, 90))])
    header = ",".join(["year", *(f"timbre{i}" for i in range(90))])
    np.savetxt(folder / "msd" / "timbre_4680x90.csv", songs, delimiter=",", header=header, comments="")


def write_year(folder, rows=200):
    """Write Year MSD in its layout: no header, the year and ninety numbers."""
    rng = np.random.default_rng(1)
    (folder / "msd").mkdir(exist_ok=True)
    table = np.column_stack([rng.integers(1922, 2012, size=rows), rng.normal(size=(rows, 90))])
    np.savetxt(folder / "msd" / "YearPredictionMSD.txt", table, delimiter=",")


def write_slices(folder, rng):
    """Write CT slices: patient, 384 values of which one is constant, reference."""
    (folder / "ct").mkdir()
    table = np.column_stack([np.arange(60), rng.uniform(size=(60, 384)), rng.uniform(0, 180, size=60)])
    table[:, 60] = 0.0
    header = ",".join(["patientId", *(f"value{i}" for i in range(384)), "reference"])
    np.savetxt(folder / "ct" / "slice_localization_data.csv", table, delimiter=",", header=header, comments="")


def write_classification(folder, rng):
    for name in ("adult", "amazon", "click", "internet", "kdd2009", "kick", "splits"):
        (folder / name).mkdir()
    _write_adult(folder / "adult", rng)
    codes = rng.integers(0, 12, size=(ROWS, 9))
    rows = [f"{_label(rng, row[0])},{','.join(map(str, row))}" for row in codes]
    (folder / "amazon" / "train.csv").write_text("\n".join(["ACTION,A,B,C,D,E,F,G,H,I", *rows]) + "\n")
    rows = [f"{_label(rng, row[0])},{','.join(map(str, row))}" for row in rng.integers(0, 9, size=(ROWS, 11))]
    (folder / "click" / "click_prediction_399482.csv").write_text("\n".join([CLICK, "", *rows]) + "\n")
    _write_internet(folder / "internet", rng)
    _write_kick(folder / "kick", rng)
    _write_orange(folder / "kdd2009", rng)
    for name in ("amazon", "internet", "kick", "appetency", "churn", "upselling"):
        order = rng.permutation(ROWS)
        np.savetxt(folder / "splits" / f"{name}_train_idx.txt", order[ROWS // 5 :], fmt="%d")
        np.savetxt(folder / "splits" / f"{name}_test_idx.txt", order[: ROWS // 5], fmt="%d")


def write_checksums(folder):
    """Write a sha256.txt, because generated files do not have the checksums of the real ones."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "sha256.txt")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{path.relative_to(folder)}\n" for path in files]
    (folder / "sha256.txt").write_text("".join(lines))


def _label(rng, signal):
    return int(rng.uniform() < (0.8 if signal % 2 else 0.2))


def _write_adult(folder, rng):
    head = "age, workclass, education-num, sex, classification"
    for part, dot in (("data", ""), ("test", ".")):
        rows = []
        for _ in range(ROWS // 2):
            age, years = rng.integers(18, 80), rng.integers(1, 16)
            label = ">50K" if _label(rng, years) else "<=50K"
            rows.append(
                f"{age}, {rng.choice(['Private', '?', 'State-gov'])}, {years}, {rng.choice(['F', 'M'])}, {label}{dot}"
            )
        (folder / f"adult.{part}").write_text("\n".join([head, *rows]) + "\n")


def _write_internet(folder, rng):
    lines = ["@relation internet", "", "@attribute Age {10,11,12}", "@attribute Country {a,b,c}"]
    lines += ["@attribute Who_Pays_for_Access_Work {0,1}", "", "@data"]
    for _ in range(ROWS):
        age = rng.integers(10, 13)
        lines.append(f"{age},{rng.choice(list('abc'))},{1 - _label(rng, age)}")
    (folder / "kdd_internet_usage.arff").write_text("\n".join(lines) + "\n")


def _write_kick(folder, rng):
    lines = [KICK]
    for row in range(ROWS):
        year = rng.integers(2001, 2009)
        wheel = rng.choice(["1", "2", ""])
        lines.append(
            f"{row},{_label(rng, year)},12/{rng.integers(1, 28)}/2009,{rng.choice(['ADESA', 'MANHEIM'])},{year},MAZDA,"
            f"{wheel},{rng.integers(10**4, 10**5)},{rng.integers(3)},{rng.integers(3)},FL,"
            f"{rng.choice(['7100', ''])},0,{rng.integers(500, 2000)}"
        )
    with zipfile.ZipFile(folder / "training.zip", "w") as archive:
        archive.writestr("training.csv", "\r\n".join(lines) + "\r\n")


def _write_orange(folder, rng):
    names = [f"Var{i}" for i in range(1, 231)]
    lines = ["\t".join(names)]
    signals = rng.integers(0, 2, size=ROWS)
    for signal in signals:
        numbers = [str(signal), *("" if rng.uniform() < 0.5 else f"{rng.normal():.3f}" for _ in range(189))]
        numbers[7] = ""  # an empty column
        words = ["" if rng.uniform() < 0.3 else rng.choice(["xy1", "zz2", "07"]) for _ in range(40)]
        lines.append("\t".join([*numbers, *words]))
    (folder / "orange_small_train.data").write_text("\n".join(lines) + "\n")
    for name in ("appetency", "churn", "upselling"):
        labels = [2 * _label(rng, signal) - 1 for signal in signals]
        np.savetxt(folder / f"orange_small_train_{name}.labels", labels, fmt="%d")
