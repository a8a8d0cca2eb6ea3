"""Functions of affine loops as C: the text, what it computes beside dlc's own code, and what is refused."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from bench.polybench.c_source import c_source
from bench.polybench.compiled import AS_THEY_ARE, NativeFunction
from bench.polybench.native import COMPILERS, CompilerMissing, find_compilers
from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.errors import InvalidInputError
from dlc.lowering.pipeline import Pipeline
from dlc.targets.cpu.emit import emit_unit
from dlc.targets.cpu.link import LinkedCode

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def source_of(text: str, *names: str) -> str:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        return c_source(module.body.operations[0].operation, names)


def dlc_code(text: str) -> NativeFunction:
    with make_context() as context, ir.Location.unknown():
        module = ir.Module.parse(text)
        module.body.operations[0].attributes["dl.kernel"] = ir.UnitAttr.get(context)
        Pipeline.parse(AS_THEY_ARE).run(module)
        code = LinkedCode([emit_unit(module, "f")], ["f"])
    return NativeFunction(code.address("f"), code)


def both(body: str, size: int = 40) -> np.ndarray:
    """What `body` makes of %x, [0, 1, ...]; C and dlc must agree."""
    text = f"func.func @f(%x: memref<{size}xf64> {{llvm.noalias}}, %t: f64) {{\n{body}\nreturn\n}}"
    results = []
    for code in (dlc_code(text), COMPILERS["gcc"].compile(source_of(text), "f")):
        x = np.arange(size, dtype=np.float64)
        code.bind([x, np.float64(0.5)])()
        results.append(x)
    np.testing.assert_array_equal(*results)
    return results[0]


def test_text() -> None:
    text = """
    func.func @f(%c: memref<8x9xf32> {llvm.noalias}, %a: memref<8xf32>, %s: f32) {
      affine.for %i = 1 to 7 step 2 {
        affine.for %j = max affine_map<(i) -> (i - 1, 2)>(%i) to min affine_map<(i) -> (9, -i + 12)>(%i) {
          affine.if affine_set<(i, j) : (i - j >= 0, j mod 2 == 0)>(%i, %j) {
            %0 = affine.load %c[7 - %i, %j] : memref<8x9xf32>
            %1 = affine.load %a[%i floordiv 2] : memref<8xf32>
            %2 = arith.mulf %1, %s : f32
            %3 = arith.subf %0, %2 : f32
            %4 = arith.subf %s, %3 : f32
            affine.store %4, %c[%i, %j] : memref<8x9xf32>
          }
        }
      }
      return
    }"""
    lines = source_of(text, "C", "A", "s").split("\n\n", 2)[2].splitlines()
    assert lines == [
        "void f(float (*restrict C)[9], float *A, float s) {",
        "  for (int i = 1; i < 7; i += 2) {",
        "    for (int j = max_int(i - 1, 2); j < min_int(9, 12 - i); j++) {",
        "      if (i - j >= 0 && modulo(j, 2) == 0) {",
        "        C[i][j] = s - (C[7 - i][j] - A[floordiv(i, 2)] * s);",
        "      }",
        "    }",
        "  }",
        "}",
    ]


@needs_gcc
def test_division_of_negative_numbers_rounds_down() -> None:
    found = both("""
      affine.for %i = 0 to 20 {
        %a = affine.load %x[(%i - 10) floordiv 4 + 3] : memref<40xf64>
        %b = affine.load %x[(%i - 10) mod 4 + 20] : memref<40xf64>
        %c = affine.load %x[(%i - 10) ceildiv 4 + 23] : memref<40xf64>
        %s = arith.mulf %a, %b : f64
        %r = arith.addf %s, %c : f64
        affine.store %r, %x[%i + 10] : memref<40xf64>
      }""")
    assert found[10] == 0 * 22 + 21


@needs_gcc
def test_a_load_stays_before_the_store_after_it() -> None:
    found = both("""
      affine.for %i = 0 to 39 {
        %old = affine.load %x[%i] : memref<40xf64>
        affine.store %t, %x[%i] : memref<40xf64>
        affine.store %old, %x[%i + 1] : memref<40xf64>
      }""")
    assert found[39] == 0 and found[0] == 0.5


@needs_gcc
def test_values_that_loops_carry_change_at_once() -> None:
    """Fibonacci's numbers: both carried values take each other's place."""
    found = both("""
      %zero = arith.constant 0.0 : f64
      %one = arith.constant 1.0 : f64
      %r:2 = affine.for %i = 0 to 10 iter_args(%a = %zero, %b = %one) -> (f64, f64) {
        %c = arith.addf %a, %b : f64
        affine.yield %b, %c : f64, f64
      }
      affine.store %r#0, %x[0] : memref<40xf64>""")
    assert found[0] == 55


@needs_gcc
def test_conditions_with_results_and_scratch() -> None:
    found = both("""
      affine.for %i = 0 to 40 {
        %m = memref.alloca() : memref<f64>
        %v = affine.if affine_set<(i) : (i - 7 == 0)>(%i) -> f64 {
          affine.yield %t : f64
        } else {
          %a = affine.load %x[%i] : memref<40xf64>
          %n = arith.negf %a : f64
          affine.yield %n : f64
        }
        affine.store %v, %m[] : memref<f64>
        %w = affine.load %m[] : memref<f64>
        %d = arith.subf %w, %t : f64
        %larger = arith.maximumf %d, %w : f64
        affine.store %larger, %x[%i] : memref<40xf64>
      }""")
    assert found[7] == 0.5 and found[8] == -8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f(%x: memref<?xf32>) { return }", "has no static shape"),
        ("func.func @f(%x: memref<4xbf16>) { return }", "no type for 'bf16'"),
        ("func.func @f(%x: f32) -> f32 { return %x : f32 }", "a function with results"),
        ("func.func @f(%x: memref<4xf32>) { affine.parallel (%i) = (0) to (4) { } return }", "'affine.parallel' cannot be printed"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        source_of(text)


def test_missing_compilers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found, lines = find_compilers(["clang", "polly"])
    assert not found
    assert [line.split(":")[1] for line in lines] == [" clang", " polly"]
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/gcc" if name == "gcc" else None)
    found, lines = find_compilers(["clang", "polly"])
    assert [each.name for each in found] == ["gcc"]
    assert lines[-1] == "note: gcc stands in for clang"
    with pytest.raises(InvalidInputError, match="no compiler is called 'icc'"):
        find_compilers(["icc"])


@needs_gcc
def test_a_compiler_that_fails_says_why() -> None:
    with pytest.raises(CompilerMissing, match=r"gcc failed: .*error: unknown type name .nonsense"):
        COMPILERS["gcc"].compile("nonsense f(void) { }", "f")
