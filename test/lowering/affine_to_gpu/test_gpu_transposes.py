"""Permutations of axes, alone and on the way of other arithmetic, go through tiles in shared memory and give what NumPy does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from gpu_interpreter import program

from dlc._mlir import ir
from dlc.analysis.buffers import nested_ops
from dlc.dialects import make_context
from dlc.lowering.affine_to_gpu.warp_accesses import summary_of, warp_accesses
from dlc.lowering.pipeline import Pipeline
from dlc.targets.machine import gpu_facts_of

_TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "f64": np.float64}

_MIXED = """
!A = memref<{n}x{m}xf32>
!C = memref<{m}x{n}xf32>
func.func @f(%A: !A {{llvm.noalias}}, %B: !C {{llvm.noalias}}, %d: memref<{n}xf32> {{llvm.noalias}}, %C: !C {{llvm.noalias}}) {{
  affine.for %i = 2 to {m} {{
    affine.for %j = 0 to affine_map<() -> ({n} - 3)>() {{
      %a = affine.load %A[%j + 3, %i - 2] : !A
      %l = affine.load %A[%j, %i] : !A
      %b = affine.load %B[%i, %j] : !C
      %e = affine.load %d[%j] : memref<{n}xf32>
      %p = arith.mulf %a, %b : f32
      %q = arith.subf %p, %l : f32
      %r = arith.addf %q, %e : f32
      affine.store %r, %C[%i, %j] : !C
    }}
  }}
  return
}}"""


_VIEW = """
!V = memref<2x{c}x{p}xf32>
!B = memref<2x{p}x{c}xf32>
func.func @f(%A: memref<2x{c}x{h}x{w}xf32> {{llvm.noalias}}, %B: !B {{llvm.noalias}}) {{
  %v = memref.collapse_shape %A [[0], [1], [2, 3]] : memref<2x{c}x{h}x{w}xf32> into !V
  affine.for %n = 0 to 2 {{
    affine.for %p = 0 to {p} {{
      affine.for %c = 0 to {c} {{
        %a = affine.load %v[%n, %c, %p] : !V
        affine.store %a, %B[%n, %p, %c] : !B
      }}
    }}
  }}
  return
}}"""


def _permuted(shape: Sequence[int], order: Sequence[int], kind: str, *, is_dynamic: bool = False) -> str:
    """Loops over the results of a transposition, in their order; of sizes that are known when it is called, with `is_dynamic`."""
    found = [shape[axis] for axis in order]
    given, made = ("x".join("?" if is_dynamic else str(size) for size in sizes) for sizes in (shape, found))
    loops, rank = [f"%i{axis}" for axis in order], len(shape)
    lines = [f"func.func @f(%A: memref<{given}x{kind}> {{llvm.noalias}}, %B: memref<{made}x{kind}> {{llvm.noalias}}) {{"]
    for axis in range(rank):
        lines += [f"%c{axis} = arith.constant {axis} : index"]
        lines += [f"%n{axis} = memref.dim %A, %c{axis} : memref<{given}x{kind}>"] if is_dynamic else []
    ends = [f"%n{axis}" if is_dynamic else str(shape[axis]) for axis in order]
    lines += [f"affine.for {loop} = 0 to {end} {{" for loop, end in zip(loops, ends, strict=True)]
    lines += [f"%a = affine.load %A[{', '.join(f'%i{axis}' for axis in range(rank))}] : memref<{given}x{kind}>"]
    lines += [f"affine.store %a, %B[{', '.join(loops)}] : memref<{made}x{kind}>", *["}"] * rank, "return", "}"]
    return "\n".join(lines)


def _kernels(text: str) -> ir.Module:
    module = ir.Module.parse(text)
    Pipeline.parse("builtin.module(dl-set-target{target=gpu:sm_80},affine-to-gpu)").run(module)
    return module


def _tiled(text: str) -> ir.Module:
    """The kernels for a GPU of one multiprocessor, where tiles pay for small arrays."""
    module = ir.Module.parse(text)
    module.operation.attributes["dlc.gpu"] = ir.Attribute.parse("{multiprocessors = 1}")
    Pipeline.parse("affine-to-gpu").run(module)
    assert "workgroup" in str(module)
    return module


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("kind", list(_TYPES))
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((70, 65), (1, 0)),
        ((7, 33, 65), (2, 1, 0)),
        ((2, 64, 5, 9), (0, 2, 3, 1)),
        ((300, 3), (1, 0)),
        ((3, 300), (1, 0)),
        ((2, 3, 3, 9, 40), (0, 3, 1, 4, 2)),
    ],
)
def test_permutations(shape: tuple[int, ...], order: tuple[int, ...], kind: str) -> None:
    with make_context(), ir.Location.unknown():
        kernels = program(_tiled(_permuted(shape, order, kind)), seed=len(shape))
    have = np.arange(np.prod(shape)).reshape(shape).astype(_TYPES[kind])
    got = np.zeros([shape[axis] for axis in order], _TYPES[kind])
    kernels.run("f", have, got)
    np.testing.assert_array_equal(got, have.transpose(order))


@pytest.mark.parametrize(("shape", "order"), [((37, 50), (1, 0)), ((3, 33, 40), (0, 2, 1)), ((5, 1, 34), (2, 0, 1))])
def test_dynamic_sizes(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    with make_context(), ir.Location.unknown():
        kernels = program(_tiled(_permuted(shape, order, "f32", is_dynamic=True)))
    have = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    got = np.zeros([shape[axis] for axis in order], np.float32)
    kernels.run("f", have, got)
    np.testing.assert_array_equal(got, have.transpose(order))


def test_arithmetic_and_edges() -> None:
    """What is read of rows and of columns meets, in a part of the matrix alone."""
    m, n = 43, 37
    with make_context(), ir.Location.unknown():
        kernels = program(_tiled(_MIXED.format(m=m, n=n)))
    numbers = np.random.default_rng(0)
    a, b, d, c = (numbers.integers(-9, 9, shape).astype(np.float32) for shape in ((n, m), (m, n), (n,), (m, n)))
    want = c.copy()
    want[2:, : n - 3] = a[3:, : m - 2].T * b[2:, : n - 3] - a[: n - 3, 2:].T + d[: n - 3]
    kernels.run("f", a, b, d, c)
    np.testing.assert_array_equal(c, want)


@pytest.mark.parametrize(("c", "h", "w"), [(40, 6, 9), (33, 2, 56)])
def test_views_of_joined_axes(c: int, h: int, w: int) -> None:
    """A panel has one axis for rows and columns of an image, as the view has: no more elements than a tile has."""
    with make_context(), ir.Location.unknown():
        module = _tiled(_VIEW.format(c=c, h=h, w=w, p=h * w))
        kernels = program(module)
        assert "memref<1x32x33xf32, #gpu.address_space<workgroup>>" in str(module)
    have = np.arange(2 * c * h * w, dtype=np.float32).reshape(2, c, h, w)
    got = np.zeros((2, h * w, c), np.float32)
    kernels.run("f", have, got)
    np.testing.assert_array_equal(got, have.reshape(2, c, h * w).transpose(0, 2, 1))


_SHAPES = [
    ((1024, 1024), (1, 0)),
    ((8, 64, 28, 28), (0, 2, 3, 1)),
    ((8, 28, 28, 64), (0, 3, 1, 2)),
    ((8, 3, 224, 224), (0, 2, 3, 1)),
    ((8, 224, 224, 3), (0, 3, 1, 2)),
    ((1, 3, 3, 224, 224), (0, 3, 1, 4, 2)),
]
_SMALL = [((7, 33, 65), order) for order in ((2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1))]


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize(
    ("shape", "order", "kind"),
    [(*one, kind) for one in _SHAPES for kind in ("f32", "f16", "i8")]
    + [(*one, kind) for one in _SMALL for kind in ("f32", "f16")],
)
def test_accesses(shape: tuple[int, ...], order: tuple[int, ...], kind: str) -> None:
    """Memory moves little that is not asked for, and no access of shared memory takes more than two passes."""
    with make_context(), ir.Location.unknown():
        module = _kernels(_permuted(shape, order, kind))
        (kernel,) = [op for op in nested_ops(module.operation) if op.name == "gpu.func"]
        found = summary_of(warp_accesses(kernel, gpu_facts_of(module.operation)))
    assert found.uncoalesced == 0 and 1 <= found.bank_ways <= 2, found
