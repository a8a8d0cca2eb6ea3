"""`dl-sink-transposes`: transposes moved past the ops between them, until they cancel, meet or reach a border."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.lowering.dl.layout.axis_orders import AS_IS, compose, inverse, moves_nothing
from dlc.lowering.dl.layout.flattened_weights import RULES as FLATTENED_WEIGHTS
from dlc.lowering.dl.layout.order_graph import OrderGraph
from dlc.lowering.dl.layout.order_regions import Chooser, Seed
from dlc.lowering.dl.layout.order_rewriting import reorder
from dlc.lowering.dl.layout.order_rules import rule_of
from dlc.lowering.dl.matching import functions
from dlc.lowering.dl.rewriting import apply_rules
from dlc.lowering.pass_base import Pass


@dataclass(frozen=True)
class SinkTransposes(Pass):
    """Move transposes through ops that can work on another order of axes, where fewer bytes are transposed then.

    before: %1 = dl.transpose(%x) {perm = [0, 2, 3, 1]}   %2 = dl.relu(%1)   %3 = dl.transpose(%2) {perm = [0, 3, 1, 2]}
    after:  %3 = dl.relu(%x)

    Chains of transposes become one, and one that moves only axes of size 1 becomes a reshape. What an op reads of weights is
    transposed on their side, and so are the rows of a matrix that a flattened image is multiplied with. Regions of ops are
    decided as a whole, as in `dl-assign-layouts`. Functions with kernels stay as they are.
    """

    def run(self, op: ir.Operation) -> None:
        """Rewrite every function of the module."""
        for function in functions(op):
            reorder(function, _choose)
            apply_rules(function, FLATTENED_WEIGHTS)


def _choose(graph: OrderGraph) -> bool:
    """Settle the ops of a graph; whether there is anything to rewrite."""
    Chooser(graph).choose(lambda: _seeds(graph))
    return bool(graph.settled) or _has_idle_transposes(graph)


def _seeds(graph: OrderGraph) -> Iterator[Seed]:
    """For each transpose that costs something: the ops that would do without it."""
    for value in list(graph.shapes):
        for use, _ in graph.moves(value):
            yield from _without_transpose(graph, value, use.op, use.index, use.edge)


def _without_transpose(graph: OrderGraph, value: ir.Value, number: int, index: int, edge: tuple[int, ...]) -> Iterator[Seed]:
    rule = rule_of(graph.ops[number])
    key = rule.from_operand(graph.ops[number], index, compose(inverse(edge), graph.stored_order(value))) if rule else None
    if key is not None:
        yield number, key
    producer, place = graph.producers.get(value, (-1, 0))
    rule = rule_of(graph.ops[producer]) if producer >= 0 and place == 0 else None
    settled = graph.settled.get(number)
    demand = settled.operands[index] if settled else AS_IS
    wanted = compose(edge, demand.own_order(len(edge)))
    key = rule.from_result(graph.ops[producer], wanted) if rule else None
    if key is not None:
        yield producer, key


def _has_idle_transposes(graph: OrderGraph) -> bool:
    """Whether a transpose is of another one, or moves no element."""
    for value, (source, edge) in graph.sources.items():
        if value.owner.operation.operands[0] != source or moves_nothing(edge, graph.shapes[source]):
            return True
    return False
