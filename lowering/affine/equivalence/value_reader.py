"""The state of reading a function into the graph of the values that it computes (see `value_graph.py`, `value_ops.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import defining_op, is_memref, nested_ops
from dlc.lowering.affine.equivalence.shared_texts import SharedTexts, key_of
from dlc.lowering.affine.equivalence.value_graph import (
    INDEX,
    UNDEFINED,
    WORLD,
    MemoryObject,
    MemoryUse,
    ValueGraph,
    ValueNode,
    ValueOperand,
)
from dlc.lowering.affine.ir.element_relations import LoopVariable
from dlc.lowering.affine.polyhedral.model import ExtractionError
from dlc.lowering.affine.polyhedral.views import at_root


@dataclass(frozen=True)
class ReadPosition:
    """Where the reader is: the loops around, the constraints on their variables, and the time up to here."""

    loops: tuple[LoopVariable, ...] = ()
    constraints: tuple[str, ...] = ()
    times: tuple[str, ...] = ()

    def at(self, place: int) -> ReadPosition:
        """Item number `place` of the body."""
        return replace(self, times=(*self.times, str(place)))

    def inside(self, loops: Sequence[LoopVariable], constraints: Sequence[str]) -> ReadPosition:
        """The body of `loops`, which are the item at hand; several variables of one loop have no places between them."""
        names = [part for loop in loops for part in ("0", loop.name)][1:]
        return ReadPosition((*self.loops, *loops), (*self.constraints, *constraints), (*self.times, *names))

    def branch(self, number: int, constraints: Sequence[str]) -> ReadPosition:
        """A branch of a condition, which is the item at hand."""
        return ReadPosition(self.loops, (*self.constraints, *constraints), (*self.times, str(number)))


@dataclass
class Reader:
    """Reads one function; one use."""

    graph: ValueGraph
    texts: SharedTexts
    read_op: Callable[[Reader, ir.Operation, ReadPosition], None]
    values: dict[ir.Value, ValueNode] = field(default_factory=dict)
    objects: dict[ir.Value, MemoryObject] = field(default_factory=dict)
    returned: list[tuple[int, ir.Value]] = field(default_factory=list)

    def visit(self, ops: Sequence[ir.Operation], frame: ReadPosition) -> None:
        """Read the ops of one block."""
        for place, op in enumerate(ops):
            self.read_op(self, op, frame.at(place))

    # Values.

    def node(
        self, op: ir.Operation, role: str, frame: ReadPosition, lanes: Sequence[int | str] = (), where: Sequence[str] = ()
    ) -> ValueNode:
        """A node at `frame` with as many lanes."""
        names = [f"l{at}" for at in range(len(lanes))]
        inside = [f"0 <= {name} < {size}" for name, size in zip(names, lanes, strict=True)]
        return self.graph.add(op, role, frame.loops, names, (*frame.constraints, *inside, *where))

    def use(
        self, node: ValueNode, value: ir.Value, frame: ReadPosition, lanes: Sequence[str] = (), where: Sequence[str] = ()
    ) -> ValueOperand:
        """`value`'s lane `lanes` as an operand of `node`, at the instances that fulfil `where`."""
        return ValueOperand(tuple(self._sources(node, value, frame, lanes, where)))

    def _sources(
        self, node: ValueNode, value: ir.Value, frame: ReadPosition, lanes: Sequence[str], where: Sequence[str]
    ) -> list[isl.Map]:
        map = self.graph.map
        if value in self.values:
            target = self.values[value]
            return [map(node, target.name, [*(loop.name for loop in target.loops), *lanes], where)]
        if isinstance(value.type, ir.IndexType):
            return [map(node, INDEX, [self.texts.value(value, frame.loops, node.op)], where)]
        op = defining_op(value)
        if op is None and value.owner.owner.operation.name == "func.func" and not is_memref(value):
            return [map(node, f"arg{value.arg_number}", lanes, where)]
        if op is not None and op.name == "ub.poison":
            return [map(node, UNDEFINED, [], where)]
        if op is not None and op.name == "arith.constant":
            return self._constant(node, op.attributes["value"], lanes, where)
        what = f"a value of '{op.name}'" if op is not None else "a block's argument"
        raise ExtractionError(node.op, f"it uses {what}, which the comparison does not support", "lower it first")

    def _constant(self, node: ValueNode, value: ir.Attribute, lanes: Sequence[str], where: Sequence[str]) -> list[isl.Map]:
        if not isinstance(value.type, ir.VectorType):
            return [self.graph.map(node, self.graph.shared.constant(str(value)), [], where)]
        if value.is_splat:
            return [self.graph.map(node, self.graph.shared.constant(str(value.get_splat_value())), [], where)]
        if value.type.rank != 1 or value.type.shape[0] > 64:
            raise ExtractionError(node.op, "it uses a large constant of several dimensions", "keep it in a memref")
        kind = value.type.element_type
        texts = [f"{item} : {kind}" for item in value]
        return [
            self.graph.map(node, self.graph.shared.constant(f"lane {text}"), [], (*where, f"{lanes[0]} = {at}"))
            for at, text in enumerate(texts)
        ]

    def is_affine(self, value: ir.Value, frame: ReadPosition) -> bool:
        """Whether the index `value` is an expression of the loops' variables."""
        try:
            self.texts.value(value, frame.loops, value.owner.operation)
        except ExtractionError:
            return False
        return True

    # Memory.

    def see_arguments(self, block: ir.Block) -> None:
        """Note the memory that others can see: of arguments and globals, and what ops change beside memory."""
        self.graph.memory_objects.append(MemoryObject(f"{WORLD}_cells", None, WORLD, ()))
        for value in block.arguments:
            if isinstance(value.type, ir.MemRefType):
                self.object_at(value, self.graph.function)
        for op in nested_ops(self.graph.function):
            if op.name == "memref.get_global":
                self.object_at(op.results[0], op)

    def see_results(self, place: int) -> None:
        """Add the results that memory is: all that others can see when the function ends."""
        frame = ReadPosition().at(place)
        for memory in self.public_objects():
            self._result(memory.key, memory, frame)
        for position, value in self.returned:
            memory, _ = self.object_of(
                value, [f"l{at}" for at in range(ir.MemRefType(value.type).rank)], frame, self.graph.function
            )
            self.graph.returns.append(f"result {position} is {memory.key or 'new'} of type {value.type}")
            if not memory.key:
                self._result(f"result {position}", memory, frame)

    def _result(self, key: str, memory: MemoryObject, frame: ReadPosition) -> None:
        node = self.node(self.graph.function, f"keeps {key}", frame, memory.sizes)
        self.touch(node, memory, node.dims, frame, writes=False)
        self.graph.results[key] = node

    def public_objects(self) -> list[MemoryObject]:
        """The memory that others can see."""
        return [memory for memory in self.graph.memory_objects if memory.key]

    def allocate(self, op: ir.Operation, frame: ReadPosition) -> None:
        """Note fresh memory."""
        self.objects[op.results[0]] = self._new_object(op.results[0], "", frame.loops)

    def _new_object(self, value: ir.Value, key: str, loops: Sequence[LoopVariable] = ()) -> MemoryObject:
        rank = ir.MemRefType(value.type).rank
        name = f"{key or self.graph.side + str(len(self.graph.memory_objects))}_cells"
        found = MemoryObject(name, value, key, (), len(loops))
        self.graph.memory_objects.append(found)
        self.objects[value] = found
        found.sizes = tuple(self.size_of(value, axis, loops) for axis in range(rank))
        return found

    def size_of(self, memref: ir.Value, axis: int, loops: Sequence[LoopVariable]) -> str:
        """The size of `memref` along `axis`."""
        op = defining_op(memref)
        known = self.texts.size(memref, axis, loops, op or self.graph.function)
        if known is not None:
            return known
        key = key_of(memref) or f"{self.graph.side}{self.graph.memory_objects.index(self.objects[memref])}"
        return self.graph.shared.parameter(f"memref.dim#0{{}}({key}, arith.constant#0{{value = {axis} : index}}())", is_size=True)

    def object_of(
        self, memref: ir.Value, subscripts: Sequence[str], frame: ReadPosition, user: ir.Operation
    ) -> tuple[MemoryObject, list[str]]:
        """The memory behind `memref` and the place there of its element at `subscripts`."""
        root, found = at_root(memref, subscripts, frame.loops, self.texts, user)
        return self.object_at(root, user), found

    def object_at(self, root: ir.Value, user: ir.Operation) -> MemoryObject:
        """The memory whose first name is `root`: an allocation, an argument or a global."""
        if root in self.objects:
            return self.objects[root]
        key = key_of(root)
        if key is None:
            raise ExtractionError(user, "it touches a memref that comes from another op", "pass it as an argument")
        key = self.graph.shared.memory(key)
        known = [memory for memory in self.graph.memory_objects if memory.key == key]
        self.objects[root] = known[0] if known else self._new_object(root, key)
        return self.objects[root]

    def touch(
        self,
        node: ValueNode,
        memory: MemoryObject,
        subscripts: Sequence[str],
        frame: ReadPosition,
        *,
        writes: bool,
        where: Sequence[str] = (),
    ) -> None:
        """Note that `node` reads or writes one element for each of its instances that fulfils `where`."""
        place = [*(loop.name for loop in frame.loops[: memory.depth]), *subscripts]
        use = MemoryUse(node, memory, self.graph.map(node, memory.name, place, where), frame.times, writes)
        self.graph.uses.append(use)
        if not writes:
            node.reads = use
