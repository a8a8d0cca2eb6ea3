"""Which parallel loops may be moved out of serial loops around them, and what the loops that are built say of it."""

from __future__ import annotations

import numpy as np
import pytest

from bench.polybench.compiled import DEFAULT_PIPELINE, compile_kernel
from bench.polybench.suite import copied, suite
from dlc._mlir import ir
from dlc.analysis.buffers import is_allocation
from dlc.dialects import make_context
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.dependences.coincidence import with_coincidence
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.search.parallel_groups import mark_parallel_groups
from dlc.lowering.pipeline import Pipeline
from dlc.runtime.library import load_library

_STEP = """
func.func @step(%x: memref<100x256xf64>) {{
  affine.for %t = 0 to 5 {{
    affine.for %i = 0 to 99 {{
      affine.for %j = 1 to 255 {{
        %v = affine.load %x[%i, {read}] : memref<100x256xf64>
        %w = arith.addf %v, %v : f64
        affine.store %w, %x[%i + 1, %j] : memref<100x256xf64>
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(("read", "marks"), [("%j", [True, True, True]), ("%j - 1", [False, False, False])])
def test_columns_that_stay_apart_share_a_number_with_the_loops_around(read: str, marks: list[bool]) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_STEP.format(read=read))
        scop = extract(module.body.operations[0].operation)
        order = DependenceAnalysis(scop).ordering
        schedule = with_coincidence(original_schedule(scop), order)
        replace_loops(scop, mark_parallel_groups(schedule, order))
        assert module.operation.verify()
        found: list[ir.Operation] = []
        module.operation.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE, ir.WalkOrder.PRE_ORDER)
        loops = [op for op in found if op.name == "affine.for"]
        assert [
            str(op.attributes["dlc.parallel_group"]) == "0 : i64" if "dlc.parallel_group" in op.attributes else False
            for op in loops
        ] == marks
        assert ["dlc.parallel" in op.attributes for op in loops] == [False, False, True]


def test_copies_that_one_iteration_reads_go_with_it() -> None:
    """Panels of columns are copied by who reads them; rows, which all columns read, by all."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(suite()["gemm"].text("LARGE", "f64"))
        Pipeline.parse("dl-set-target{target=skylake-avx512},affine-polyhedral-schedule").run(module)
        found: list[ir.Operation] = []
        module.operation.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE, ir.WalkOrder.PRE_ORDER)
        stores = [op for op in found if op.name == "vector.maskedstore" and is_allocation(op.operands[0])]
        ranks = {ir.MemRefType(op.operands[0].type).rank for op in stores}
        moved = {ir.MemRefType(op.operands[0].type).rank for op in stores if any(map(_is_moved, _around(op)))}
    assert (ranks, moved) == ({2, 3}, {3})


def _is_moved(loop: ir.Operation) -> bool:
    return "dlc.parallel_group" in loop.attributes and "dlc.parallel" in loop.attributes


def _around(op: ir.Operation) -> list[ir.Operation]:
    found = []
    while op.name != "func.func":
        op = op.parent.operation
        found.append(op)
    return found


@pytest.mark.parametrize("name", ["gemm", "syr2k"])
def test_jobs_give_the_same_bits(name: str) -> None:
    kernel, library = suite()[name], load_library()
    code = compile_kernel(kernel, "MEDIUM", "f64", DEFAULT_PIPELINE)
    one, two = (copied(kernel.arguments("MEDIUM", "f64")) for _ in range(2))
    before = library.set_num_threads(1)
    code.bind(one)()
    library.set_num_threads(2)
    code.bind(two)()
    library.set_num_threads(before)
    assert all(np.array_equal(first, second) for first, second in zip(one, two, strict=True))
