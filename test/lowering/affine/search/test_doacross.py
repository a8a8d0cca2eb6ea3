"""Nests whose rows several threads run at once: which loops get the roles, and whether results stay the same."""

from __future__ import annotations

import numpy as np
import pytest
from affine_interpreter import arguments_for, run

from bench.polybench.compiled import DEFAULT_PIPELINE, compile_kernel
from bench.polybench.suite import copied, suite
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.affine.dependences.analysis import DependenceAnalysis
from dlc.lowering.affine.dependences.coincidence import with_coincidence
from dlc.lowering.affine.loop_generation.emit import replace_loops
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.affine.search.doacross import mark_doacross
from dlc.runtime.library import load_library

_NEST = """
func.func @nest(%x: memref<12x12xi64>) {{
  affine.for %r = 1 to 11 {{
    {before}
    affine.for %c = 1 to {end} {{
      %v = affine.load %x[%r, %c - 1] : memref<12x12xi64>
      %w = affine.load %x[{read}] : memref<12x12xi64>
      %s = arith.addi %v, %w : i64
      affine.store %s, %x[%r, %c] : memref<12x12xi64>
    }}
  }}
  return
}}
"""
_BEFORE = "%b = affine.load %x[%r, 11] : memref<12x12xi64>\n    affine.store %b, %x[%r, 0] : memref<12x12xi64>"


def _scheduled(text: str) -> ir.Module:
    """A function with its loops built anew in their order, with roles."""
    module = ir.Module.parse(text)
    scop = extract(module.body.operations[0].operation)
    order = DependenceAnalysis(scop).ordering
    replace_loops(scop, mark_doacross(with_coincidence(original_schedule(scop), order), order, scop.statements))
    return module


def _roles(function: ir.Operation) -> list[str]:
    found: list[ir.Operation] = []
    function.walk(lambda op: found.append(op) or ir.WalkResult.ADVANCE, ir.WalkOrder.PRE_ORDER)
    return [str(op.attributes["dlc.doacross"]) for op in found if "dlc.doacross" in op.attributes]


@pytest.mark.parametrize(
    ("read", "end", "before", "has_roles"),
    [
        ("%r - 1, %c", "11", "", True),
        ("%r - 1, %c - 1", "11", "", True),
        ("%r - 1, %c + 1", "11", "", False),
        ("%r + 1, %c + 1", "11", "", True),
        ("%r + 1, %c - 1", "11", "", False),
        ("%r - 1, %c", "affine_map<(d0) -> (d0)>(%r)", "", True),
        ("%r - 1, %c", "11", _BEFORE, False),
    ],
)
def test_no_dependence_goes_to_an_earlier_column(read: str, end: str, before: str, has_roles: bool) -> None:
    """From a row to one after it; what a row does before its columns would be done by nobody in order."""
    text = _NEST.format(read=read, end=end, before=before)
    with make_context(), ir.Location.unknown():
        plain, scheduled = ir.Module.parse(text), _scheduled(text)
        function = scheduled.body.operations[0].operation
        assert _roles(function) == (['"rows"', '"columns"'] if has_roles else [])
        wanted, found = arguments_for(function, 3), arguments_for(function, 3)
        run(plain.body.operations[0].operation, *wanted)
        run(function, *found)
        np.testing.assert_array_equal(found[0], wanted[0])


def test_the_oracle_sees_wrong_roles() -> None:
    """Rows that need later columns give other results where threads run them at once."""
    text = _NEST.format(read="%r - 1, %c + 1", end="11", before="")
    marked = text.replace("    }\n  }", '    } {dlc.doacross = "columns"}\n  } {dlc.doacross = "rows"}')
    with make_context(), ir.Location.unknown():
        modules = [ir.Module.parse(one) for one in (text, marked)]
        functions = [module.body.operations[0].operation for module in modules]
        wanted, found = (arguments_for(function, 3) for function in functions)
        for function, arguments in zip(functions, (wanted, found), strict=True):
            run(function, *arguments)
        assert not np.array_equal(found[0], wanted[0])


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("threads", [2, 7])
@pytest.mark.parametrize("name", ["lu", "ludcmp", "nussinov", "jacobi-2d", "heat-3d", "seidel-2d", "fdtd-2d"])
def test_threads_give_the_same_bits(name: str, threads: int) -> None:
    kernel, library = suite()[name], load_library()
    code = compile_kernel(kernel, "SMALL", "f64", DEFAULT_PIPELINE)
    one, several = (copied(kernel.arguments("SMALL", "f64")) for _ in range(2))
    before = library.set_num_threads(1)
    code.bind(one)()
    library.set_num_threads(threads)
    code.bind(several)()
    library.set_num_threads(before)
    assert all(np.array_equal(first, second) for first, second in zip(one, several, strict=True))
