"""Groups of ops that may become kernels: what they are made of, and what two of them have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dlc._mlir import ir
from dlc.analysis.work_graph import Node, OperandEdge, WorkGraph
from dlc.dialects.dl.reduce import reduced_axes
from dlc.dialects.dl.types import Dim, Shape

_WINDOWS = frozenset({"max_pool", "arg_max_pool", "avg_pool", "resize", "lrn"})
_MOVES = frozenset({"transpose", "slice", "expand"})
_WIDER = {
    "i1": ("i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "bf16", "f32", "f64"),
    "i8": ("i16", "i32", "i64", "f16", "f32", "f64"),
    "ui8": ("i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "f32", "f64"),
    "ui16": ("i32", "ui32", "i64", "ui64", "f32", "f64"),
    "ui32": ("i64", "ui64", "f64"),
    "i16": ("i32", "i64", "f32", "f64"),
    "i32": ("i64", "f64"),
    "f16": ("f32", "f64"),
    "bf16": ("f32", "f64"),
    "f32": ("f64",),
}


@dataclass(frozen=True)
class ReducedAxes:
    """What a reduction runs over: shape of its operand, what is left of it (both without dims of 1), and axes from the end."""

    whole: Shape
    kept: Shape
    axes: tuple[int | str, ...]


@dataclass(frozen=True)
class FusionCandidate:
    """Ops that become one kernel. `kind` is injective, window, reduction, contraction, opaque or foreign.

    `main` is the op that names the group; nodes `before` only prepare operands of a contraction; the values of nodes that are
    `escaping` are used outside; `loops` is the shape of its last op, without dims of 1.
    """

    nodes: tuple[int, ...]
    kind: str
    main: int
    rows: ReducedAxes | None
    reads: frozenset[int]
    escaping: frozenset[int]
    loops: Shape
    before: frozenset[int] = frozenset()


@dataclass(frozen=True)
class GroupEdge:
    """An edge from one group to another."""

    producer: int
    consumer: int
    link: OperandEdge


@dataclass(frozen=True)
class GroupPair:
    """Two groups, the edges from the first to the second, and the nodes of the first that nothing but the second uses."""

    first: FusionCandidate
    second: FusionCandidate
    crossings: Sequence[GroupEdge]
    closed: frozenset[int]

    def escaping(self) -> frozenset[int]:
        """Nodes whose values would be used outside, were the two one."""
        return (self.first.escaping - self.closed) | self.second.escaping

    @property
    def is_closed(self) -> bool:
        """Whether nothing but the second group uses the first one."""
        return self.first.escaping <= self.closed

    @property
    def nodes(self) -> tuple[int, ...]:
        return (*self.first.nodes, *self.second.nodes)

    def joined(self) -> FusionCandidate:
        """The two groups as one."""
        first, second = self.first, self.second
        leading = second if first.kind == "injective" else first
        front = second.before | {second.main}
        prepares = second.kind == "contraction" and any(crossing.consumer in front for crossing in self.crossings)
        return FusionCandidate(
            nodes=self.nodes,
            kind=leading.kind,
            main=leading.main,
            rows=first.rows or second.rows,
            reads=first.reads | second.reads,
            escaping=self.escaping(),
            loops=second.loops,
            before=first.before | second.before | (frozenset(first.nodes) if prepares else frozenset()),
        )


def group_of_node(number: int, node: Node, escapes: bool) -> FusionCandidate:
    """A group of one node."""
    rows = _rows_of(node) if node.fusion_class == "reduction" else None
    escaping = frozenset({number} if escapes else ())
    return FusionCandidate((number,), _kind(node, rows), number, rows, node.reads, escaping, shape_of(node))


def _kind(node: Node, rows: ReducedAxes | None) -> str:
    if node.is_fusion_boundary:
        return "foreign"
    if node.fusion_class == "broadcast":
        return "injective"
    return "window" if node.fusion_class == "reduction" and rows is None else node.fusion_class


def _rows_of(node: Node) -> ReducedAxes | None:
    """The rows of an op of class reduction; None for one over windows."""
    if node.name in _WINDOWS or node.x is None:
        return None
    attributes, rank = node.op.opview.attribute_values(), node.x.rank
    if node.name == "group_norm":
        return ReducedAxes(plain(node.x.shape), (), ("groups", attributes["num_groups"]))
    if node.name == "instance_norm":
        axes = tuple(range(2, rank))
    elif node.name in ("layer_norm", "rms_norm"):
        axes = tuple(range(attributes["axis"] % rank, rank))
    else:
        given = attributes["axes"] if "axes" in attributes else (attributes["axis"],)
        axes = reduced_axes(given, rank)
    kept = [dim for axis, dim in enumerate(node.x.shape) if axis not in axes]
    return ReducedAxes(plain(node.x.shape), plain(kept), tuple(axis - rank for axis in axes))


def costs_nothing(node: Node) -> bool:
    """Whether the op only moves elements, which index arithmetic of its consumer does, or widens them."""
    return node.name in _MOVES or _widens(node) or _takes_slice(node)


def moves_only(group: FusionCandidate, graph: WorkGraph) -> bool:
    """Whether all ops of a group cost nothing."""
    return all(costs_nothing(graph.nodes[node]) for node in group.nodes)


def _takes_slice(node: Node) -> bool:
    """Whether the op is a gather of one index, whose result lies in x."""
    return node.name == "gather" and ir.RankedTensorType(node.op.operands[1].type).rank == 0


def _widens(node: Node) -> bool:
    if node.name != "cast" or node.x is None or node.result is None:
        return False
    return node.result.dtype in _WIDER.get(node.x.dtype, ())


def is_unchanged(crossing: GroupEdge, graph: WorkGraph) -> bool:
    """Whether the consumer sees the producer's result in its own shape, dims of 1 aside."""
    return crossing.link.seen is not None and seen(crossing) == shape_of(graph.nodes[crossing.producer])


def seen(crossing: GroupEdge) -> Shape | None:
    """The shape in which the consumer sees what it takes, without dims of 1; None when it only asks for sizes."""
    return None if crossing.link.seen is None else plain(crossing.link.seen.shape)


def shape_of(node: Node) -> Shape:
    """The shape of a node's result without dims of 1."""
    return () if node.result is None else plain(node.result.shape)


def plain(shape: Sequence[Dim]) -> Shape:
    """A shape without its dims of 1."""
    return tuple(dim for dim in shape if dim != 1)
