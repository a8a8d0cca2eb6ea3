"""Array contraction: local arrays become as small as the order of their accesses allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, with_statements
from dlc.lowering.affine.primitives.pack_buffer import LoopFootprint, localize
from dlc.lowering.affine.schedule.footprints import box_around, footprint
from dlc.lowering.affine.schedule.iterations import value_map
from dlc.lowering.affine.schedule.loop_tree import Path, Scratch, to_schedule
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, dependences_of


def shrink(program: Program, producers: Sequence[str], path: Path) -> Program:
    """Shrink the local arrays that the statements `producers`, inside the loop at `path`, write, where that is legal."""
    written = [access.array for name in producers for access in program.scop.by_name[name].writes]
    for array in dict.fromkeys(written):
        if array.is_local and array.is_memory and not isinstance(array, Buffer):
            program = _contracted(program, array, path)
    return program


def _contracted(program: Program, array: Array, path: Path) -> Program:
    """The program with a buffer for what an iteration needs, or for a window that moves over the array, or as it was."""
    try:
        part = LoopFootprint.of(program, array, path, "it")
        accesses = [one for statement in program.scop.statements for one in statement.accesses if one.array is array]
        if len(accesses) != len(part.accesses):
            return program
        if part.live_in(program) is None:
            return localize(program, part, None, None)[0]
        return _folded(program, part)
    except PrimitiveError:
        return program


def _folded(program: Program, part: LoopFootprint) -> Program:
    """Elements as far apart as the window of an iteration is long share memory, where no value is lost by that."""
    touched = footprint(part.accesses, part.loops, part.domain)
    box = None if touched is None else box_around(touched)
    if box is None or any(_follows_a_write(access, part) for access in part.accesses):
        return program
    name = f"B{sum(isinstance(array, Buffer) for array in program.scop.arrays)}"
    dims = [f"e{dim}" for dim in range(part.array.rank)]
    cells = ", ".join(f"{dim} mod {size}" for dim, size in zip(dims, box.shape, strict=True))
    places = isl.Map(f"{{ {part.array.name}[{', '.join(dims)}] -> {name}[{cells}] }}")
    buffer = Buffer(name, part.array.value, part.array.rank, is_local=True, shape=box.shape)
    statements = [
        replace(statement, accesses=tuple(_folded_access(access, part, buffer, places) for access in statement.accesses))
        for statement in program.scop.statements
        if any(access in part.accesses for access in statement.accesses)
    ]
    scop = with_statements(program.scop, statements, buffer)
    tree = Scratch(program.tree.domain, name, program.tree)
    live_ranges = {**program.live_ranges, name: value_map([], tree.domain)}
    new = replace(program, scop=scop, tree=tree, dependences=dependences_of(scop, tree), live_ranges=live_ranges)
    same = _flow(program, part.array.name).is_equal(_flow(new, name))
    return new if same else program


def _follows_a_write(access: MemRefAccess, part: LoopFootprint) -> bool:
    """Whether another access of the same statement writes the array before: isl's flow does not look into instances."""
    same = (one for one in part.writes if one.statement_name == access.statement_name)
    return any(write.position < access.position for write in same)


def _folded_access(access: MemRefAccess, part: LoopFootprint, buffer: Buffer, places: isl.Map) -> MemRefAccess:
    if access not in part.accesses:
        return access
    return access.redirected(buffer, access.relation.apply_range(places))


def _flow(program: Program, array: str) -> isl.UnionMap:
    """Reads of one array after the writes whose values they see."""
    accesses = [one for statement in program.scop.statements for one in statement.accesses if one.array.name == array]
    empty = isl.UnionMap.empty(program.scop.context.get_space())
    ends = {True: empty, False: empty}
    for access in accesses:
        ends[access.writes] = ends[access.writes].union(isl.UnionMap.from_map(access.relation))
    info = isl.UnionAccessInfo.from_sink(ends[False]).set_must_source(ends[True]).set_schedule(to_schedule(program.tree))
    return info.compute_flow().get_must_dependence()
