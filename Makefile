# `make demo` and `make test` do all their own set-up: a Python of 3.11 or newer with venv is all they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test attack coverage docs gallery test-gpu test-integrations paper dist browser lint style imports types clean
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

# Types and imports are checked beside the tests, which at times wait for a process, a disk or a clock: what
# they say comes last. Bytecode is written even where the environment says not to: tests start many Pythons.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(READY) style
	@$(MAKE) --no-print-directory --keep-going types imports >$(VENV)/checked.txt 2>&1 & checks=$$!; \
	$(BIN)/python -m pytest -n 2 --dist worksteal; tests=$$?; \
	wait $$checks; checks=$$?; cat $(VENV)/checked.txt; exit $$((tests || checks))

# Attacks at full size on a service of this machine, ten minutes; those of seconds are part of `make test`.
attack: $(READY)
	$(BIN)/python -m pytest -m attack tests/serve/attacks

# The tests that need a GPU, and the record of how they ended: results/checks/gpu.jsonl.
test-gpu: $(READY)
	$(BIN)/python -m benchmarks checks --only gpu --again

# The paper's table: measures what results/paper lacks (an hour of one GPU from nothing), then shows it.
paper: $(READY)
	$(BIN)/python -m benchmarks paper --seeds 0,1,2

# All tests once more, with the lines that they reach counted: too few are a failure (`tool.coverage` in
# pyproject.toml). Apart from `make test`: beside other work the counts of one of two processes once got lost.
coverage: $(READY)
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term

# The site, in build/site: any warning is an error. The Python lines of its pages are run first. It is built in the
# same environment as the tests: what it takes beside that is small and pure Python. Its gallery shows what
# `make gallery` recorded, so that nothing is measured here; the figures of the concepts are drawn, and cached.
DOCS := $(VENV)/.docs

$(DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

docs: $(DOCS)
	$(BIN)/python -m pytest -q -n 2 docs/test_pages.py
	$(BIN)/sphinx-build -W --keep-going -q -j 2 -b html -d build/doctrees docs build/site
	@echo "the site is in build/site/index.html"

# The examples at full size, minutes on two cores; one of them takes BoTorch. What has not changed is not run again.
gallery: $(DOCS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[latent]'
	$(BIN)/python -m benchmarks gallery

# The packages that adapters are for are many and large: they get an environment of their own. pytorch-ood
# comes without torchvision, whose wheels would bring another torch.
INTEGRATIONS := .venv-integrations

$(INTEGRATIONS)/.ready: pyproject.toml constraints.txt
	@test -x $(INTEGRATIONS)/bin/python || $(PYTHON) -m venv $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[hub,latent,mlflow,pyod,ray]' pytest
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps pytorch-ood
	@touch $@

test-integrations: $(INTEGRATIONS)/.ready
	timeout 1200 $(INTEGRATIONS)/bin/python -m pytest tests/integrations

# What is released, in `dist`: built, checked, and the tour run from the wheel in an environment that holds
# nothing else (five minutes on two cores).
RELEASE := .venv-release

dist:
	rm -rf dist $(RELEASE)
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build twine
	$(RELEASE)/bin/python -m build --outdir dist
	$(RELEASE)/bin/twine check --strict dist/*
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		"$$(echo dist/*.whl)[report]"
	cd $(RELEASE) && bin/python -I -m dissensus demo --quiet --output demo-report

# For the tests of the service's page. Who cannot have a browser can still run all others.
browser:
	@if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		{ timeout 60 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 180 apt-get install -y -qq --no-install-recommends \
			chromium fonts-liberation >/dev/null; } || \
		echo "Chromium could not be installed: the tests of the page will be skipped"; \
	else echo "there is no Chromium, and installing it takes root and apt-get: the tests of the page will be skipped"; fi

lint: style imports

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

imports: $(READY)
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

clean:
	rm -rf $(VENV) $(INTEGRATIONS) $(RELEASE) build dist docs/gallery .mypy_cache .ruff_cache .pytest_cache demo-report
