"""What `affine-polyhedral-schedule` makes of random loops computes the same, whatever the order of parallel iterations."""

from __future__ import annotations

import numpy as np
import pytest
from affine_interpreter import arguments_for, check_same, run
from hypothesis import HealthCheck, given, settings
from random_loops import functions
from sweeps import examples

from dlc._mlir import ir
from dlc.dialects import make_context
from dlc.lowering.pipeline import Pipeline

_ONE_ROW = """
func.func @f(%A: memref<4x64xi64> {llvm.noalias}) {
  affine.for %i = 2 to 3 {
    affine.for %j = 1 to 64 {
      %a = affine.load %A[%i, %j - 1] : memref<4x64xi64>
      %b = affine.load %A[%i, %j] : memref<4x64xi64>
      %s = arith.addi %a, %b : i64
      affine.store %s, %A[%i, %j] : memref<4x64xi64>
    }
  }
  return
}
"""


def _check(text: str, options: str) -> None:
    check_same(text, f"affine-privatize-buffers,affine-polyhedral-schedule{options}")


@pytest.mark.parametrize("options", ["", "{vectorize=false}", "{cache-tiles=false}"])
def test_a_loop_with_one_value_hands_its_word_to_no_other(options: str) -> None:
    _check(_ONE_ROW, options)


_LAST_VALUE = """
func.func @f(%A: memref<24x24xi64> {llvm.noalias}, %B: memref<24x24xi64> {llvm.noalias}, %C: memref<24x24xi64> {llvm.noalias}) {
  %three = arith.constant 3 : i64
  affine.for %i = 2 to 4 {
    affine.for %j = 2 to affine_map<(d0) -> (d0 + 1)>(%i) {
      affine.for %k = affine_map<(d0) -> (d0)>(%j) to 8 {
        %c = affine.load %C[%i + 2, %i + 1] : memref<24x24xi64>
        %d = arith.muli %c, %three : i64
        affine.store %d, %B[%k, %k + 2] : memref<24x24xi64>
        %e = affine.load %C[%k, %k + %j] : memref<24x24xi64>
        %g = arith.muli %e, %three : i64
        affine.store %g, %A[0, 0] : memref<24x24xi64>
      }
    }
    %a = affine.load %A[%i, %i] : memref<24x24xi64>
    %b = arith.muli %a, %three : i64
    affine.store %b, %A[%i + 1, 0] : memref<24x24xi64>
  }
  return
}
"""
"""The place of the last store to one element depends on where a loop ends: isl chooses it by a condition in an index expression."""


def test_values_may_be_chosen_by_conditions(capsys: pytest.CaptureFixture[str]) -> None:
    _check(_LAST_VALUE, "")
    assert "remark" not in capsys.readouterr().err


@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(functions())
def test_results_are_the_same(text: str) -> None:
    _check(text, "")


_OWN_ROWS = """
func.func @f(%A: memref<8x20x4xi64> {llvm.noalias}, %T: memref<6xi64> {llvm.noalias}) {
  %zero = arith.constant 0 : i64
  affine.for %i = 1 to 8 step 2 {
    affine.for %j = 0 to 20 {
      affine.for %p = 0 to 4 {
        affine.store %zero, %T[%p + 1] : memref<6xi64>
        affine.for %s = 0 to 4 {
          %t = affine.load %T[%p + 1] : memref<6xi64>
          %a = affine.load %A[%i, %j, %s] : memref<8x20x4xi64>
          %u = arith.addi %t, %a : i64
          %v = arith.muli %u, %a : i64
          affine.store %v, %T[%p + 1] : memref<6xi64>
        }
      }
      affine.for %p = 0 to 4 {
        %t = affine.load %T[%p + 1] : memref<6xi64>
        affine.store %t, %A[%i, %j, %p] : memref<8x20x4xi64>
      }
    }
  }
  return
}
"""
"""Rows of `%A` share `%T`, in which the last of them stays."""


@pytest.mark.parametrize("options", ["", "{vectorize=false}"])
def test_iterations_with_memory_of_their_own(options: str) -> None:
    _check(_OWN_ROWS, options)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_OWN_ROWS)
        Pipeline.parse(f"affine-privatize-buffers,affine-polyhedral-schedule{options}").run(module)
        assert any("dlc.parallel" in op.attributes for op in module.body.operations[0].regions[0].blocks[0].operations)


_ROW_LEAST = """
func.func @f(%m: index, %n: index, %A: memref<20x20xi64> {llvm.noalias}, %B: memref<20xi64> {llvm.noalias}) {
  %first = arith.constant 100 : i64
  affine.for %i = 2 to %m {
    %s = affine.for %j = 0 to %n iter_args(%least = %first) -> i64 {
      %v = affine.load %A[%i, %j] : memref<20x20xi64>
      %t = arith.minsi %least, %v : i64
      affine.yield %t : i64
    }
    affine.store %s, %B[%i] : memref<20xi64>
  }
  return
}
"""


@pytest.mark.parametrize("sizes", [(0, 0), (2, 5), (3, 1), (17, 20), (20, 0), (20, 19)])
def test_values_that_loops_carry_may_have_run_time_sizes(sizes: tuple[int, int]) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_ROW_LEAST)
        Pipeline.parse("affine-optimize").run(module)
        function = module.body.operations[0].operation
        arguments = arguments_for(function, 1, sizes)
        wanted = arguments[3].copy()
        wanted[2 : sizes[0]] = np.min(arguments[2][2 : sizes[0], : sizes[1]], axis=1, initial=100)
        run(function, *arguments)
        np.testing.assert_array_equal(arguments[3], wanted)


_SUMS_OF_DATA = """
func.func @f(%A: memref<24x24xi64> {llvm.noalias}, %B: memref<24x24xi64> {llvm.noalias}) {
  %two = arith.constant 2 : i64
  affine.for %i = 0 to 24 {
    %a = affine.load %A[%i, 1] : memref<24x24xi64>
    %b = arith.addi %a, %two : i64
    affine.for %j = 0 to 24 {
      affine.store %b, %B[%i, %j] : memref<24x24xi64>
    }
  }
  %c = affine.load %A[2, 2] : memref<24x24xi64>
  %d = arith.addi %c, %two : i64
  affine.store %d, %A[2, 2] : memref<24x24xi64>
  return
}
"""


@pytest.mark.parametrize("kind", ["i64", "index"])
def test_data_as_wide_as_an_index_is_no_index(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    check_same(_SUMS_OF_DATA.replace("i64", kind), "affine-optimize")
    assert "remark" not in capsys.readouterr().err
