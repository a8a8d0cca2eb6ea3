"""A function's ops without its transposes: every use of a value says in which order of axes it reads it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from dlc._mlir import ir
from dlc.dialects.dl.types import Shape
from dlc.dtypes import NUMPY_DTYPES
from dlc.lowering.dl.layout.axis_orders import AS_IS, AxisOrder, Demand, OpOrders, compose, identity, inverse, moves_nothing
from dlc.lowering.dl.matching import attributes_of, type_of, users
from dlc.lowering.policy import policy
from dlc.targets.machine import gpu_facts_of, is_for_gpu


@dataclass(frozen=True)
class Use:
    """Operand `index` of op number `op` is a value transposed by `edge`."""

    op: int
    index: int
    edge: AxisOrder


@dataclass
class OrderGraph:
    """The ops of a block by number, in order, but the transposes; `settled` says which of them work on other orders."""

    ops: list[ir.Operation]
    producers: dict[ir.Value, tuple[int, int]] = field(default_factory=dict)
    uses: dict[ir.Value, list[Use]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[ir.Value, tuple[ir.Value, AxisOrder]] = field(default_factory=dict)
    shapes: dict[ir.Value, Shape] = field(default_factory=dict)
    weights: set[ir.Value] = field(default_factory=set)
    settled: dict[int, OpOrders] = field(default_factory=dict)

    @staticmethod
    def of(block: ir.Block) -> OrderGraph:
        """The graph of a block whose ops have no regions."""
        graph = OrderGraph([])
        for argument in block.arguments:
            graph._add_value(argument)
        for view in block.operations:
            op = view.operation
            if op.name == "dl.transpose" and not _states_less(op):
                graph._add_transpose(op)
            else:
                graph._add_op(op)
        return graph

    def source(self, value: ir.Value) -> tuple[ir.Value, AxisOrder]:
        """The value that `value` is a transpose of, and its order; itself where no transpose gives it."""
        found = self.sources.get(value)
        return found if found is not None else (value, identity(len(self.shapes.get(value, ()))))

    def demand(self, use: Use) -> Demand:
        """How an op reads an operand."""
        settled = self.settled.get(use.op)
        return settled.operands[use.index] if settled else AS_IS

    def stored_order(self, value: ir.Value) -> AxisOrder:
        """The order in which the op that gives `value` leaves it."""
        found = self.producers.get(value)
        settled = self.settled.get(found[0]) if found else None
        return settled.results[found[1]] if settled and found else identity(len(self.shapes[value]))

    def moved(self, value: ir.Value, use: Use) -> AxisOrder:
        """The transpose of `value`, as it is stored, that a use reads."""
        own = self.demand(use).own_order(len(use.edge))
        return compose(inverse(self.stored_order(value)), compose(use.edge, own))

    def is_free(self, value: ir.Value, order: AxisOrder) -> bool:
        """Whether a transpose of `value`, as it is stored, moves no element."""
        return moves_nothing(order, [self.shapes[value][axis] for axis in self.stored_order(value)])

    def moves(self, value: ir.Value) -> list[tuple[Use, AxisOrder]]:
        """The uses of `value` that need a transpose which costs something; none for weights."""
        if value in self.weights or value not in self.shapes:
            return []
        found = [(use, self.moved(value, use)) for use in self.uses[value]]
        return [(use, order) for use, order in found if not self.is_free(value, order)]

    def seconds(self, value: ir.Value) -> float:
        """Estimated time of the transposes of `value`, one for each order that differs."""
        readers: dict[AxisOrder, list[Use]] = defaultdict(list)
        for use, order in self.moves(value):
            readers[order].append(use)
        made = [uses for uses in readers.values() if len(uses) > 1 or not self.demand(uses[0]).folds]
        is_stored_so = len(made) == len(self.uses[value]) == 1 and self._scatters(value)
        return len(made) * self.seconds_to_move(value) if made and not is_stored_so else 0.0

    def _scatters(self, value: ir.Value) -> bool:
        """Whether the op that gives `value` stores it in any order."""
        found = self.producers.get(value)
        settled = self.settled.get(found[0]) if found else None
        return settled is not None and settled.scatters

    def seconds_to_move(self, value: ir.Value) -> float:
        """Estimated time of a copy of a value that moves its elements one by one."""
        return self.bytes_of(self.source(value)[0]) / self._bytes_per_second

    @cached_property
    def _bytes_per_second(self) -> float:
        """Bytes of what is moved; a GPU reads and writes each."""
        if not self.ops or not is_for_gpu(self.ops[0]):
            return policy().graph.transposed_bytes_per_second
        facts = gpu_facts_of(self.ops[0])
        return facts.memory_bytes_per_cycle * facts.clock_mhz * 1e6 / 2

    def bytes_of(self, value: ir.Value) -> int:
        """Size of a value."""
        count = int(NUMPY_DTYPES[type_of(value).dtype].itemsize)
        for dim in self.shapes[value]:
            count *= dim if isinstance(dim, int) else policy().cost.assumed_trips
        return count

    def neighbours(self, number: int) -> list[ir.Value]:
        """The values, without repeats, that an op reads or gives."""
        op = self.ops[number]
        return list(dict.fromkeys([*(self.source(value)[0] for value in op.operands), *op.results]))

    def _add_value(self, value: ir.Value) -> None:
        if isinstance(value.type, ir.RankedTensorType):
            self.shapes[value] = type_of(value).shape

    def _add_transpose(self, op: ir.Operation) -> None:
        value, order = self.source(op.operands[0])
        result = op.results[0]
        self._add_value(result)
        self.sources[result] = (value, compose(order, attributes_of(op)["perm"]))
        if value in self.weights:
            self.weights.add(result)

    def _add_op(self, op: ir.Operation) -> None:
        number = len(self.ops)
        self.ops.append(op)
        for index, operand in enumerate(op.operands):
            value, edge = self.source(operand)
            if value in self.shapes:
                self.uses[value].append(Use(number, index, edge))
        is_weight = op.name.startswith("dl.") and all(operand in self.weights for operand in op.operands)
        for place, result in enumerate(op.results):
            self._add_value(result)
            self.producers[result] = (number, place)
            if is_weight:
                self.weights.add(result)


def _states_less(transpose: ir.Operation) -> bool:
    """Whether an op that is no dl op reads a transpose whose type leaves dims open that are known: no other value has the type."""
    result = transpose.results[0]
    shape = type_of(transpose.operands[0]).shape
    known = [shape[axis] for axis in attributes_of(transpose)["perm"]]
    return list(type_of(result).shape) != known and not all(user.name.startswith("dl.") for user in users(result))
