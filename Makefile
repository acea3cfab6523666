# Every target prepares what it needs: a virtual environment in .venv with the project installed in place.
# Needs only make and Python 3.11 or newer. Another interpreter: make test PYTHON=/path/to/python

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
# The tests of one file stay together: they share what they fit. One process more than there are processors, for some
# tests wait for a web browser or for other processes.
SPREAD = --numprocesses $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)') --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-machines lint docs notebooks bench bench-scale bench-docs study studies clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1 \t\2/p' Makefile | expand -t 20

demo: $(VENV)/.with-demo ## fit the State of the Union addresses and show their topics
	@$(BIN)/topoi demo --force

test: $(VENV)/.with-test ## run the tests, doctests included
	$(PYTEST) $(SPREAD)

test-slow: $(VENV)/.with-test ## run only the slow tests (long chains, joint distribution tests)
	$(PYTEST) $(SPREAD) -m slow

test-machines: $(VENV)/.with-test ## run the golden runs as older processors would (AVX2, SSE2)
	$(PYTEST) $(SPREAD) -m slow -k another_instruction_set

lint: $(VENV)/.with-lint ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.with-docs ## build the manual into site/; a broken link or anchor is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo 'the manual is in site/index.html; with its search: python -m http.server --directory site'

notebooks: $(VENV)/.with-notebooks ## run the notebooks of examples/ again and store what they show
	$(BIN)/python examples/notebooks/execute.py

bench: $(VENV)/.with-bench ## measure speed and quality against other packages
	$(BIN)/python -m benchmarks

bench-scale: $(VENV)/.with-bench ## measure the cost of a sweep against tokens, topics and workers
	$(BIN)/python -m benchmarks.scale

bench-docs: $(VENV)/.with-bench ## run the benchmarks behind the manual's tables, and write these: two hours
	$(BIN)/python -m benchmarks.record

study: $(VENV)/.with-bench ## make one figure or table of a paper again: make study NAME=at09-fig4
	@$(BIN)/python -m studies.papers $(if $(NAME),$(NAME),--list)

studies: $(VENV)/.with-bench ## make all that have no page of their own, one after the other
	$(BIN)/python -m studies.papers --all

clean: ## remove the environment, the caches and what was built
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis .numba-cache
	find src tests benchmarks studies examples -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per extra: a second run installs nothing unless pyproject.toml has changed.
$(VENV)/.with-%: pyproject.toml | $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(VENV)/.created:
	@python=; \
	for candidate in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
	    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        python="$$candidate"; break; \
	    fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo 'topoi needs Python 3.11 or newer with the venv module (Debian: apt install python3-venv), and found none.' >&2; \
	    echo 'Install it, or name it: make PYTHON=/path/to/python' >&2; \
	    exit 1; \
	fi; \
	echo "creating $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv $(VENV) && touch $@
