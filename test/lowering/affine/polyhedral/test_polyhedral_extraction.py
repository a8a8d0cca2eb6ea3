"""What extraction makes of views, vectors, values, local memory, sizes and calls; reductions and subscripts out of bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl
import pytest

from dlc._mlir import ir
from dlc.lowering.affine.dependences.dependences import memory_dependences
from dlc.lowering.affine.dependences.distances import distance_vectors
from dlc.lowering.affine.dependences.last_writers import value_dependences
from dlc.lowering.affine.dependences.out_of_bounds import out_of_bounds
from dlc.lowering.affine.dependences.reduction_dependences import reductions, without_reductions
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.polyhedral.extract import extract, extract_all
from dlc.lowering.affine.polyhedral.grouping import group_ops
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop

_A = "%A: memref<100x64xf32> {llvm.noalias}"


@contextmanager
def _function(text: str) -> Iterator[ir.Operation]:
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        yield next(op.operation for op in module.body.operations if len(op.operation.regions[0].blocks))


@contextmanager
def _scop(body: str, arguments: str = _A) -> Iterator[Scop]:
    with _function(f"func.func @f({arguments}) {{\n{body}\nreturn }}") as function:
        yield extract(function)


def _only(accesses: tuple[MemRefAccess, ...]) -> isl.Map:
    (access,) = accesses
    return access.relation


_VIEWS = {
    "memref.subview %A[3, %n][40, 1][2, 1] : memref<100x64xf32> to memref<40xf32, strided<[128], offset: ?>>": (
        "[%i] : memref<40xf32, strided<[128], offset: ?>>",
        "[p0] -> { S0[i] -> A0[3 + 2i, p0] : 0 <= i < 40 }",
    ),
    "memref.expand_shape %A [[0, 1], [2]] output_shape [10, 10, 64] : memref<100x64xf32> into memref<10x10x64xf32>": (
        "[2, %i mod 10, 5] : memref<10x10x64xf32>",
        "{ S0[i] -> A0[20 + (i mod 10), 5] : 0 <= i < 40 }",
    ),
    "memref.collapse_shape %A [[0, 1]] : memref<100x64xf32> into memref<6400xf32>": (
        "[%i * 65] : memref<6400xf32>",
        "{ S0[i] -> A0[i, i] : 0 <= i < 40 }",
    ),
    "memref.transpose %A (i, j) -> (j, i) : memref<100x64xf32> to memref<64x100xf32, strided<[1, 64]>>": (
        "[%i, 7] : memref<64x100xf32, strided<[1, 64]>>",
        "{ S0[i] -> A0[7, i] : 0 <= i < 40 }",
    ),
    "memref.cast %A : memref<100x64xf32> to memref<?x64xf32>": (
        "[%i, 1] : memref<?x64xf32>",
        "{ S0[i] -> A0[i, 1] : 0 <= i < 40 }",
    ),
}


@pytest.mark.parametrize("view", list(_VIEWS))
@pytest.mark.parametrize("inside", [False, True])
def test_views_are_their_roots(view: str, inside: bool) -> None:
    place, expected = _VIEWS[view]
    outer, inner = ("", f"%v = {view}") if inside else (f"%v = {view}", "")
    body = f"{outer}\naffine.for %i = 0 to 40 {{ {inner}\n affine.store %x, %v{place} }}"
    with _scop(body, f"{_A}, %n: index, %x: f32") as scop:
        assert _only(scop.statements[0].writes).is_equal(isl.Map(expected))
        assert scop.arrays[0].rank == 2


def test_a_view_of_unknown_strides_is_refused() -> None:
    body = """%v = memref.reinterpret_cast %A to offset: [0], sizes: [9], strides: [3]
        : memref<100x64xf32> to memref<9xf32, strided<[3]>>
      affine.for %i = 0 to 4 { affine.store %x, %v[%i] : memref<9xf32, strided<[3]>> }"""
    with pytest.raises(ExtractionError, match=r"memref.reinterpret_cast.*fold-memref-alias-ops"), _scop(body, f"{_A}, %x: f32"):
        pass


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        ("affine.vector_store %x, %A[%i, 2 * %i] : memref<100x64xf32>, vector<4xf32>", "2i <= o < 2i + 4"),
        ("vector.transfer_write %x, %A[%i, %i] {in_bounds = [true]} : vector<4xf32>, memref<100x64xf32>", "i <= o < i + 4"),
        ("vector.transfer_write %x, %A[%i, %i] : vector<4xf32>, memref<100x64xf32>", "i <= o < i + 4 and o < 64"),
        ("vector.store %x, %A[%i, %i] : memref<100x64xf32>, vector<4xf32>", "i <= o < i + 4"),
    ],
)
def test_vectors_touch_all_lanes(access: str, expected: str) -> None:
    with _scop(f"affine.for %i = 0 to 100 {{ {access} }}", f"{_A}, %x: vector<4xf32>") as scop:
        relation = isl.Map(f"{{ S0[i] -> A0[i, o] : 0 <= i < 100 and {expected} }}")
        assert _only(scop.statements[0].writes).is_equal(relation)


def test_a_loop_carries_an_array_of_its_own() -> None:
    body = """affine.for %i = 0 to 10 {
      %r = affine.for %j = 0 to 64 iter_args(%s = %x) -> f32 {
        %a = affine.load %A[%i, %j] : memref<100x64xf32>
        %t = arith.addf %s, %a fastmath<reassoc> : f32
        affine.yield %t : f32
      }
      affine.store %r, %A[%i, 0] : memref<100x64xf32>
    }"""
    with _scop(body, f"{_A}, %x: f32") as scop:
        (carried,) = [array for array in scop.arrays if not array.is_memory]
        assert carried.rank == 1 and carried.is_local
        flow = [one for one in value_dependences(scop, ("flow",)) if one.source.array is carried]
        ends = {(one.source.statement_name, one.sink.statement_name): one.relation for one in flow}
        assert ends["S0", "S1"].is_equal(isl.Map("{ S0[i] -> S1[i, 0] : 0 <= i < 10 }"))
        assert ends["S1", "S1"].is_equal(isl.Map("{ S1[i, j] -> S1[i, j + 1] : 0 <= i < 10 and 0 <= j < 63 }"))
        assert ends["S1", "S2"].is_equal(isl.Map("{ S1[i, 63] -> S2[i] : 0 <= i < 10 }"))
        (sum_,) = reductions(scop)
        assert (sum_.kind, sum_.is_allowed, [loop.name for loop in sum_.loops]) == ("add", True, ["i1"])


def test_memory_allocated_in_a_loop_is_one_array_an_iteration() -> None:
    body = """affine.for %i = 0 to 10 {
      %m = memref.alloca() : memref<f32>
      affine.store %x, %m[] : memref<f32>
      %a = affine.load %m[] : memref<f32>
      affine.store %a, %A[%i, 0] : memref<100x64xf32>
    }"""
    with _scop(body, f"{_A}, %x: f32") as scop:
        (dependence,) = memory_dependences(scop)
        assert dependence.relation.is_equal(isl.Map("{ S0[i] -> S1[i] : 0 <= i < 10 }"))
        assert [str(vector) for vector in distance_vectors(scop, dependence)] == ["(0)"]
        assert dependence.source.array.is_local and dependence.source.array.rank == 1


def test_sizes_are_parameters_that_are_not_negative() -> None:
    body = """%zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %d = memref.dim %D, %zero : memref<?xf32>
      %again = memref.dim %D, %zero : memref<?xf32>
      %last = arith.subi %again, %one : index
      affine.for %i = 0 to %d { affine.store %x, %D[%last - %i] : memref<?xf32> }"""
    with _scop(body.replace("%last - %i", "symbol(%last) - %i"), "%D: memref<?xf32>, %x: f32") as scop:
        assert len(scop.parameters) == 1
        assert scop.context.is_equal(isl.Set("[p0] -> { : p0 >= 0 }"))
        assert _only(scop.statements[0].writes).is_equal(isl.Map("[p0] -> { S0[i] -> A0[p0 - 1 - i] : 0 <= i < p0 }"))
        assert not out_of_bounds(scop)


def test_calls_separate_scops() -> None:
    loop = "affine.for %i = 0 to 4 { affine.store %x, %A[%i, 0] : memref<100x64xf32> }"
    bad = "affine.for %i = 0 to 4 { func.call @g() : () -> () }"
    text = (
        f"func.func private @g()\nfunc.func @f({_A}, %x: f32) {{ {loop} func.call @g() : () -> ()\n {loop} {bad} {loop} return }}"
    )
    with _function(text) as function:
        with pytest.raises(ExtractionError, match=r"does not support 'func\.call'"):
            extract_all(function)
        refused: list[ExtractionError] = []
        assert len(extract_all(function, refused=refused)) == 3
        assert [error.op.name for error in refused] == ["func.call"]


@pytest.mark.parametrize(
    ("op", "kind", "is_allowed"),
    [
        ("arith.addf %s, %a : f32", "add", False),
        ("arith.subf %s, %a fastmath<fast> : f32", "add", True),
        ("arith.subf %a, %s fastmath<fast> : f32", "", False),
        ("arith.maximumf %a, %s : f32", "maximum", True),
        ("math.fma %a, %a, %s fastmath<reassoc> : f32", "add", True),
        ("math.fma %a, %s, %a fastmath<reassoc> : f32", "", False),
        ("arith.divf %s, %a fastmath<fast> : f32", "", False),
    ],
)
def test_reductions_through_memory(op: str, kind: str, is_allowed: bool) -> None:
    body = f"""affine.for %i = 0 to 10 {{ affine.for %j = 1 to 64 {{
      %s = affine.load %A[%i, 0] : memref<100x64xf32>
      %a = affine.load %A[%i, %j] : memref<100x64xf32>
      %t = {op}
      affine.store %t, %A[%i, 0] : memref<100x64xf32>
    }} }}"""
    with _scop(body) as scop:
        found = reductions(scop)
        assert [(one.kind, one.is_allowed) for one in found] == ([(kind, is_allowed)] if kind else [])
        dependences = memory_dependences(scop)
        assert len(dependences) == 3
        assert len(without_reductions(dependences, found)) == (0 if is_allowed else 3)
        assert len(without_reductions(dependences, reductions(scop, reassociate=True))) == (0 if kind else 3)
        with pytest.raises(ValueError, match="memory_dependences"):
            without_reductions(value_dependences(scop), found)


def test_a_sum_that_others_watch_is_ordered_with_them() -> None:
    body = """affine.for %j = 1 to 64 {
      %s = affine.load %A[0, 0] : memref<100x64xf32>
      %t = arith.addf %s, %s fastmath<reassoc> : f32
      affine.store %t, %A[0, 0] : memref<100x64xf32>
    }"""
    with _scop(body) as scop:
        assert not reductions(scop, reassociate=True)


def test_subscripts_that_leave_the_memref() -> None:
    body = """affine.for %i = 0 to 10 { affine.for %j = 0 to %n {
      %a = affine.load %A[%i - 1, %i] : memref<100x64xf32>
      affine.store %a, %A[%i, %j] : memref<100x64xf32>
    } }"""
    with _scop(body, f"{_A}, %n: index") as scop:
        read, write = out_of_bounds(scop)
        assert read.relation.domain().is_equal(isl.Set("[p0] -> { S0[0, j] : 0 <= j < p0 }"))
        assert write.relation.domain().is_equal(isl.Set("[p0] -> { S0[i, j] : 0 <= i < 10 and 64 <= j < p0 }"))
        assert not write.is_certain


def test_a_statement_does_not_move_over_a_store() -> None:
    """The first load has to run before the store between it and its own store."""
    body = """affine.for %i = 1 to 10 {
      %a = affine.load %A[%i, 0] : memref<100x64xf32>
      affine.store %x, %A[%i, 0] : memref<100x64xf32>
      affine.store %a, %A[%i, 1] : memref<100x64xf32>
      affine.store %x, %A[%i, 2] : memref<100x64xf32>
    }"""
    with _scop(body, f"{_A}, %x: f32") as scop:
        assert [len(statement.writes) for statement in scop.statements] == [2, 1]


def test_groups_of_a_long_block() -> None:
    """A thousand updates, of one element after another, are a thousand statements."""
    line = "%l{0} = affine.load %A[{0}, 0] : memref<100x64xf32>\n%s{0} = arith.addf %l{0}, %x : f32\n"
    line += "affine.store %s{0}, %A[{0}, 0] : memref<100x64xf32>\n"
    body = "".join(line.format(at) for at in range(1000))
    with _function(f"func.func @f({_A}, %x: f32) {{ {body} return }}") as function:
        ops = [op.operation for op in function.regions[0].blocks[0].operations][:-1]
        roots = [at for at, op in enumerate(ops) if op.name == "affine.store"]
        compared = 0

        def touched(op: ir.Operation) -> tuple[str, bool] | None:
            nonlocal compared
            compared += 1
            return ("A", op.name == "affine.store") if op.name.startswith("affine.") else None

        groups = group_ops(ops, roots, touched)
        assert [len(group.ops) for group in groups] == [3] * 1000
        assert compared == 3000
