# The commands of this project; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SIZES := 100000,1000000
SERVICE := $(VENV)/.service
INSTALLED := $(VENV)/.installed
CITUS_TESTS := $(addprefix tests/integration/test_citus,.py _commits.py) \
	$(addprefix tests/integration/test_,$(addsuffix .py,migrations imports exports rebuild remove purge ledger_under_way following_under_way \
	following_properties ledger_properties)) \
	$(addprefix tests/holdings/test_,$(addsuffix .py,states snapshots)) \
	$(addprefix tests/api/test_,$(addsuffix .py,history leaderboard tracker connections feed \
	tokens wallets following arguments figures paging ledger_example search explain brief calendar signals))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

define VENV_READY
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	newer=$$(for minor in 14 13 12 11; do command -v python3.$$minor && break; done); \
	echo "Python 3.11 or newer is needed. Type: make $(MAKECMDGOALS) PYTHON=$${newer:-python3.13}"; \
	[ "$$newer" ] || echo "This machine has none: install one first."; exit 1; }; \
echo "Installing into $(VENV): some 100 MB, in about a minute …"; \
$(PYTHON) -m venv $(VENV) || { \
	echo "Type: apt-get install python3-venv    # on Debian and Ubuntu; then: make $(MAKECMDGOALS)"; exit 1; }
endef

define NOT_INSTALLED
{ echo "The libraries could not be installed. Without a network, on a machine that has one:"; \
echo "  python3 -m pip download --dest wheels $(addprefix --requirement ,$(filter config/%,$^))"; \
echo "and here, with that folder:"; \
echo "  PIP_NO_INDEX=1 PIP_FIND_LINKS=wheels make $(MAKECMDGOALS)"; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help install run dist test test-citus examples reference sql lint check bench smoke faults fuzz audit lock clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## install the locked versions into .venv (PYTHON=python3.12 to choose the interpreter)

run: $(SERVICE) ## run the whole service with its own servers and demo data, until Ctrl-C
	@exec $(BIN)/wallet-api up

test: $(INSTALLED) ## run the tests, six files at a time
	@# Compiled modules are kept, also where the environment says otherwise: hundreds of processes load them.
	@# Tests wait much of their time, so that six keep two processors busy.
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 6 --dist loadfile --no-loadscope-reorder

examples: $(INSTALLED) ## write the examples of the OpenAPI document from responses to a small ledger
	$(BIN)/python -m tests.documents.write_examples

reference: $(INSTALLED) ## write the generated parts of docs/reference.md and docs/webhooks.md
	$(BIN)/python -m tests.documents.write_reference

sql: $(INSTALLED) ## print the statements of a file as they run, with what they include: NAME=queries/leaderboard
	@$(BIN)/python -m tests.documents.print_sql $(NAME)

test-citus: $(INSTALLED) ## run the tests that speak SQL on a Citus cluster of the programs in CITUS_BIN
	LEDGER_EXAMPLES=$${LEDGER_EXAMPLES:-5} $(BIN)/python -m pytest --citus -n 2 --dist loadfile $(CITUS_TESTS)

dist: $(SERVICE) ## build dist/: the wheel, the source archive, and the versions for `pip install --constraint`
	@rm -rf dist
	@$(BIN)/python -c 'from setuptools.build_meta import build_sdist; build_sdist("dist")' >/dev/null
	@$(PIP) wheel --no-deps --no-build-isolation --use-pep517 --wheel-dir dist dist/*.tar.gz
	@# pip would want a hash of the wheel itself beside those of the others.
	@sed -e '/^ *--hash/d' -e 's/ *\\$$//' config/requirements.txt > dist/requirements.txt
	@ls dist

lint: $(INSTALLED) ## check style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint ## run lint, tests and audit, which may be skipped without a network
	@$(MAKE) test
	@sh config/audit.sh $(PYTHON) || [ $$? -eq 2 ]

bench: $(INSTALLED) ## measure the ledger (SIZES=100000,1000000) and the HTTP side; 40 minutes, needs wrk. NAME=growth: one alone
ifdef NAME
	$(BIN)/python -m tests.benchmarks.$(NAME) $(OPTIONS)
else
	$(BIN)/python -m tests.benchmarks.imports --sizes $(SIZES)
	$(BIN)/python -m tests.benchmarks.costs --sizes $(SIZES)
	$(BIN)/python -m tests.benchmarks.http
endif

smoke: ## check a running service: WALLET_API_URL, and WALLET_API_KEY or WALLET_API_KEY_FILE
	@sh config/smoke.sh

faults: $(INSTALLED) ## kill servers, fill a disk, step a clock, attack, and print the figures of docs/faults.md
	$(BIN)/python -m pytest -rP $(addprefix tests/integration/test_,faults.py attacks.py bulkhead.py)

fuzz: $(INSTALLED) ## send more than 5,000 requests that schemathesis generates from the OpenAPI document
	FUZZ_EXAMPLES=200 FUZZ_CALLS=5000 FUZZ_PHASES=examples,coverage,fuzzing $(BIN)/python -m pytest -s tests/contract/test_schemathesis.py

audit: ## check the locked versions for known vulnerabilities; needs the network
	@sh config/audit.sh $(PYTHON)

lock: ## write the newest versions within the bounds of setup.cfg to config/requirements*.txt
	sh config/lock.sh $(PYTHON)

clean: ## remove .venv and caches, but not the data in var/
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	find wallet_api tests -name __pycache__ -prune -exec rm -rf {} +

$(SERVICE): setup.cfg setup.py config/requirements.txt
	@$(VENV_READY)
	@$(PIP) install --retries 1 --require-hashes -r config/requirements.txt || $(NOT_INSTALLED)
	@$(PIP) install --no-build-isolation --no-deps --use-pep517 --editable .
	@touch $@

$(INSTALLED): $(SERVICE) config/requirements-dev.txt
	@echo "Installing the tools for tests …"
	@$(PIP) install --retries 1 --require-hashes -r config/requirements-dev.txt || $(NOT_INSTALLED)
	@touch $@
