"""What each op becomes when its values are stored in another order of axes.

A rule speaks of the op's key order: that of the result for ops that broadcast, that of the first operand for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.dialects.dl import op_class
from dlc.lowering.dl.layout.axis_orders import (
    AS_IS,
    AxisOrder,
    Demand,
    OpOrders,
    channels_first,
    channels_last,
    identity,
    with_axes,
    without,
)
from dlc.lowering.dl.layout.order_reshapes import Regrouping, regrouping
from dlc.lowering.dl.matching import attributes_of, type_of


@dataclass(frozen=True)
class Rule:
    """`settle` gives the op for a key order, the others the key order that an order of an operand or result 0 asks for.

    All give None where there is no such form.
    """

    settle: Callable[[ir.Operation, AxisOrder], OpOrders | None]
    from_operand: Callable[[ir.Operation, int, AxisOrder], AxisOrder | None]
    from_result: Callable[[ir.Operation, AxisOrder], AxisOrder | None]


_ELEMENTWISE = frozenset({"elementwise", "elementary", "activation", "compare"})
"""Families whose ops broadcast all operands and depend on no axis."""


def rule_of(op: ir.Operation) -> Rule | None:
    """The rule of a dl op, None where it takes its values only as they are."""
    kind = op_class(op.name) if op.name.startswith("dl.") else None
    if kind is None:
        return None
    if kind.__module__.rpartition(".")[2] in _ELEMENTWISE:
        return _ELEMENTWISE_RULE
    return _RULES.get(op.name)


def _rank(op: ir.Operation) -> int:
    return type_of(op.results[0]).rank


def _broadcast_demands(op: ir.Operation, order: AxisOrder) -> tuple[Demand, ...]:
    return tuple(_broadcast_demand(value, order) for value in op.operands)


def _broadcast_demand(value: ir.Value, order: AxisOrder) -> Demand:
    """An operand that broadcasts to a result in `order`; a single element does so as it is."""
    kind = type_of(value)
    if all(dim == 1 for dim in kind.shape):
        return AS_IS
    return Demand(order, len(order) if kind.rank < len(order) else 0)


def _settle_elementwise(op: ir.Operation, order: AxisOrder) -> OpOrders:
    return OpOrders(_broadcast_demands(op, order), (order,))


def _of_whole_operand(op: ir.Operation, index: int, order: AxisOrder) -> AxisOrder | None:
    return order if len(order) == _rank(op) else None


def _same(op: ir.Operation, order: AxisOrder) -> AxisOrder:
    return order


def _of_first(op: ir.Operation, index: int, order: AxisOrder) -> AxisOrder | None:
    return order if index == 0 else None


def _first_in(op: ir.Operation, order: AxisOrder) -> tuple[Demand, ...]:
    """Operand 0 in `order`, the others as they are."""
    return (Demand(order), *[AS_IS] * (len(op.operands) - 1))


def _places(order: AxisOrder, axes: Sequence[int]) -> tuple[int, ...]:
    """Where axes, negative ones counting from the end, stand in `order`."""
    return tuple(order.index(axis % len(order)) for axis in axes)


def _settle_axis(op: ir.Operation, order: AxisOrder) -> OpOrders:
    """Softmax, cumsum, top_k, lrn: one axis, and results of the rank of x."""
    axis = _places(order, [attributes_of(op)["axis"]])[0]
    return OpOrders(_first_in(op, order), (order,) * len(op.results), {"axis": axis})


def _settle_concat(op: ir.Operation, order: AxisOrder) -> OpOrders:
    axis = _places(order, [attributes_of(op)["axis"]])[0]
    return OpOrders((Demand(order), Demand(order)), (order,), {"axis": axis})


def _settle_axes(op: ir.Operation, order: AxisOrder) -> OpOrders:
    """Slice, resize: a list of axes whose other attributes follow its order."""
    return OpOrders(_first_in(op, order), (order,), {"axes": _places(order, attributes_of(op)["axes"])})


def _settle_pad(op: ir.Operation, order: AxisOrder) -> OpOrders:
    found = attributes_of(op)
    permuted = {name: tuple(found[name][axis] for axis in order) for name in ("low", "high")}
    return OpOrders(_first_in(op, order), (order,), permuted)


def _settle_tile(op: ir.Operation, order: AxisOrder) -> OpOrders:
    repeats = attributes_of(op)["repeats"]
    return OpOrders((Demand(order),), (order,), {"repeats": tuple(repeats[axis] for axis in order)})


def _settle_expand(op: ir.Operation, order: AxisOrder) -> OpOrders | None:
    if len(op.operands) > 1:
        return None
    shape = attributes_of(op)["shape"]
    aligned = (*[1] * (len(order) - len(shape)), *shape)
    return OpOrders(_broadcast_demands(op, order), (order,), {"shape": tuple(aligned[axis] for axis in order)})


def _reduced(op: ir.Operation) -> tuple[int, ...]:
    """The axes that a reduction drops."""
    found, rank = attributes_of(op), type_of(op.operands[0]).rank
    if found["keepdims"]:
        return ()
    axes = (found["axis"],) if "axis" in found else found["axes"] or range(rank)
    return tuple(axis % rank for axis in axes)


def _settle_reduction(op: ir.Operation, order: AxisOrder) -> OpOrders:
    found = attributes_of(op)
    if "axis" in found:
        changed: dict[str, object] = {"axis": _places(order, [found["axis"]])[0]}
    else:
        changed = {"axes": tuple(sorted(_places(order, found["axes"])))}
    return OpOrders((Demand(order),), (without(order, _reduced(op)),), changed)


def _before_reduction(op: ir.Operation, order: AxisOrder) -> AxisOrder:
    return with_axes(order, _reduced(op))


def _settle_norm(op: ir.Operation, order: AxisOrder) -> OpOrders | None:
    """Layer norm, RMS norm: the axes that are normalised stay last."""
    first = attributes_of(op)["axis"] % len(order)
    stays = order[first:] == tuple(range(first, len(order)))
    return OpOrders(_first_in(op, order), (order,)) if stays else None


def _settle_pool(op: ir.Operation, order: AxisOrder) -> OpOrders | None:
    is_last = attributes_of(op)["channels_last"]
    if order != (channels_first(len(order)) if is_last else channels_last(len(order))):
        return None
    return OpOrders((Demand(order),), (order,), {"channels_last": not is_last})


def _settle_matmul(op: ir.Operation, order: AxisOrder) -> OpOrders | None:
    """Outer dims in another order; rows too where all share one right-hand side."""
    rank, shared = len(order), type_of(op.operands[1]).rank == 2
    fixed = 1 if shared else 2
    if order[-fixed:] != identity(rank)[-fixed:]:
        return None
    rhs = AS_IS if shared else _matrix_demand(op.operands[1], order)
    return OpOrders((_matrix_demand(op.operands[0], order), rhs), (order,))


def _matrix_demand(value: ir.Value, order: AxisOrder) -> Demand:
    return Demand(order, len(order) if type_of(value).rank < len(order) else 0)


def _of_matrix(op: ir.Operation, index: int, order: AxisOrder) -> AxisOrder | None:
    return order if len(order) == _rank(op) and len(order) > 2 else None


def _regrouping(op: ir.Operation) -> Regrouping | None:
    x, result, found = type_of(op.operands[0]), type_of(op.results[0]), attributes_of(op)
    return None if len(op.operands) > 1 else regrouping(x.shape, result.shape, found["copied"])


def _settle_reshape(op: ir.Operation, order: AxisOrder) -> OpOrders | None:
    groups = _regrouping(op)
    after = groups.result_order(order) if groups else None
    if after is None:
        return None
    found = attributes_of(op)
    changed: dict[str, object] = {"shape": tuple(found["shape"][axis] for axis in after)}
    if found["copied"]:
        sources = (found["copied"][axis] for axis in after)
        changed["copied"] = tuple(order.index(axis) if axis >= 0 else -1 for axis in sources)
    return OpOrders((Demand(order),), (after,), changed)


def _before_reshape(op: ir.Operation, order: AxisOrder) -> AxisOrder | None:
    groups = _regrouping(op)
    return groups.x_order(order) if groups else None


def _axes_of(op: ir.Operation, rank: int) -> tuple[int, ...]:
    return tuple(sorted(axis % rank for axis in attributes_of(op)["axes"]))


def _settle_squeeze(op: ir.Operation, order: AxisOrder) -> OpOrders:
    axes = _axes_of(op, len(order))
    return OpOrders((Demand(order),), (without(order, axes),), {"axes": tuple(sorted(order.index(axis) for axis in axes))})


def _before_squeeze(op: ir.Operation, order: AxisOrder) -> AxisOrder:
    return with_axes(order, _axes_of(op, type_of(op.operands[0]).rank))


def _settle_unsqueeze(op: ir.Operation, order: AxisOrder) -> OpOrders:
    axes = _axes_of(op, _rank(op))
    after = with_axes(order, axes)
    return OpOrders((Demand(order),), (after,), {"axes": tuple(sorted(after.index(axis) for axis in axes))})


def _before_unsqueeze(op: ir.Operation, order: AxisOrder) -> AxisOrder:
    return without(order, _axes_of(op, len(order)))


_ELEMENTWISE_RULE = Rule(_settle_elementwise, _of_whole_operand, _same)
_REDUCTION = Rule(_settle_reduction, _of_first, _before_reduction)
_ALONG_AN_AXIS = ("dl.softmax", "dl.log_softmax", "dl.cumsum", "dl.cumprod", "dl.top_k", "dl.lrn")
_RULES = {
    **dict.fromkeys(_ALONG_AN_AXIS, Rule(_settle_axis, _of_first, _same)),
    **dict.fromkeys(("dl.slice", "dl.resize"), Rule(_settle_axes, _of_first, _same)),
    **dict.fromkeys(("dl.layer_norm", "dl.rms_norm"), Rule(_settle_norm, _of_first, _same)),
    **dict.fromkeys(("dl.max_pool", "dl.avg_pool"), Rule(_settle_pool, _of_first, _same)),
    **{f"dl.reduce_{name}": _REDUCTION for name in ("sum", "mean", "max", "min", "prod")},
    **{f"dl.arg_{name}": _REDUCTION for name in ("max", "min")},
    "dl.concat": Rule(_settle_concat, _of_whole_operand, _same),
    "dl.pad": Rule(_settle_pad, _of_first, _same),
    "dl.tile": Rule(_settle_tile, _of_first, _same),
    "dl.expand": Rule(_settle_expand, _of_whole_operand, _same),
    "dl.matmul": Rule(_settle_matmul, _of_matrix, _same),
    "dl.reshape": Rule(_settle_reshape, _of_first, _before_reshape),
    "dl.squeeze": Rule(_settle_squeeze, _of_first, _before_squeeze),
    "dl.unsqueeze": Rule(_settle_unsqueeze, _of_first, _before_unsqueeze),
}
