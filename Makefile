# The two commands to know: `make demo` and `make test`. Both make their own environment in .venv.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml README.md LICENSE $(shell find src native -type f -not -name '*.pyc')

.PHONY: demo test test-system bench reproduce lint clean

demo: $(VENV)/.installed
	$(BIN)/solah demo --output demo

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto

# What some tests need beside Python packages; without it they are skipped and say why.
test-system:
	sh tests/install-system-tools.sh

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/tree.py
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
	$(BIN)/python -m pip install --quiet --group dev '.[broker,dask,datasets,mqtt,parquet,plot,web]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist demo
