"""dlc.Schedule: steps, refusals, names, and its texts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from affine_interpreter import arguments_for, run
from nests import MATMUL

import dlc
from dlc._mlir import ir
from dlc.lowering.policy import policy, using


def matmul() -> dlc.Schedule:
    return dlc.Schedule(MATMUL)


def test_loops_are_listed_by_name_or_place() -> None:
    schedule = matmul()
    assert schedule.loops() == ["i", "j", "S0:2"]
    assert schedule.statements() == ["S0"]
    assert str(schedule).splitlines()[:4] == ["@matmul", "  for i", "    for j", "      for S0:2"]


def test_new_loops_are_returned() -> None:
    schedule = matmul()
    assert schedule.split("i", 8) == ("i.outer", "i.inner")
    assert schedule.tile(["j", "S0:3"], [4, 4]) == ("j.tile", "S0_3.tile", "j", "S0_3")
    assert schedule.loops() == ["i.outer", "i.inner", "j.tile", "S0_3.tile", "j", "S0_3"]


def test_nothing_is_written_before_apply() -> None:
    schedule = matmul()
    before = str(schedule.module)
    schedule.split("i", parts=4)
    assert str(schedule.module) == before
    schedule.apply()
    assert str(schedule.module) != before
    schedule.module.operation.verify()


def test_an_illegal_step_is_refused_and_changes_nothing() -> None:
    schedule = matmul()
    with pytest.raises(
        dlc.ScheduleError, match=r"would run S0\[i0=0, i1=0, i2=1\].* at the same time as S0\[i0=0, i1=0, i2=0\]"
    ) as caught:
        schedule.parallelize("S0:2")
    assert "which reads the %arg2[0, 0] that it writes" in caught.value.reason
    assert caught.value.diagnostics[0].line == 12
    assert schedule.trace == ()
    assert schedule.loops() == ["i", "j", "S0:2"]


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    schedule = matmul()
    with pytest.raises(dlc.ScheduleError) as caught:
        schedule.reverse("x")
    assert caught.value.reason == "no loop is called 'x'"
    assert caught.value.remedy == "use one of i, j, S0:2"
    with pytest.raises(dlc.ScheduleError, match=r"no array is called 'A7'; use one of A0 \(arg0\), A1 \(arg1\), A2 \(arg2\)"):
        schedule.pack("A7", "i")
    with pytest.raises(dlc.ScheduleError, match="loop 'i' has no statement 'S1'; use one of S0"):
        schedule.shift("S1", "i", 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.tile(["i"], [0]), "a tile size is 0; give 1 or more"),
        (lambda s: s.tile(["i", "j"], [4]), "there are 2 loops and 1 sizes"),
        (lambda s: s.tile(["j", "i"], [4, 4]), "loop 'i' does not lie inside loop 'j'"),
        (lambda s: s.tile(["i", "S0:2"], [4, 4]), "loop 'S0:2' does not lie directly in loop 'i'"),
        (lambda s: s.split("i"), "factor is 0 and parts is 0"),
        (lambda s: s.interchange(["i"]), "is no order of loops"),
        (lambda s: s.fuse("i", "j"), "do not lie in one block"),
        (lambda s: s.distribute("i"), "is a single item"),
        (lambda s: s.skew("i", "j"), "loop 'i' does not lie inside loop 'j'"),
        (lambda s: s.peel("i", 20), "all iterations of loop 'i' lie on one side"),
        (lambda s: s.split_index_set("i", "j * j"), "'j \\* j' is no affine expression of numbers alone"),
        (lambda s: s.unroll("i", 1000), "factor is 1000; give 256 or less"),
        (lambda s: s.vectorize("i", 32), "loop 'i' has no 32 iterations that go together"),
        (lambda s: s.compute_at("S0", "i"), "S0 runs in loop 'i' already"),
    ],
)
def test_steps_that_make_no_sense_are_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(dlc.ScheduleError, match=message):
        call(matmul())


def test_a_schedule_is_applied_once() -> None:
    schedule = matmul()
    schedule.apply()
    with pytest.raises(dlc.ScheduleError, match="the schedule is applied already"):
        schedule.split("i", 2)


def test_the_function_has_to_be_clear() -> None:
    both = MATMUL + MATMUL.replace("@matmul", "@other")
    with pytest.raises(
        dlc.ScheduleError, match=r"2 functions of the module have loops; name the function that is meant \(matmul, other\)"
    ):
        dlc.Schedule(both)
    with pytest.raises(dlc.ScheduleError, match="no function 'third'"):
        dlc.Schedule(both, "third")
    assert dlc.Schedule(both, "other").function == "other"


def test_arguments_that_may_alias_are_refused() -> None:
    text = MATMUL.replace(" {llvm.noalias}", "")
    with pytest.raises(dlc.ScheduleError, match="may share memory"):
        dlc.Schedule(text)
    assert dlc.Schedule(text, assume_no_alias=True).loops() == ["i", "j", "S0:2"]


def test_text_that_is_no_mlir_is_refused() -> None:
    with pytest.raises(dlc.ScheduleError, match="1:"):
        dlc.Schedule("func.func @f(")


SUM = """
func.func @sum(%A: memref<20xf32> {llvm.noalias}, %S: memref<1xf32> {llvm.noalias}) {
  affine.for %i = 0 to 20 {
    %a = affine.load %A[%i] : memref<20xf32>
    %s = affine.load %S[0] : memref<1xf32>
    %t = arith.addf %s, %a : f32
    affine.store %t, %S[0] : memref<1xf32>
  } {dlc.name = "i"}
  return
}
"""


def test_sums_of_floats_keep_their_order_unless_told_otherwise() -> None:
    with pytest.raises(dlc.ScheduleError, match="the new order would run"):
        dlc.Schedule(SUM).reverse("i")
    schedule = dlc.Schedule(SUM, reassociate=True)
    schedule.reverse("i")
    with pytest.raises(dlc.ScheduleError, match="at the same time as"):
        schedule.parallelize("i")
    assert "reassociate=True" in schedule.to_python()
    assert dlc.Schedule.replay(schedule.to_transform(), SUM).reassociate
    marked = SUM.replace("arith.addf %s, %a", "arith.addf %s, %a fastmath<reassoc>")
    assert dlc.Schedule(marked).reverse("i") == "i"


def test_a_step_that_takes_isl_too_long_is_refused() -> None:
    schedule = matmul()
    limited = using(policy().override(step_operations=1000))
    with limited, pytest.raises(dlc.ScheduleError, match="isl gives up: it does not finish within 1,000 operations; change less"):
        schedule.tile(["i", "j"], [4, 4])
    assert schedule.tile(["i", "j"], [4, 4]) == ("i.tile", "j.tile", "i", "j")


DYNAMIC = """
func.func @negate(%m: index, %n: index, %A: memref<20x20xi64> {llvm.noalias}) {
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<20x20xi64>
      %b = arith.muli %a, %a : i64
      affine.store %b, %A[%i, %j] : memref<20x20xi64>
    } {dlc.name = "j"}
  } {dlc.name = "i"}
  return
}
"""


@pytest.mark.parametrize(
    "steps",
    [
        lambda s: s.vectorize("j", 8),
        lambda s: s.unroll("i", 4),
        lambda s: s.unroll_and_jam("i", 3),
        lambda s: s.tile(["i", "j"], [8, 4]),
        lambda s: (s.peel("j", 2), s.peel("j", 3, last=True)),
        lambda s: (s.split("j", 5), s.parallelize("j.outer")),
        lambda s: s.split_index_set("j", "floor(p1/2)"),
        lambda s: (s.strip_mine("i", 4), s.pack("arg2", "S0:2")),
    ],
)
def test_sizes_may_be_known_at_run_time_only(steps: object) -> None:
    assert callable(steps)
    schedule = dlc.Schedule(DYNAMIC)
    steps(schedule)
    module = schedule.apply()
    guards = [line for line in str(module).splitlines() if "affine.if" in line and line.startswith("      ")]
    assert len(guards) <= 1, module  # at most one for what is peeled
    for sizes in ((0, 0), (1, 3), (4, 8), (7, 13), (20, 20)):
        with module.context, ir.Location.unknown():
            arguments = arguments_for(module.body.operations[0].operation, 1, sizes)
            expected = arguments[2].copy()
            expected[: sizes[0], : sizes[1]] **= 2
            run(module.body.operations[0].operation, *arguments)
        np.testing.assert_array_equal(arguments[2], expected)


def test_ops_without_a_vector_form_are_named() -> None:
    schedule = matmul()
    schedule.vectorize("j", 8)
    schedule.apply()
    again = dlc.Schedule(schedule.module)
    with pytest.raises(dlc.ScheduleError, match="vector_load' has no form on vectors; name a loop without it"):
        again.vectorize("i", 4)
    with pytest.raises(dlc.ScheduleError, match="S1 copies to or from a buffer"):
        again.vectorize(again.pack("arg0", "i")[-1], 4)


CARRIED = """
func.func @sums(%A: memref<16x32xf32> {llvm.noalias}, %C: memref<16xf32> {llvm.noalias}) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 16 {
    %s = affine.for %k = 0 to 32 iter_args(%acc = %zero) -> (f32) {
      %a = affine.load %A[%i, %k] : memref<16x32xf32>
      %t = arith.addf %acc, %a : f32
      affine.yield %t : f32
    } {dlc.name = "k"}
    affine.store %s, %C[%i] : memref<16xf32>
  } {dlc.name = "i"}
  return
}
"""


def test_values_between_statements_have_to_be_in_memory() -> None:
    with pytest.raises(dlc.ScheduleError) as caught:
        dlc.Schedule(CARRIED)
    assert caught.value.remedy == "run --affine-demote-values --affine-expand-buffers first"
    with dlc.make_context(), ir.Location.unknown():
        module = ir.Module.parse(CARRIED)
        dlc.Pipeline(["affine-demote-values", "affine-expand-buffers"]).run(module)
        assert dlc.Schedule(module).distribute("i") == ("i.0", "i.1", "i.2")


@pytest.mark.parametrize("always", ["", "affine.store %x, %A[0] : memref<20xf32>"])
def test_statements_that_never_run_are_left_out(always: str) -> None:
    schedule = dlc.Schedule(f"""
func.func @never(%A: memref<20xf32>, %x: f32) {{
  affine.for %i = 3 to 3 {{
    affine.store %x, %A[%i] : memref<20xf32>
  }}
  {always}
  return
}}
""")
    assert schedule.loops() == []
    with pytest.raises(dlc.ScheduleError, match="no loop is called 'i'; there are no loops"):
        schedule.split("i", 2)
    assert "affine.for" not in str(schedule.apply())


PACKED = """
func.func @packed(%A: memref<20xf32> {llvm.noalias}, %B: memref<20xf32> {llvm.noalias}) {
  affine.parallel (%i) = (2) to (8) {
    %b = affine.load %B[(%i * 2) ceildiv 3] : memref<20xf32>
    affine.store %b, %A[%i] : memref<20xf32>
  } {dlc.name = "i"}
  return
}
"""


@pytest.mark.parametrize("call", [lambda s: s.unroll_and_jam("i", 2), lambda s: s.shift("S1", "i", 1)])
def test_iterations_without_order_find_in_a_buffer_what_they_copied(call: Callable[[dlc.Schedule], object]) -> None:
    """Each has its own: copies must not go to another iteration, or to the buffer of a loop beside it."""
    schedule = dlc.Schedule(PACKED)
    schedule.pack("arg1", "i")
    with pytest.raises(dlc.ScheduleError, match="S0 would not find in B0 what S1 left there; pack after this step"):
        call(schedule)
    assert schedule.peel("i", 1) == ("i.first", "i")
