# Targets for people and CI. Each needs Python 3.10+ with venv, and a C++17 compiler; the rest comes with pip into .venv.
#
#   make demo       compile a network of the onnx package and run it
#   make check      lint, lit and Python tests; the last line adds them up
#   make check-all  the same with the slow tests
#   make lint       ruff and mypy
#   make format     rewrite sources as ruff wants them
#   make docs       write the references under docs/generated/
#   make fuzz-inputs MINUTES=30 SEED=0   mutated models, modules, command lines and calls
#   make bench      whole networks against onnxruntime and OpenVINO
#   make check-gpu  the tests that need a GPU of NVIDIA's, and those of its runtime
#   make bench-gpu  kernels and networks on the GPU: times, shares of its peak and bandwidth, other engines that are installed

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MINUTES ?= 30
SEED ?= 0
SOURCES := pyproject.toml CMakeLists.txt runtime/native.cmake runtime/native_names.txt $(wildcard runtime/src/* runtime/src/gpu/* runtime/include/dlc/* tools/launcher/* lowering/*/__init__.py lowering/*/*/__init__.py)

.PHONY: demo check check-all check-gpu fuzz-inputs bench bench-gpu lint format docs clean

demo: $(VENV)/.installed
	@$(BIN)/dlc demo

check: $(VENV)/.installed-test
	@$(BIN)/python test/run_all.py

check-all: $(VENV)/.installed-test
	@$(BIN)/python test/run_all.py --slow

fuzz-inputs: $(VENV)/.installed-test
	@PYTHONPATH=test $(BIN)/python -m fuzz --minutes $(MINUTES) --seed $(SEED)

bench: $(VENV)/.installed-bench
	@$(BIN)/python -m bench

# Tests that need a GPU say why they were skipped where there is none.
check-gpu: $(VENV)/.installed-test
	@$(BIN)/python -m pytest -q -n 4 -rs --tb=short -m cuda test/targets/gpu test/lowering/gpu_to_nvvm
	@$(BIN)/python -m pytest -q --tb=short -m "not slow" test/targets/gpu/test_gpu_runtime.py

# Rows are printed and written as they come: what is not measured after 7 minutes is left out.
bench-gpu: $(VENV)/.installed-bench
	@mkdir -p build
	@timeout --signal=INT 420 $(BIN)/python -m bench gpu --json build/bench-gpu.json

lint: $(VENV)/.installed-test
	@$(BIN)/python -m ruff check --output-format concise .
	@$(BIN)/python test/typecheck.py

docs: $(VENV)/.installed-test
	@$(BIN)/python docs/generate.py

format: $(VENV)/.installed-test
	@$(BIN)/python -m ruff check --fix-only --quiet .
	@$(BIN)/python -m ruff format .

clean:
	rm -rf build dist $(VENV)

$(BIN)/python:
	@$(PYTHON) -m venv $(VENV)

# One install a time stamp: it is repeated when the packaging or the native sources change; Python files need none.
$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	@echo "installing dlc into $(VENV)"
	@$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-test: $(SOURCES) | $(BIN)/python
	@echo "installing dlc and its test tools into $(VENV)"
	@$(PIP_INSTALL) --editable ".[test,lint]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: $(SOURCES) | $(BIN)/python
	@echo "installing dlc and its bench tools into $(VENV)"
	@$(PIP_INSTALL) --editable ".[bench]"
	@touch $@ $(VENV)/.installed
