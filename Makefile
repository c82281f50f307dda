# `make` lists what can be done. Every target brings what it needs: a Python (3.11 or newer) is enough.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test check lint fix bench shape lock env clean

help: ## this list
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1|\2/p' Makefile | column -t -s '|' 2>/dev/null \
		|| sed -nE 's/^([a-z]+):.*## (.*)/  make \1  \2/p' Makefile

demo: env ## a workflow is killed, restarted and resumed before your eyes
	@$(BIN)/python examples/demo.py $(ARGS)

test: ## all tests here; the unit tests on every other Python found (ARGS="-k word" goes to pytest)
	@$(PYTHON) scripts/run_tests.py $(ARGS)

check: lint ## lint, types and unit tests, in under two minutes
	@$(PYTHON) scripts/run_tests.py --unit -q $(ARGS)

lint: env ## style, types, layers
	@$(BIN)/ruff check . || { echo "-> make fix repairs what can be repaired"; exit 1; }
	@$(BIN)/ruff format --check . || { echo "-> make fix"; exit 1; }
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --no-cache || { echo "-> docs/adr/0001-layers.md says which way imports point"; exit 1; }

fix: env ## repair style
	@$(BIN)/ruff check --fix . || true
	@$(BIN)/ruff format .

bench: env ## compare with the peers, as ratios in one run
	@$(BIN)/python -m bench $(ARGS)

shape: ## the longest files and functions
	@$(PYTHON) scripts/shape.py $(ARGS)

lock: ## write requirements/*.txt anew (ARGS=--upgrade for the newest versions)
	@$(PYTHON) scripts/lock.py $(ARGS)

env: ## make .venv what the lock files say (every target above does)
	@$(PYTHON) scripts/environments.py

clean: ## remove environments, caches and builds
	rm -rf .venv .venv-* .tools build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
