"""What functions of mathematics become, counted without compiling them."""

from __future__ import annotations

import pytest

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.cost.function_bodies import FunctionBody, function_body
from dlc.lowering.affine.ir.nests import nests_of
from dlc.targets.machine import target_facts

_ZEN4 = target_facts("znver4")
_NEST = """
func.func @f(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {{
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 64 {{
    %a = affine.load %x[%i] : memref<64xf32>
    %b = affine.load %y[%i] : memref<64xf32>
    {body}
    affine.store %r, %z[%i] : memref<64xf32>
  }} {{dlc.parallel}}
  return
}}
"""


def counted(*body: str) -> FunctionBody | None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_NEST.format(body="\n".join(body)))
        before = str(module)
        (nest,) = nests_of(module.body.operations[0].operation)
        found = function_body(nest.body, 16, _ZEN4)
        assert str(module) == before
        return found


def functions(*body: str) -> FunctionBody:
    found = counted(*body)
    assert found is not None
    return found


_ONE = functions("%r = math.exp %a : f32")


def test_functions_that_wait_for_each_other_are_a_longer_chain() -> None:
    apart = functions("%p = math.exp %a : f32", "%q = math.exp %b : f32", "%r = arith.maximumf %p, %q : f32")
    in_turn = functions("%p = math.exp %a : f32", "%r = math.exp %p : f32")
    assert in_turn.latency == 2 * _ONE.latency
    assert apart.latency < 1.2 * _ONE.latency
    assert in_turn.instructions == apart.instructions - 1 == 2 * _ONE.instructions
    assert apart.registers > in_turn.registers == _ONE.registers


def test_a_quotient_takes_the_divider() -> None:
    divided = functions("%p = math.exp %a : f32", "%r = arith.divf %p, %b : f32")
    assert divided.divider_cycles == _ZEN4.cycles("divide_f32") > _ONE.divider_cycles == 0
    assert divided.latency == _ONE.latency + _ZEN4.instruction("divide_f32").latency


def test_a_sum_takes_its_product_along() -> None:
    given = "%p = math.exp %a : f32", "%q = arith.mulf %p, %b : f32"
    both = functions(*given, "%r = arith.addf %q, %a : f32")
    assert both.instructions == _ONE.instructions + 1
    assert both.latency == _ONE.latency + _ZEN4.instruction("fma_f32").latency


def test_constants_stay_what_they_are() -> None:
    """Else a sigmoid would not be found, whose sum with one is part of its exponential."""
    found = functions("%p = math.exp %a : f32", "%q = arith.addf %p, %one : f32", "%r = arith.divf %one, %q : f32")
    assert found.instructions <= _ONE.instructions + 3


def test_vectors_side_by_side_wait_less() -> None:
    each = [_ONE.waiting_cycles(copies) / copies for copies in (1, 2, 4)]
    assert each == sorted(each, reverse=True)
    assert _ONE.waiting_cycles(1000) == pytest.approx(_ONE.latency, rel=0.01)


def test_other_bodies_have_none() -> None:
    assert counted("%r = arith.mulf %a, %b : f32") is None
