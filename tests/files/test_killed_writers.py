"""A process that is killed while it saves a model leaves a whole file, and nothing else after the next save."""

import pytest

from tests.support.platforms import posix_only
from tests.support.processes import run_python

SAVE_AND_KILL = """
import os, random, signal, sys, time
import numpy as np
import epiboost
from epiboost import EpiBoostRegressor

folder, kills = sys.argv[1], int(sys.argv[2])
path = os.path.join(folder, "model.epib")
X = np.random.default_rng(0).normal(size=(500, 3))
models = [
    EpiBoostRegressor(n_members=members, n_estimators=100, n_jobs=1, out_of_fold=0, random_state=0).fit(X, X[:, 0])
    for members in (2, 5)
]
expected = [model.predict(X).tobytes() for model in models]
models[0].save(path)
drafts = 0
for kill in range(kills):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.save(path)
    time.sleep(random.Random(kill).uniform(0.001, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    drafts += sum(name.endswith(".draft") for name in os.listdir(folder))
    assert epiboost.load(path).predict(X).tobytes() in expected
models[1].save(path)
assert os.listdir(folder) == ["model.epib"], os.listdir(folder)
print(kills, "kills,", drafts, "drafts")
"""


@posix_only
@pytest.mark.slow
def test_a_killed_writer_leaves_the_old_model_or_the_new_one(tmp_path):
    ended = run_python(SAVE_AND_KILL, tmp_path, 500, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("500 kills")
    assert not ended.stdout.endswith(" 0 drafts\n")  # else no kill came in the middle of a write
