"""Arenas are as small as they can be, and what a run takes is what the plan says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from model_sizes import NETWORKS, QUICK_LIGHT, SLOW_LIGHT

import dlc
from bench.networks import light, resnet50, super_resolution
from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.analysis.memory_plan import MemoryPlan, memory_plan
from dlc.lowering.pipeline import Pipeline
from dlc.lowering.pipelines import PIPELINES
from dlc.runtime.library import load_library
from dlc.sources import Model, copy_module, read_source

NEAR = 1.05
LIGHT = [*QUICK_LIGHT, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_LIGHT)]
DYNAMIC = [(name, {"dynamic_batch": True}) for name in NETWORKS]


def planned(model: Model) -> tuple[MemoryPlan, ir.Module]:
    """The plan that the compiler makes for a model, and the module that it speaks of."""
    module = copy_module(read_source(model))
    passes = PIPELINES["linalg-to-affine"].passes
    with module.context, ir.Location.unknown():
        Pipeline.between("dl", "linalg").run(module)
        Pipeline(passes[: passes.index("linalg-plan-memory")]).run(module)
        return memory_plan(_entry(module)), module


def _entry(module: ir.Module) -> ir.Operation:
    """The function that runs the model; another one may compute weights."""
    name = ir.DictAttr(module.operation.attributes["dl.signature"])["entry"]
    return next(op.operation for op in module.body.operations if op.operation.attributes["sym_name"] == name)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("name", "options"), [*((name, {}) for name in NETWORKS), *DYNAMIC])
def test_peak_of_network(name: str, options: dict[str, bool]) -> None:
    plan, _module = planned(NETWORKS[name](**options))
    assert plan.buffers
    for size in (1, 2, 5, 32, 100):
        atoms = dict.fromkeys(plan.nominal, size)
        assert plan.peak(atoms) <= NEAR * plan.lower_bound(atoms), size


@pytest.mark.parametrize("name", LIGHT)
def test_peak_of_light_network(name: str) -> None:
    plan, _module = planned(light.seeded(light.load(name)))
    assert plan.peak() <= NEAR * plan.lower_bound()


def test_tiles_of_large_images_are_made_and_used_row_by_row() -> None:
    """The largest buffer of a kernel is a padded image; Winograd's tiles of all of it would be four times as large."""
    module = dlc.lower(super_resolution.build(), "affine", target="cpu:znver4")
    kernels = [op.operation for op in module.body.operations if "dl.kernel" in op.operation.attributes]
    buffers = [ir.MemRefType(op.results[0].type) for kernel in kernels for op in nested_ops(kernel) if op.name == "memref.alloc"]
    assert buffers and max(int(np.prod(kind.shape)) for kind in buffers) <= 226 * 226 * 64


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("name", NETWORKS)
def test_run_takes_what_the_plan_says(name: str) -> None:
    model = NETWORKS[name]()
    plan, _module = planned(model)
    compiled, library = dlc.compile(model), load_library()
    inputs = dlc.random_inputs(compiled.inputs)
    before = library.memory_live()
    library.memory_reset_peak()
    results = compiled(inputs)
    taken = library.memory_peak() - before
    given = sum(np.asarray(result).nbytes for result in results)
    assert plan.peak() <= taken <= plan.peak() + given + _other_buffers(model)


_GROWTH = """
import os
from pathlib import Path
import dlc
from bench.networks import resnet50
from dlc.runtime.library import load_library
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
compiled, library = dlc.compile(resnet50.build(batch=4)), load_library()
inputs = dlc.random_inputs(compiled.inputs)
library.memory_trim()
library.memory_reset_peak()
live, before = library.memory_live(), resident()
for _ in range(3):
    compiled(inputs)
    print(resident() - before)
print(library.memory_idle() + library.memory_live() - live)
print(library.memory_peak() - live)
"""
"""Tells by how many bytes three calls let the memory of a process grow, how many the runtime holds then, and used at most."""

_NO_FREE_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
"""The system's allocator gives back what is freed, so that calls find nothing in it that compiling has left there."""


@pytest.mark.slow
def test_resident_memory_grows_by_what_the_runtime_counts() -> None:
    plan, _module = planned(resnet50.build(batch=4))
    command, environment = [sys.executable, "-c", _GROWTH], os.environ | _NO_FREE_MEMORY
    root = Path(dlc.__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environment, timeout=600)
    *growths, held, used = map(int, done.stdout.split())
    assert len(growths) == 3
    assert plan.peak() <= min(growths)
    assert max(growths) <= 1.05 * held
    assert held <= 1.25 * used  # rests between blocks: kRests of large_blocks.cpp


def _other_buffers(model: Model) -> int:
    """Bytes of the buffers that the plan leaves alone and of those inside kernels, all together."""
    module = dlc.lower(model, to="affine")
    found = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        if op.name == "memref.alloc" and ir.MemRefType(op.results[0].type).element_type != ir.IntegerType.get_signless(8):
            kind = ir.MemRefType(op.results[0].type)
            assert kind.has_static_shape
            found += 8 * int(np.prod(kind.shape))
        return ir.WalkResult.ADVANCE

    with module.context:
        module.operation.walk(visit)
    return found
