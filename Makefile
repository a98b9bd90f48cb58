# make demo   sets up, clusters bundled data, writes a report
# make test   sets up, runs the tests
# make quick  the tests that are not slow, for the loop of a contributor
# make dist   wheel and sdist, each tried in an empty environment
# make soak   random attacks for ten minutes (SOAK_MINUTES, SOAK_SEED)
# make docs   the documentation site in docs/_build/html; warnings are errors
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test quick lint bench docs dist test-oldest licences soak clean

# The stamps say which parts are installed; a change of pyproject.toml installs again.
$(VENV)/.base: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "coterie needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[report]"
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[all]" --group test --group lint
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

demo: $(VENV)/.base
	$(BIN)/coterie demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto

quick: $(VENV)/.dev
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n auto -m "not slow"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.speed

# SOAK_MINUTES=60 SOAK_SEED=7 make soak: longer, with other random numbers.
soak: $(VENV)/.dev
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --group soak
	$(BIN)/python tests/soak

# Gallery scripts run once and again when they change; `make clean` forgets them.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

# Each file goes into an environment of its own, outside the checkout.
dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group release
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/try_dist.py dist

test-oldest: pyproject.toml tools/oldest.txt
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c tools/oldest.txt -e ".[metis,hypergraph,report]" --group test
	HYPOTHESIS_PROFILE=quick .venv-oldest/bin/python -m pytest -n auto -m "not slow"

licences: $(VENV)/.dev
	$(BIN)/python tools/licences.py

clean:
	rm -rf $(VENV) .venv-oldest coterie-demo dist soak-results docs/_build docs/api docs/gallery docs/methods/figures
