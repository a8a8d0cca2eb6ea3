"""Which parallel loops may be moved out of serial loops around them, and what the loops that are built say of it."""

from __future__ import annotations

import pytest

from dlc._mlir import ir
from dlc.analysis.polyhedral.extract import extract
from dlc.analysis.polyhedral.last_writers import value_dependences
from dlc.analysis.polyhedral.schedule_tree import original_schedule
from dlc.dialects import make_context
from dlc.lowering.polyhedral.apart_loops import mark_apart
from dlc.lowering.polyhedral.coincidence import with_coincidence
from dlc.lowering.polyhedral.emit import replace_loops
from dlc.lowering.polyhedral.ordering import ordering_dependences

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
        order = ordering_dependences(scop, value_dependences(scop))
        schedule = with_coincidence(original_schedule(scop), order)
        replace_loops(scop, mark_apart(schedule, order))
        assert module.operation.verify()
        found: list[ir.Operation] = []
        module.operation.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE, ir.WalkOrder.PRE_ORDER)
        loops = [op for op in found if op.name == "affine.for"]
        assert [str(op.attributes["dlc.apart"]) == "0 : i64" if "dlc.apart" in op.attributes else False for op in loops] == marks
        assert ["dlc.parallel" in op.attributes for op in loops] == [False, False, True]
