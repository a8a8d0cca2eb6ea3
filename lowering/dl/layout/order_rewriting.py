"""Rewrites a block so that its ops work on values in the orders of axes that were chosen for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.dialects import dl
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import mlir_type
from dlc.lowering.dl.layout.axis_orders import AxisOrder, Demand, OpOrders, compose, identity, inverse, moves_nothing
from dlc.lowering.dl.layout.order_graph import OrderGraph
from dlc.lowering.dl.matching import type_of
from dlc.lowering.policy import policy


def reorder(function: ir.Operation, choose: Callable[[OrderGraph], bool]) -> None:
    """Rewrite a function by what `choose` settles in its graph, until that is nothing (False); one with regions stays."""
    block = function.regions[0].blocks[0]
    if any(len(inner.operation.regions) for inner in block.operations):
        return
    for _ in range(policy().limits.layout_rewrites):
        graph = OrderGraph.of(block)
        if not choose(graph):
            return
        rewrite(graph, block)


def rewrite(graph: OrderGraph, block: ir.Block) -> None:
    """Give every op its operands in the order it reads them in; transposes that nothing reads are erased."""
    originals = [view.operation for view in block.operations]
    replaced = _Rewriting(graph).run()
    for op in reversed(originals):  # users first
        if op in replaced or (op.name == "dl.transpose" and not any(True for _ in op.results[0].uses)):
            op.erase()


@dataclass
class _Rewriting:
    graph: OrderGraph
    current: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """The new value of each result of an op that was replaced."""
    made: dict[tuple[ir.Value, AxisOrder, int], ir.Value] = field(default_factory=dict)
    """The transposes and views by the value they are of."""

    def run(self) -> set[ir.Operation]:
        """Rewrite all ops; the ones that others stand for now."""
        replaced = set()
        for number, op in enumerate(self.graph.ops):
            settled = self.graph.settled.get(number)
            with op.location, ir.InsertionPoint(op):
                operands = [self._operand(value, settled, index) for index, value in enumerate(op.operands)]
                if settled is not None:
                    new = _rebuilt(op, operands, settled)
                    self.current.update(zip(op.results, new.results, strict=True))
                    replaced.add(op)
                    continue
            for index, value in enumerate(operands):
                if value != op.operands[index]:
                    op.operands[index] = value
        return replaced

    def _operand(self, value: ir.Value, settled: OpOrders | None, index: int) -> ir.Value:
        """What an op reads in place of `value`."""
        demand = settled.operands[index] if settled else Demand()
        source, edge = self.graph.source(value)
        if demand.build is not None:
            return demand.build(value)
        if source not in self.graph.shapes:
            return value
        own = demand.own_order(len(edge))
        order = compose(inverse(self.graph.stored_order(source)), compose(edge, own))
        stored = self.current.get(source, source)
        if stored is source and demand.order is None and not self._can_be_simpler(value, edge):
            return value
        found = self._transposed(stored, order)
        return self._aligned(found, demand) if demand.rank else found

    def _can_be_simpler(self, value: ir.Value, edge: AxisOrder) -> bool:
        """Whether `value` is a transpose of a transpose, or one that moves nothing."""
        if value not in self.graph.sources:
            return False
        source = self.graph.sources[value][0]
        return value.owner.operation.operands[0] != source or moves_nothing(edge, self.graph.shapes[source])

    def _transposed(self, value: ir.Value, order: AxisOrder) -> ir.Value:
        if order == identity(len(order)):
            return value
        key = (value, order, 0)
        if key not in self.made:
            self.made[key] = _transpose(value, order)
        return self.made[key]

    def _aligned(self, value: ir.Value, demand: Demand) -> ir.Value:
        """`value`, in the order of its own axes, with axes of size 1 where the order of more axes has others."""
        assert demand.order is not None
        added = demand.rank - type_of(value).rank
        axes = tuple(place for place, axis in enumerate(demand.order) if axis < added)
        if axes == tuple(range(added)):
            return value
        key = (value, demand.order, demand.rank)
        if key not in self.made:
            self.made[key] = dl.unsqueeze(value, axes=axes)
        return self.made[key]


def _transpose(value: ir.Value, order: AxisOrder) -> ir.Value:
    """`transpose(value, order)`, a view where only axes of size 1 move."""
    shape = type_of(value).shape
    if not moves_nothing(order, shape):
        return dl.transpose(value, perm=order)
    if all(isinstance(dim, int) for dim in shape):
        return dl.reshape(value, shape=[shape[axis] for axis in order])
    units = [axis for axis, dim in enumerate(shape) if dim == 1]
    kept = dl.squeeze(value, axes=units)
    return dl.unsqueeze(kept, axes=[place for place, axis in enumerate(order) if axis in units])


def _rebuilt(op: ir.Operation, operands: list[ir.Value], settled: OpOrders) -> ir.Operation:
    """The op with other operands, attributes, and axes of its results."""
    kind = op_class(op.name)
    assert kind is not None
    attributes = {name: op.attributes[name] for name in op.attributes}
    for name, value in settled.attributes.items():
        attributes.pop(name, None)
        if value != kind.attribute_fields[name].default:
            attributes[name] = kind.attribute_fields[name].to_mlir(value)
    types = []
    for result, order in zip(op.results, settled.results, strict=True):
        plain = type_of(result)
        types.append(mlir_type(plain.with_shape([plain.shape[axis] for axis in order])))
    return ir.Operation.create(op.name, results=types, operands=operands, attributes=attributes)
