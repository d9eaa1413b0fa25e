# A fresh machine needs make and python3 with venv: `make lab` to learn, `make test` to check.
# The rest: lint, pythons, peers, bench, fuzz, notebooks. Each target builds what it stands on.

PYTHON ?= python3
JOBS   ?= 2
UV     := .boot/bin/uv
BIN    := .venv/bin
# A file's tests stay together, a notebook's cells, too. Files in their own order: by itself pytest
# leaves those with few tests for the end, and some of them take longest.
SHARED := -n $(JOBS) --dist loadfile --no-loadscope-reorder
export UV_PROJECT_ENVIRONMENT := .venv
# Where it is set all processes compile their libraries anew: kernels take two seconds more to start.
unexport PYTHONDONTWRITEBYTECODE
BOOKS  := $(sort $(wildcard notebooks/*.ipynb))
FIRST  := $(or $(firstword $(BOOKS)),notebooks)
JS     := $(sort $(wildcard tests/js/*.test.mjs tests/js/*.test.js))
# The wheel with the `dot` program only where the machine has none. More: make env EXTRAS="--extra cuda"
EXTRAS ?=
DOT    := $(if $(shell command -v dot 2>/dev/null),,--extra dot)
LOUD   := printf '\n!!! %s\n\n'

.PHONY: env lab test unit js nbval browser lint pythons peers bench bench-gpu fuzz fuzz-autodiff notebooks clean
.NOTPARALLEL:

env: .venv/.ok

# The versions of uv.lock, exactly; `make lint` says when the lock no longer fits pyproject.toml.
# What the first compiled call imports gets its bytecode now, so that no lesson waits for it; and
# JupyterLab does not lay its news over the first one.
.venv/.ok: pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen $(DOT) $(EXTRAS)
	$(BIN)/python -m compileall -q -j $(JOBS) labcore widgets \
	    $(addprefix .venv/lib/python*/site-packages/,numpy numba llvmlite networkx)
	@mkdir -p .venv/share/jupyter/lab/settings
	@echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}' \
	    > .venv/share/jupyter/lab/settings/overrides.json
	@touch $@

$(UV):
	$(PYTHON) -m venv .boot
	.boot/bin/pip install --quiet --disable-pip-version-check uv==0.13.9

lab: env
	$(if $(BOOKS),$(BIN)/jupyter trust $(BOOKS))
	$(BIN)/jupyter lab --ip=127.0.0.1 --ServerApp.root_dir="$(CURDIR)" \
	    --LabApp.default_url=/lab/tree/$(FIRST) $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS)

# Four suites, then what could not be checked here, where it is seen.
test: unit js nbval browser
	@command -v node >/dev/null || $(LOUD) 'SKIPPED: the widgets'"'"' JavaScript tests need node'
	@$(BIN)/python -m tests.browser.chromium >/dev/null || $(LOUD) \
	    'SKIPPED: the browser tests need chromium (apt-get install chromium, or LAB_CHROMIUM=/path)'

unit: env
	$(BIN)/pytest -q $(SHARED) -m 'not browser' tests

js:
	$(if $(JS),! command -v node >/dev/null || node --test $(JS),@echo 'tests/js: no test yet')

nbval: env
	$(if $(BOOKS),$(BIN)/pytest -q -p no:cacheprovider $(SHARED) --nbval --nbval-current-env \
	    --nbval-sanitize-with tests/nbval_sanitize.cfg --nbval-cell-timeout 120 \
	    $(BOOKS),@echo 'notebooks: none yet')

# Each process has a JupyterLab and a chromium of its own, and takes over tests that wait for another.
browser: env
	$(BIN)/pytest -q -n $(JOBS) --dist worksteal -m browser tests/browser

lint: env
	$(UV) lock --check --offline
	$(BIN)/ruff check
	$(BIN)/mypy

# Bytecode differs from one Python to the next: what reads it runs on each that this machine has.
pythons: env
	$(BIN)/python -m tests.pythons $(UV) $(JOBS) tests/capture tests/guards

# torch, jax and numexpr, to compare with. Never needed by the lab itself; torch by pip, which takes
# a CPU build where it is told of one.
UNPEERED := jupyterlab anywidget ipywidgets nbval nbclient nbconvert playwright py-rattler
peers: .peers/.ok
	.peers/bin/python -m pytest -q $(SHARED) tests/peers

.peers/.ok: pyproject.toml uv.lock | $(UV)
	$(PYTHON) -m venv .peers
	$(UV) export --quiet --frozen --no-emit-project --no-hashes --no-default-groups --group test \
	    $(patsubst %,--prune %,$(UNPEERED)) --output-file .peers/requirements.txt
	$(UV) pip install --quiet --python .peers -r .peers/requirements.txt jax==0.10.2 numexpr==2.14.2
	.peers/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	.peers/bin/python -c 'import torch, jax, numexpr'
	@touch $@

# Some machines set these for old OpenBLAS builds; they slow the current one down.
bench: env
	env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python -m labcore.measure.bench $(BENCH_ARGS)

# On a card, with torch in an environment that has the extra `cuda`, too:
# make bench-gpu GPU_PYTHON=/path/to/python BENCH_ARGS="--only softmax"
GPU_PYTHON ?= $(BIN)/python
bench-gpu:
	PYTHONPATH=$(CURDIR) $(GPU_PYTHON) -m labcore.measure.gpu $(BENCH_ARGS)

# LAB_FUZZ_EXAMPLES=20000 for longer; FUZZ_ARGS="--seed 20000" for other programs.
fuzz: env
	$(BIN)/python -m tests.capture.random_programs.campaign --jobs $(JOBS) $(FUZZ_ARGS)
	$(BIN)/python -m tests.guards.random_worlds.campaign --jobs $(JOBS)
	$(MAKE) fuzz-autodiff
	$(BIN)/pytest -q -n $(JOBS) --timeout 0 -m fuzz --hypothesis-profile fuzz tests

# Of those the writes in place and the gradients alone.
# AUTODIFF_ARGS="--writes 2000 --gradients 5000 --seed 0" is how many, and which.
fuzz-autodiff: env
	$(BIN)/python -m tests.autodiff.campaign --jobs $(JOBS) $(AUTODIFF_ARGS)

# Run every notebook anew and store what it shows, without timestamps or this machine's paths.
notebooks: env
	$(BIN)/jupyter nbconvert --to notebook --execute --inplace \
	    --ExecutePreprocessor.store_widget_state=True --ExecutePreprocessor.record_timing=False $(BOOKS)
	sed -i.orig 's|$(CURDIR)/||g' $(BOOKS) && rm -f notebooks/*.orig

clean:
	rm -rf .boot .venv .venv-* .peers
