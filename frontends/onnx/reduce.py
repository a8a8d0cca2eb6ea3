"""Importers of reductions; axes are an attribute or an input, by opset."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl.types import FLOATS, tensor_type
from dlc.frontends.onnx.importers import importer
from dlc.frontends.onnx.node import NodeContext
from dlc.frontends.onnx.shape_values import scalar_value

Reduce = Callable[[str, ir.Value], ir.Value]

_SAME = {
    "ReduceMax": "reduce_max",
    "ReduceMean": "reduce_mean",
    "ReduceMin": "reduce_min",
    "ReduceProd": "reduce_prod",
    "ReduceSum": "reduce_sum",
}


@importer(*_SAME)
def import_reduction(node: NodeContext) -> ir.Value:
    return _reducer(node)(_SAME[node.node.op_type], node.value(0))


def _reducer(node: NodeContext) -> Reduce:
    """Applies a dl reduction with the node's axes; leaves values as they are where the node reduces nothing."""
    axes = _axes(node)
    keepdims = bool(node.attribute("keepdims", 1))
    if not axes and node.attribute("noop_with_empty_axes", 0):
        return lambda _, x: x
    return lambda name, x: getattr(dl, name)(x, axes=axes, keepdims=keepdims)


def _axes(node: NodeContext) -> list[int]:
    if node.has_input(1):
        return [int(axis) for axis in node.required_constant(1, "axes").reshape(-1)]
    return [int(axis) for axis in node.attribute("axes", [])]


@importer("ReduceL1")
def import_l1(node: NodeContext) -> ir.Value:
    """Sum of absolute values."""
    return _widened(node, lambda x: _reducer(node)("reduce_sum", dl.abs(x)))


@importer("ReduceL2")
def import_l2(node: NodeContext) -> ir.Value:
    """Root of the sum of squares."""
    return _widened(node, lambda x: dl.sqrt(_reducer(node)("reduce_sum", dl.mul(x, x))), float_only=True)


@importer("ReduceSumSquare")
def import_sum_square(node: NodeContext) -> ir.Value:
    """Sum of squares."""
    return _widened(node, lambda x: _reducer(node)("reduce_sum", dl.mul(x, x)))


@importer("ReduceLogSum")
def import_log_sum(node: NodeContext) -> ir.Value:
    """Logarithm of the sum."""
    return _widened(node, lambda x: dl.log(_reducer(node)("reduce_sum", x)), float_only=True)


@importer("ReduceLogSumExp")
def import_log_sum_exp(node: NodeContext) -> ir.Value:
    """Logarithm of the sum of exponentials, stable: the finite maximum is taken out before and added after."""
    return _widened(node, lambda x: _log_sum_exp(node, x), float_only=True)


def _log_sum_exp(node: NodeContext, x: ir.Value) -> ir.Value:
    reduce, kind = _reducer(node), tensor_type(x.type)
    assert kind is not None
    zero = node.constant_value(0, kind.dtype)

    def finite(value: ir.Value) -> ir.Value:
        return dl.where(dl.isinf(value), zero, value)

    greatest = reduce("reduce_max", x)
    if greatest is x:
        return dl.log(dl.exp(x))
    kept = dl.reduce_max(x, axes=_axes(node), keepdims=True)
    total = reduce("reduce_sum", dl.exp(dl.sub(x, finite(kept))))
    return dl.add(dl.log(total), finite(greatest))


def _widened(node: NodeContext, body: Callable[[ir.Value], ir.Value], float_only: bool = False) -> ir.Value:
    """`body` on the input in f32 for f16 and bf16, where its parts must not round, and in f64 for integers of `float_only` ops."""
    dtype = node.type(0).dtype
    wide = "f32" if dtype in ("f16", "bf16") else "f64" if float_only and dtype not in FLOATS else dtype
    if wide == dtype:
        return body(node.value(0))
    return dl.cast(body(dl.cast(node.value(0), to=wide)), to=dtype)


@importer("ArgMax", "ArgMin")
def import_arg_extremum(node: NodeContext) -> ir.Value:
    build = dl.arg_max if node.node.op_type == "ArgMax" else dl.arg_min
    return build(
        node.value(0),
        axis=int(node.attribute("axis", 0)),
        keepdims=bool(node.attribute("keepdims", 1)),
        select_last_index=bool(node.attribute("select_last_index", 0)),
    )


@importer("CumSum", "CumProd")
def import_running(node: NodeContext) -> ir.Value:
    """Along an axis that run time knows: of a view with three axes, whose middle one it is."""
    known = node.constant(1)
    flags = {name: bool(node.attribute(name, 0)) for name in ("exclusive", "reverse")}
    build = dl.cumsum if node.node.op_type == "CumSum" else dl.cumprod
    if known is not None:
        return build(node.value(0), axis=int(node.constant_scalar(1, "the axis")), **flags)
    found = build(dl.reshape(node.value(0), _sizes_around(node), shape=[-1, -1, -1]), axis=1, **flags)
    dims = node.type(0).shape
    if node.type(0).is_static:
        return dl.reshape(found, shape=dims)
    return dl.reshape(found, dl.shape_of(node.value(0)), shape=[dim if isinstance(dim, int) else -1 for dim in dims])


def _sizes_around(node: NodeContext) -> ir.Value:
    """[3]: how many elements input 0 has before the axis that is input 1, along it, and behind it."""
    rank, axis = node.rank(0), scalar_value(node, 1)
    zero, one, ranks = (node.constant_value(number, "i64") for number in (0, 1, rank))
    low, high = (node.constant_value(number, "i64") for number in (-rank, rank - 1))
    fits = dl.and_(dl.less_equal(low, axis), dl.less_equal(axis, high))
    axis = dl.assert_(axis, fits, message=f"the axis is out of range for rank {rank}")
    axis = dl.where(dl.less(axis, zero), dl.add(axis, ranks), axis)
    places, shape = node.constant_value(np.arange(rank), "i64"), dl.shape_of(node.value(0))
    chosen = [dl.less(places, axis), dl.equal(places, axis), dl.less(axis, places)]
    parts = [dl.reduce_prod(dl.where(is_part, shape, one), axes=[0], keepdims=True) for is_part in chosen]
    found: ir.Value = dl.concat(dl.concat(parts[0], parts[1], axis=0), parts[2], axis=0)
    return found
