"""Violated dependences of schedules, loops without order, and comparisons that end without a verdict."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
import pytest

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import memory_dependences
from dlc.lowering.affine.dependences.legality import carried_by_parallel, violations
from dlc.lowering.affine.equivalence.equivalence import Assumptions, compare
from dlc.lowering.affine.polyhedral.extract import extract
from dlc.lowering.affine.polyhedral.schedule_tree import original_schedule
from dlc.lowering.policy import policy, using

_WAVE = """
func.func @f(%n: index, %a: memref<?x64xf32>) {
  affine.for %i = 1 to %n {
    affine.for %j = 0 to 63 {
      %x = affine.load %a[%i - 1, %j + 1] : memref<?x64xf32>
      affine.store %x, %a[%i, %j] : memref<?x64xf32>
    }
  }
  return
}
"""


@pytest.fixture
def wave() -> Iterator[ir.Module]:
    with ir.Context(), ir.Location.unknown():
        yield ir.Module.parse(_WAVE)


def _function(module: ir.Module) -> ir.Operation:
    return module.body.operations[0].operation


def test_the_witness_is_the_first_pair_for_a_small_size(wave: ir.Module) -> None:
    scop = extract(_function(wave))
    columns = isl.MultiUnionPwAff("[{ S0[i, j] -> [(j)] }, { S0[i, j] -> [(i)] }]")
    interchanged = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(columns)
    (found,) = violations(memory_dependences(scop), interchanged)
    expected = (
        "interchange would run S0[i0=2, i1=0] (-:5:12) before S0[i0=1, i1=1] (-:6:7), which writes the %arg1[1, 1] that it reads"
        " (flow dependence, distance (1, -1)), for p0 = 3"
    )
    assert found.witness.text("interchange") == expected


@pytest.mark.parametrize(("member", "count"), [(0, 1), (1, 0)])
def test_only_the_outer_loop_carries_the_dependence(wave: ir.Module, member: int, count: int) -> None:
    scop = extract(_function(wave))
    columns = isl.MultiUnionPwAff("[{ S0[i, j] -> [(i)] }, { S0[i, j] -> [(j)] }]")
    band = isl.Schedule.from_domain(scop.domain).insert_partial_schedule(columns).get_root().child(0)
    dependences = memory_dependences(scop)
    assert not carried_by_parallel(dependences, band.get_schedule())
    assert len(carried_by_parallel(dependences, band.band_member_set_coincident(member, True).get_schedule())) == count
    words = ["loop", "loop"]
    words[member] = "lanes"
    marked = band.insert_mark(isl.Id(",".join(words))).get_schedule()
    assert len(carried_by_parallel(dependences, marked, lambda mark: mark.split(","))) == count


def test_a_loop_of_its_own_is_no_shared_loop(wave: ir.Module) -> None:
    scop = extract(_function(wave))
    assert not carried_by_parallel(memory_dependences(scop), original_schedule(scop))


def test_a_comparison_has_a_limit(wave: ir.Module) -> None:
    with using(policy().override(equivalence_operations=1000)):
        found = compare(_function(wave), _function(wave), {}, "it", Assumptions())
    assert found.refusal is not None and "within 1,000 operations" in found.refusal.message
    assert compare(_function(wave), _function(wave), {}, "it", Assumptions()).refusal is None


def test_a_function_that_leaves_its_memref_is_refused() -> None:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(_WAVE.replace("0 to 63", "0 to 64").replace("1 to %n", "1 to 9").replace("?x64", "9x64"))
        found = compare(_function(module), _function(module), {}, "it", Assumptions())
    assert found.refusal is not None and "before the change already" in found.refusal.message


_FREED = """
func.func @f(%a: memref<8xf32>) {{
  %t = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {{
    %x = affine.load %a[%i] : memref<8xf32>
    affine.store %x, %t[7 - %i] : memref<8xf32>
  }}
  {early}
  affine.for %i = 0 to 8 {{
    %x = affine.load %t[%i] : memref<8xf32>
    affine.store %x, %a[%i] : memref<8xf32>
  }}
  {late}
  return
}}
"""


def test_memory_that_is_freed_too_early_is_noticed() -> None:
    free = "memref.dealloc %t : memref<8xf32>"
    with ir.Context(), ir.Location.unknown():
        before, after = ir.Module.parse(_FREED.format(early="", late=free)), ir.Module.parse(_FREED.format(early=free, late=""))
        found = compare(_function(before), _function(after), {}, "it", Assumptions())
    assert found.refusal is not None and "memory that nothing wrote" in found.refusal.message


_STATE = """
memref.global "private" @state : memref<4xi32> = dense<0>
func.func @f(%a: memref<4xi32>) {{
  %g = memref.get_global @state : memref<4xi32>
  {use}
  return
}}
"""


def test_a_global_that_is_written_is_a_result() -> None:
    store = "affine.for %i = 0 to 4 {{ %x = affine.load %a[%i] : memref<4xi32> affine.store %x, %g[{at}] : memref<4xi32> }}"
    texts = [_STATE.format(use=store.format(at=at)) for at in ("%i", "3 - %i")]
    with ir.Context(), ir.Location.unknown():
        modules = [ir.Module.parse(text) for text in texts]
        functions = [module.body.operations[1].operation for module in modules]
        assert compare(functions[0], functions[0], {}, "it", Assumptions(no_alias=True)).refusal is None
        found = compare(*functions, {}, "it", Assumptions(no_alias=True))
    assert found.refusal is not None and "%" in found.refusal.element


def test_sums_in_another_order_need_leave() -> None:
    text = """
    func.func @f(%a: memref<8xf32>, %s: memref<f32>) {{
      affine.for %i = 0 to 8 {{
        %x = affine.load %a[{at}] : memref<8xf32>
        %y = affine.load %s[] : memref<f32>
        %z = arith.addf %y, %x {flags} : f32
        affine.store %z, %s[] : memref<f32>
      }}
      return
    }}"""
    verdicts = {}
    with ir.Context(), ir.Location.unknown():
        for flags in ("", "fastmath<reassoc>"):
            modules = [ir.Module.parse(text.format(at=at, flags=flags)) for at in ("%i", "7 - %i")]
            for leave in (False, True):
                found = compare(*(_function(module) for module in modules), {}, "it", Assumptions(True, False, leave))
                verdicts[flags, leave] = found.refusal is None, found.is_reassociated
    assert verdicts.pop(("", False)) == (False, False)
    assert set(verdicts.values()) == {(True, True)}
