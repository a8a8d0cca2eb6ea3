"""Channels last and transposes: equal results for every rule, one transpose left in convolutional nets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from equality import apply_passes, assert_close, op_names, random_array

import dlc
from dlc._mlir import ir
from dlc.analysis.transposes import transposes_left
from dlc.dialects import dl, make_context
from dlc.dialects.dl.interpreter import interpret
from dlc.lowering.dl.layout.assign_layouts import AssignLayouts
from dlc.lowering.dl.layout.axis_orders import channels_last, compose, identity, inverse, moves_nothing, with_axes, without
from dlc.lowering.dl.layout.order_reshapes import regrouping

_SHAPE = (2, 3, 4, 5)
_OPS: dict[str, Any] = {
    "relu": lambda x: dl.relu(x),
    "add": lambda x: dl.add(x, dl.constant(value=random_array((4, 1), "f32", 1))),
    "scalar": lambda x: dl.mul(dl.constant(value=np.float32(2)), x),
    "where": lambda x: dl.where(dl.less(x, dl.constant(value=np.float32(0))), x, dl.exp(x)),
    "concat": lambda x: dl.concat(x, dl.neg(x), axis=-2),
    "slice": lambda x: dl.slice(x, axes=[1, -1], starts=[0, -1], ends=[2, -9], steps=[1, -2]),
    "pad": lambda x: dl.pad(x, low=[0, 1, 0, -1], high=[0, 0, 2, 0], mode="edge"),
    "reduce_mean": lambda x: dl.reduce_mean(x, axes=[1, -1], keepdims=True),
    "reduce_max": lambda x: dl.reduce_max(x, axes=[-1]),
    "reduce_all": lambda x: dl.reduce_sum(x),
    "arg_max": lambda x: dl.arg_max(x, axis=2),
    "softmax": lambda x: dl.softmax(x, axis=-2),
    "lrn": lambda x: dl.lrn(x, size=3, alpha=0.5),
    "cumsum": lambda x: dl.cumsum(x, axis=1),
    "top_k": lambda x: dl.top_k(x, k=2, axis=1)[1],
    "tile": lambda x: dl.tile(x, repeats=[1, 2, 1, 3]),
    "expand": lambda x: dl.expand(x, shape=[2, 1, 1, 1, 1]),
    "resize": lambda x: dl.resize(x, axes=[3, 1], sizes=[7, 2], mode="linear"),
    "matmul": lambda x: dl.matmul(x, dl.constant(value=random_array((5, 6), "f32", 2))),
    "batched": lambda x: dl.matmul(x, dl.constant(value=random_array((3, 5, 6), "f32", 3))),
    "flattened": lambda x: dl.matmul(dl.reshape(x, shape=[2, 60]), dl.constant(value=random_array((60, 6), "f32", 4))),
    "layer_norm": lambda x: dl.layer_norm(x),
    "split": lambda x: dl.reshape(x, shape=[2, 3, 2, 2, 5]),
    "merge": lambda x: dl.reshape(x, shape=[6, 4, 5]),
    "squeeze": lambda x: dl.squeeze(dl.slice(x, axes=[1], starts=[1], ends=[2], steps=[1]), axes=[1]),
    "unsqueeze": lambda x: dl.unsqueeze(x, axes=[1, -1]),
    "max_pool": lambda x: dl.max_pool(x, kernel=[2, 2], pads=[1, 0, 0, 1]),
}


def _module(name: str, order: tuple[int, ...]) -> ir.Module:
    """The op on a transpose of an input, and a transpose of what it gives."""
    stored = tuple(_SHAPE[axis] for axis in inverse(order))
    back = ", ".join(map(str, order))
    with make_context(), ir.Location.unknown():
        dims = "x".join(map(str, stored))
        text = f"func.func @main_graph(%x: tensor<{dims}xf32>) {{ return }}"
        module = ir.Module.parse(text)
        function = module.body.operations[0].operation
        block = function.regions[0].blocks[0]
        terminator = block.operations[0].operation
        with ir.InsertionPoint(terminator):
            result = _OPS[name](dl.relu(dl.transpose(block.arguments[0], perm=[int(axis) for axis in back.split(", ")])))
            rank = len(result.type.shape)
            result = dl.neg(result) if rank == 0 else dl.transpose(result, perm=range(rank)[::-1])
            ir.Operation.create("func.return", operands=[result])
        terminator.erase()
        kind = ir.FunctionType.get([block.arguments[0].type], [result.type])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        module.operation.verify()
    return module


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("name", _OPS)
def test_transposes_move_past(name: str) -> None:
    moved = 0
    for order in itertools.permutations(range(4)):
        module = _module(name, order)
        x = random_array([_SHAPE[axis] for axis in inverse(order)], "f32", 7)
        with np.errstate(all="ignore"):
            want = interpret(module, [x], {})
            before = op_names(module).count("transpose")
            apply_passes(module, "dl-sink-transposes")
            assert_close(interpret(module, [x], {}), want)
        moved += op_names(module).count("transpose") < before
    assert moved, "no order of axes saves a transpose"


_NETS = {
    "residual": """
  %0 = "dl.conv"(%x, %w0, %b) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<2x3x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<2x32x8x8xf32>
  %1 = "dl.relu"(%0) : (tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
  %2 = "dl.conv"(%1, %w1) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<2x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x8x8xf32>
  %3 = "dl.add"(%2, %1) : (tensor<2x32x8x8xf32>, tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
""",
    "inverted bottleneck": """
  %0 = "dl.conv"(%x, %w0, %b) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<2x3x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<2x32x8x8xf32>
  %1 = "dl.conv"(%0, %d, %b) {groups = 32 : i64, pads = array<i64: 1, 1, 1, 1>}
      : (tensor<2x32x8x8xf32>, tensor<32x1x3x3xf32>, tensor<32xf32>) -> tensor<2x32x8x8xf32>
  %2 = "dl.clip"(%1) {low = 0.0 : f64, high = 6.0 : f64} : (tensor<2x32x8x8xf32>) -> tensor<2x32x8x8xf32>
  %3 = "dl.conv"(%2, %p) : (tensor<2x32x8x8xf32>, tensor<32x32x1x1xf32>) -> tensor<2x32x8x8xf32>
""",
    "channel shuffle": """
  %0 = "dl.conv"(%x, %w0, %b) {pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<2x3x16x16xf32>, tensor<32x3x3x3xf32>, tensor<32xf32>) -> tensor<2x32x8x8xf32>
  %s = "dl.reshape"(%0) {shape = array<i64: 2, 4, 8, 8, 8>} : (tensor<2x32x8x8xf32>) -> tensor<2x4x8x8x8xf32>
  %t = "dl.transpose"(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x4x8x8x8xf32>) -> tensor<2x8x4x8x8xf32>
  %1 = "dl.reshape"(%t) {shape = array<i64: 2, 32, 8, 8>} : (tensor<2x8x4x8x8xf32>) -> tensor<2x32x8x8xf32>
  %2 = "dl.conv"(%1, %w1) {pads = array<i64: 1, 1, 1, 1>}
      : (tensor<2x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<2x32x8x8xf32>
  %3 = "dl.concat"(%2, %0) {axis = 1 : i64} : (tensor<2x32x8x8xf32>, tensor<2x32x8x8xf32>) -> tensor<2x64x8x8xf32>
""",
}
_PARAMS = {"w0": (32, 3, 3, 3), "w1": (32, 32, 3, 3), "d": (32, 1, 3, 3), "p": (32, 32, 1, 1), "b": (32,)}


def _net(name: str) -> str:
    channels = 64 if name == "channel shuffle" else 32
    params = "".join(
        f'  %{key} = "dl.param"() {{key = "{key}", shape = array<i64: {", ".join(map(str, shape))}>, dtype = f32}}'
        f" : () -> tensor<{'x'.join(map(str, shape))}xf32>\n"
        for key, shape in _PARAMS.items()
    )
    return f"""func.func @main_graph(%x: tensor<2x3x16x16xf32> {{dl.name = "x"}}) -> (tensor<2x{channels}xf32> {{dl.name = "y"}}) {{
{params}{_NETS[name]}
  %4 = "dl.reduce_mean"(%3) {{axes = array<i64: 2, 3>, keepdims = true}}
      : (tensor<2x{channels}x8x8xf32>) -> tensor<2x{channels}x1x1xf32>
  %5 = "dl.reshape"(%4) {{shape = array<i64: 2, {channels}>}} : (tensor<2x{channels}x1x1xf32>) -> tensor<2x{channels}xf32>
  return %5 : tensor<2x{channels}xf32>
}}"""


@pytest.mark.parametrize("name", _NETS)
def test_net_has_one_transpose_and_the_same_results(name: str) -> None:
    params = {key: random_array(shape, "f32", index) for index, (key, shape) in enumerate(_PARAMS.items())}
    x = random_array((2, 3, 16, 16), "f32", 9)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_net(name))
        want = interpret(module, [x], params)
        AssignLayouts(force=True).run(module.operation)
        apply_passes(module, "dl-sink-transposes")
        assert_close(interpret(module, [x], params), want)
        assert "channels_last = true" in str(module)
        before = str(module)
        apply_passes(module, "dl-assign-layouts", "dl-sink-transposes")
        assert str(module) == before
        assert len(transposes_left(module)) == (2 if name == "channel shuffle" else 1), before
        used = {key: params[key] for key in _PARAMS if f'key = "{key}"' in before}
        compiled = dlc.compile(module, params=used)
        assert_close([np.asarray(array) for array in compiled(x)], want)


def test_orders() -> None:
    order = channels_last(4)
    assert order == (0, 2, 3, 1)
    assert compose(order, inverse(order)) == identity(4)
    assert without(order, [2]) == (0, 2, 1)
    assert with_axes((0, 2, 1), [2]) == (0, 3, 1, 2)
    assert moves_nothing(order, [2, 1, 4, 5]) and moves_nothing(order, [2, 3, 1, 1]) and not moves_nothing(order, _SHAPE)


def test_regrouping() -> None:
    shuffle = regrouping((1, 6, 4, 4), (1, 2, 3, 4, 4), ())
    assert shuffle is not None and shuffle.result_order((0, 2, 3, 1)) == (0, 3, 4, 1, 2)
    flat = regrouping((2, 3, 4, 5), (2, 60), ())
    assert flat is not None and flat.result_order((0, 2, 3, 1)) is None
    dynamic = regrouping((None, 3, 1, 1), (None, 3), (0, -1))
    assert dynamic is not None and dynamic.result_order((0, 2, 3, 1)) == (0, 1)
