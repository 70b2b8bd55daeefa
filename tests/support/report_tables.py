"""One table with two targets, and models that are trained on it, for reports and commands."""

import re

import numpy as np
import pandas as pd

from epiboost import EpiBoostClassifier, EpiBoostRegressor
from tests.support.models import SMALL

_RANDOM = np.random.default_rng(0)
N = 400
FRAME = pd.DataFrame(
    {"size": _RANDOM.normal(size=N), "age": _RANDOM.normal(size=N), "town": _RANDOM.choice(["a", "b"], N)}
)
PRICE = FRAME["size"].to_numpy() + 0.3 * _RANDOM.normal(size=N)
GRADE = np.where(PRICE > 0, "high", "low")
SEVERAL = np.array(["low", "mid", "high"])[np.digitize(PRICE, [-0.6, 0.6])]
TRAIN, HELD_OUT, LAST = slice(0, 150), slice(150, 300), slice(300, N)
OTHER = FRAME[HELD_OUT].assign(size=9.0, town="elsewhere")


def train_models():
    """Return models of each kind, with the targets of all rows."""
    regressor = EpiBoostRegressor(**SMALL).fit(FRAME[TRAIN], PRICE[TRAIN])
    classifier = EpiBoostClassifier(**SMALL).fit(FRAME[TRAIN], GRADE[TRAIN])
    return {
        "regressor": (regressor, PRICE),
        "classifier": (classifier, GRADE),
        "several": (EpiBoostClassifier(**SMALL).fit(FRAME[TRAIN], SEVERAL[TRAIN]), SEVERAL),
        "calibrated regressor": (regressor.calibrate(FRAME[LAST], PRICE[LAST]), PRICE),
        "calibrated classifier": (classifier.calibrate(FRAME[LAST], GRADE[LAST]), GRADE),
        "single": (EpiBoostRegressor(**SMALL, ensemble="single").fit(FRAME[TRAIN], PRICE[TRAIN]), PRICE),
        "forest": (
            EpiBoostRegressor(engine="forest", ensemble="sgb", **SMALL).fit(
                FRAME[["size", "age"]][TRAIN], PRICE[TRAIN]
            ),
            PRICE,
        ),
    }


def text_of(page):
    """Return the text of a page, without charts."""
    return re.sub(
        r"\s+", " ", re.sub(r"<[^>]*>", " ", re.sub(r"<(style|script|svg).*?</\1>", " ", page, flags=re.DOTALL))
    )
