"""Models whose sizes run time knows: one compilation, compared with the NumPy meaning at sizes around those of tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dlc
from dlc.dialects.dl import op_class

_EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31)
"""One, primes, and sizes just below and above those of register tiles, vectors and blocks of rows."""


def compiled(arguments: str, result: str, op: str, kinds: str, attributes: str = "") -> dlc.CompiledModel:
    """The model of one dl op."""
    names = ", ".join(f"%a{place}" for place in range(kinds.count("tensor")))
    return dlc.compile(
        f"func.func @main_graph({arguments}) -> {result} {{\n"
        f'  %0 = "dl.{op}"({names}) {{{attributes}}} : ({kinds}) -> {result}\n  return %0 : {result}\n}}',
        num_threads=1,
    )


def meaning_of(op: str, *absent: None, **attributes: Any) -> Callable[..., np.ndarray]:
    """The NumPy meaning of an op with these attributes, its optional operands absent."""
    known = op_class(op)
    assert known is not None
    given, meaning = known.bind_attributes(attributes), known.reference

    def computed(*operands: np.ndarray) -> np.ndarray:
        found = meaning(*operands, *absent, **given)
        assert isinstance(found, np.ndarray)
        return found

    return computed


def agree(model: dlc.CompiledModel, meaning: Callable[..., np.ndarray], shapes: Sequence[Sequence[tuple[int, ...]]]) -> None:
    """Compare a model with what it means, for each list of shapes of its arguments."""
    random = np.random.default_rng(0)
    for given in shapes:
        arrays = [random.standard_normal(shape).astype(np.float32) for shape in given]
        wanted = meaning(*arrays)
        np.testing.assert_allclose(
            model(*arrays)[0], wanted, rtol=1e-4, atol=1e-4 * max(1.0, float(np.abs(wanted).max(initial=0.0))), err_msg=f"{given}"
        )


def test_rows_of_products() -> None:
    """What is left over has steps of any height up to that of a tile."""
    model = compiled(
        "%a0: tensor<?x40xf32>, %a1: tensor<40x100xf32>", "tensor<?x100xf32>", "matmul", "tensor<?x40xf32>, tensor<40x100xf32>"
    )
    agree(model, np.matmul, [[(rows, 40), (40, 100)] for rows in range(1, 40)])


@pytest.mark.parametrize("height", [1, 2, 3, 4, 5, 6, 8, 11, 12])
def test_rows_in_steps(height: int) -> None:
    """Whatever a tile's height, each row is in one step: none is left out, none beyond the end is written."""
    tile = {"code_generator": "tile", "lane_loop": 1, "lanes": 8, "vectors": 1, "unroll_and_jam": [[0, height]], "order": [1, 0]}
    model = dlc.compile(
        "func.func @main_graph(%a: tensor<?x9xf32>, %b: tensor<9x72xf32>) -> tensor<?x72xf32> {\n"
        '  %0 = "dl.matmul"(%a, %b) : (tensor<?x9xf32>, tensor<9x72xf32>) -> tensor<?x72xf32>\n'
        "  return %0 : tensor<?x72xf32>\n}",
        num_threads=2,
        schedule={"*matmul*": {"0": tile}},
    )
    agree(model, np.matmul, [[(rows, 9), (9, 72)] for rows in range(4 * height + 2)])


def test_attention() -> None:
    """As many keys as queries: the keys are transposed, and rows of scores are worked on in blocks."""
    kind = 'tensor<?x3x?x16xf32> {dl.dims = ["n", "", "s", ""]}'
    plain = "tensor<?x3x?x16xf32>"
    model = compiled(f"%a0: {kind}, %a1: {kind}, %a2: {kind}", plain, "attention", ", ".join([plain] * 3))

    meaning = meaning_of("attention", None)
    agree(model, meaning, [[(batch, 3, size, 16)] * 3 for size in (*_EDGES, 24, 33, 47, 64) for batch in (1, 2)])


_BOUNDS = [range(8, 129, 8), range(21, 106, 21), range(1, 4)]


@pytest.mark.parametrize("sizes", _BOUNDS, ids=str)
def test_sizes_within_bounds(sizes: range) -> None:
    """Tiles of sizes with a divisor leave nothing over that cannot be there, along rows, columns and sums."""
    bounds = f"{sizes[0]}, {sizes[-1]}, {sizes.step}"

    def model(op: str, kinds: Sequence[str], result: str, attributes: str = "") -> dlc.CompiledModel:
        given = ", ".join(f"%a{place}: {kind}" for place, kind in enumerate(kinds))
        plain = [kind.partition(" ")[0] for kind in kinds]
        return dlc.compile(
            f"func.func @main_graph({given}) -> {result} attributes {{dl.bounds = {{n = array<i64: {bounds}>}}}} {{\n"
            f'  %0 = "dl.{op}"({", ".join(f"%a{place}" for place in range(len(kinds)))}) {{{attributes}}}'
            f" : ({', '.join(plain)}) -> {result}\n  return %0 : {result}\n}}",
            num_threads=1,
        )

    rows, columns = 'tensor<?x40xf32> {dl.dims = ["n", ""]}', 'tensor<40x?xf32> {dl.dims = ["", "n"]}'
    product = model("matmul", [rows, "tensor<40x100xf32>"], "tensor<?x100xf32>")
    agree(product, np.matmul, [[(size, 40), (40, 100)] for size in sizes])
    product = model("matmul", ["tensor<13x40xf32>", columns], "tensor<13x?xf32>")
    agree(product, np.matmul, [[(13, 40), (40, size)] for size in sizes])
    product = model("matmul", [columns, rows], "tensor<40x40xf32>")
    agree(product, np.matmul, [[(40, size), (size, 40)] for size in sizes])
    turned = model("transpose", [rows], "tensor<40x?xf32>", "perm = array<i64: 1, 0>")
    agree(turned, np.transpose, [[(size, 40)] for size in sizes])
    kind = 'tensor<?x3x?x16xf32> {dl.dims = ["", "", "n", ""]}'
    attention = model("attention", [kind] * 3, "tensor<?x3x?x16xf32>")
    agree(attention, meaning_of("attention", None), [[(1, 3, size, 16)] * 3 for size in sizes])


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("taps", "stride", "pads"), [(3, 1, (1, 1, 1, 1)), (3, 2, (1, 1, 1, 1)), (5, 2, (1, 2, 2, 1)), (7, 1, (3, 3, 3, 3))]
)
@pytest.mark.parametrize("channels", [7, 40])
def test_depthwise_convolutions(taps: int, stride: int, pads: tuple[int, ...], channels: int) -> None:
    """Tiles at edges, which run time finds, read padding as zeros; images may be smaller than windows."""
    image, kernel = f"tensor<?x?x?x{channels}xf32>", f"tensor<{taps}x{taps}x1x{channels}xf32>"
    attributes = (
        f"channels_last = true, groups = {channels} : i64, strides = array<i64: {stride}, {stride}>, "
        f"pads = array<i64: {', '.join(map(str, pads))}>"
    )
    model = compiled(f"%a0: {image}, %a1: {kernel}", image, "conv", f"{image}, {kernel}", attributes)

    meaning = meaning_of("conv", None, strides=(stride, stride), pads=pads, groups=channels, channels_last=True)
    sizes = [(1, height, width) for height in _EDGES for width in (1, 2, 5, 8, 16, 17)] + [(3, 9, 8), (2, 5, 17)]
    fit = [(n, h, w) for n, h, w in sizes if h + pads[0] + pads[2] >= taps and w + pads[1] + pads[3] >= taps]
    agree(model, meaning, [[(*size, channels), (taps, taps, 1, channels)] for size in fit])


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("op", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("stride", [1, 2])
def test_poolings(op: str, stride: int) -> None:
    """Padding is no part of maxima and, here, of means."""
    kind = "tensor<?x?x?x24xf32>"
    attributes = (
        f"channels_last = true, kernel = array<i64: 3, 3>, strides = array<i64: {stride}, {stride}>, pads = array<i64: 1, 1, 1, 1>"
    )
    model = compiled(f"%a0: {kind}", kind, op, kind, attributes)
    meaning = meaning_of(op, kernel=(3, 3), strides=(stride, stride), pads=(1, 1, 1, 1), channels_last=True)
    agree(model, meaning, [[(1, height, width, 24)] for height in _EDGES for width in (1, 2, 5, 8, 17)])


@pytest.mark.parametrize(("channels", "out"), [(64, 64), (128, 32), (512, 16)])
def test_winograd_tiles(channels: int, out: int) -> None:
    """Images that end within a tile, and within a block of rows of tiles; of 512 channels, a block is all of an image."""
    image, result, kernel = f"tensor<?x?x?x{channels}xf32>", f"tensor<?x?x?x{out}xf32>", f"tensor<16x{out // 16}x{channels}x16xf32>"
    model = compiled(f"%a0: {image}, %a1: {kernel}", result, "winograd_conv", f"{image}, {kernel}", "pads = array<i64: 1, 1, 1, 1>")
    sizes = [(1, height, width) for height in (1, 2, 3, 7, 8, 9, 16, 17) for width in (1, 2, 5, 16)] + [(2, 9, 7)]
    meaning = meaning_of("winograd_conv", None, pads=(1, 1, 1, 1))
    agree(model, meaning, [[(*size, channels), (16, out // 16, channels, 16)] for size in sizes])


def test_positions_of_as_many_tokens() -> None:
    """As many rows of a table as there are tokens, of which one is no reason to repeat a row; too many are refused."""
    model = dlc.compile(
        """func.func @main_graph(%x: tensor<?x8xf32> {dl.dims = ["s", ""]}, %t: tensor<12x8xf32>) -> tensor<?x8xf32> {
          %0 = "dl.shape_of"(%x) {end = 1 : i64} : (tensor<?x8xf32>) -> tensor<1xi64>
          %1 = "dl.constant"() {value = dense<0> : tensor<1xi64>} : () -> tensor<1xi64>
          %2 = "dl.concat"(%1, %0) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
          %3 = "dl.slice"(%t, %2) {axes = array<i64: 0>, steps = array<i64: 1>}
            : (tensor<12x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
          %4 = "dl.add"(%x, %3) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
          return %4 : tensor<?x8xf32>
        }""",
        num_threads=1,
    )
    agree(model, lambda x, table: x + table[: len(x)], [[(size, 8), (12, 8)] for size in range(1, 13)])
    with pytest.raises(dlc.InvalidInputError, match="12"):
        model(np.zeros((13, 8), np.float32), np.zeros((12, 8), np.float32))


@pytest.mark.parametrize("strides", [(2, 2), (2, 3), (1, 2)])
def test_transposed_convolutions(strides: tuple[int, int]) -> None:
    """Kernels as large as the strides: each phase is a convolution by one tap. Weights are params, which alone are rearranged."""
    shape = (32, 16, *strides)
    weight = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    kernel = "tensor<" + "x".join(map(str, shape)) + "xf32>"
    text = f"""func.func @main_graph(%x: tensor<?x32x?x?xf32>) -> tensor<?x16x?x?xf32> {{
      %w = "dl.param"() {{key = "w", shape = array<i64: {", ".join(map(str, shape))}>, dtype = f32}} : () -> {kernel}
      %0 = "dl.conv_transpose"(%x, %w) {{strides = array<i64: {strides[0]}, {strides[1]}>}} : (tensor<?x32x?x?xf32>, {kernel})
        -> tensor<?x16x?x?xf32>
      return %0 : tensor<?x16x?x?xf32>
    }}"""
    model = dlc.compile(text, num_threads=1, params={"w": weight})
    meaning = meaning_of("conv_transpose", None, strides=strides)
    agree(model, lambda x: meaning(x, weight), [[(1, 32, height, width)] for height in (1, 2, 5, 8, 17) for width in (1, 3, 16)])


@pytest.mark.parametrize("threads", [1, 2])
def test_joined_images_of_checked_sides(threads: int) -> None:
    """An image beside its own halves put together again, both written where they are joined: only even sides are the same."""
    weight = np.random.default_rng(1).standard_normal((16, 16, 2, 2)).astype(np.float32)
    image = "tensor<1x16x?x?xf32>"
    text = f"""func.func @main_graph(%x: {image} {{dl.dims = ["", "", "h", "w"]}}) -> tensor<1x32x?x?xf32> {{
      %w = "dl.param"() {{key = "w", shape = array<i64: 16, 16, 2, 2>, dtype = f32}} : () -> tensor<16x16x2x2xf32>
      %0 = "dl.tanh"(%x) : ({image}) -> {image}
      %1 = "dl.max_pool"(%0) {{kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>}} : ({image}) -> {image}
      %2 = "dl.conv_transpose"(%1, %w) {{strides = array<i64: 2, 2>}} : ({image}, tensor<16x16x2x2xf32>) -> {image}
      %3 = "dl.concat"(%0, %2) {{axis = 1 : i64}} : ({image}, {image}) -> tensor<1x32x?x?xf32>
      return %3 : tensor<1x32x?x?xf32>
    }}"""
    model = dlc.compile(text, num_threads=threads, params={"w": weight})
    halves, wholes = meaning_of("max_pool", kernel=(2, 2), strides=(2, 2)), meaning_of("conv_transpose", None, strides=(2, 2))

    def meaning(x: np.ndarray) -> np.ndarray:
        given = np.tanh(x)
        return np.concatenate([given, wholes(halves(given), weight)], axis=1)

    agree(model, meaning, [[(1, 16, height, width)] for height in (2, 4, 8, 18) for width in (2, 6, 16)])
    for shape, refusal in (
        ((1, 16, 5, 4), "rhs dim 2 is 4 but lhs dim 2 is 5"),
        ((1, 16, 4, 7), "rhs dim 3 is 6 but lhs dim 3 is 7"),
    ):
        with pytest.raises(dlc.InvalidInputError, match=refusal):
            model(np.zeros(shape, np.float32))


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_convolutions_that_are_joined(axis: int) -> None:
    """Each writes its slice of the whole: of channels, whose rows of pixels follow each other, of rows, and of columns."""
    image, kernel = "tensor<1x?x?x16xf32>", "tensor<1x1x16x32xf32>"
    joined = "tensor<1x?x?x64xf32>" if axis == 3 else "tensor<1x?x?x32xf32>"
    part = "tensor<1x?x?x32xf32>"
    dims = '{dl.dims = ["", "h", "w", ""]}'
    model = dlc.compile(
        f"""func.func @main_graph(%x: {image} {dims}, %v: {kernel}, %w: {kernel}) -> {joined} {{
          %0 = "dl.conv"(%x, %v) {{channels_last = true}} : ({image}, {kernel}) -> {part}
          %1 = "dl.conv"(%x, %w) {{channels_last = true}} : ({image}, {kernel}) -> {part}
          %2 = "dl.relu"(%1) : ({part}) -> {part}
          %3 = "dl.concat"(%0, %2) {{axis = {axis} : i64}} : ({part}, {part}) -> {joined}
          return %3 : {joined}
        }}""",
        num_threads=1,
    )

    def joins(x: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.concatenate([x @ v[0, 0], np.maximum(x @ w[0, 0], 0)], axis)

    kernels, sides = [(1, 1, 16, 32)] * 2, [(1, 1), (1, 7), (7, 1), (3, 5), (8, 16), (13, 9)]
    agree(model, joins, [[(1, height, width, 16), *kernels] for height, width in sides])
