# make demo   sets up, clusters bundled data, writes a report
# make test   sets up, runs the tests
# make quick  the tests that are not slow, for the loop of a contributor
# make docs   the documentation site in docs/_build/html; warnings are errors
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test quick lint bench docs soak clean

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
	$(BIN)/python tests/soak

# Gallery scripts run once and again when they change; `make clean` forgets them.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

clean:
	rm -rf $(VENV) coterie-demo soak-results docs/_build docs/api docs/gallery docs/methods/figures
