# `make demo` and `make test` do all their own set-up: a Python of 3.11 or newer with venv is all they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test lint types clean
.DELETE_ON_ERROR:

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "dissensus needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
		{ echo "no virtual environment could be made; on Debian: apt-get install python3-venv"; exit 2; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || \
		{ rm -rf $(VENV); echo "this Python's venv has no pip; on Debian: apt-get install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)
	$(BIN)/dissensus demo --output demo-report

test: $(READY) lint types
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache demo-report
