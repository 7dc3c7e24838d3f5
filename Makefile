# make run    the canonical suite on every engine present; make test    lint, types and tests.
# make slow   all tests; make docs    the site; make bench   the benchmarks.
# Needs Python 3.11 (later versions run without pybullet) and nothing else.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	if $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then echo $$p; break; fi; done)
VENV ?= .venv
DB ?= upright.db
BIN := $(VENV)/bin
# uv installs in 6 s what pip takes 45 s for; pip takes over, and says so, where uv cannot (an index that only pip is set up for).
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile --constraint constraints.txt
UV := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python --constraint constraints.txt
install = { $(UV) $(1) || { echo "  uv could not install $(1), so pip does, a minute longer"; $(PIP) $(1); }; }
UPRIGHT = $(call install,--editable '.[$(EXTRAS)]')
WARM := from validation.running import kernel_cache as kernels; kernels.warm(kernels.use_kernel_cache())
# A command starts a process for each engine: none compiles what another has, whatever the environment says of bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test slow engines-extra lint docs dashboard bench clean

run: $(VENV)/installed
	@$(BIN)/upright run --db $(DB)

# Types are checked meanwhile: tests wait for processes now and then.
test: $(VENV)/tested
	@$(MAKE) --no-print-directory lint & lint=$$!; $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"; status=$$?; \
	wait $$lint && exit $$status

slow: $(VENV)/tested
	@$(BIN)/python -m pytest -n 2 --dist worksteal

# PhysX and DART, 0.55 GB: columns of a run and tests of `make slow` wherever they are.
engines-extra: EXTRAS = all,test,physx,dart
engines-extra: $(VENV)/tested
	@$(UPRIGHT)

lint: $(VENV)/tested
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(VENV)/documented
	@$(BIN)/python -m sphinx -W --keep-going -q -b dirhtml docs build/site && echo "  build/site/index.html"

dashboard: $(VENV)/installed
	@$(BIN)/upright dashboard --db $(DB)

# All but what needs a folder of recorded runs, wheels of many releases (released_faults.py) or PostgreSQL, what takes half an
# hour (kills.py), and what others share; what misses its targets is named at the end.
BENCHMARKS := $(filter-out %/released_faults.py %/contactsim_parity.py %/recorded_cases.py %/recorded_mechanisms.py %/mechanism_inputs.py %/writers.py %/sizes.py %/kills.py,$(wildcard ci/benchmarks/*.py))
bench: $(VENV)/installed
	@missed=""; for b in $(BENCHMARKS); do echo "== $$b"; $(BIN)/python -P $$b || missed="$$missed $$b"; done; \
	if [ -n "$$missed" ]; then echo "not well:$$missed"; exit 1; fi

# With the four packages that they need, kernels are compiled while the others are installed.
$(VENV)/installed: EXTRAS = all
$(VENV)/installed: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "no Python 3.11, 3.12 or 3.13 found; install one, or: make PYTHON=/path/to/python"; exit 2; }
	@echo "  installing into $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) uv; $(call install,numba numpy pydantic scipy)
	@PYTHONPATH=. $(BIN)/python -c "$(WARM)" >/dev/null 2>&1 & $(UPRIGHT); status=$$?; wait; exit $$status
	@touch $@

$(VENV)/tested: EXTRAS = all,test
$(VENV)/tested: $(VENV)/installed
	@$(UPRIGHT)
	@touch $@

$(VENV)/documented: EXTRAS = all,docs
$(VENV)/documented: $(VENV)/installed
	@$(UPRIGHT)
	@touch $@

clean:
	rm -rf $(VENV)
