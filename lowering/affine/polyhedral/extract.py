"""From affine loops to the polyhedral model.

Statements come from the ops of each block (`walk.py`, `grouping.py`), domains from loops and conditions (`domains.py`), relations
from the maps of loads and stores (`memory_ops.py`, `views.py`). A value that other statements use is an array of its own. What the
model cannot say is an `ExtractionError` at the op, never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import is_memory_op
from dlc.lowering.affine.ir.element_relations import ElementRelation
from dlc.lowering.affine.polyhedral.aliases import refuse_aliases, refuse_overlaps, refuse_shapes
from dlc.lowering.affine.polyhedral.index_texts import IndexTexts
from dlc.lowering.affine.polyhedral.model import ExtractionError, Scop, Statement
from dlc.lowering.affine.polyhedral.outside import OutsideValues, active_ops, is_inside, is_supported
from dlc.lowering.affine.polyhedral.walk import Found, Note, Walk, WalkPosition


def extract(
    function: ir.Operation, *, assume_no_alias: bool = False, allow_gathers: bool = False, allow_reshapes: bool = False
) -> Scop:
    """The model of the body of `function`, a `func.func` of one block.

    The scop's items are the ops from the first loop or store to the last. With `assume_no_alias`, distinct
    memrefs are taken to share no memory; without, arguments that are not marked `llvm.noalias` are refused where one is written.
    With `allow_gathers`, a `memref.load` at a subscript that data decides reads all elements along that axis, by its relation;
    without, it is refused. With `allow_reshapes`, a memref whose axes are joined or divided at sizes that run time knows is an
    array of that shape, and refused only where it is written and touched in another shape, too. Raises ExtractionError.
    """
    items = active_ops(_body(function))
    return extract_items(items, assume_no_alias=assume_no_alias, allow_gathers=allow_gathers, allow_reshapes=allow_reshapes)


def extract_all(
    function: ir.Operation, *, assume_no_alias: bool = False, refused: list[ExtractionError] | None = None
) -> list[Scop]:
    """The models of the loops of `function`, a `func.func`, in order; blocks are models of their own.

    Ops that the model does not support (calls, other dialects' loops) lie between them. With `refused`, so do items that are
    refused, and the errors are put there; without, they raise ExtractionError.
    """
    scops = []
    waiting = items_of(function)
    while waiting:
        items = active_ops(waiting.pop(0))
        if not any(len(item.regions) for item in items):
            continue
        try:
            scops.append(extract_items(items, assume_no_alias=assume_no_alias))
        except ExtractionError as error:
            if refused is None:
                raise
            refused.append(error)
            waiting[:0] = _without(items, error.op)
    return scops


def items_of(function: ir.Operation) -> list[list[ir.Operation]]:
    """The ops of `function`'s blocks in parts, each from a first loop or store to a last one; between them lie ops without
    a meaning in the model."""
    blocks = [[op.operation for op in block.operations] for block in function.regions[0].blocks]
    parts = [part for ops in blocks for part in _parts(ops, lambda op: not is_supported(op))]
    return [items for part in parts if (items := active_ops(part))]


def extract_items(
    items: Sequence[ir.Operation],
    *,
    assume_no_alias: bool = False,
    allow_gathers: bool = False,
    allow_reshapes: bool = False,
) -> Scop:
    """The model of consecutive ops of one block. Raises ExtractionError."""
    if not items:
        return Scop((), (), (), {}, isl.Set("{ : }"))
    outside = OutsideValues(items)
    walk = Walk(outside, IndexTexts(outside.has), allow_gathers, allow_reshapes)
    walk.visit(items, WalkPosition())
    accesses = [(note.access.op, note.array, note.access.writes) for found in walk.found for note in found.notes]
    refuse_overlaps(accesses)
    refuse_shapes(accesses)
    if not assume_no_alias:
        refuse_aliases(accesses)
    names, facts = walk.texts.parameters, walk.texts.facts
    context = isl.Set(f"[{', '.join(names)}] -> {{ : {' and '.join(facts)} }}")
    statements = tuple(_statement(f"S{number}", found, context, names) for number, found in enumerate(walk.found))
    prologue = tuple(op for op in items if not is_memory_op(op) and outside.is_early(op))
    epilogue = tuple(op for op in items if op.name == "memref.dealloc")
    arrays = tuple(dict.fromkeys(walk.arrays.values()))
    return Scop(tuple(items), statements, arrays, names, context, prologue, epilogue)


def _body(function: ir.Operation) -> list[ir.Operation]:
    """The ops of a function; none for a declaration. Raises ExtractionError where it has several blocks."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) > 1:
        raise ExtractionError(function, "it has several blocks", "put the loops into a function of their own")
    return [op.operation for block in blocks for op in block.operations]


def _parts(ops: Sequence[ir.Operation], lies_between: Callable[[ir.Operation], bool]) -> Iterator[list[ir.Operation]]:
    """`ops` cut at those that lie between parts."""
    part: list[ir.Operation] = []
    for op in ops:
        if lies_between(op):
            yield part
            part = []
        else:
            part.append(op)
    yield part


def _without(items: Sequence[ir.Operation], culprit: ir.Operation) -> list[list[ir.Operation]]:
    """`items` before and after the one that is or holds `culprit`."""
    holders = [item for item in items if is_inside(culprit, OutsideValues([item]))]
    return list(_parts(items, lambda op: op in holders)) if holders else []


def _statement(name: str, found: Found, context: isl.Set, parameters: Iterable[str]) -> Statement:
    """What the walk found as sets and relations, in the parameters of `context`."""
    prefix = f"[{', '.join(parameters)}] -> "
    frame = found.frame
    instance = f"{name}[{', '.join(loop.name for loop in frame.loops)}]"
    domain = isl.Set(f"{prefix}{{ {instance} : {' and '.join(frame.constraints)} }}").intersect_params(context)
    accesses = [
        replace(
            note.access,
            elements=ElementRelation(name, note.array, _relation(prefix, instance, note).intersect_domain(domain), note.position),
        )
        for note in found.notes
    ]
    return Statement(name, found.ops, frame.loops, (*frame.beta, found.place), domain, tuple(accesses))


def _relation(prefix: str, instance: str, note: Note) -> isl.Map:
    """What `note` touches from an instance, wherever that is."""
    name, lanes = note.array.name, note.lane_counts
    if not lanes and not note.limits:
        return isl.Map(f"{prefix}{{ {instance} -> {name}[{', '.join(note.subscripts)}] }}")
    outs = [f"o{axis}" for axis in range(len(note.subscripts))]
    equal = [f"{out} = {text}" for out, text in zip(outs, note.subscripts, strict=True)]
    ranges = [f"0 <= l{number} < {count}" for number, count in enumerate(lanes)]
    where = " and ".join([*ranges, *equal, *note.limits])
    if lanes:
        where = f"exists ({', '.join(f'l{number}' for number in range(len(lanes)))} : {where})"
    return isl.Map(f"{prefix}{{ {instance} -> {name}[{', '.join(outs)}] : {where} }}")
