# Everything runs in .venv, which the first target that needs it makes.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is kept, even where the environment says otherwise: tests start a hundred processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test integration slow mutations lint format bench parts docs package clean

demo: .venv/ready
	$(BIN)/bayesieve demo --out build/demo

test: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile

# With a browser, a cluster, the GPU's sources, the papers and the documentation's code.
integration: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and (browser or cluster or docs or gpu or papers)"

slow: .venv/ready
	$(BIN)/python -m pytest -m slow

# Forty small mistakes in the core, one after the other: do the tests notice?
mutations: .venv/ready
	$(BIN)/python tests/mutations.py

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/ready .venv-peers/ready
	$(BIN)/python benchmarks/peers.py --peers .venv-peers/bin/python

parts: .venv/ready
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python benchmarks/indicators.py
	$(BIN)/python benchmarks/exhaustive.py
	$(BIN)/python benchmarks/sparse_reports.py
	$(BIN)/python benchmarks/relevance.py
	$(BIN)/python benchmarks/stream.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/whole_calls.py
	$(BIN)/python benchmarks/densities.py
	$(BIN)/python benchmarks/imports.py

# The site lands in docs/_build/html; nothing is fetched while it is built.
docs: .venv/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

# Wheel and source archive, the former built from the latter; a stranger then installs the wheel in a
# fresh environment and pastes the README.
package:
	rm -rf dist build/stranger
	$(PYTHON) -m venv build/stranger/env
	build/stranger/env/bin/python -m pip install --quiet build
	build/stranger/env/bin/python -m build --outdir dist .
	build/stranger/env/bin/python -m pip install --quiet --constraint constraints.txt "$$(ls dist/*.whl)[cli]" pandas
	mkdir build/stranger/here
	cd build/stranger/here && ../env/bin/python ../../../tests/stranger.py ../../../README.md

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

.venv-peers/ready: benchmarks/peers.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --requirement benchmarks/peers.txt
	touch $@

.venv/docs: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

clean:
	rm -rf .venv .venv-peers build dist docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
