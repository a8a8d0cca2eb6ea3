"""The ops of a block that have work at run time, and which of them gives what another one takes.

Views (reshapes, squeezes, sizes) and weights are no work: an edge through a view is one from what it views.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dlc._mlir import ir
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.dialects.dl import op_class
from dlc.dialects.dl.types import TensorType, tensor_type

_SIZES_OF = frozenset({"dl.shape_of", "dl.size"})
_TERMINATORS = frozenset({"func.return", "dl.yield", "scf.yield", "scf.condition", "cf.br", "cf.cond_br"})


@dataclass(frozen=True)
class OperandEdge:
    """One operand of an op, given by the node `producer`; `seen` is its type after views, None where only sizes count."""

    producer: int
    seen: TensorType | None


@dataclass(frozen=True)
class Node:
    """An op with work. An `is_fusion_boundary` is no dl op, or a kernel already; it stays where it is.

    `x` and `result` are the types of its first operand and result, `kinds` those of the results that are used, `reads` numbers of
    the values it takes, without constants.
    """

    op: ir.Operation
    fusion_class: str
    is_elementwise: bool
    x: TensorType | None
    result: TensorType | None
    is_fusion_boundary: bool
    is_output: bool
    kinds: tuple[ir.Type, ...]
    links: tuple[OperandEdge, ...]
    reads: frozenset[int]

    @property
    def name(self) -> str:
        """The op's name without `dl.`."""
        return self.op.name.removeprefix("dl.")


@dataclass
class WorkGraph:
    """The nodes of one block in program order, and for each node the nodes that use it.

    `order` holds pairs of fusion boundaries that must keep their order though no value connects them.
    """

    nodes: list[Node] = field(default_factory=list)
    consumers: list[list[int]] = field(default_factory=list)
    order: list[tuple[int, int]] = field(default_factory=list)

    def producers(self, node: int) -> list[int]:
        """The nodes that give what `node` takes, in the order of its operands."""
        return list(dict.fromkeys(link.producer for link in self.nodes[node].links))


@dataclass(frozen=True)
class _Source:
    """Where a value comes from: the node whose elements it has, and all nodes that it depends on."""

    viewed: int | None = None
    all: tuple[int, ...] = ()


def work_graph(block: ir.Block, shapes: SymbolicShapes) -> WorkGraph:
    """The graph of a block."""
    return _Builder(shapes).build([op.operation for op in block.operations])


def kind_of(operation: ir.Operation) -> str:
    """`view` or `weight` as the op's class says, `end` for a terminator, else `work`."""
    if operation.name in _TERMINATORS:
        return "end"
    found = op_class(operation.name) if operation.name.startswith("dl.") else None
    return found.fusion_class if found is not None and found.fusion_class in ("view", "weight") else "work"


class _Builder:
    def __init__(self, shapes: SymbolicShapes) -> None:
        self._shapes = shapes
        self._sources: dict[ir.Value, _Source] = {}
        self._numbers: dict[ir.Value, int] = {}
        self._constants: set[ir.Value] = set()
        self._graph = WorkGraph()

    def build(self, operations: Sequence[ir.Operation]) -> WorkGraph:
        outputs = self._outputs(operations)
        for operation in operations:
            match kind_of(operation):
                case "view":
                    self._add_view(operation)
                case "weight":
                    self._constants.update(operation.results if operation.name == "dl.constant" else ())
                case "work":
                    self._add_node(operation, outputs)
        boundaries = [number for number, node in enumerate(self._graph.nodes) if node.is_fusion_boundary]
        self._graph.order.extend(itertools.pairwise(boundaries))
        return self._graph

    def _outputs(self, operations: Sequence[ir.Operation]) -> set[ir.Operation]:
        """The ops whose results leave the block, through views or not."""
        found: set[ir.Operation] = set()
        for operation in reversed(operations):
            kind = kind_of(operation)
            if kind == "end" or (kind == "view" and operation in found):
                found.update(value.owner.operation for value in operation.operands if not isinstance(value.owner, ir.Block))
        return found

    def _add_view(self, operation: ir.Operation) -> None:
        sources = [self._sources.get(value, _Source()) for value in operation.operands]
        viewed = None if operation.name in _SIZES_OF else sources[0].viewed
        every = tuple(dict.fromkeys(node for source in sources for node in source.all))
        for result in operation.results:
            self._sources[result] = _Source(viewed, every)

    def _add_node(self, operation: ir.Operation, outputs: set[ir.Operation]) -> None:
        number = len(self._graph.nodes)
        taken = list(dict.fromkeys(taken_values(operation)))
        links = tuple(link for value in taken for link in self._links(value))
        results = list(operation.results)
        found = op_class(operation.name) if operation.name.startswith("dl.") and operation.name != "dl.kernel" else None
        is_tensor = len(results) > 0 and tensor_type(results[0].type) is not None
        node = Node(
            op=operation,
            fusion_class=found.fusion_class if found is not None else "opaque",
            is_elementwise=found is not None and found.is_elementwise,
            x=self._type(operation.operands[0]) if len(operation.operands) else None,
            result=self._type(results[0]) if is_tensor else None,
            is_fusion_boundary=found is None or not is_tensor,
            is_output=operation in outputs,
            kinds=tuple(dict.fromkeys(result.type for result in results if next(iter(result.uses), None) is not None)),
            links=links,
            reads=frozenset(self._number(value) for value in taken if value not in self._constants),
        )
        self._graph.nodes.append(node)
        self._graph.consumers.append([])
        for producer in dict.fromkeys(link.producer for link in links):
            self._graph.consumers[producer].append(number)
        self._sources.update((result, _Source(number, (number,))) for result in results)

    def _links(self, value: ir.Value) -> Iterator[OperandEdge]:
        source = self._sources.get(value, _Source())
        for node in source.all:
            yield OperandEdge(node, self._type(value) if node == source.viewed else None)

    def _type(self, value: ir.Value) -> TensorType | None:
        return None if tensor_type(value.type) is None else self._shapes.type_of(value)

    def _number(self, value: ir.Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))


def taken_values(operation: ir.Operation) -> Iterator[ir.Value]:
    """The values that an op, or one inside it, takes; some may be made inside."""
    yield from operation.operands
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from taken_values(inner.operation)
