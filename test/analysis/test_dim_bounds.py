"""Bounds of sizes: those that a function states, and those that follow from them."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from parsed_functions import parsed_function
from sweeps import examples

from dlc._mlir import ir
from dlc.analysis.dim_bounds import (
    UNBOUNDED,
    DimBounds,
    bounds_of_function,
    bounds_of_index,
    likely_index,
    state_bounds,
    usual_of_function,
)
from dlc.analysis.memory_plan import memory_plan
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects import make_context
from dlc.dialects.dl.types import ConstraintError
from dlc.dialects.dl.window import Window
from dlc.errors import VerifyError
from dlc.lowering.affine.ir.expressions import bounds_of_extent


def _bounds_of_last(axis: int, *lines: str) -> DimBounds:
    """Bounds of a dim of the last op's first result, in a function of %x : (n, m) with 1 <= n <= 4 and m = 8, 16, ... 64."""
    body = "\n".join(f"%{index}{line}" for index, line in enumerate(lines))
    text = f"""func.func @f(%x: tensor<?x?xf32> {{dl.dims = ["n", "m"]}}, %z: tensor<?xi1>)
        attributes {{dl.bounds = {{n = array<i64: 1, 4, 1>, m = array<i64: 8, 64, 8>}}}} {{
      {body}
      return
    }}"""
    with parsed_function(text) as function:
        operations = list(function.regions[0].blocks[0].operations)
        shapes = SymbolicShapes(function)
        return shapes.bounds_of(shapes.type_of(operations[-2].operation.results[0]).shape[axis])


@pytest.mark.parametrize(
    ("axis", "lines", "expected"),
    [
        (0, [' = "dl.relu"(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>'], DimBounds(1, 4)),
        (1, [' = "dl.relu"(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>'], DimBounds(8, 64, 8)),
        (
            1,
            [' = "dl.concat"(%x, %x) {axis = 1 : i64} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>'],
            DimBounds(16, 128, 8),
        ),
        (1, [' = "dl.nonzero"(%x) : (tensor<?x?xf32>) -> tensor<2x?xi64>'], DimBounds(0, 256)),
        (0, [' = "dl.compress"(%x, %z) {axis = 0 : i64} : (tensor<?x?xf32>, tensor<?xi1>) -> tensor<?x?xf32>'], DimBounds(0, 4)),
        (
            1,
            [f':4 = "dl.unique"(%x) {{axis = 1 : i64}} : (tensor<?x?xf32>) -> (tensor<?x?xf32>{3 * ", tensor<?xi64>"})'],
            DimBounds(0, 64),
        ),
        (0, [' = "dl.reshape"(%x) {shape = array<i64: -1>} : (tensor<?x?xf32>) -> tensor<?xf32>'], DimBounds(8, 256, 8)),
        (0, [' = "dl.reshape"(%x) {shape = array<i64: -1, 4>} : (tensor<?x?xf32>) -> tensor<?x4xf32>'], DimBounds(2, 64, 2)),
        (0, [' = "dl.reshape"(%x) {shape = array<i64: -1, 1000>} : (tensor<?x?xf32>) -> tensor<?x1000xf32>'], UNBOUNDED),
        (0, [' = "dl.not"(%z) : (tensor<?xi1>) -> tensor<?xi1>'], UNBOUNDED),
    ],
)
def test_bounds_follow_through_ops(axis: int, lines: list[str], expected: DimBounds) -> None:
    assert _bounds_of_last(axis, *lines) == expected


@settings(max_examples=examples(60), deadline=None)
@given(
    st.integers(1, 9), st.integers(0, 9), st.integers(1, 4), st.integers(1, 3), st.integers(0, 1), st.integers(0, 1), st.booleans()
)
def test_bounds_of_windows(least: int, more: int, taps: int, stride: int, begin: int, end: int, ceil: bool) -> None:
    """Those that poolings of the least and the most images have, one behind the other."""
    attributes = (
        f"kernel = array<i64: {taps}, 1>, strides = array<i64: {stride}, 1>, "
        f"pads = array<i64: {begin}, 0, {end}, 0>, ceil_mode = {str(ceil).lower()}"
    )
    assume(max(begin, end) < taps)
    image = "tensor<1x1x?x?xf32>"
    text = f"""func.func @f(%x: {image} {{dl.dims = ["", "", "h", "w"]}})
        attributes {{dl.bounds = {{h = array<i64: {least}, {least + more}, 1>}}}} {{
      %0 = "dl.max_pool"(%x) {{{attributes}}} : ({image}) -> {image}
      %1 = "dl.max_pool"(%0) {{{attributes}}} : ({image}) -> {image}
      return
    }}"""
    with parsed_function(text) as function:
        shapes = SymbolicShapes(function)
        given_sizes: list[int] = [least, least + more]
        for op in list(function.regions[0].blocks[0].operations)[:-1]:
            window = Window.of("", (taps,), (stride,), (begin, end), (), ceil)
            given_sizes = [_positions(window, size) for size in given_sizes]
            dims = shapes.type_of(op.operation.results[0]).shape
            found = shapes.bounds_of(dims[2])
            assert (found.least, found.most) == tuple(given_sizes) and shapes.bounds_of(dims[3]) == DimBounds(0, None)


def _positions(window: Window, size: int) -> int:
    """How often a window fits into an axis, 0 where it does not."""
    try:
        (count,) = window.output_dims("", (size,))
    except ConstraintError:
        return 0
    assert isinstance(count, int)
    return count


def test_bounds_are_written_and_read() -> None:
    bounds = {"n": DimBounds(1), "m": DimBounds(8, 512, 8)}
    with parsed_function("func.func @f() { return }") as function:
        state_bounds(function, bounds)
        assert bounds_of_function(function) == bounds
        state_bounds(function, {})
        assert bounds_of_function(function) == {}


@pytest.mark.parametrize(
    ("bounds", "nearest"),
    [
        (UNBOUNDED, 32),
        (DimBounds(1, 8), 8),
        (DimBounds(40), 40),
        (DimBounds(0, 512, 24), 24),
        (DimBounds(50, 512, 24), 72),
        (DimBounds(0, None, 128), 128),
        (DimBounds(0, 24, 25), 0),
    ],
)
def test_the_nearest_size(bounds: DimBounds, nearest: int) -> None:
    assert bounds.nearest(32) == nearest


def test_memory_is_planned_for_sizes_within_bounds() -> None:
    def peak(bounds: str) -> int:
        text = f"""func.func @f(%x: memref<?xf32> {{dl.dims = ["n"]}}) {bounds} {{
          %c0 = arith.constant 0 : index
          %n = memref.dim %x, %c0 : memref<?xf32>
          %a = memref.alloc(%n) : memref<?xf32>
          call @g(%a) : (memref<?xf32>) -> ()
          return
        }}
        func.func private @g(memref<?xf32>)"""
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            return memory_plan(module.body.operations[0].operation).peak()

    assert [peak(each) for each in ("", "attributes {dl.bounds = {n = array<i64: 1, 16, 1>}}")] == [128, 64]


def test_what_no_size_is() -> None:
    assert [DimBounds(8, 64, 8).admits(size) for size in (0, 8, 12, 64, 72)] == [False, True, False, True, False]
    for least, most, multiple in ((4, 3, 1), (-1, None, 1), (0, None, 0)):
        with pytest.raises(ValueError, match="no size is"):
            DimBounds(least, most, multiple)


@pytest.mark.parametrize(
    ("bounds", "sizes"),
    [(UNBOUNDED, [1, 2, 3, 4, 5]), (DimBounds(2, 9, 2), [2, 4]), (DimBounds(0, None, 8), [8]), (DimBounds(7, 9), [7])],
)
def test_sizes_within_bounds(bounds: DimBounds, sizes: list[int]) -> None:
    assert bounds.sizes(5) == sizes


def test_sizes_from_one_on() -> None:
    assert UNBOUNDED.sizes(7, 4) == [4, 5, 6, 7]
    assert DimBounds(0, None, 8).sizes(40, 17) == [24, 32, 40]
    assert DimBounds(2, 9).sizes(40, 17) == [9]


def test_bounds_of_an_index() -> None:
    """Dims of arguments have those that are stated, and numbers their own."""
    text = """func.func @f(%x: memref<?x?xf32> {dl.dims = ["n", "m"]}, %i: index)
        attributes {dl.bounds = {m = array<i64: 8, 64, 8>}} {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = memref.dim %x, %0 : memref<?x?xf32>
      %3 = memref.dim %x, %1 : memref<?x?xf32>
      %4 = memref.dim %x, %i : memref<?x?xf32>
      %5 = arith.constant 3 : index
      %6 = arith.muli %3, %5 : index
      %7 = arith.addi %6, %3 : index
      %8 = arith.muli %2, %6 : index
      %9 = arith.muli %0, %6 : index
      return
    }"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        block = module.body.operations[0].operation.regions[0].blocks[0]
        found = [bounds_of_index(op.operation.results[0]) for op in list(block.operations)[:-1]]
        assert found[:5] == [DimBounds.of_size(0), DimBounds.of_size(1), UNBOUNDED, DimBounds(8, 64, 8), UNBOUNDED]
        assert found[6:] == [DimBounds(24, 192, 24), DimBounds(32, 256, 8), DimBounds(0, None, 24), DimBounds(0, 0, 24)]
        assert bounds_of_index(block.arguments[1]) == UNBOUNDED


def _likely(text: str) -> list[int]:
    """What the results of a function's ops are likely to be, where sizes that are not known count as 64."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        block = module.body.operations[0].operation.regions[0].blocks[0]
        return [likely_index(op.operation.results[0], 64) for op in list(block.operations)[:-1]]


def test_what_an_index_is_likely_to_be() -> None:
    """Unknown sizes count as 64, within what is stated of them; what is computed of sizes is computed of those."""
    text = """func.func @f(%x: memref<?x?xf32> {dl.dims = ["n", "m"]}, %i: index)
        attributes {dl.bounds = {m = array<i64: 8, 32, 8>}} {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 3 : index
      %3 = memref.dim %x, %0 : memref<?x?xf32>
      %4 = memref.dim %x, %1 : memref<?x?xf32>
      %5 = arith.muli %3, %4 : index
      %6 = arith.addi %5, %i : index
      %7 = arith.subi %4, %2 : index
      %8 = arith.ceildivsi %7, %2 : index
      %9 = arith.floordivsi %7, %2 : index
      %10 = arith.maxsi %8, %9 : index
      %11 = arith.divui %5, %0 : index
      %12 = arith.shli %3, %1 : index
      return
    }"""
    assert _likely(text)[3:] == [64, 32, 2048, 2112, 29, 10, 9, 10, 2048, 64]


def test_sizes_are_likely_to_be_usual_ones() -> None:
    """What a function says of a dim comes before what all others count as, within the bounds."""
    text = """func.func @f(%x: memref<?x?x?xf32> {dl.dims = ["h", "w", "c"]})
        attributes {dl.bounds = {w = array<i64: 8, 16, 8>}, dl.usual = {h = 28, w = 28}} {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = arith.constant 2 : index
      %3 = memref.dim %x, %0 : memref<?x?x?xf32>
      %4 = memref.dim %x, %1 : memref<?x?x?xf32>
      %5 = memref.dim %x, %2 : memref<?x?x?xf32>
      %6 = arith.muli %3, %4 : index
      return
    }"""
    assert _likely(text)[3:] == [28, 16, 64, 448]


@pytest.mark.parametrize("attribute", ["3 : i64", "{h = 0 : i64}", '{h = "28"}'])
def test_usual_sizes_are_sizes(attribute: str) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(f"func.func private @f(%x: memref<?xf32>) attributes {{dl.usual = {attribute}}} {{ return }}")
        with pytest.raises(VerifyError, match="write a size above 0 for each name"):
            usual_of_function(module.body.operations[0].operation)


def test_an_index_is_likely_to_be_a_number_of_64_bits() -> None:
    """A loop over all elements of a tensor of twelve open dims."""
    products = "\n".join(f"%p{place + 1} = arith.muli %p{place}, %p0 : index" for place in range(12))
    text = f"func.func @f(%p0: index) {{ {products} return }}"
    assert _likely(text)[-1] == 1 << 40


@pytest.mark.parametrize(
    ("extent", "expected"),
    [
        ("s0 * 3", DimBounds(24, 192, 24)),
        ("s0 + 4", DimBounds(12, 68, 4)),
        ("s0 - 4", DimBounds(multiple=4)),
        ("s0 floordiv 4", DimBounds(2, 16, 2)),
        ("s0 floordiv 3", DimBounds(2, 21)),
        ("s0 ceildiv 8", DimBounds(1, 8)),
        ("s0 ceildiv 3", DimBounds(3, 22)),
        ("s0 mod 12", DimBounds(0, 8, 4)),
        ("s0 mod 4", DimBounds(0, 0, 4)),
        ("s0 - s0 mod 12", DimBounds(multiple=4)),
        ("s0 + s1", DimBounds(8)),
        ("s0 * 0", DimBounds(0, 0)),
    ],
)
def test_bounds_of_an_extent(extent: str, expected: DimBounds) -> None:
    """s0 is 8, 16, ... 64; nothing is known of s1."""
    with make_context():
        chosen = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<()[s0, s1] -> ({extent})>")).value
        assert bounds_of_extent(chosen.results[0], [], [DimBounds(8, 64, 8), UNBOUNDED]) == expected
