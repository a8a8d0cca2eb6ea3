"""Packing: an array's part that an iteration touches, in a buffer of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import islpy as isl

from dlc._mlir import ir
from dlc.lowering.affine.ir.accesses import MemRefAccess
from dlc.lowering.affine.ir.element_relations import Array, ElementRelation
from dlc.lowering.affine.polyhedral.model import Statement
from dlc.lowering.affine.polyhedral.packed_buffers import Buffer, CopyStatement, next_names, with_statements
from dlc.lowering.affine.primitives.primitive import primitive
from dlc.lowering.affine.schedule.footprints import box_around, footprint
from dlc.lowering.affine.schedule.iterations import value_map
from dlc.lowering.affine.schedule.loop_tree import (
    Leaf,
    LoopNode,
    Path,
    Scratch,
    Tree,
    around,
    block,
    children,
    loop_in,
    loops_above,
    walk,
    with_children,
)
from dlc.lowering.affine.schedule.program import PrimitiveError, Program, Result, dependences_of


@primitive
def pack(
    program: Program,
    array: Annotated[str, "the array: A0, A1, ... in the order of the text, or arg0, arg1, ... for arguments"] = "",
    loop: Annotated[str, "the loop for whose iterations it is copied; empty: once for all loops"] = "",
) -> Result:
    """Copy what a loop's body touches of an array into a local buffer, and back.

    before: affine.for %i = 0 to 100 step 32 { .. %A[%i + .., ..] .. }
    after:  %buffer = memref.alloca() : memref<32x64xf32>
            affine.for %i = 0 to 100 step 32 { copy of the part of %A to %buffer   .. %buffer[..] ..   what was written back to %A }

    The buffer holds the smallest box around what one iteration touches. It is on the stack up to 64 KiB, else on the heap;
    inside a parallel loop every iteration has its own.

    The buffer holds the smallest box of constant shape around it. What is read before it is written is copied in, what is
    written is copied out. Returns the names of the loops that copy.
    """
    return pack_in_order(program, array, loop, None)


def pack_in_order(program: Program, array: str, loop: str, order: isl.Map | None) -> Result:
    """As `pack`, to a buffer whose dims are those of the range of `order`, a function of elements; None for those of the array."""
    part = footprint_in(program, array, loop)
    copies_out = footprint(part.writes, part.loops, part.domain)
    return localize(program, part, copies_in=part.live_in(program), copies_out=copies_out, order=order)


def footprint_in(program: Program, array: str, loop: str) -> LoopFootprint:
    """What the iterations of `loop` do to the array; PrimitiveError where it cannot go to a buffer."""
    path = program.find(loop) if loop else ()
    return LoopFootprint.of(program, find_array(program, array), path, loop)


def find_array(program: Program, name: str) -> Array:
    """The array called `name`, as A0 or as arg0; PrimitiveError lists those that there are."""
    for array in program.scop.arrays:
        if name in (array.name, argument_name(array)):
            return array
    known = ", ".join(f"{array.name}{_also(array)}" for array in program.scop.arrays) or "none"
    raise PrimitiveError(f"no array is called '{name}'", f"use one of {known}", program.location)


def argument_name(array: Array) -> str:
    """`arg2` for the third argument of the function; "" for other memory."""
    is_argument = isinstance(array.value, ir.BlockArgument) and not isinstance(array, Buffer)
    return f"arg{array.value.arg_number}" if is_argument else ""


def _also(array: Array) -> str:
    name = argument_name(array)
    return f" ({name})" if name else ""


@dataclass(frozen=True, eq=False)
class LoopFootprint:
    """What the iterations of the loop at `path` (the whole program for none) do to `array`."""

    array: Array
    path: Path
    where: str
    loops: tuple[LoopNode, ...]
    domain: isl.UnionSet
    accesses: tuple[MemRefAccess, ...]

    @classmethod
    def of(cls, program: Program, array: Array, path: Path, where: str) -> LoopFootprint:
        """PrimitiveError where the accesses cannot go to a buffer."""
        loops = (*loops_above(program.tree, path), loop_in(program.tree, path)) if path or where else ()
        domain = loops[-1].domain if loops else program.tree.domain
        accesses = tuple(
            access
            for statement in program.scop.statements
            for access in statement.accesses
            if access.array is array and not domain.intersect(isl.UnionSet.from_set(statement.domain)).is_empty()
        )
        part = cls(array, path, where, loops, domain, accesses)
        part.check(program)
        return part

    @property
    def writes(self) -> list[MemRefAccess]:
        """The accesses that write."""
        return [access for access in self.accesses if access.writes]

    @property
    def called(self) -> str:
        """The loop's name for messages."""
        return f"loop '{self.where}'" if self.where else "the loops"

    def check(self, program: Program) -> None:
        """Every access must be of one element, and of a statement that runs in the loop alone."""
        if not self.accesses:
            raise PrimitiveError(f"{self.called} do not touch {self.array.name}".replace("' do ", "' does "), "name another array")
        if isinstance(self.array, Buffer):
            raise PrimitiveError(f"{self.array.name} is a buffer already", "name the array that it was made of")
        for access in self.accesses:
            statement = program.scop.by_name[access.statement_name]
            if not isl.UnionSet.from_set(statement.domain).is_subset(self.domain):
                reason = f"only some instances of {statement.name} run in {self.called}"
                raise PrimitiveError(reason, "pack before cutting the loop, or name one further out", access.op.location)
            if not access.relation.is_single_valued() or access.op.name not in ("affine.load", "affine.store"):
                reason = f"'{access.op.name}' touches more than one element of {self.array.name}"
                raise PrimitiveError(reason, "pack before making vectors", access.op.location)

    def live_in(self, program: Program) -> isl.Map | None:
        """Iterations to the elements that they read before they write them."""
        here = value_map(self.loops, self.domain)
        same_iteration = here.apply_range(here.reverse())
        parts = []
        for read in (access for access in self.accesses if not access.writes):
            covered = isl.UnionSet.empty(self.domain.get_space())
            for dependence in program.dependences:
                if dependence.kind == "flow" and dependence.sink is read:
                    covered = covered.union(isl.UnionMap.from_map(dependence.relation).intersect(same_iteration).range())
            open_reads = footprint([read], self.loops, self.domain.subtract(covered))
            parts += [] if open_reads is None else [open_reads]
        if not parts:
            return None
        whole = parts[0]
        for other in parts[1:]:
            whole = whole.union(other)
        return None if whole.is_empty() else whole.coalesce()


def localize(
    program: Program, part: LoopFootprint, copies_in: isl.Map | None, copies_out: isl.Map | None, order: isl.Map | None = None
) -> Result:
    """Send the accesses of `part` to a new buffer, with copies of those elements before and after."""
    touched = footprint(part.accesses, part.loops, part.domain)
    box = None if touched is None else box_around(touched if order is None else touched.apply_range(order))
    if box is None or touched is None:
        reason = f"what an iteration of {part.called} touches of {part.array.name} has no constant size"
        raise PrimitiveError(reason, "name a loop further in, or make sizes static", part.accesses[0].op.location)
    name = f"B{sum(isinstance(array, Buffer) for array in program.scop.arrays)}"
    buffer = Buffer(name, part.array.value, len(box.shape), is_local=True, shape=box.shape)
    places = box.places(name)
    if order is not None:
        places = isl.Map.identity(touched.get_space().domain().map_from_set()).product(order).apply_range(places)
    changed = [_redirected(statement, part, buffer, places) for statement in program.scop.statements]
    names = iter(next_names(program.scop, 2))
    copies = [
        None if elements is None else _copy_of(program, part, buffer, places, elements, next(names), is_in)
        for elements, is_in in ((copies_in, True), (copies_out, False))
    ]
    scop = with_statements(program.scop, [*(one for one in changed if one), *(copy.statement for copy in copies if copy)], buffer)
    tree = _inserted(program.tree, part.path, part, copies, buffer)
    live_ranges = {**program.live_ranges, name: _live_range(tree, name)}
    new = replace(program, scop=scop, tree=tree, dependences=dependences_of(scop, tree), live_ranges=live_ranges)
    new.check()
    return new, tuple(name for copy in copies if copy for name in copy.loop_names)


def _live_range(tree: Tree, buffer: str) -> isl.UnionMap:
    """The instances that run while `buffer` exists to the values of the loops around it."""
    path, node = next((path, node) for path, node in walk(tree) if isinstance(node, Scratch) and node.array == buffer)
    return value_map(loops_above(tree, path), node.domain)


def _redirected(statement: Statement, part: LoopFootprint, buffer: Buffer, places: isl.Map) -> Statement | None:
    """The statement with its accesses to the array going to the buffer; None where it has none."""
    if not any(access in part.accesses for access in statement.accesses):
        return None
    above = value_map(part.loops, isl.UnionSet.from_set(statement.domain))
    outer = isl.Map.from_union_map(above)
    accesses = tuple(
        access.redirected(buffer, outer.range_product(access.relation).apply_range(places)) if access in part.accesses else access
        for access in statement.accesses
    )
    return replace(statement, accesses=accesses)


@dataclass(frozen=True, eq=False)
class _Copies:
    """A statement that copies elements, and the loops over these."""

    statement: CopyStatement
    tree: Tree
    outer: tuple[isl.UnionPwAff, ...]
    """The values of the loops around for its instances."""
    loop_names: tuple[str, ...]


def _copy_of(
    program: Program, part: LoopFootprint, buffer: Buffer, places: isl.Map, elements: isl.Map, name: str, is_in: bool
) -> _Copies:
    """The copies of `elements`, which belong to iterations of the loops around."""
    depth, rank = len(part.loops), part.array.rank
    domain = elements.wrap().flatten().set_tuple_name(name).coalesce()
    split = elements.wrap().flatten_map().set_tuple_name(isl.dim_type.out, name).reverse()
    pairs = split.intersect_domain(domain)
    array_access = pairs.apply_range(elements.wrap().unwrap().range_map())
    buffer_access = pairs.apply_range(places)
    first = part.accesses[0]
    ends = [
        replace(first, writes=not is_in, elements=ElementRelation(name, part.array, array_access.coalesce(), 1 - is_in)),
        replace(first, writes=is_in, elements=ElementRelation(name, buffer, buffer_access.coalesce(), int(is_in))),
    ]
    ordered = tuple(ends if is_in else reversed(ends))
    statement = CopyStatement(name, (), (), (), domain, ordered, first.op.location)
    instances = isl.UnionSet.from_set(domain)
    word = "in" if is_in else "out"
    names = tuple(program.fresh_name(f"{buffer.name}.{word}.{dim}") for dim in range(rank))
    tree: Tree = Leaf(instances)
    for dim in reversed(range(rank)):
        tree = around(_dim(domain, depth + dim), tree, names[dim])
    return _Copies(statement, tree, tuple(_dim(domain, at) for at in range(depth)), names)


def _dim(domain: isl.Set, dim: int) -> isl.UnionPwAff:
    """The value of one dim of a statement's instances."""
    space = isl.LocalSpace.from_space(domain.get_space())
    values = isl.PwAff.from_aff(isl.Aff.var_on_domain(space, isl.dim_type.set, dim)).intersect_domain(domain)
    return isl.UnionPwAff.from_pw_aff(values)


def _inserted(
    tree: Tree, path: Path, part: LoopFootprint, copies: Sequence[_Copies | None], buffer: Buffer, depth: int = 0
) -> Tree:
    """The tree with copies around the body of the loop at `path`, and memory for the buffer."""
    if not path and depth == len(part.loops):
        before, after = ([copy.tree] if copy else [] for copy in copies)
        inner = block([*before, tree, *after])
        return Scratch(inner.domain, buffer.name, inner)
    if isinstance(tree, LoopNode) and depth < len(part.loops):
        body = _inserted(tree.body, path[1:], part, copies, buffer, depth + 1)
        values = tree.values
        for copy in copies:
            values = values if copy is None else values.union_add(copy.outer[depth])
        return replace(tree, domain=body.domain, values=values, body=body)
    parts = list(children(tree))
    parts[path[0]] = _inserted(parts[path[0]], path[1:], part, copies, buffer, depth)
    return with_children(tree, parts)
