"""Which ops of a function become one kernel, as a pure function of the IR, with a verdict on every edge.

Ops are taken in program order. Each joins the groups of its producers, in the order of its operands, where the rules allow it
(`fusion_rules`) and no path leads out of the group and back (`merge_order`). So an op behind a contraction joins that before it may
join later ops. Edges that were refused are tried again when groups have grown. The time is near-linear in the ops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.fusion_groups import FusionCandidate, GroupEdge, GroupPair, group_of_node
from dlc.analysis.fusion_rules import REASONS as REASONS
from dlc.analysis.fusion_rules import quick_refusal, refusal
from dlc.analysis.merge_order import MergeOrder
from dlc.analysis.symbolic_shapes import SymbolicShapes
from dlc.analysis.work_graph import WorkGraph, work_graph

_ROUNDS = 16


@dataclass(frozen=True)
class FusionEdge:
    """One op with work takes what another gives, through views or not; `reason` is a key of `REASONS`."""

    producer: ir.Operation
    consumer: ir.Operation
    fused: bool
    reason: str


@dataclass(frozen=True)
class FusionGroup:
    """Ops of one kernel in program order. `kind` is the class of the `main` op: injective, reduction, contraction or opaque.

    `results` are the ops whose values are used outside; `is_region` says whether they have one type, as a `dl.kernel` must;
    `is_formed` that the group is an op which is a kernel already, or no dl op.
    """

    ops: tuple[ir.Operation, ...]
    kind: str
    main: ir.Operation
    results: tuple[ir.Operation, ...]
    is_region: bool
    is_formed: bool


@dataclass(frozen=True)
class FusionPlan:
    """All ops with work of a function in groups, in an order in which they can run, and every edge between two of them."""

    groups: tuple[FusionGroup, ...]
    edges: tuple[FusionEdge, ...]


def plan_kernels(function: ir.Operation) -> FusionPlan:
    """The kernels of a function; each block is planned alone, and ops inside of others belong to those."""
    shapes = SymbolicShapes(function)
    groups: list[FusionGroup] = []
    edges: list[FusionEdge] = []
    for region in function.regions:
        for block in region.blocks:
            planner = _Planner(work_graph(block, shapes))
            planner.run()
            groups.extend(planner.groups())
            edges.extend(planner.edges())
    return FusionPlan(tuple(groups), tuple(edges))


class _Planner:
    """Groups of the nodes of one block while they grow."""

    def __init__(self, graph: WorkGraph) -> None:
        self._graph = graph
        count = len(graph.nodes)
        edges = [(producer, node) for node in range(count) for producer in graph.producers(node)]
        self._edges = edges
        self._order = MergeOrder(count, [*edges, *graph.order])
        self._outside = [len(consumers) for consumers in graph.consumers]
        self._groups: dict[int, FusionCandidate] = {
            number: group_of_node(number, node, node.is_output or self._outside[number] > 0)
            for number, node in enumerate(graph.nodes)
        }

    def run(self) -> None:
        """Let every node join its producers, then try the edges again as long as that changes something."""
        for node in range(len(self._graph.nodes)):
            edges = [(producer, node) for producer in self._graph.producers(node)]
            while self._try_all(edges):
                pass
        for _ in range(_ROUNDS):
            if not self._try_all(self._edges):
                return

    def _try_all(self, edges: Sequence[tuple[int, int]]) -> int:
        """Merge what fits of these edges; how many did."""
        return sum(self._try(*edge) == "fused" for edge in edges)

    def groups(self) -> Iterator[FusionGroup]:
        """The groups in an order in which they can run."""
        for number in sorted(self._groups, key=self._order.rank):
            group = self._groups[number]
            nodes = self._graph.nodes
            results = [nodes[node] for node in sorted(group.escaping)]
            main = nodes[group.main]
            yield FusionGroup(
                ops=tuple(nodes[node].op for node in sorted(group.nodes)),
                kind="reduction" if group.kind == "window" else "opaque" if group.kind == "foreign" else group.kind,
                main=main.op,
                results=tuple(node.op for node in results),
                is_region=len({kind for node in results for kind in node.kinds}) <= 1,
                is_formed=main.is_fusion_boundary,
            )

    def edges(self) -> Iterator[FusionEdge]:
        """Every edge with its verdict."""
        for producer, consumer in self._edges:
            nodes = self._graph.nodes[producer].op, self._graph.nodes[consumer].op
            first, second = self._order.group_of(producer), self._order.group_of(consumer)
            reason = "fused" if first == second else self._verdict(first, second)
            yield FusionEdge(*nodes, reason == "fused", reason)

    def _verdict(self, first: int, second: int) -> str:
        """Why two groups are apart; what fits them would be merged but for the order of kernels."""
        reason = quick_refusal(self._groups[first], self._groups[second]) or refusal(self._pair(first, second), self._graph)
        if reason:
            return reason
        return "distance" if self._order.merge(first, second, dry=True) == "far" else "legality"

    def _try(self, producer: int, consumer: int) -> str:
        """Merge the groups of two nodes if that is right: `fused`, empty where they are one already, or why not."""
        first, second = self._order.group_of(producer), self._order.group_of(consumer)
        if first == second:
            return ""
        reason = quick_refusal(self._groups[first], self._groups[second])
        if reason:
            return reason
        pair = self._pair(first, second)
        reason = refusal(pair, self._graph)
        if reason:
            return reason
        outcome = self._order.merge(first, second)
        if outcome != "merged":
            return "distance" if outcome == "far" else "legality"
        for node, count in self._used(pair).items():
            self._outside[node] -= count
        del self._groups[first], self._groups[second]
        self._groups[self._order.group_of(producer)] = pair.joined()
        return "fused"

    def _pair(self, first: int, second: int) -> GroupPair:
        one, other = self._groups[first], self._groups[second]
        members = set(one.nodes)
        crossings = [
            GroupEdge(link.producer, node, link)
            for node in other.nodes
            for link in self._graph.nodes[node].links
            if link.producer in members
        ]
        pair = GroupPair(one, other, crossings, frozenset())
        closed = [
            node
            for node, count in self._used(pair).items()
            if count == self._outside[node] and not self._graph.nodes[node].is_output
        ]
        return GroupPair(one, other, crossings, frozenset(closed))

    @staticmethod
    def _used(pair: GroupPair) -> Counter[int]:
        """How many nodes of the second group use each node of the first."""
        return Counter(producer for producer, _ in {(crossing.producer, crossing.consumer) for crossing in pair.crossings})
