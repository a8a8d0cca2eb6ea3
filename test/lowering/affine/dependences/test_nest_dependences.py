"""Dependences between nests against every pair of iterations, for random linear subscripts."""

from __future__ import annotations

import random
from itertools import product

import pytest

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.dependences.nest_dependences import NestDependences
from dlc.lowering.affine.ir.accesses import accesses_in
from dlc.lowering.affine.ir.loops import Loop, normalized, real_ops

_SIZES = (3, 4)
"""Iterations of the two loops of each nest."""
Form = tuple[int, int, int]
"""Factors of the outer and the inner loop, and a constant."""


def _subscript(form: Form) -> str:
    outer, inner, constant = form
    return f"%i * {outer} + %j * {inner} + {constant}"


def _nest(op: str, forms: tuple[Form, Form]) -> str:
    at = ", ".join(map(_subscript, forms))
    access = f"affine.store %f, %m[{at}]" if op == "store" else f"%x = affine.load %m[{at}]"
    return f"affine.for %i = 0 to {_SIZES[0]} {{ affine.for %j = 0 to {_SIZES[1]} {{ {access} : memref<99x99xf32> }} }}"


def _loops(top: ir.Operation) -> list[Loop]:
    (inner,) = real_ops(top.regions[0].blocks[0])
    return [loop for op in (top, inner) if (loop := normalized(op)) is not None]


def _answers(stored: tuple[Form, Form], loaded: tuple[Form, Form]) -> list[bool]:
    """For each depth, whether the nests may be one in the loops at that depth."""
    text = f"func.func @f(%m: memref<99x99xf32>, %f: f32) {{ {_nest('store', stored)} {_nest('load', loaded)} return }}"
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        first, second = real_ops(module.body.operations[0].operation.regions[0].blocks[0])
        between = NestDependences.of(first, list(accesses_in(first)), second, list(accesses_in(second)))
        return [between.allow_fusion(t, u) for t, u in zip(_loops(first), _loops(second), strict=True)]


def _expected(stored: tuple[Form, Form], loaded: tuple[Form, Form], depth: int) -> bool:
    """Whether no two instances that touch one element differ in the loop at `depth`."""

    def element(forms: tuple[Form, Form], at: tuple[int, ...]) -> list[int]:
        return [outer * at[0] + inner * at[1] + constant for outer, inner, constant in forms]

    pairs = product(product(*map(range, _SIZES)), repeat=2)
    return all(one[depth] == other[depth] for one, other in pairs if element(stored, one) == element(loaded, other))


@pytest.mark.parametrize("seed", range(4))
def test_nests_may_be_one_exactly_where_no_two_iterations_share_an_element(seed: int) -> None:
    chosen = random.Random(seed)
    for _ in range(20):
        stored, loaded = (
            tuple((chosen.randint(-1, 4), chosen.randint(-1, 2), chosen.randint(1, 4)) for _ in range(2)) for _ in range(2)
        )
        if chosen.random() < 0.5:
            loaded = stored
        found = _answers(stored, loaded)  # type: ignore[arg-type]
        assert found == [_expected(stored, loaded, depth) for depth in (0, 1)], (stored, loaded)  # type: ignore[arg-type]


def test_dimensions_are_compared_together() -> None:
    skewed = ((1, 1, 0), (0, 1, 0))  # i + j and j: each alone says nothing of i
    assert _answers(skewed, skewed) == [True, True]
