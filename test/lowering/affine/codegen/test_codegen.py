"""Random linalg generics through the affine passes and the JIT, compared with NumPy."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import examples

from dlc._mlir import execution_engine, ir, runtime
from dlc.lowering.native import run_native
from dlc.lowering.registry import find_pass
from dlc.runtime.library import load_library

PASSES = (
    "linalg-collapse-dims",
    "convert-linalg-to-affine",
    "affine-tile-registers",
    "affine-vectorize-loops",
    "canonicalize",
    "cse",
)
NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
}  # fmt: skip
SIZES = st.sampled_from([1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 40])
FAST = settings(
    max_examples=examples(25), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


@dataclass(frozen=True)
class Operand:
    """One buffer of a generic: its map's results, element type, shape, and whether its type hides the shape."""

    subscripts: tuple[str, ...]
    element: str
    shape: tuple[int, ...]
    dynamic: bool = False

    def type(self) -> str:
        """The memref type."""
        sizes = "".join(f"{'?' if self.dynamic else size}x" for size in self.shape)
        return f"memref<{sizes}{self.element}>"


def generic(loops: Sequence[str], reduced: set[str], ins: Sequence[Operand], out: Operand, body: str) -> str:
    """A module whose @kernel applies one linalg.generic; `body` yields from %a, %b, ... and the old output %o."""
    maps = [f"affine_map<({', '.join(loops)}) -> ({', '.join(op.subscripts)})>" for op in (*ins, out)]
    kinds = ", ".join(f'"{"reduction" if loop in reduced else "parallel"}"' for loop in loops)
    names = "abcdefg"[: len(ins)]
    types = [op.type() for op in (*ins, out)]
    arguments = ", ".join(f"%m{name}: {kind}" for name, kind in zip([*names, "o"], types, strict=True))
    scalars = ", ".join(f"%{name}: {op.element}" for name, op in zip([*names, "o"], (*ins, out), strict=True))
    given_ins = f"ins({', '.join('%m' + n for n in names)} : {', '.join(types[:-1])})" if ins else ""
    return f"""func.func @kernel({arguments}) attributes {{llvm.emit_c_interface}} {{
      linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = [{kinds}]}}
          {given_ins} outs(%mo : {types[-1]}) {{
      ^bb0({scalars}):
        {body}
      }}
      return
    }}"""


def run(text: str, arrays: Sequence[np.ndarray], passes: Sequence[str] = PASSES) -> str:
    """Compile `text` and call @kernel on `arrays` in place; returns the affine form."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for name in passes:
            _run_pass(name, module)
            module.operation.verify()
        affine = str(module)
        _run_pass("convert-affine-to-llvm", module)
        engine = execution_engine.ExecutionEngine(module, opt_level=0, shared_libs=[str(load_library().path)])
        descriptors = [runtime.get_ranked_memref_descriptor(array) for array in arrays]
        engine.invoke("kernel", *[ctypes.pointer(ctypes.pointer(descriptor)) for descriptor in descriptors])
    return affine


def _run_pass(name: str, module: ir.Module) -> None:
    kind = find_pass(name)
    if kind is None:
        run_native(module.operation, name)
    elif kind.anchor == "builtin.module":
        kind().run(module.operation)
    else:
        for op in list(module.body.operations):
            kind().run(op.operation)


def values(seed: int, element: str, shape: Sequence[int]) -> np.ndarray:
    """Small random numbers of type `element`, exact under sums of a few thousand products."""
    random = np.random.default_rng(seed)
    if element == "i1":
        return random.integers(0, 2, tuple(shape)).astype(np.bool_)
    return random.integers(-4, 5, tuple(shape)).astype(NUMPY[element])


def gathered(operand: Operand, array: np.ndarray, extents: dict[str, int]) -> np.ndarray:
    """`array` read at every point of the iteration space, one axis per loop."""
    grids = np.meshgrid(*[np.arange(size) for size in extents.values()], indexing="ij", sparse=True)
    scope = dict(zip(extents, grids, strict=True))
    index = tuple(eval(text, {}, scope) for text in operand.subscripts)
    return np.broadcast_to(array[index] if index else array, tuple(extents.values()))


@st.composite
def elementwise(draw: st.DrawFn) -> tuple[dict[str, int], list[Operand], Operand]:
    """Loops with extents, two inputs with broadcast and permuted dims, and an output."""
    loops = [f"d{place}" for place in range(draw(st.integers(1, 3)))]
    extents = {loop: draw(SIZES) for loop in loops}
    element = draw(st.sampled_from(["f64", "f32", "i8", "i16", "i32", "i64"]))
    dynamic = draw(st.booleans())

    def operand(subscripts: Sequence[str]) -> Operand:
        return Operand(tuple(subscripts), element, tuple(extents[s] for s in subscripts), dynamic)

    ins = []
    for _ in range(2):
        kept = [loop for loop in loops if draw(st.booleans())]
        ins.append(operand(draw(st.permutations(kept))))
    return extents, ins, operand(draw(st.permutations(loops)))


@FAST
@given(elementwise(), st.integers(0, 9))
def test_elementwise_with_broadcasts(case: tuple[dict[str, int], list[Operand], Operand], seed: int) -> None:
    extents, ins, out = case
    kind = "f" if out.element.startswith("f") else "i"
    body = f"""%s = arith.sub{kind} %a, %b : {out.element}
        %p = arith.mul{kind} %s, %a : {out.element}
        linalg.yield %p : {out.element}"""
    arrays = [values(seed + place, op.element, op.shape) for place, op in enumerate([*ins, out])]
    a, b = (gathered(op, array, extents) for op, array in zip(ins, arrays, strict=False))
    run(generic(list(extents), set(), ins, out, body), arrays)
    np.testing.assert_array_equal(gathered(out, arrays[-1], extents), (a - b) * a)


REDUCTIONS: dict[str, tuple[str, Callable[..., np.ndarray]]] = {
    "add": ("add{}", lambda x, o, axes: o + x.sum(axes, dtype=x.dtype)),
    "max": ("max{}", lambda x, o, axes: np.maximum(o, x.max(axes))),
    "min": ("min{}", lambda x, o, axes: np.minimum(o, x.min(axes))),
    "mul": ("mul{}", lambda x, o, axes: o * x.prod(axes, dtype=x.dtype)),
}


@FAST
@given(
    st.lists(SIZES, min_size=1, max_size=3),
    st.integers(1, 7),
    st.sampled_from(sorted(REDUCTIONS)),
    st.sampled_from(["f64", "f32", "i32", "i8"]),
    st.booleans(),
)
def test_reductions(sizes: list[int], axes_bits: int, name: str, element: str, dynamic: bool) -> None:
    extents = {f"d{place}": size for place, size in enumerate(sizes)}
    reduced = {loop for place, loop in enumerate(extents) if axes_bits >> place & 1} or {"d0"}
    kept = [loop for loop in extents if loop not in reduced]
    x = Operand(tuple(extents), element, tuple(sizes), dynamic)
    out = Operand(tuple(kept), element, tuple(extents[loop] for loop in kept), dynamic)
    suffix = ("imumf" if name in ("max", "min") else "f") if element.startswith("f") else ("si" if name in ("max", "min") else "i")
    body = f"""%r = arith.{REDUCTIONS[name][0].format(suffix)} %o, %a : {element}
        linalg.yield %r : {element}"""
    arrays = [values(1, element, x.shape), values(2, element, out.shape)]
    if name == "mul":
        arrays[0] = np.where(arrays[0] >= 0, 1, -1).astype(NUMPY[element])
    axes = tuple(place for place, loop in enumerate(extents) if loop in reduced)
    expected = REDUCTIONS[name][1](arrays[0], arrays[1].copy(), axes)
    run(generic(list(extents), reduced, [x], out, body), arrays)
    np.testing.assert_array_equal(arrays[1], expected)


@FAST
@given(SIZES, SIZES, SIZES, st.integers(0, 7), st.sampled_from(["f32", "f64", "i32"]), st.booleans())
def test_matmul_in_every_layout(m: int, n: int, k: int, transposed: int, element: str, dynamic: bool) -> None:
    extents = {"m": m, "n": n, "k": k}
    subscripts = [("m", "k"), ("k", "n"), ("m", "n")]
    chosen = [pair[::-1] if transposed >> place & 1 else pair for place, pair in enumerate(subscripts)]
    a, b, out = (Operand(pair, element, tuple(extents[s] for s in pair), dynamic) for pair in chosen)
    check_contraction(extents, {"k"}, a, b, out)


@FAST
@given(
    st.tuples(st.integers(1, 3), st.integers(1, 18), st.integers(1, 20), st.integers(1, 35)),
    st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(1, 4)),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.booleans(),
)
def test_convolutions(out_sizes: tuple[int, ...], window: tuple[int, ...], steps: tuple[int, int], grouped: bool) -> None:
    (n, oc, oh, ow), (ic, kh, kw), (s, d) = out_sizes, window, steps
    extents = {"n": n, "g": 2, "oc": oc, "oh": oh, "ow": ow, "ic": ic, "kh": kh, "kw": kw}
    group = ("g",) if grouped else ()
    if not grouped:
        del extents["g"]
    height, width = (oh - 1) * s + (kh - 1) * d + 1, (ow - 1) * s + (kw - 1) * d + 1
    g = (2,) if grouped else ()
    x = Operand(("n", *group, "ic", f"oh * {s} + kh * {d}", f"ow * {s} + kw * {d}"), "f32", (n, *g, ic, height, width))
    w = Operand((*group, "oc", "ic", "kh", "kw"), "f32", (*g, oc, ic, kh, kw))
    out = Operand(("n", *group, "oc", "oh", "ow"), "f32", (n, *g, oc, oh, ow))
    check_contraction(extents, {"ic", "kh", "kw"}, x, w, out)


def check_contraction(extents: dict[str, int], reduced: set[str], a: Operand, b: Operand, out: Operand) -> None:
    """Compare `out += a * b` with NumPy; all numbers are small integers, so any order of sums is exact."""
    kind = "f" if out.element.startswith("f") else "i"
    body = f"""%p = arith.mul{kind} %a, %b : {out.element}
        %s = arith.add{kind} %o, %p : {out.element}
        linalg.yield %s : {out.element}"""
    arrays = [values(place, op.element, op.shape) for place, op in enumerate([a, b, out])]
    product = gathered(a, arrays[0], extents) * gathered(b, arrays[1], extents)
    axes = tuple(place for place, loop in enumerate(extents) if loop in reduced)
    kept = {loop: size for loop, size in extents.items() if loop not in reduced}
    expected = gathered(out, arrays[2], kept) + product.sum(axes)
    run(generic(list(extents), reduced, [a, b], out, body), arrays)
    np.testing.assert_array_equal(gathered(out, arrays[2], kept), expected)


@pytest.mark.parametrize("size", [1, 5, 16, 37])
@pytest.mark.parametrize(("source", "target", "cast"), [
    ("i64", "f32", "sitofp"), ("f16", "f32", "extf"), ("f32", "f16", "truncf"), ("i8", "i64", "extsi"), ("f64", "i32", "fptosi"),
    ("i1", "f32", "uitofp"), ("i32", "i8", "trunci"),
])  # fmt: skip
def test_mixed_widths(size: int, source: str, target: str, cast: str) -> None:
    x, out = Operand(("d0",), source, (size,)), Operand(("d0",), target, (size,))
    body = f"%r = arith.{cast} %a : {source} to {target}\n linalg.yield %r : {target}"
    arrays = [values(3, source, (size,)), values(4, target, (size,))]
    run(generic(["d0"], set(), [x], out, body), arrays)
    np.testing.assert_array_equal(arrays[1], arrays[0].astype(NUMPY[target]))


@pytest.mark.parametrize("size", [3, 16, 50])
def test_comparison_and_select_through_i1(size: int) -> None:
    x, out = Operand(("d0",), "f32", (size,)), Operand(("d0",), "i1", (size,))
    arrays = [values(5, "f32", (size,)), values(6, "i1", (size,))]
    expected = (arrays[0] > 0) ^ arrays[1]
    body = """%z = arith.constant 0.0 : f32
        %g = arith.cmpf ogt, %a, %z : f32
        %r = arith.xori %g, %o : i1
        linalg.yield %r : i1"""
    run(generic(["d0"], set(), [x], out, body), arrays)
    np.testing.assert_array_equal(arrays[1], expected)


def test_integer_division_has_no_made_up_lanes() -> None:
    x, y, out = (Operand(("d0",), "i32", (21,)) for _ in range(3))
    arrays = [values(7, "i32", (21,)), np.full(21, 3, np.int32), np.zeros(21, np.int32)]
    body = "%r = arith.divsi %a, %b : i32\n linalg.yield %r : i32"
    run(generic(["d0"], set(), [x, y], out, body), arrays)
    np.testing.assert_array_equal(arrays[2], np.trunc(arrays[0] / 3).astype(np.int32))


@pytest.mark.parametrize("dynamic", [False, True])
def test_gather_and_index(dynamic: bool) -> None:
    """A row gather whose column index comes from linalg.index, plus the row number."""
    rows, columns = 5, 19
    index, out = Operand(("d0",), "i64", (rows,), dynamic), Operand(("d0", "d1"), "f32", (rows, columns), dynamic)
    table = values(8, "f32", (7, columns))
    body = """%row = arith.index_cast %a : i64 to index
        %column = linalg.index 1 : index
        %v = memref.load %table[%row, %column] : memref<7x19xf32>
        %i = linalg.index 0 : index
        %i32 = arith.index_cast %i : index to i32
        %f = arith.sitofp %i32 : i32 to f32
        %r = arith.addf %v, %f : f32
        linalg.yield %r : f32"""
    text = generic(["d0", "d1"], set(), [index], out, body)
    text = text.replace("@kernel(", "@kernel(%table: memref<7x19xf32>, ")
    chosen, result = np.array([6, 0, 3, 3, 1]), np.zeros((rows, columns), np.float32)
    run(text, [table, chosen, result])
    np.testing.assert_array_equal(result, table[chosen] + np.arange(rows, dtype=np.float32)[:, None])


def test_iota_in_lanes() -> None:
    out = Operand(("d0", "d1"), "i64", (3, 21))
    body = """%j = linalg.index 1 : index
        %r = arith.index_cast %j : index to i64
        linalg.yield %r : i64"""
    result = np.zeros((3, 21), np.int64)
    run(generic(["d0", "d1"], set(), [], out, body), [result])
    np.testing.assert_array_equal(result, np.broadcast_to(np.arange(21), (3, 21)))


def test_exponential_sum_is_vectorised_along_the_row() -> None:
    """The softmax denominator: two inputs, a subtraction, exp and a sum over the last axis."""
    x, top = Operand(("d0", "d1"), "f32", (6, 45), True), Operand(("d0",), "f32", (6,), True)
    body = """%s = arith.subf %a, %b : f32
        %e = math.exp %s : f32
        %r = arith.addf %o, %e : f32
        linalg.yield %r : f32"""
    arrays = [values(9, "f32", (6, 45)), np.full(6, 4, np.float32), np.zeros(6, np.float32)]
    affine = run(generic(["d0", "d1"], {"d1"}, [x, top], top, body), arrays)
    assert "vector.reduction <add>" in affine
    np.testing.assert_allclose(arrays[2], np.exp(arrays[0] - 4).sum(1), rtol=1e-5)


def test_copies_into_padded_buffers() -> None:
    text = """func.func @kernel(%x: memref<2x5x9xf32>, %y: memref<2x7x11xf32>) attributes {llvm.emit_c_interface} {
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%y : memref<2x7x11xf32>)
      %inner = memref.subview %y[0, 1, 1] [2, 5, 9] [1, 1, 1]
        : memref<2x7x11xf32> to memref<2x5x9xf32, strided<[77, 11, 1], offset: 12>>
      memref.copy %x, %inner : memref<2x5x9xf32> to memref<2x5x9xf32, strided<[77, 11, 1], offset: 12>>
      return
    }"""
    x, y = values(10, "f32", (2, 5, 9)), np.ones((2, 7, 11), np.float32)
    run(text, [x, y])
    np.testing.assert_array_equal(y, np.pad(x, ((0, 0), (1, 1), (1, 1))))


@pytest.mark.parametrize("stride", [1, 2])
def test_max_pool(stride: int) -> None:
    """A pooling whose window is a shape-only operand."""
    size = 13
    out = Operand(("c", "oh", "ow"), "f32", (3, size, size))
    width = (size - 1) * stride + 3
    x = Operand(("c", f"oh * {stride} + kh", f"ow * {stride} + kw"), "f32", (3, width, width))
    window = Operand(("kh", "kw"), "f32", (3, 3))
    body = "%r = arith.maximumf %o, %a : f32\n linalg.yield %r : f32"
    extents = {"c": 3, "oh": size, "ow": size, "kh": 3, "kw": 3}
    arrays = [values(11, "f32", x.shape), np.zeros((3, 3), np.float32), np.full(out.shape, -math.inf, np.float32)]
    run(generic(list(extents), {"kh", "kw"}, [x, window], out, body), arrays)
    np.testing.assert_array_equal(arrays[2], gathered(x, arrays[0], extents).max((3, 4)))


@pytest.mark.parametrize("apart", [2, 3, 4, 5])
@pytest.mark.parametrize("count", [3, 16, 17, 100])
@pytest.mark.parametrize("element", ["f32", "f64", "i16"])
def test_loads_that_lie_apart(apart: int, count: int, element: str) -> None:
    size = (count - 1) * apart + 1
    text = f"""func.func @kernel(%x: memref<{size}x{element}>, %y: memref<{count}x{element}>)
        attributes {{llvm.emit_c_interface}} {{
      affine.for %i = 0 to {count} {{
        %a = affine.load %x[%i * {apart}] : memref<{size}x{element}>
        affine.store %a, %y[%i] : memref<{count}x{element}>
      }} {{dlc.parallel}}
      return
    }}"""
    x, y = np.arange(size).astype(NUMPY[element]), np.zeros(count, NUMPY[element])
    run(text, [x, y], ("affine-vectorize-loops", "canonicalize"))
    np.testing.assert_array_equal(y, x[::apart])
