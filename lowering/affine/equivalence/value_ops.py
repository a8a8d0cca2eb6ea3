"""How each op looks in the graph of values, and the way from a function to its graph."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from dlc._mlir import ir
from dlc.analysis.buffers import ALLOCATIONS, VIEW_OPS, is_memref
from dlc.lowering.affine.equivalence.shared_texts import SharedTexts
from dlc.lowering.affine.equivalence.value_copies import resolve_copies
from dlc.lowering.affine.equivalence.value_flow import resolve_loads
from dlc.lowering.affine.equivalence.value_graph import WORLD, SharedSymbols, ValueGraph, ValueNode, ValueOperand
from dlc.lowering.affine.equivalence.value_memory import (
    is_mask,
    read_copy,
    read_dealloc,
    read_masked_op,
    read_memory_op,
    read_opaque_op,
)
from dlc.lowering.affine.equivalence.value_places import note_places
from dlc.lowering.affine.equivalence.value_reader import Reader, ReadPosition
from dlc.lowering.affine.ir.accesses import is_memory_op
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.aliases import refuse_aliases, refuse_overlaps
from dlc.lowering.affine.polyhedral.domains import inits_of, loops_of
from dlc.lowering.affine.polyhedral.model import ExtractionError

_SILENT = frozenset(
    {
        "affine.apply",
        "affine.max",
        "affine.min",
        "affine.yield",
        "arith.constant",
        "memref.dim",
        "memref.get_global",
        "ub.poison",
        "vector.constant_mask",
        "vector.create_mask",
    }
    | VIEW_OPS
)
"""Ops that say what a value is where it is used, and compute nothing of their own."""


def read_function(function: ir.Operation, side: str, shared: SharedSymbols, *, assume_no_alias: bool = False) -> ValueGraph:
    """The values of `function`, a `func.func` of one block, whose nodes' names begin with `side`. Raises ExtractionError.

    Memrefs that may be the same memory are refused where one is written, unless told that there are none.
    """
    if len(function.regions[0].blocks) != 1:
        raise ExtractionError(function, "it has branches, or no body", "compare functions of affine loops")
    graph = ValueGraph(side, function, shared)
    reader = Reader(graph, SharedTexts(lambda value: True, shared=shared), _read_op)
    (block,) = function.regions[0].blocks
    reader.see_arguments(block)
    reader.visit([op.operation for op in block.operations], ReadPosition())
    reader.see_results(len(list(block.operations)))
    note_places(graph)
    resolve_loads(graph)
    resolve_copies(graph)
    arrays = {memory: Array(memory.name, memory.value, len(memory.sizes)) for memory in graph.memory_objects if memory.key != WORLD}
    uses = [(use.node.op, arrays[use.array], use.writes) for use in graph.uses if use.array in arrays and use.node.op != function]
    refuse_overlaps(uses)
    if not assume_no_alias:
        refuse_aliases(uses)
    return graph


def _read_op(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    if op.name in ALLOCATIONS:
        reader.allocate(op, frame)
    elif op.name in _SILENT:
        return
    elif op.name in _READERS:
        _READERS[op.name](reader, op, frame)
    elif is_memory_op(op):
        read_memory_op(reader, op, frame)
    elif op.name.startswith(("arith.", "math.")) and not is_mask(op):
        _read_elementwise(reader, op, frame)
    elif is_mask(op):
        return
    elif len(op.regions):
        raise ExtractionError(op, f"'{op.name}' is not a loop or condition of the affine dialect", "lower or outline it first")
    elif op.name.startswith("vector."):
        raise ExtractionError(op, f"the comparison does not support '{op.name}'", "compare before vectors are lowered")
    else:
        read_opaque_op(reader, op, frame)


def _read_elementwise(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """A node each for the results of an op that computes every lane from the same lane of its operands."""
    if len(op.results) == 1 and isinstance(op.results[0].type, ir.IndexType) and reader.is_affine(op.results[0], frame):
        return
    for number, result in enumerate(op.results):
        shape = _shape(result)
        node = reader.node(op, f"result {number}", frame, shape)
        node.signature = _signature(op, number)
        node.operands += [reader.use(node, one, frame, [f"l{at}" for at in range(len(_shape(one)))]) for one in op.operands]
        reader.values[result] = node


def _shape(value: ir.Value) -> list[int]:
    return list(value.type.shape) if isinstance(value.type, ir.VectorType) else []


def _signature(op: ir.Operation, number: int) -> str:
    """What an op computes of one lane: its name, attributes and the types of elements."""
    attributes = ", ".join(sorted(f"{name} = {op.attributes[name]}" for name in op.attributes))
    kinds = [_element(value.type) for value in (*op.operands, *op.results)]
    return f"{op.name}#{number}{{{attributes}}} {', '.join(kinds)}"


def _element(kind: ir.Type) -> str:
    return str(kind.element_type) if isinstance(kind, ir.VectorType) else str(kind)


def _body(op: ir.Operation, region: int = 0) -> list[ir.Operation]:
    return [inner.operation for inner in op.regions[region].blocks[0].operations]


def _read_loop(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """A loop. What it carries is a copy: of the value that it starts with, then of what the iteration before yields."""
    loops, constraints = loops_of(op, frame.loops, reader.texts)
    inner = frame.inside(loops, constraints)
    body = _body(op)
    if not len(op.results):
        reader.visit(body, inner)
        return
    carried = []
    for number, value in enumerate(list(op.regions[0].blocks[0].arguments)[1:]):
        node = reader.node(op, f"carries {number}", inner, _shape(value))
        reader.values[value] = node
        carried.append(node)
    reader.visit(body, inner)
    step = ir.IntegerAttr(op.attributes["step"]).value
    for node, init, yielded, result in zip(carried, inits_of(op), body[-1].operands, op.results, strict=True):
        _carry(reader, node, init, yielded, result, frame, inner, step)


def _carry(
    reader: Reader,
    node: ValueNode,
    init: ir.Value,
    yielded: ir.Value,
    result: ir.Value,
    frame: ReadPosition,
    inner: ReadPosition,
    step: int,
) -> None:
    """The sources of one carried value, and the loop's result."""
    depth = len(frame.loops)
    names = list(node.dims[depth + 1 :])
    back = list(node.dims)
    back[depth] = f"({back[depth]} - {step})"
    previous = reader.graph.map(node, node.name, back).intersect_range(node.domain)
    number = node.role.removeprefix("carries ")
    end = reader.node(node.op, f"yields {number}", inner, _shape(result))
    end.operands.append(reader.use(end, yielded, inner, names))
    to_end = previous.apply_range(reader.graph.map(node, end.name, node.dims))
    first = [source.subtract_domain(previous.domain()) for source in reader.use(node, init, frame, names).sources]
    node.operands.append(ValueOperand((to_end, *first)))
    after = reader.node(node.op, f"result {number}", frame, _shape(result))
    last = reader.graph.spread(after, end).lexmax()
    none = [source.subtract_domain(last.domain()) for source in reader.use(after, init, frame, names).sources]
    after.operands.append(ValueOperand((last, *none)))
    reader.values[result] = after


def _read_if(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """A condition; its results are copies of what its branches yield."""
    conditions = reader.texts.conditions(op, frame.loops)
    otherwise = [f"not ({' and '.join(conditions)})"] if conditions else ["1 = 0"]
    branches = [(0, conditions)] + ([(1, otherwise)] if len(op.regions[1].blocks) else [])
    for number, where in branches:
        reader.visit(_body(op, number), frame.branch(number, where))
    for position, result in enumerate(op.results):
        node = reader.node(op, f"result {position}", frame, _shape(result))
        names = node.dims[len(frame.loops) :]
        yields = [(_body(op, number)[-1].operands[position], where) for number, where in branches]
        sources = [one for value, where in yields for one in reader.use(node, value, frame, names, where).sources]
        node.operands.append(ValueOperand(tuple(sources)))
        reader.values[result] = node


def _read_return(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    for position, value in enumerate(op.operands):
        if is_memref(value):
            reader.returned.append((position, value))
            continue
        node = reader.node(op, f"returns {position}", frame, _shape(value))
        node.operands.append(reader.use(node, value, frame, node.dims))
        reader.graph.results[f"result {position}"] = node


def _read_broadcast(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """Lanes of the operand, repeated along new dims and along those of one lane."""
    node = reader.node(op, "result 0", frame, _shape(op.results[0]))
    given = _shape(op.operands[0])
    named = node.dims[len(node.dims) - len(given) :] if given else ()
    lanes = ["0" if size == 1 else lane for size, lane in zip(given, named, strict=True)]
    node.operands.append(reader.use(node, op.operands[0], frame, lanes))
    reader.values[op.results[0]] = node


def _read_extract(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """One lane, or the lanes of a part of the dims."""
    places = list(ir.DenseI64ArrayAttr(op.attributes["static_position"]))
    if len(op.operands) > 1:
        raise ExtractionError(op, "which lane it takes is not constant", "compare before vectors are lowered")
    node = reader.node(op, "result 0", frame, _shape(op.results[0]))
    lanes = [str(place) for place in places] + list(node.dims[len(frame.loops) :])
    node.operands.append(reader.use(node, op.operands[0], frame, lanes))
    reader.values[op.results[0]] = node


def _read_elements(reader: Reader, op: ir.Operation, frame: ReadPosition) -> None:
    """One scalar a lane, the lanes in row-major order."""
    shape = _shape(op.results[0])
    node = reader.node(op, "result 0", frame, shape)
    sources: list[isl.Map] = []
    for number, value in enumerate(op.operands):
        where = []
        for lane, size in zip(reversed(node.dims[len(frame.loops) :]), reversed(shape), strict=True):
            where.append(f"{lane} = {number % size}")
            number //= size
        sources += reader.use(node, value, frame, (), where).sources
    node.operands.append(ValueOperand(tuple(sources)))
    reader.values[op.results[0]] = node


_READERS: dict[str, Callable[[Reader, ir.Operation, ReadPosition], None]] = {
    "affine.for": _read_loop,
    "affine.if": _read_if,
    "affine.parallel": _read_loop,
    "func.return": _read_return,
    "memref.copy": read_copy,
    "memref.dealloc": read_dealloc,
    "vector.broadcast": _read_broadcast,
    "vector.extract": _read_extract,
    "vector.from_elements": _read_elements,
    "vector.fma": _read_elementwise,
    "vector.maskedload": read_masked_op,
    "vector.maskedstore": read_masked_op,
}
