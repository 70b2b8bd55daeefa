# Each target installs what it needs: a fresh clone, python3, make and a C++ compiler are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

ENGINE_TESTS := tests/engines tests/boosting/test_variance_guard.py tests/posterior/test_fitted.py

SOURCES := pyproject.toml README.md LICENSE $(wildcard CMakeLists.txt) \
	$(shell find src -type f -not -path '*/__pycache__/*' -not -name '*.so')

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow test-extras fuzz soak sanitize lint format bench bench-quick bench-quality bench-engines \
	bench-calibration bench-outside bench-dask bench-explain bench-acquisition reproduce docs clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  \1\t/' | expand -t 20

install: $(VENV)/.installed  ## build the package, install it and its tools into .venv

demo: install  ## train on the heart and draw heart.png
	$(BIN)/epiboost demo

test: install  ## run the tests, except the slow ones
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: install $(VENV)/.audit  ## run the slow tests (minutes)
	$(BIN)/python -m pytest -n 2 -m slow

test-extras: install  ## run the engine tests with no library, each library alone, and all
	for hidden in "catboost lightgbm xgboost" "lightgbm xgboost" "catboost xgboost" "catboost lightgbm" ""; do \
	  EPIBOOST_WITHOUT="$$hidden" PYTHONPATH=. $(BIN)/python -m pytest -q -n 2 -m "not slow" -p tests.support.without $(ENGINE_TESTS) \
	  || exit 1; done

fuzz: install  ## search for faults with random cases (minutes; hours with FORM=long)
	$(BIN)/python -m fuzz --form $(or $(FORM),usual)

sanitize: install  ## run native tests and random cases with address, undefined-behaviour and thread sanitizers
	$(BIN)/python -m fuzz.sanitize

soak: install  ## look for leaks in an hour of all calls
	$(BIN)/python -m fuzz.soak --minutes $(or $(MINUTES),60)

lint: install  ## check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.tools  ## format the code
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: install $(VENV)/.bench  ## compare speed with other libraries, update docs/benchmarks.md
	$(BIN)/python benchmarks/speed.py --growth --instructions all --docs

bench-quick: install $(VENV)/.bench  ## compare speed with other libraries in under two minutes
	$(BIN)/python benchmarks/speed.py --quick

bench-quality: install $(VENV)/.bench  ## compare predictions and uncertainties with CatBoost's
	$(BIN)/python benchmarks/quality.py

bench-engines: install $(VENV)/.bench  ## compare the ensembles of all engines
	$(BIN)/python benchmarks/engines.py

bench-calibration: install $(VENV)/.bench  ## compare calibrated intervals with MAPIE's
	$(BIN)/python benchmarks/calibration.py

bench-outside: install $(VENV)/.bench  ## compare the defaults with published figures (an hour)
	$(BIN)/python benchmarks/outside.py

bench-dask: install  ## measure training and scoring on Dask (needs 8 GB of disk)
	$(BIN)/python benchmarks/distributed_runs.py

bench-explain: install  ## measure time and accuracy of explanations
	$(BIN)/python benchmarks/explain.py

bench-acquisition: install  ## compare the choice of rows to label with random choice
	$(BIN)/python benchmarks/acquisition.py

reproduce: install  ## run the paper's experiments with boosted trees
	$(BIN)/epiboost reproduce regression --jobs 2
	$(BIN)/epiboost reproduce classification --jobs 2

docs: install $(VENV)/.docs  ## build the documentation into build/docs; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs build/docs

clean:  ## remove everything that was built, and .venv
	rm -rf $(VENV) build dist docs/gallery docs/api/command-line.md \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The pip that comes with Python may be too old to know dependency groups.
$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.audit: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --group audit
	touch $@

$(VENV)/.bench: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

# After the package, so that two runs of pip do not meet in `make -j`.
$(VENV)/.docs: $(VENV)/.tools | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# Not editable: the tests run on what a user gets.
$(VENV)/.installed: $(VENV)/.tools $(SOURCES)
	$(BIN)/python -m pip install --quiet ".[all]"
	touch $@
