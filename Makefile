# The two commands to know: `make demo` and `make test`. Both make their own environment in .venv.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml README.md LICENSE $(shell find src native -type f -not -name '*.pyc')

OLDEST := .venv-oldest
# Where what we need of others is used most; OLDEST_TESTS=tests runs all.
OLDEST_TESTS ?= tests/test_sklearn_contract.py tests/test_package.py tests/data tests/datasets \
	tests/labels tests/model tests/site/test_web.py tests/plot tests/scale tests/stream

# In the order of the files, so that what a module builds is built once.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: demo docs test quick thorough test-oldest test-system bench reproduce lint clean

demo: $(VENV)/.installed
	$(BIN)/solah demo --output demo

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST)

# What tells most in a few minutes: all tests but those that are slow.
quick: $(VENV)/.dev
	$(PYTEST) -m 'not slow'

# All tests with ten times as many examples, at random, and a minute of chaos; may find what is new.
thorough: $(VENV)/.dev
	SOLAH_THOROUGH=1 $(PYTEST)

# The oldest versions that pyproject.toml allows, in an environment of their own. Old packages warn
# of what new ones no longer have, and scikit-learn 1.7 does so under pytest 9.
test-oldest: $(OLDEST)/.dev
	$(OLDEST)/bin/python -m pytest -n auto -m 'not slow' -W ignore::DeprecationWarning $(OLDEST_TESTS)

# The documentation as a site, in site/.
docs: $(VENV)/.dev
	$(BIN)/sphinx-build -q -W --keep-going -b html docs site
	@echo "the site is at site/index.html"

# What some tests need beside Python packages; without it they are skipped and say why.
test-system:
	sh tests/install-system-tools.sh

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/tree.py
	$(BIN)/python benchmarks/prediction.py
	$(BIN)/python benchmarks/dependence.py
	$(BIN)/python benchmarks/hierarchy.py

# Every table of the paper again, beside its own figures; SOLAH_DATA names the folder of data sets.
reproduce: $(VENV)/.dev
	$(BIN)/python -m reproduction -o results

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet .
	@touch $@

$(VENV)/.dev: $(SOURCES) | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev '.[all]'
	@touch $@ $(VENV)/.installed

$(OLDEST)/.dev: $(SOURCES) tests/oldest.py
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --constraint $(OLDEST)/constraints.txt \
		'pytest<9' pytest-xdist hypothesis httpx jsonschema 'pandas<3' polars '.[all]'
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) build dist demo site
