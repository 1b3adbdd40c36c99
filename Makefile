# Two commands: `make demo` runs the main job, `make test` runs the tests. Both set everything up.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := pyproject.toml constraints.txt

.PHONY: setup setup-dev demo test test-slow test-browser lint docs results bench clean

setup: .venv/.ready
setup-dev: .venv/.ready-dev

.venv/.ready: $(SOURCES)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) -e '.[fast,tracking]'
	touch $@

.venv/.ready-dev: .venv/.ready
	$(INSTALL) -e '.[dev,fast,mjlab,ray,tracking,viewer]'
	touch $@

.venv/.ready-docs: .venv/.ready
	$(INSTALL) -e '.[docs]'
	touch $@

.venv/.ready-browser: .venv/.ready-dev
	$(INSTALL) -e '.[browser]'
	sh tests/browser/chromium.sh
	touch $@

demo: setup
	$(BIN)/pfmhr demo

test: setup-dev
	$(BIN)/pytest -n 2 -m "not slow"

test-slow: setup-dev
	$(BIN)/pytest -m slow

test-browser: .venv/.ready-browser
	$(BIN)/pytest tests/browser

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

docs: .venv/.ready-docs
	$(BIN)/sphinx-build -W --keep-going -q docs build/docs
	@echo "build/docs/index.html"

# The tables and figures of README and documentation, from results/.
results: setup
	$(BIN)/python -m pfmhr.results.tables

bench: setup
	$(BIN)/pfmhr bench corpus

clean:
	rm -rf .venv build dist demo
