# The commands of this project; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SIZES := 100000,1000000
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help install run test lint check bench smoke faults fuzz audit lock clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## make .venv with the locked versions of everything (PYTHON=python3.12 to choose)

run: $(INSTALLED) ## start the whole service with its own servers and demo data; Ctrl-C stops it
	@exec $(BIN)/wallet-api up

test: $(INSTALLED) ## run the tests, three files at a time
	$(BIN)/python -m pytest -n 3 --dist loadfile

lint: $(INSTALLED) ## look at style, types and layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## the whole gate: lint, tests, and the audit where the network lets it
	@sh config/audit.sh $(PYTHON) || [ $$? -eq 2 ]

bench: $(INSTALLED) ## measure ledger (SIZES=100000,1000000) and HTTP side beside others; 25 minutes, and wrk
	@$(PIP) install -r config/requirements-bench.txt
	$(BIN)/python -m tests.benchmarks.ledger --sizes $(SIZES)
	$(BIN)/python -m tests.benchmarks.http

smoke: ## look whether a running service is well: WALLET_API_URL, and WALLET_API_KEY or WALLET_API_KEY_FILE
	@sh config/smoke.sh

faults: $(INSTALLED) ## kill, fill and step what a service stands on, and write docs/faults.md anew
	FAULTS_REPORT=docs/faults.md $(BIN)/python -m pytest tests/integration/test_faults.py

fuzz: $(INSTALLED) ## make more than 5,000 calls that schemathesis generates from the OpenAPI document
	FUZZ_EXAMPLES=1200 FUZZ_CALLS=5000 $(BIN)/python -m pytest -s tests/contract/test_schemathesis.py

audit: ## look for known vulnerabilities in the locked versions; needs the network
	@sh config/audit.sh $(PYTHON)

lock: ## choose new versions within setup.cfg's bounds and write them to config/
	sh config/lock.sh $(PYTHON)

clean: ## remove .venv and caches; var/, the data, stays
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache *.egg-info
	find wallet_api tests -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): setup.cfg setup.py config/requirements.txt config/requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make install PYTHON=python3.12"; exit 1; }
	@echo "Installing into $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { echo "On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@$(PIP) install -r config/requirements.txt -r config/requirements-dev.txt
	@$(PIP) install --no-build-isolation --no-deps --use-pep517 --editable .
	@touch $@
