"""Records of the values that a function computes: what computes each, for which iterations, and from what.

A node stands for one result of an op (or one element that is written), for every iteration of the loops around it and every
lane of a vector: `b7[i0, i1, l0]`. Two functions are compared by their nodes (see `matching.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.element_relations import LoopVariable


@dataclass
class SharedSymbols:
    """Names that mean the same in both functions: index values from outside, constants, what ops compute."""

    parameters: dict[str, str] = field(default_factory=dict)
    """What an index value is (`arg3`, `dim(arg0, 1)`), to its name in sets and maps."""

    non_negative: set[str] = field(default_factory=set)
    constants: dict[str, str] = field(default_factory=dict)
    globals: dict[str, str] = field(default_factory=dict)
    assumed: isl.Set | None = None
    """What else is taken for granted of the parameters."""

    def parameter(self, key: str, *, is_size: bool = False) -> str:
        """The name of the index value `key`."""
        name = self.parameters.setdefault(key, f"p{len(self.parameters)}")
        if is_size:
            self.non_negative.add(name)
        return name

    def constant(self, key: str) -> str:
        """The tuple name of the constant that prints as `key`."""
        return self.constants.setdefault(key, f"c{len(self.constants)}")

    def memory(self, key: str) -> str:
        """The key, fit for names of tuples, of an argument or a global."""
        return key if key.isalnum() else self.globals.setdefault(key, f"g{len(self.globals)}")

    def prefix(self) -> str:
        """`[p0, p1] -> `, for texts of sets and maps."""
        return f"[{', '.join(self.parameters.values())}] -> "

    def context(self) -> isl.Set:
        """What is known of the parameters."""
        known = " and ".join(f"{name} >= 0" for name in sorted(self.non_negative))
        found = isl.Set(f"{self.prefix()}{{ : {known} }}")
        return found if self.assumed is None else found.intersect(self.assumed)


@dataclass(frozen=True)
class ValueOperand:
    """Where a node's operand comes from: maps from the node's instances to those of nodes or of terminals.

    `joined` trailing dims of the target take every value (all elements of an array), the same in both functions.
    """

    sources: tuple[isl.Map, ...]
    joined: int = 0


@dataclass(eq=False)
class ValueNode:
    """One value. `signature` says what is computed from `operands`; it is empty for a copy of the one operand."""

    name: str
    op: ir.Operation
    loops: tuple[LoopVariable, ...]
    dims: tuple[str, ...]
    """The names of the loops' variables, then of the lanes, in `domain`."""
    domain: isl.Set
    role: str
    """What of its op it stands for: `result 0`, `carries 0`, `yields 0`, `stores`, `keeps arg0`."""
    signature: str = ""
    operands: list[ValueOperand] = field(default_factory=list)
    reads: MemoryUse | None = None
    """The element that a load reads; `operands` follow from it."""
    places: dict[str, isl.Map] = field(default_factory=dict)
    """Elements that it is computed from or stored to (see `value_places.py`)."""

    writers: list[tuple[ValueNode, isl.Map]] = field(default_factory=list)
    """The writes that a load sees, with its instances to theirs."""


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """`elements` takes the instances of a node to the elements of `array` that they read or write, at `times`."""

    node: ValueNode
    array: MemoryObject
    elements: isl.Map
    times: tuple[str, ...]
    writes: bool


@dataclass(eq=False)
class MemoryObject:
    """Memory that shares no element with other memory. `key` is the same in both functions where others can see it, else "".

    `sizes` are its extents as texts; `depth` loops around its allocation give every iteration its own.
    """

    name: str
    value: ir.Value | None
    key: str
    sizes: tuple[str, ...]
    depth: int = 0


@dataclass(eq=False)
class ValueGraph:
    """All that a function computes. `results` stand for what it leaves behind, by keys that both functions share."""

    side: str
    function: ir.Operation
    shared: SharedSymbols
    nodes: dict[str, ValueNode] = field(default_factory=dict)
    memory_objects: list[MemoryObject] = field(default_factory=list)
    uses: list[MemoryUse] = field(default_factory=list)
    results: dict[str, ValueNode] = field(default_factory=dict)
    returns: list[str] = field(default_factory=list)
    """What memrefs the function returns, as texts that both functions must share."""
    _sets: dict[str, isl.Set] = field(default_factory=dict)

    def add(
        self, op: ir.Operation, role: str, loops: tuple[LoopVariable, ...], lanes: Sequence[str], where: Sequence[str]
    ) -> ValueNode:
        """A new node for the iterations and lanes that fulfil `where`."""
        name = f"{self.side}{len(self.nodes)}"
        dims = (*(loop.name for loop in loops), *lanes)
        text = f"{self.shared.prefix()}{{ [{', '.join(dims)}] : {' and '.join(where) or 'true'} }}"
        node = ValueNode(name, op, loops, dims, self._instances(text).set_tuple_name(name), role)
        self.nodes[name] = node
        return node

    def _instances(self, text: str) -> isl.Set:
        """The set that a text describes. All nodes at one place have the same, and reading a text takes longer than all else."""
        if text not in self._sets:
            self._sets[text] = isl.Set(text)
        return self._sets[text]

    def map(self, node: ValueNode, target: str, expressions: Sequence[str], where: Sequence[str] = ()) -> isl.Map:
        """The instances of `node` that fulfil `where` to `target[expressions]`."""
        condition = " and ".join(where) or "true"
        text = f"{{ {node.name}[{', '.join(node.dims)}] -> {target}[{', '.join(expressions)}] : {condition} }}"
        return isl.Map(self.shared.prefix() + text).intersect_domain(node.domain)

    def spread(self, node: ValueNode, target: ValueNode, bounds: Sequence[str] = ()) -> isl.Map:
        """The instances of `node` to all those of `target` that agree in the dims that both have."""
        condition = " and ".join(bounds) or "true"
        text = f"{{ {node.name}[{', '.join(node.dims)}] -> {target.name}[{', '.join(target.dims)}] : {condition} }}"
        return isl.Map(self.shared.prefix() + text).intersect_domain(node.domain).intersect_range(target.domain)


UNDEFINED = "undefined"
"""The terminal for memory that nobody has written, and poison."""

INDEX = "index"
"""The terminal for index values: `index[v]`."""


WORLD = "world"
"""The key of the memory object that stands for what ops change beside memory."""


def initial(memory: MemoryObject) -> str:
    """The terminal for the contents of memory before the function runs."""
    return f"before_{memory.key}" if memory.key else UNDEFINED
