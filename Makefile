# SPDX-License-Identifier: Apache-2.0
# Every target does all its set-up and leaves the tool at .venv/bin/eitherway.

.PHONY: help setup demo test lint format bench picture generate wheel clean
.DEFAULT_GOAL := help

PY := .venv/bin/python
C_FILES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')
JS_FILES = $(shell git ls-files --cached --others --exclude-standard '*.js')

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## build the tool into .venv
	@tools/setup

demo: setup ## see what works today, on a shipped example
	@.venv/bin/eitherway demo

test: ## run all tests
	@tools/setup dev
	$(PY) -m pytest -n 2 --dist worksteal $(TESTS)

lint: ## ruff, mypy --strict, clang-format
	@tools/setup dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	$(if $(C_FILES),,$(error git does not list the C files: lint needs a git checkout))
	.venv/bin/clang-format --dry-run --Werror $(C_FILES) $(JS_FILES)

format: ## rewrite the sources as lint wants them
	@tools/setup dev
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	.venv/bin/clang-format -i $(C_FILES) $(JS_FILES)

bench: ## measure, and write the figures into docs/benchmarks.md
	@tools/setup dev
	$(PY) -m benchmarks

picture: ## take README's picture again, from the page of the demo
	@tools/setup dev
	$(PY) -m benchmarks.picture

generate: setup ## write again what comes from the descriptions in format/
	$(PY) format/generate.py

wheel: ## build the wheel into dist/
	@tools/setup dev
	$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## remove everything that was built
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache
