"""Symbols that ops carry forward, and dims that lists of sizes give."""

from __future__ import annotations

import pytest
from parsed_functions import parsed_function

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects import make_context

_SHAPE = '"dl.shape_of"(%x) : (tensor<?x?x8xf32>) -> tensor<3xi64>'
_ONE = '"dl.constant"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>'
_MINUS = '"dl.constant"() {value = dense<-1> : tensor<1xi64>} : () -> tensor<1xi64>'


def _shape_of_last(*lines: str) -> tuple[object, ...]:
    """Symbolic shape of the last value of a function of %x : (n, m, 8) and %y : (n, 1)."""
    body = "\n".join(f"%{index} = {line}" for index, line in enumerate(lines))
    text = f"""func.func @f(%x: tensor<?x?x8xf32> {{dl.dims = ["n", "m", ""]}}, %y: tensor<?x1xf32> {{dl.dims = ["n", ""]}}) {{
      {body}
      return
    }}"""
    with parsed_function(text) as function:
        operations = list(function.regions[0].blocks[0].operations)
        return SymbolicShapes(function).type_of(operations[-2].operation.results[0]).shape


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ('"dl.transpose"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<?x?x8xf32>) -> tensor<8x?x?xf32>', (8, "n", "m")),
        ('"dl.add"(%x, %x) : (tensor<?x?x8xf32>, tensor<?x?x8xf32>) -> tensor<?x?x8xf32>', ("n", "m", 8)),
        ('"dl.unsqueeze"(%y) {axes = array<i64: 1>} : (tensor<?x1xf32>) -> tensor<?x1x1xf32>', ("n", 1, 1)),
        (
            '"dl.reshape"(%x) {shape = array<i64: -1, -1, 2, 4>, copied = array<i64: 0, -1, -1, -1>}'
            " : (tensor<?x?x8xf32>) -> tensor<?x?x2x4xf32>",
            ("n", "m", 2, 4),
        ),
    ],
)
def test_ops_carry_symbols(line: str, shape: tuple[object, ...]) -> None:
    assert _shape_of_last(line) == shape


def test_sizes_that_are_dims() -> None:
    lines = [
        _SHAPE,
        '"dl.slice"(%0) {starts = array<i64: 0>, ends = array<i64: 2>, axes = array<i64: 0>, steps = array<i64: 1>}'
        " : (tensor<3xi64>) -> tensor<2xi64>",
        _MINUS,
        '"dl.concat"(%1, %2) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>',
        '"dl.reshape"(%x, %3) {shape = array<i64: -1, -1, -1>} : (tensor<?x?x8xf32>, tensor<3xi64>) -> tensor<?x?x?xf32>',
    ]
    assert _shape_of_last(*lines) == ("n", "m", 8)


_ROWS = '"dl.reshape"(%x) {shape = array<i64: -1, 8>} : (tensor<?x?x8xf32>) -> tensor<?x8xf32>'


def test_equal_products_have_one_symbol() -> None:
    """Rows that are joined, in either order and in halves that are put together again."""
    rows = _shape_of_last(_ROWS)[0]
    swapped = '"dl.transpose"(%x) {perm = array<i64: 1, 0, 2>} : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>'
    assert rows == _shape_of_last(swapped, _ROWS.replace("%x", "%0"))[0]
    halves = '"dl.reshape"(%x) {shape = array<i64: -1, 4>} : (tensor<?x?x8xf32>) -> tensor<?x4xf32>'
    assert _shape_of_last(halves)[0] != rows
    again = '"dl.reshape"(%0) {shape = array<i64: -1, 8>} : (tensor<?x4xf32>) -> tensor<?x8xf32>'
    assert _shape_of_last(halves, again)[0] == rows


def test_a_product_without_a_factor_is_the_other_one() -> None:
    parted = '"dl.reshape"(%0) {shape = array<i64: 5, -1>} : (tensor<?x8xf32>) -> tensor<5x?xf32>'
    assert str(_shape_of_last(_ROWS, parted)[1]).startswith("%")
    of_y = '"dl.reshape"(%y) {shape = array<i64: -1>} : (tensor<?x1xf32>) -> tensor<?xf32>'
    assert _shape_of_last(of_y) == ("n",)


def test_expand_to_the_shape_of_another() -> None:
    """torch's expand: -1 entries become 1 through Equal and Where."""
    lines = [_SHAPE, _ONE, '"dl.gather"(%0, %1) : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>', _MINUS]
    lines += [
        '"dl.concat"(%3, %2) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>',
        '"dl.equal"(%4, %3) : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi1>',
        '"dl.constant"() {value = dense<1> : tensor<2xi64>} : () -> tensor<2xi64>',
        '"dl.where"(%5, %6, %4) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>',
        '"dl.expand"(%y, %7) {shape = array<i64: -1, -1>} : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x?xf32>',
    ]
    assert _shape_of_last(*lines) == ("n", "m")


def test_range_up_to_a_dim() -> None:
    scalars = [f'"dl.constant"() {{value = dense<{value}> : tensor<i64>}} : () -> tensor<i64>' for value in (0, 1)]
    lines = [
        *scalars,
        _SHAPE,
        '"dl.gather"(%2, %1) : (tensor<3xi64>, tensor<i64>) -> tensor<i64>',
        '"dl.range"(%0, %3, %1) : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>',
    ]
    assert _shape_of_last(*lines) == ("m",)


def test_what_is_not_known_is_a_symbol_of_its_own() -> None:
    line = '"dl.tile"(%y) {repeats = array<i64: 2, 3>} : (tensor<?x1xf32>) -> tensor<?x3xf32>'
    first, last = _shape_of_last(line)
    assert last == 3
    assert isinstance(first, str) and first not in ("n", "m")


def _window(op: str, attributes: str, kernel: str = "") -> tuple[object, ...]:
    """Symbolic shape of a convolution or pooling of an image [n, 4, h, w]."""
    given = f'"dl.{op}"(%x{", %k" if kernel else ""}) {{{attributes}}} : (tensor<?x4x?x?xf32>{", " + kernel if kernel else ""})'
    text = f"""func.func @f(%x: tensor<?x4x?x?xf32> {{dl.dims = ["n", "", "h", "w"]}}, %k: {kernel or "tensor<f32>"}) {{
      %0 = {given} -> tensor<?x4x?x?xf32>
      return
    }}"""
    with parsed_function(text) as function:
        return SymbolicShapes(function).type_of(next(iter(function.regions[0].blocks[0].operations)).operation.results[0]).shape


def test_windows_that_fit_in_as_often() -> None:
    """A block's two ways: 3x3 taps with padding and single taps, in steps of two; other windows have other symbols."""
    taps = _window("conv", "strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>", "tensor<4x4x3x3xf32>")
    assert taps == _window("conv", "strides = array<i64: 2, 2>", "tensor<4x4x1x1xf32>")
    assert taps == _window("max_pool", "kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>")
    assert taps[:2] == ("n", 4) and taps[2] != taps[3]
    others = ["kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>", "kernel = array<i64: 3, 3>, strides = array<i64: 3, 3>"]
    assert all(_window("max_pool", other)[2] != taps[2] for other in others)
    same = _window("max_pool", "kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>")
    assert same == ("n", 4, "h", "w")


def test_ceilings_have_symbols_of_their_own() -> None:
    attributes = "kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>"
    assert _window("max_pool", attributes + ", ceil_mode = true")[2] != _window("max_pool", attributes)[2]


@pytest.mark.parametrize(("rows", "known"), [(512, True), (1, False)])
def test_positions_of_as_many_tokens(rows: int, known: bool) -> None:
    """The first rows of a table, as many as there are tokens, add to these; of a table of one row there may be more tokens."""
    text = f"""func.func @f(%x: tensor<?x8xf32> {{dl.dims = ["s", ""]}}, %t: tensor<{rows}x8xf32>) {{
      %0 = "dl.shape_of"(%x) {{end = 1 : i64}} : (tensor<?x8xf32>) -> tensor<1xi64>
      %1 = "dl.constant"() {{value = dense<0> : tensor<1xi64>}} : () -> tensor<1xi64>
      %2 = "dl.concat"(%1, %0) {{axis = 0 : i64}} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
      %3 = "dl.slice"(%t, %2) {{axes = array<i64: 0>, steps = array<i64: 1>}}
        : (tensor<{rows}x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
      %4 = "dl.add"(%x, %3) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
      return
    }}"""
    with parsed_function(text) as function:
        added = list(function.regions[0].blocks[0].operations)[-2].operation.results[0]
        assert (SymbolicShapes(function).type_of(added).shape[0] == "s") is known


@pytest.mark.parametrize("same", [True, False])
def test_equal_sizes_cut_by_the_same_data(same: bool) -> None:
    ends = "%e" if same else "%other"
    cut = "{starts = array<i64: 0>, axes = array<i64: 0>, steps = array<i64: 1>}"
    text = f"""func.func @f(%x: tensor<?x8xf32> {{dl.dims = ["n", ""]}}, %y: tensor<?xi32> {{dl.dims = ["n"]}},
                            %e: tensor<1xi64>, %other: tensor<1xi64>) {{
      %0 = "dl.slice"(%x, %e) {cut} : (tensor<?x8xf32>, tensor<1xi64>) -> tensor<?x8xf32>
      %1 = "dl.slice"(%y, {ends}) {cut} : (tensor<?xi32>, tensor<1xi64>) -> tensor<?xi32>
      return
    }}"""
    with parsed_function(text) as function:
        shapes = SymbolicShapes(function)
        left, right = (
            shapes.type_of(op.operation.results[0]).shape[0] for op in list(function.regions[0].blocks[0].operations)[:2]
        )
    assert (left == right) is same


def test_sizes_that_a_kernel_computes() -> None:
    """A cast of a size in a kernel is that size behind it."""
    lines = [
        '"dl.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>',
        '"dl.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>',
        '"dl.shape_of"(%x) {start = 1 : i64, end = 2 : i64} : (tensor<?x?x8xf32>) -> tensor<1xi64>',
        '"dl.squeeze"(%2) {axes = array<i64: 0>} : (tensor<1xi64>) -> tensor<i64>',
        '"dl.kernel"() ({ %c = "dl.cast"(%3) {to = i32} : (tensor<i64>) -> tensor<i32> '
        '"dl.yield"(%c) : (tensor<i32>) -> () }) : () -> tensor<i32>',
        '"dl.range"(%0, %4, %1) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>',
    ]
    assert _shape_of_last(*lines) == ("m",)


def test_names_of_dims_that_are_no_list_of_texts_say_nothing() -> None:
    text = """
    func.func @main(%x: tensor<?xf32> {dl.dims}, %y: tensor<?xf32> {dl.dims = [1]}) -> tensor<?xf32> {
      return %x : tensor<?xf32>
    }"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        function = module.body.operations[0]
        shapes = SymbolicShapes(function.operation)
        named = [shapes.type_of(argument).shape[0] for argument in function.regions[0].blocks[0].arguments]
    assert len(named) == 2


def test_empty_tensors_have_the_sizes_of_their_operands() -> None:
    lines = [
        _SHAPE,
        "arith.constant 1 : index",
        "tensor.extract %0[%1] : tensor<3xi64>",
        "arith.index_cast %2 : i64 to index",
        "arith.addi %3, %1 : index",
        "tensor.empty(%3, %1, %4) : tensor<?x2x?x?xf32>",
    ]
    first, second, third, fourth = _shape_of_last(*lines)
    assert (first, second, third) == ("m", 2, 1)
    assert isinstance(fourth, str) and fourth not in ("n", "m")


@pytest.mark.parametrize(("other", "known"), [("relu", True), ("transpose", False)])
def test_branches_give_the_sizes_that_both_sides_give(other: str, known: bool) -> None:
    attributes = " {perm = array<i64: 1, 0>}" if other == "transpose" else ""
    text = f"""func.func @f(%x: tensor<?x?xf32> {{dl.dims = ["n", "m"]}}, %p: i1) -> tensor<?x?xf32> {{
      %0 = scf.if %p -> (tensor<?x?xf32>) {{
        %1 = "dl.exp"(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
        scf.yield %1 : tensor<?x?xf32>
      }} else {{
        %1 = "dl.{other}"(%x){attributes} : (tensor<?x?xf32>) -> tensor<?x?xf32>
        scf.yield %1 : tensor<?x?xf32>
      }}
      return %0 : tensor<?x?xf32>
    }}"""
    with parsed_function(text) as function:
        branch = function.regions[0].blocks[0].operations[0].operation
        assert (SymbolicShapes(function).type_of(branch.results[0]).shape == ("n", "m")) == known
