# What a person types. Every target brings its own environment (.venv) and installs nothing into
# the system; the second run of any of them starts at once.
#
#   PYTHON=python3.12 make test     another interpreter (3.11 to 3.13)
#   ARGS="-k guard" make test       more arguments for pytest, the demo or the benchmark
#   PROFILE=1 make bench            where the time of one email goes, instead of the table

PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
READY := .venv/ready
LOCK := --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command 'make lock'

.DEFAULT_GOAL := help
.PHONY: simulation help demo test test-fast chaos bench lint format lock clean

help: ## This list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## The whole service on embedded Kafka and Postgres, 2,000 events, under a minute
	@$(BIN)/sendonce demo $(ARGS)

test: $(READY) ## Every test, on real Kafka and Postgres; the last lines say what was skipped and why
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

test-fast: $(READY) ## The pure tests only, half a minute
	@$(BIN)/python -m pytest tests/unit --hypothesis-profile fast $(ARGS)

chaos: $(READY) ## Everything broken at once on real parts, ten minutes; then the ledgers are read
	@$(BIN)/python -m tests.chaos $(ARGS)

simulation: $(READY) ## Worlds by the thousand, whose seeds nobody has seen; ARGS="--schedules 1000000 --jobs 2"
	@$(BIN)/python -m tests.simulation $(ARGS)

bench: $(READY) ## Records per second against the bare loop: a table and tests/bench/results.json
	@$(BIN)/python -m tests.bench $(if $(PROFILE),--profile) $(ARGS)

lint: $(READY) ## ruff (everything on), format, mypy --strict, dead code, the house's import law
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/vulture
	@$(BIN)/python -m pytest -q --no-header tests/unit/test_house*.py tests/unit/test_house_sizes.py

format: $(READY) ## Write the format that lint asks for
	@$(BIN)/ruff check --fix-only --quiet . ; $(BIN)/ruff format --quiet .

lock: ## Renew both lock files from pyproject.toml (needs uv)
	uv pip compile $(LOCK) --extra ses --extra avro --output-file deploy/requirements.txt pyproject.toml
	uv pip compile $(LOCK) --all-extras --group build --output-file tests/requirements.txt pyproject.toml

clean: ## Remove what these targets made
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis out tests/kafka/libs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment that was cut off half way, or belongs to older locks, is made again from nothing.
$(READY): tests/requirements.txt pyproject.toml
	@echo "Making .venv (once, a minute or so)" >&2
	@rm -rf .venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try PYTHON=python3.12 make ...")'
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --require-hashes -r tests/requirements.txt >&2
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . >&2
	@touch $@
